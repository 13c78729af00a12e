/*
 * pair_rows.c
 *	  The pairs of rows whose fingerprints are within a radius of each other,
 *	  one at a time.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/arguments.h"
#include "near/compare.h"
#include "near/share.h"
#include "near/join_side.h"
#include "dedup/pair_rows.h"
#include "type/simhash.h"

struct PairRows
{
	int			radius;
	JoinSide   *rows;
	FingerprintList *list;		/* the fingerprints that are joined: the list
								 * of rows, or members */
	JoinPairs  *join_pairs;
	uint32		distinct;		/* place in list of the next fingerprint whose
								 * rows are to be paired with each other */
	/* for the pairs of one part */
	JoinPart   *part;			/* NULL for all pairs */
	int			block;			/* whose pairs come now */
	FingerprintList members;	/* those of rows whose block is in the part:
								 * the first places of its list */
	/* the rows of two fingerprints that are being paired: indexes of ids */
	int			distance;		/* of the two; 0: they are one, with itself */
	uint32		a;				/* current row of the one */
	uint32		a_end;
	uint32		b;				/* next row of the other to be paired with it */
	uint32		b_from;
	uint32		b_end;
};

/* Begin without rows.  Error: 22023 for a max_distance out of range. */
static PairRows *
begin(const PairArguments *arguments)
{
	PairRows   *pairs = palloc0(sizeof(PairRows));

	pairs->radius = check_max_distance(arguments->max_distance);
	pairs->rows = simhash_join_side_begin();
	if (arguments->parts > 1)
	{
		pairs->part = palloc(sizeof(JoinPart));
		pairs->part->number = arguments->part;
		hamming_parts_begin(&pairs->part->parts, pairs->radius,
							arguments->parts);
	}
	return pairs;
}

/* Add a row, unless its fingerprint is not in the part. */
static void
add(PairRows *pairs, int64 id, Datum fingerprint)
{
	if (pairs->part == NULL ||
		is_in_part(pairs->part, DatumGetSimhash(fingerprint)))
		simhash_join_side_add(pairs->rows, id, 0,
							  DatumGetSimhash(fingerprint));
}

/*
 * Have the fingerprints whose block is in the part come first in the list of
 * rows, and join these with each other.
 */
static void
begin_block(PairRows *pairs)
{
	const JoinParts *parts = &pairs->part->parts;
	FingerprintList *list = &pairs->rows->list;
	uint32		count = 0;
	uint32		i;

	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (is_block_in_part(pairs->part, list->fps[i], pairs->block))
			fplist_swap(list, i, count++);
	}
	pairs->members = *list;
	pairs->members.count = count;
	pairs->list = &pairs->members;
	pairs->join_pairs = hamming_join_pairs_begin(pairs->list, pairs->list,
												 pairs->radius);
	hamming_parts_restrict(parts, pairs->join_pairs, pairs->block);
	/* equal fingerprints agree in the first block */
	pairs->distinct = pairs->block == 0 ? 0 : count;
}

/* End the pairs of a block; return false if it is the last one of the part. */
static bool
next_block(PairRows *pairs)
{
	MemoryContext old;

	if (pairs->part == NULL ||
		pairs->block + 1 == pairs->part->parts.block_count)
		return false;
	hamming_join_pairs_end(pairs->join_pairs);
	pairs->block++;
	/* the caller may be in a context of one row */
	old = MemoryContextSwitchTo(GetMemoryChunkContext(pairs));
	begin_block(pairs);
	MemoryContextSwitchTo(old);
	return true;
}

/* Join all fingerprints with each other. */
static void
begin_all(PairRows *pairs)
{
	pairs->list = &pairs->rows->list;
	pairs->join_pairs = hamming_join_pairs_begin(pairs->list, pairs->list,
												 pairs->radius);
	pairs->distinct = 0;
}

/* Begin to pair the rows.  No row can be added from then on. */
static void
pair(PairRows *pairs)
{
	simhash_join_side_group(pairs->rows);
	if (pairs->part == NULL)
		begin_all(pairs);
	else
		begin_block(pairs);
}

/* Rows that share a fingerprint are paired with later ones: each two once. */
static void
begin_row(PairRows *pairs, uint32 a)
{
	pairs->a = a;
	pairs->b = pairs->distance == 0 ? a + 1 : pairs->b_from;
}

/* Pair the rows of the x-th distinct fingerprint with those of the y-th. */
static void
begin_fingerprints(PairRows *pairs, uint32 x, uint32 y, int distance)
{
	const uint32 *starts = pairs->rows->starts;

	pairs->distance = distance;
	pairs->a_end = starts[x + 1];
	pairs->b_from = starts[y];
	pairs->b_end = starts[y + 1];
	begin_row(pairs, starts[x]);
}

/* Get the next two distinct fingerprints, of those that are joined now. */
static bool
next_distinct(PairRows *pairs)
{
	const FingerprintList *list = pairs->list;
	uint32		x;
	uint32		y;

	while (hamming_join_pairs_next(pairs->join_pairs, &x, &y))
	{
		Fingerprint difference = list->fps[x] ^ list->fps[y];

		if (hamming_join_pairs_is_first(pairs->join_pairs, difference))
		{
			begin_fingerprints(pairs, list->ids[x], list->ids[y],
							   fingerprint_popcount(difference));
			return true;
		}
	}
	return false;
}

static bool
next_fingerprints(PairRows *pairs)
{
	do
	{
		if (pairs->distinct < pairs->list->count)
		{
			uint32		number = pairs->list->ids[pairs->distinct++];

			begin_fingerprints(pairs, number, number, 0);
			return true;
		}
		if (next_distinct(pairs))
			return true;
	} while (next_block(pairs));
	return false;
}

static bool
next_row(PairRows *pairs)
{
	if (pairs->a + 1 >= pairs->a_end)
		return next_fingerprints(pairs);
	begin_row(pairs, pairs->a + 1);
	return true;
}

/*
 * Get the ids of two rows, the lesser one *a, and their distance.  Each pair of
 * rows comes once, in no particular order.  Rows with the same id are no pair.
 */
static bool
next(PairRows *pairs, int64 *a, int64 *b, int *distance)
{
	const int64 *ids = pairs->rows->ids;
	int64		x;
	int64		y;

	do
	{
		CHECK_FOR_INTERRUPTS();
		while (pairs->b == pairs->b_end)
			if (!next_row(pairs))
				return false;
		x = ids[pairs->a];
		y = ids[pairs->b++];
	} while (x == y);
	*a = Min(x, y);
	*b = Max(x, y);
	*distance = pairs->distance;
	return true;
}

const PairMethods
WIDE(simhash_pair_methods) =
{
	begin, add, pair, next
};
