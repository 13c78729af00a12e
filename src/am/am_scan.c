/*
 * am_scan.c
 *	  Index scans: what their conditions ask for, and the rows one by one.
 */
#include "postgres.h"

#include "access/relscan.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "am/am.h"

typedef struct HammingScan
{
	/* which rows can match */
	bool		values;			/* those with a fingerprint, in all of the
								 * balls */
	bool		nulls;			/* those without one */
	HammingBall *balls;			/* the smallest first */
	int			ball_count;

	/* how far the scan is */
	bool		started;
	bool		in_nulls;		/* done with those that have a fingerprint */
	HammingSearch search;
	HammingNearest *nearest;	/* for ordered scans */
	HammingMatch *matches;
	int			count;
	int			position;

	MemoryContext context;		/* of this and all that the scan keeps */
	MemoryContext ordered_scan; /* of what an ordered scan keeps */
} HammingScan;

/*
 * Prepare for a scan; hamming_rescan() brings its conditions.
 *
 * A statement may begin and end a scan for each of its rows, as it does under
 * an exclusion constraint, in a context that lives as long as the statement.
 * So a scan has a context of its own.
 */
IndexScanDesc
hamming_begin_scan(Relation index, int keys, int order_bys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, keys, order_bys);
	MemoryContext context = AllocSetContextCreate(
												  CurrentMemoryContext, "hamming index scan", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	HammingScan *state = palloc0(sizeof(HammingScan));

	hamming_open(index);
	hamming_search_init(&state->search, index);
	state->context = context;
	state->balls = palloc(Max(keys, 1) * sizeof(HammingBall));
	state->matches = palloc(HAMMING_LEAF_CAPACITY * sizeof(HammingMatch));
	scan->opaque = state;
	if (order_bys > 0)
	{
		state->ordered_scan = AllocSetContextCreate(
													context, "hamming ordered scan", ALLOCSET_DEFAULT_SIZES);
		scan->xs_orderbyvals = palloc0(order_bys * sizeof(Datum));
		scan->xs_orderbynulls = palloc(order_bys * sizeof(bool));
		memset(scan->xs_orderbynulls, true, order_bys * sizeof(bool));
	}
	MemoryContextSwitchTo(caller);
	return scan;
}

/* Stop what is under way. */
static void
reset_scan(HammingScan *state)
{
	if (state->nearest != NULL)
		hamming_nearest_end(state->nearest);
	state->nearest = NULL;
	hamming_search_end(&state->search);
	if (state->ordered_scan != NULL)
		MemoryContextReset(state->ordered_scan);
	state->started = state->in_nulls = false;
	state->count = state->position = 0;
}

/* The ball that a condition asks for. */
static HammingBall
condition_ball(ScanKey key)
{
	HammingBall ball = {0};

	switch (key->sk_strategy)
	{
		case SIMHASH_NEAR_STRATEGY:
			ball.centre = DatumGetSimhash(key->sk_argument);
			ball.radius = SIMHASH_NEAR_RADIUS;
			break;
		case SIMHASH_BALL_STRATEGY:
			ball = *DatumGetHammingBall(key->sk_argument);
			break;
		case SIMHASH_EQUAL_STRATEGY:
			ball.centre = DatumGetSimhash(key->sk_argument);
			break;
		default:
			elog(ERROR, "unrecognized strategy number: %d", key->sk_strategy);
	}
	return ball;
}

/* Add a ball, so that the smallest comes first. */
static void
add_ball(HammingScan *state, HammingBall ball)
{
	state->balls[state->ball_count] = ball;
	if (ball.radius < state->balls[0].radius)
	{
		state->balls[state->ball_count] = state->balls[0];
		state->balls[0] = ball;
	}
	state->ball_count++;
}

/* Read the conditions, all of which must hold. */
static void
read_conditions(HammingScan *state, ScanKey keys, int count)
{
	int			i;

	state->values = state->nulls = true;
	state->ball_count = 0;
	for (i = 0; i < count; i++)
	{
		if (keys[i].sk_flags & SK_SEARCHNULL)
			state->values = false;
		else if (keys[i].sk_flags & SK_SEARCHNOTNULL)
			state->nulls = false;
		else if (keys[i].sk_flags & SK_ISNULL)
			state->values = state->nulls = false;
		else
		{
			state->nulls = false;
			add_ball(state, condition_ball(&keys[i]));
		}
	}
	if (state->ball_count > 0 && state->balls[0].radius < 0)
		state->values = false;
}

/* Begin a scan, or begin it again with other conditions. */
void
hamming_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey order_bys,
			   int norder_bys)
{
	HammingScan *state = scan->opaque;

	reset_scan(state);
	if (keys != NULL && nkeys > 0)
		memmove(scan->keyData, keys, nkeys * sizeof(ScanKeyData));
	if (order_bys != NULL && norder_bys > 0)
		memmove(scan->orderByData, order_bys, norder_bys * sizeof(ScanKeyData));
	read_conditions(state, scan->keyData, scan->numberOfKeys);
}

