/*
 * scan.c
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
	bool		want_values;	/* those with a fingerprint, in all of the
								 * balls */
	bool		want_nulls;		/* those without one */
	bool		has_other;		/* are there conditions on further columns,
								 * which the executor must check? */
	HammingKeyBall *balls;		/* the smallest first */
	int			ball_count;

	/* how far the scan is */
	bool		started;		/* has it begun to search? */
	bool		in_nulls;		/* are the rows with a fingerprint done? */
	HammingSearch *search;		/* of the rows of either kind */
	HammingNearest *nearest;	/* of an ordered scan, until its rows with a
								 * fingerprint are done */
	HammingMatch *matches;		/* of the leaf that was read last; search's */
	int			count;			/* how many there are */
	int			position;		/* of the next one to return */

	MemoryContext context;		/* of this struct and all that it points to */
} HammingScan;

/*
 * ambeginscan.  A statement may begin and end a scan for each of its rows, as
 * under an exclusion constraint, in a memory context that lives as long as the
 * statement.  So a scan has a context of its own.
 */
IndexScanDesc
hamming_begin_scan(Relation index, int keys, int order_bys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, keys, order_bys);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "hamming index scan",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	HammingScan *state = palloc0(sizeof(HammingScan));

	state->search = hamming_search_create(scan);
	state->context = context;
	state->balls = palloc(Max(keys, 1) * sizeof(HammingKeyBall));
	scan->opaque = state;
	if (order_bys > 0)
	{
		scan->xs_orderbyvals = palloc0(order_bys * sizeof(Datum));
		scan->xs_orderbynulls = palloc(order_bys * sizeof(bool));
		memset(scan->xs_orderbynulls, true, order_bys * sizeof(bool));
	}
	MemoryContextSwitchTo(caller);
	return scan;
}

static void
end_nearest(HammingScan *state)
{
	if (state->nearest != NULL)
		hamming_nearest_end(state->nearest);
	state->nearest = NULL;
}

/* Add a ball, so that the smallest is the first: the scan searches that one. */
static void
add_ball(HammingScan *state, int words, ScanKey key)
{
	HammingKeyBall ball = {.radius = 0};

	switch (key->sk_strategy)
	{
		case SIMHASH_BALL_STRATEGY:
			ball.radius = simhash_ball_words(key->sk_argument,
											 ball.centre.words, words);
			break;
		case SIMHASH_NEAR_STRATEGY:
			ball.radius = words * SIMHASH_NEAR_RADIUS;
			/* FALLTHROUGH */
		case SIMHASH_EQUAL_STRATEGY:
			simhash_datum_words(key->sk_argument, ball.centre.words, words);
			break;
		default:
			elog(ERROR, "unrecognized strategy number: %d", key->sk_strategy);
	}
	state->balls[state->ball_count] = ball;
	if (ball.radius < state->balls[0].radius)
	{
		state->balls[state->ball_count] = state->balls[0];
		state->balls[0] = ball;
	}
	state->ball_count++;
}

/* All conditions must hold.  One with a NULL argument holds for no row. */
static void
read_conditions(HammingScan *state, int words, ScanKey keys, int count)
{
	int			i;

	state->want_values = state->want_nulls = true;
	state->has_other = false;
	state->ball_count = 0;
	for (i = 0; i < count; i++)
	{
		bool		tests_null = (keys[i].sk_flags &
								  (SK_SEARCHNULL | SK_SEARCHNOTNULL)) != 0;

		if ((keys[i].sk_flags & SK_ISNULL) && !tests_null)
			state->want_values = state->want_nulls = false;
		else if (keys[i].sk_attno > 1)
			state->has_other = true;
		else if (keys[i].sk_flags & SK_SEARCHNULL)
			state->want_values = false;
		else if (keys[i].sk_flags & SK_SEARCHNOTNULL)
			state->want_nulls = false;
		else
		{
			state->want_nulls = false;
			add_ball(state, words, &keys[i]);
		}
	}
	/* a ball with a negative radius holds nothing */
	if (state->ball_count > 0 && state->balls[0].radius < 0)
		state->want_values = false;
}

/*
 * amrescan.  keys and order_bys may be NULL to keep those that the scan has.
 * Error: 0A000 for an order by a further column, which only an operator class
 * of a superuser allows.
 */
void
hamming_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey order_bys,
			   int norder_bys)
{
	HammingScan *state = scan->opaque;
	int			i;

	end_nearest(state);
	state->started = state->in_nulls = false;
	state->count = state->position = 0;
	for (i = 0; order_bys != NULL && i < norder_bys; i++)
		if (order_bys[i].sk_attno > 1)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("access method %s has no order by column %d",
							"hamming", order_bys[i].sk_attno)));
	if (keys != NULL && nkeys > 0)
		memmove(scan->keyData, keys, nkeys * sizeof(ScanKeyData));
	if (order_bys != NULL && norder_bys > 0)
		memmove(scan->orderByData, order_bys, norder_bys * sizeof(ScanKeyData));
	read_conditions(state, hamming_words(scan->indexRelation), scan->keyData,
					scan->numberOfKeys);
}

