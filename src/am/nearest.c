/*
 * nearest.c
 *	  Rows in the order of their distances.
 *
 * A row's rank is a number: the row's distance, and below it the row's TID.
 * Rows are found in rounds, in the order of their ranks.  A round is a search
 * within a radius.  A round returns the rows from the rank on at which the
 * round before ended.  The radius grows from round to round as long as a search
 * reads few leaves, and then becomes as large as can be.
 *
 * A round sorts the rows that it finds, and keeps the rows of the capacity
 * lowest ranks.  Where a round finds more rows, the next round has the same
 * radius, and its capacity is CAPACITY_GROWTH times as large.  Where a capacity
 * would take more than work_mem, a last round keeps all rows that are left, on
 * disk if need be.  So the number of rounds within a radius depends on
 * work_mem, and not on the number of rows: four rounds with 4 MB.
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/tuplesort.h"

#include "am/am.h"

#define TID_BITS 48				/* of a rank; the distance is above them */

/*
 * The first round keeps more rows than most queries want.  The factor is large,
 * as each round reads again what the ones before it have read.
 */
#define FIRST_CAPACITY 256
#define CAPACITY_GROWTH 16

/*
 * A radius is searched by itself only if that is expected to read at most this
 * fraction of a tree's leaves.  What such rounds read is in vain if the rows
 * that are wanted are farther.
 *
 * Let tree 0 have L leaves, up to 2^32, and let at least 3 of 10 rows have a
 * fingerprint of their own.  By the expectation of hamming_plan(), all such
 * rounds together read fewer than L / 4 leaves: each radius takes several times
 * the leaves of the radius before.
 */
#define MAX_FRACTION (1.0 / 8)

struct HammingNearest
{
	HammingKey	centre;
	const HammingKeyBall *balls;	/* a row is returned if it is in all of
									 * them */
	int			ball_count;
	int			limit;			/* no row that is returned is farther */
	Relation	index;
	HammingSearch *search;		/* of the round under way; the scan's */

	uint64		from;			/* rows below this rank have been found */
	int			radius;			/* of the last round; -1 before the first */
	int64		capacity;		/* rows that a round keeps */
	Tuplesortstate *sort;		/* ranks that the last round found, or NULL */
	int64		left;			/* to be returned of these, from the least on */
	bool		dropped;		/* has it found more than it keeps? */
};

/*
 * Prepare to return the rows that are in all of count balls, by their distance
 * from the centre.  search and balls must stay until hamming_nearest_end().
 *
 * By the triangle inequality no row in a ball is farther from the centre than
 * the ball's centre is, plus the ball's radius.
 */
HammingNearest *
hamming_nearest_begin(Relation index, HammingSearch *search,
					  HammingKey centre, const HammingKeyBall *balls, int count)
{
	HammingNearest *nearest = palloc0(sizeof(HammingNearest));
	int			i;

	nearest->index = index;
	nearest->search = search;
	nearest->centre = centre;
	nearest->balls = balls;
	nearest->ball_count = count;
	nearest->limit = 64 * hamming_words(index);
	for (i = 0; i < count; i++)
		nearest->limit = Min(nearest->limit,
							 hamming_key_distance(&centre, &balls[i].centre) +
							 balls[i].radius);
	nearest->radius = -1;
	nearest->capacity = FIRST_CAPACITY;
	return nearest;
}

/*
 * Find the rows within the radius, from nearest->from on, and sort their ranks.
 * Only the capacity lowest ranks are wanted.  When capacity rows have been
 * found within a smaller radius, the search goes on within the smaller radius.
 */
