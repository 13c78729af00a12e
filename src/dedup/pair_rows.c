/*
 * pair_rows.c
 *	  The pairs of rows whose fingerprints are within a radius of each other,
 *	  one at a time.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/pair_rows.h"

/* Rows that a side has room for at first. */
#define SIDE_CAPACITY 1024

/* Make a side without rows, in the current memory context. */
PairSide *
simhash_pair_side_begin(void)
{
	PairSide   *side = palloc0(sizeof(PairSide));

	side->capacity = SIDE_CAPACITY;
	simhash_fplist_allocate(&side->list, side->capacity);
	side->ids = palloc(side->capacity * sizeof(int64));
	return side;
}

/* A side takes 32 bytes for each row that there is room for. */
void
simhash_pair_side_add(PairSide *side, int64 id, uint64 fingerprint)
{
	uint32		row = side->list.count;

	if (row == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("more than %d rows cannot be paired", PG_INT32_MAX)));
	if (row == side->capacity)
	{
		side->capacity *= 2;
		simhash_fplist_enlarge(&side->list, side->capacity);
		side->ids = repalloc_huge(side->ids, side->capacity * sizeof(int64));
	}
	fplist_append(&side->list, fingerprint, row);
	side->ids[row] = id;
}

/* Bring the ids, which are in the order of rows, into that of the list. */
static void
sort_ids(PairSide *side)
{
	FingerprintList *list = &side->list;
	int64	   *sorted = (int64 *) list->spare_fps;
	uint32		row;

	for (row = 0; row < list->count; row++)
	{
		CHECK_FOR_INTERRUPTS();
		sorted[row] = side->ids[list->ids[row]];
	}
	memcpy(side->ids, sorted, list->count * sizeof(int64));
}

/* Group the rows by their fingerprints: see PairSide. */
static void
group_rows(PairSide *side)
{
	FingerprintList *list = &side->list;
	uint32		distinct = 0;
	uint32		row;
	uint32		end;

	simhash_fplist_sort(list, 0, list->count, 0, HAMMING_BITS);
	sort_ids(side);
	CHECK_FOR_INTERRUPTS();
	side->starts = palloc_extended(((Size) list->count + 1) * sizeof(uint32),
								   MCXT_ALLOC_HUGE);
	for (row = 0; row < list->count; row = end)
	{
		end = fplist_end_of_run(list, row, list->count, PG_UINT64_MAX);
		list->fps[distinct] = list->fps[row];
		list->ids[distinct] = distinct;
		side->starts[distinct++] = row;
	}
	side->starts[distinct] = list->count;
	list->count = distinct;
}

/*
 * Begin to pair the rows of x with those of y, or with each other where x and
 * y are the same side.  No rows can be added to the sides from then on.
 */
PairRows *
simhash_pair_rows_begin(PairSide *x, PairSide *y, int radius)
{
	PairRows   *pairs = palloc0(sizeof(PairRows));

	group_rows(x);
	if (y != x)
		group_rows(y);
	pairs->x = x;
	pairs->y = y;
	pairs->join_pairs = hamming_join_pairs_begin(&x->list, &y->list, radius);

	/* a self-join has each fingerprint once: its rows are paired apart */
	pairs->distinct = x == y ? 0 : x->list.count;
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

static bool
next_fingerprints(PairRows *pairs)
{
	FingerprintList *xs = &pairs->x->list;
	FingerprintList *ys = &pairs->y->list;
	uint32		x;
	uint32		y;

	if (pairs->distinct < xs->count)
	{
		begin_fingerprints(pairs, pairs->distinct, pairs->distinct, 0);
		pairs->distinct++;
		return true;
	}
	while (hamming_join_pairs_next(pairs->join_pairs, &x, &y))
	{
		uint64		difference = xs->fps[x] ^ ys->fps[y];

		if (hamming_join_pairs_is_first(pairs->join_pairs, difference))
		{
			begin_fingerprints(pairs, xs->ids[x], ys->ids[y],
							   pg_popcount64(difference));
			return true;
		}
	}
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