/* Is the order that of distances, or are all of them NULL? */
static bool
has_order(IndexScanDesc scan)
{
	return scan->numberOfOrderBys > 0 &&
		!(scan->orderByData[0].sk_flags & SK_ISNULL);
}

static void
start_nulls(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	state->in_nulls = true;
	hamming_search_begin_nulls(&state->search);
}

static void
start_scan(IndexScanDesc scan, bool ordered)
{
	HammingScan *state = scan->opaque;

	state->started = true;
	pgstat_count_index_scan(scan->indexRelation);
	count_index_search(scan);
	if (!state->values)
		start_nulls(scan);
	else if (ordered)
	{
		MemoryContext caller = MemoryContextSwitchTo(state->ordered_scan);

		state->nearest = hamming_nearest_begin(
											   &state->search, state->matches,
											   DatumGetSimhash(scan->orderByData[0].sk_argument), state->balls,
											   state->ball_count);
		MemoryContextSwitchTo(caller);
	}
	else if (state->ball_count > 0)
		hamming_search_begin(&state->search, state->balls[0].centre,
							 state->balls[0].radius);
	else
		hamming_search_begin(&state->search, 0, 64);
}

/* Those of the matches that are in every ball, not only the first one. */
static int
filter_matches(HammingScan *state, int count)
{
	int			kept = 0;
	int			i;

	if (state->ball_count <= 1 || state->in_nulls)
		return count;
	for (i = 0; i < count; i++)
		if (hamming_in_balls(state->matches[i].fingerprint, state->balls,
							 state->ball_count))
			state->matches[kept++] = state->matches[i];
	return kept;
}

/* Matches of the next leaf in no order; false after the last. */
static bool
next_leaf(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	for (;;)
	{
		int			count = -1;

		if (!state->in_nulls || state->nulls)
			count = hamming_search_next(&state->search, state->matches);
		if (count >= 0)
		{
			state->count = filter_matches(state, count);
			state->position = 0;
			return true;
		}
		if (state->in_nulls)
			return false;
		start_nulls(scan);
	}
}

/* The next row of an ordered scan that has a fingerprint. */
static bool
next_nearest(IndexScanDesc scan, uint64 *tid, int *distance)
{
	HammingScan *state = scan->opaque;
	MemoryContext caller = MemoryContextSwitchTo(state->ordered_scan);
	bool		found = hamming_nearest_next(state->nearest, tid, distance);

	MemoryContextSwitchTo(caller);
	if (!found)
	{
		hamming_nearest_end(state->nearest);
		state->nearest = NULL;
		start_nulls(scan);
	}
	return found;
}

/*
 * Tell the executor the distance of the row, NULL for none.  Of further sort
 * keys, by which rows at one distance are to be ordered, it is told the least
 * that they could be, and sorts those rows itself.
 */
static void
store_distance(IndexScanDesc scan, bool isnull, int distance)
{
	int			i;

	for (i = 0; i < scan->numberOfOrderBys; i++)
	{
		scan->xs_orderbyvals[i] = Int32GetDatum(i == 0 ? distance : 0);
		scan->xs_orderbynulls[i] = i == 0 && isnull;
	}
	scan->xs_recheckorderby = scan->numberOfOrderBys > 1;
}

/* The next row, in order if there is one; false after the last. */
bool
hamming_get_tuple(IndexScanDesc scan, ScanDirection direction)
{
	HammingScan *state = scan->opaque;
	uint64		tid;
	int			distance;

	if (!state->started)
		start_scan(scan, has_order(scan));

	/*
	 * Nothing protects an entry that the scan has seen from a vacuum, after
	 * which its TID may be that of another row.  An MVCC snapshot does not
	 * see that row; others look at what it has.
	 */
	scan->xs_recheck = !IsMVCCSnapshot(scan->xs_snapshot);

	if (state->nearest != NULL && next_nearest(scan, &tid, &distance))
	{
		store_distance(scan, false, distance);
		scan->xs_heaptid = hamming_item_pointer(tid);
		return true;
	}
	while (state->position == state->count)
		if (!next_leaf(scan))
			return false;
	store_distance(scan, true, 0);
	scan->xs_heaptid = hamming_item_pointer(
											state->matches[state->position++].tid);
	return true;
}

/* Add all rows to the bitmap; returns their number. */
int64
hamming_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	HammingScan *state = scan->opaque;
	ItemPointerData tids[HAMMING_LEAF_CAPACITY];
	int64		rows = 0;
	int			i;

	start_scan(scan, false);
	while (next_leaf(scan))
	{
		for (i = 0; i < state->count; i++)
			tids[i] = hamming_item_pointer(state->matches[i].tid);
		tbm_add_tuples(bitmap, tids, state->count, false);
		rows += state->count;
	}
	return rows;
}

/* Release what a scan holds. */
void
hamming_end_scan(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	reset_scan(state);
	hamming_search_close(&state->search);
	MemoryContextDelete(state->context);
}