static void
sort_round(HammingNearest *nearest)
{
	int64		found[64 * HAMMING_MAX_WORDS + 1] = {0};	/* by distance */
	int64		within = 0;		/* found within the radius */
	int			radius = nearest->radius;
	uint64		greatest = 0;	/* rank in the sort */
	HammingMatch *match;
	int			matches;

	nearest->left = 0;
	nearest->dropped = false;
	while ((matches = hamming_search_next(nearest->search, &match)) >= 0)
	{
		for (; matches > 0; matches--, match++)
		{
			uint64		rank = ((uint64) match->distance << TID_BITS) |
			match->row.tid;

			if (rank < nearest->from || match->distance > radius ||
				!hamming_in_all(&match->row, nearest->balls,
								nearest->ball_count))
				continue;

			/*
			 * Rows of one fingerprint come in the order of ranks, so most are
			 * dropped here: with 100,000 duplicates near the query this saves
			 * 40 % of the time.
			 */
			if (nearest->left >= nearest->capacity && rank > greatest)
			{
				nearest->dropped = true;
				continue;
			}
			greatest = Max(greatest, rank);
			tuplesort_putdatum(nearest->sort, Int64GetDatum(rank), false);
			nearest->left++;
			found[match->distance]++;
			within++;
		}
		while (within - found[radius] >= nearest->capacity)
		{
			/* rows that the search has yet to come to are dropped */
			nearest->dropped = true;
			within -= found[radius--];
		}
		hamming_search_lower_radius(nearest->search, radius);
	}
	tuplesort_performsort(nearest->sort);
	nearest->dropped |= nearest->left > nearest->capacity;
	nearest->left = Min(nearest->left, nearest->capacity);
}

/*
 * Return the radius of the next round: greater by the number of block trees, or
 * nearest->limit.  So the radii of the blocks grow by about 1 each.  With a
 * smaller step a round would search blocks again whose radius has not grown.
 */
static int
next_radius(HammingNearest *nearest)
{
	HammingLayout layout = hamming_layout(nearest->index);
	int			radius = nearest->radius + layout.words * layout.blocks;
	const HammingShape *shapes = hamming_measure(nearest->index);

	if (radius >= nearest->limit ||
		hamming_plan(layout, shapes, radius).leaves >
		MAX_FRACTION * shapes[0].leaves)
		return nearest->limit;
	return radius;
}

/* Find the rows of the next round.  Returns false after the last one. */
static bool
next_round(HammingNearest *nearest)
{
	if (nearest->dropped)
		nearest->capacity *= CAPACITY_GROWTH;
	else if (nearest->radius >= nearest->limit)
		return false;
	else
	{
		nearest->from = (uint64) (nearest->radius + 1) << TID_BITS;
		nearest->radius = next_radius(nearest);
	}
	/* a bounded sort holds up to twice its bound in memory, 24 bytes each */
	if (nearest->capacity > work_mem * (int64) 1024 / 48)
		nearest->capacity = PG_INT64_MAX;

	hamming_search_begin(nearest->search, nearest->centre, nearest->radius);
	nearest->sort = tuplesort_begin_datum(INT8OID, Int8LessOperator,
										  InvalidOid, false, work_mem, NULL,
										  TUPLESORT_ALLOWBOUNDED);
	if (nearest->capacity < PG_INT64_MAX)
		tuplesort_set_bound(nearest->sort, nearest->capacity);
	sort_round(nearest);
	return true;
}

/* Get the next rank that the last round keeps; false after the last one. */
static bool
next_rank(HammingNearest *nearest, uint64 *rank)
{
	Datum		datum;
	bool		isnull;

	if (nearest->left > 0)
	{
		nearest->left--;
		tuplesort_getdatum(nearest->sort, true, true, &datum, &isnull, NULL);
		*rank = DatumGetInt64(datum);
		nearest->from = *rank + 1;
		return true;
	}
	if (nearest->sort != NULL)
		tuplesort_end(nearest->sort);
	nearest->sort = NULL;
	return false;
}

/* Get the next row.  Returns false after the last. */
bool
hamming_nearest_next(HammingNearest *nearest, uint64 *tid, int *distance)
{
	uint64		rank;

	while (!next_rank(nearest, &rank))
		if (!next_round(nearest))
			return false;
	*tid = rank & ((UINT64CONST(1) << TID_BITS) - 1);
	*distance = (int) (rank >> TID_BITS);
	return true;
}

void
hamming_nearest_end(HammingNearest *nearest)
{
	if (nearest->sort != NULL)
		tuplesort_end(nearest->sort);
	pfree(nearest);
}