/* Go on with the rows without a fingerprint, if they are wanted. */
static void
start_nulls(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	state->in_nulls = true;
	if (state->want_nulls)
		hamming_search_begin_nulls(state->search);
}

static void
start_scan(IndexScanDesc scan, bool ordered)
{
	HammingScan *state = scan->opaque;
	int			words = hamming_words(scan->indexRelation);
	HammingKey	centre = {.tid = 0};

	state->started = true;
	pgstat_count_index_scan(scan->indexRelation);
	count_index_search(scan);
	if (!state->want_values)
		start_nulls(scan);
	else if (ordered)
	{
		simhash_datum_words(scan->orderByData[0].sk_argument, centre.words,
							words);
		state->nearest = hamming_nearest_begin(scan->indexRelation,
											   state->search,
											   centre, state->balls,
											   state->ball_count);
	}
	else if (state->ball_count > 0)
		hamming_search_begin(state->search, state->balls[0].centre,
							 state->balls[0].radius);
	else
		hamming_search_begin(state->search, centre, 64 * words);
}

/* Keep the matches that are in every ball: the search has seen to the first. */
static int
filter_matches(HammingScan *state, int count)
{
	int			kept = 0;
	int			i;

	if (state->ball_count <= 1 || state->in_nulls)
		return count;
	for (i = 0; i < count; i++)
		if (hamming_in_all(&state->matches[i].row, state->balls,
						   state->ball_count))
			state->matches[kept++] = state->matches[i];
	return kept;
}

static bool
next_leaf(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	while (!state->in_nulls || state->want_nulls)
	{
		int			count = hamming_search_next(state->search,
												&state->matches);

		if (count >= 0)
		{
			state->count = filter_matches(state, count);
			state->position = 0;
			return true;
		}
		if (state->in_nulls)
			break;
		start_nulls(scan);
	}
	return false;
}

/*
 * Give the executor the distance of the row: NULL if isnull.  For each further
 * sort key the executor gets 0, a lower bound, and computes the key itself.
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

/* Get the next row.  Return false after the last one. */
static bool
next_row(IndexScanDesc scan, uint64 *tid)
{
	HammingScan *state = scan->opaque;
	int			distance;

	if (state->nearest != NULL)
	{
		if (hamming_nearest_next(state->nearest, tid, &distance))
		{
			store_distance(scan, false, distance);
			return true;
		}
		end_nearest(state);
		start_nulls(scan);
	}
	while (state->position == state->count)
		if (!next_leaf(scan))
			return false;
	store_distance(scan, true, 0);
	*tid = state->matches[state->position++].row.tid;
	return true;
}

/* amgettuple.  Between two calls the scan pins nothing. */
bool
hamming_get_tuple(IndexScanDesc scan, ScanDirection direction)
{
	HammingScan *state = scan->opaque;
	MemoryContext caller = MemoryContextSwitchTo(state->context);
	uint64		tid;
	bool		found;

	/* without a fingerprint to order by, all distances are NULL */
	if (!state->started)
		start_scan(scan, scan->numberOfOrderBys > 0 &&
				   !(scan->orderByData[0].sk_flags & SK_ISNULL));

	/*
	 * The scan holds no lock on the leaf, so that a vacuum may remove an
	 * entry that the scan has seen, and the entry's TID may become that of
	 * another row.  An MVCC snapshot does not see that row.  With another
	 * snapshot the executor must check the conditions again.
	 */
	scan->xs_recheck = state->has_other ||
		!IsMVCCSnapshot(scan->xs_snapshot);
	found = next_row(scan, &tid);
	if (found)
		scan->xs_heaptid = hamming_item_pointer(tid);
	MemoryContextSwitchTo(caller);
	return found;
}

/* amgetbitmap */
int64
hamming_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	HammingScan *state = scan->opaque;
	ItemPointerData tids[HAMMING_MATCHES];
	int64		rows = 0;
	int			i;

	start_scan(scan, false);
	while (next_leaf(scan))
	{
		for (i = 0; i < state->count; i++)
			tids[i] = hamming_item_pointer(state->matches[i].row.tid);
		tbm_add_tuples(bitmap, tids, state->count, state->has_other);
		rows += state->count;
	}
	return rows;
}

/* amendscan */
void
hamming_end_scan(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	end_nearest(state);
	MemoryContextDelete(state->context);
}
