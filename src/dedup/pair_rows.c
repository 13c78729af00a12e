/*
 * pair_rows.c
 *	  The pairs of rows whose fingerprints are within a radius of each other,
 *	  one at a time.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/pair_rows.h"

/*
 * Begin to pair the rows of x with those of y, or with each other where x and
 * y are the same side.  No rows can be added to the sides from then on.
 */
PairRows *
simhash_pair_rows_begin(JoinSide *x, JoinSide *y, int radius)
{
	PairRows   *pairs = palloc0(sizeof(PairRows));

	simhash_join_side_group(x);
	if (y != x)
		simhash_join_side_group(y);
	pairs->x = x;
	pairs->y = y;
	pairs->xs = &x->list;
	pairs->ys = &y->list;
	pairs->join_pairs = hamming_join_pairs_begin(pairs->xs, pairs->ys, radius);

	/* a self-join has each fingerprint once: its rows are paired apart */
	pairs->distinct = x == y ? 0 : x->list.count;
	return pairs;
}

/*
 * Have the fingerprints of x whose block is in the part come first in its list,
 * and join these with each other.
 */
static void
begin_block(PairRows *pairs)
{
	const JoinParts *parts = &pairs->part->parts;
	FingerprintList *list = &pairs->x->list;
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
	pairs->join_pairs = hamming_join_pairs_begin(&pairs->members,
												 &pairs->members,
												 parts->radius);
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

/*
 * The same for the pairs of one part of the join of a side with itself.  The
 * caller keeps *part.  Rows that are not in the part may be left out.
 */
PairRows *
simhash_pair_rows_begin_part(JoinSide *side, const JoinPart *part)
{
	PairRows   *pairs = palloc0(sizeof(PairRows));

	simhash_join_side_group(side);
	pairs->x = side;
	pairs->y = side;
	pairs->xs = &pairs->members;
	pairs->ys = &pairs->members;
	pairs->part = part;
	begin_block(pairs);
	return pairs;
}

/* Rows that share a fingerprint are paired with later ones: each two once. */
static void
begin_row(PairRows *pairs, uint32 a)
{
	pairs->a = a;
	pairs->b = pairs->is_same ? a + 1 : pairs->b_from;
}

/* Pair the rows of the x-th distinct fingerprint with those of the y-th. */
static void
begin_fingerprints(PairRows *pairs, uint32 x, uint32 y, int distance)
{
	pairs->distance = distance;
	pairs->is_same = pairs->x == pairs->y && distance == 0;
	pairs->a_end = pairs->x->starts[x + 1];
	pairs->b_from = pairs->y->starts[y];
	pairs->b_end = pairs->y->starts[y + 1];
	begin_row(pairs, pairs->x->starts[x]);
}

/* Get the next two distinct fingerprints, of those that are joined now. */
static bool
next_distinct(PairRows *pairs)
{
	uint32		x;
	uint32		y;

	while (hamming_join_pairs_next(pairs->join_pairs, &x, &y))
	{
		uint64		difference = pairs->xs->fps[x] ^ pairs->ys->fps[y];

		if (hamming_join_pairs_is_first(pairs->join_pairs, difference))
		{
			begin_fingerprints(pairs, pairs->xs->ids[x], pairs->ys->ids[y],
							   pg_popcount64(difference));
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
		if (pairs->distinct < pairs->xs->count)
		{
			uint32		number = pairs->xs->ids[pairs->distinct++];

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
 * Get the id *a of a row of x, the id *b of a row of y, and their distance.
 * Each pair of rows comes once, in no particular order.  Where x and y are the
 * same side, the lesser id is *a, and rows with the same id are no pair.
 */
bool
simhash_pair_rows_next(PairRows *pairs, int64 *a, int64 *b, int *distance)
{
	bool		is_self_join = pairs->x == pairs->y;

	for (;;)
	{
		int64		x;
		int64		y;

		CHECK_FOR_INTERRUPTS();
		while (pairs->b == pairs->b_end)
			if (!next_row(pairs))
				return false;
		x = pairs->x->ids[pairs->a];
		y = pairs->y->ids[pairs->b++];
		if (is_self_join && x == y)
			continue;
		*a = is_self_join ? Min(x, y) : x;
		*b = is_self_join ? Max(x, y) : y;
		*distance = pairs->distance;
		return true;
	}
}
