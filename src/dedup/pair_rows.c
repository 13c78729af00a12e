/*
 * pair_rows.c
 *	  The pairs of rows whose fingerprints are near each other, one at a time.
 *
 * Rows with equal fingerprints are compared with others once for all.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/pair_rows.h"

#define FIRST_CAPACITY 1024

/* Errors, here and below: 53200 where there is no memory. */
PairSide *
simhash_pair_side_begin(void)
{
	PairSide   *side = palloc0(sizeof(PairSide));

	side->capacity = FIRST_CAPACITY;
	simhash_fplist_allocate(&side->list, side->capacity);
	side->ids = palloc(side->capacity * sizeof(int64));
	return side;
}

/* Errors: 54000 where there are too many rows to be numbered. */
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

/* The rows of the list are sorted by fingerprint: bring their ids in order. */
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

/* Leave one of each fingerprint on the list. */
static void
merge_equal(PairSide *side)
{
	FingerprintList *list = &side->list;
	uint32		distinct = 0;
	uint32		row;

	simhash_fplist_sort(list, 0, list->count, 0, 64);
	sort_ids(side);
	CHECK_FOR_INTERRUPTS();
	side->starts = palloc_extended(((Size) list->count + 1) * sizeof(uint32),
								   MCXT_ALLOC_HUGE);
	for (row = 0; row < list->count; row++)
		if (distinct == 0 || list->fps[row] != list->fps[distinct - 1])
		{
			list->fps[distinct] = list->fps[row];
			list->ids[distinct] = distinct;
			side->starts[distinct++] = row;
		}
	side->starts[distinct] = list->count;
	list->count = distinct;
}

/*
 * Begin to pair the rows of two sides, or, where both are the same, those of
 * one.
 */
PairRows *
simhash_pair_rows_begin(PairSide *x, PairSide *y, int radius)
{
	PairRows   *pairs = palloc0(sizeof(PairRows));

	merge_equal(x);
	if (y != x)
		merge_equal(y);
	pairs->x = x;
	pairs->y = y;
	pairs->near = hamming_join_pairs_begin(&x->list, &y->list, radius);
	/* two sides have their equal fingerprints joined */
	pairs->distinct = x == y ? 0 : x->list.count;
	return pairs;
}

/* Begin with a row of x: the rows of y, or those that come after it. */
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

/*
 * Find the next two fingerprints, which may be one and the same; false if
 * there are none.
 */
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
	while (hamming_join_pairs_next(pairs->near, &x, &y))
	{
		uint64		difference = xs->fps[x] ^ ys->fps[y];

		if (hamming_join_is_first(pairs->near->join, difference))
		{
			begin_fingerprints(pairs, xs->ids[x], ys->ids[y],
							   pg_popcount64(difference));
			return true;
		}
	}
	return false;
}

/* The next row to be paired with others; false if there is none. */
static bool
next_row(PairRows *pairs)
{
	if (pairs->a + 1 >= pairs->a_end)
		return next_fingerprints(pairs);
	begin_row(pairs, pairs->a + 1);
	return true;
}

/*
 * The next pair of rows, by their ids and in no particular order; false if
 * there is none.  Of one side each pair comes once, the lesser id first, and
 * rows with the same id are no pair.
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
