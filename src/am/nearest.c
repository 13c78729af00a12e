/*
 * nearest.c
 *	  Rows in the order of their distances.
 *
 * A row's rank is a number: the row's distance, and below it the row's TID.
 * Rows are found in rounds, in the order of their ranks.  A round is a search
 * within a radius, and returns the rows from the rank on at which the round
 * before ended.  The radius grows from round to round as long as a search reads
 * few leaves, and then becomes as large as can be.
 *
 * A round sorts the rows that it finds, and keeps the capacity lowest ranks.
 * Where it finds more, the next round has the same radius, and CAPACITY_GROWTH
 * times the capacity.  Where that would take more than work_mem, a last round
 * keeps all rows that are left, on disk if need be.  So the number of rounds
 * within a radius depends on work_mem alone: four with 4 MB.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "am/sort.h"

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
	uint64		end;			/* and rows from this one on are dropped */
	int			radius;			/* of the last round; -1 before the first */
	Size		capacity;		/* rows that a round keeps */
	HammingSorter *sorter;		/* ranks that the last round found, or NULL */
	bool		dropped;		/* has it found more than it keeps? */
};

/*
 * Prepare to return the rows that are in all of count balls, by their distance
 * from the centre.  search and balls must stay until hamming_nearest_end().  By
 * the triangle inequality no row in a ball is farther from the centre than the
 * ball's centre is, plus the ball's radius.
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

/* Sort the ranks, and drop all but the capacity lowest ones. */
static void
keep_lowest(HammingNearest *nearest)
{
	HammingSorter *sorter = nearest->sorter;

	hamming_sorter_finish(sorter);
	if (sorter->runs != NIL || sorter->count <= nearest->capacity)
		return;
	sorter->count = nearest->capacity;
	hamming_sorter_rewind(sorter, 0, 0);
	nearest->dropped = true;
	nearest->end = sorter->words[sorter->count - 1];
	hamming_search_lower_radius(nearest->search,
								(int) (nearest->end >> TID_BITS));
}

/* Find the rows within the radius, from nearest->from on. */
static void
find_rows(HammingNearest *nearest)
{
	HammingMatch *match;
	int			matches;

	nearest->dropped = false;
	nearest->end = PG_UINT64_MAX;
	while ((matches = hamming_search_next(nearest->search, &match)) >= 0)
		for (; matches > 0; matches--, match++)
		{
			uint64		rank = ((uint64) match->distance << TID_BITS) |
			match->row.tid;

			if (rank < nearest->from || rank >= nearest->end ||
				!hamming_in_all(&match->row, nearest->balls,
								nearest->ball_count))
				continue;
			hamming_sorter_add_key(nearest->sorter, hamming_word_key(rank));
			if (nearest->sorter->count == 2 * nearest->capacity)
				keep_lowest(nearest);
		}
	keep_lowest(nearest);
}

/*
 * Return the radius of the next round: greater by the number of block trees, so
 * that the radii of the blocks grow by about 1 each, or nearest->limit.  With a
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

/* Find the rows of the next round.  Return false after the last one. */
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
	/* a round keeps up to 2 * capacity ranks, of 8 bytes; a sort takes more */
	if (nearest->capacity > work_mem * (Size) 1024 / 24)
		nearest->capacity = SIZE_MAX / 2;

	hamming_search_begin(nearest->search, nearest->centre, nearest->radius);
	if (nearest->sorter != NULL)
		hamming_sorter_end(nearest->sorter);
	nearest->sorter = hamming_sorter_begin(1, false, work_mem);
	find_rows(nearest);
	return true;
}

bool
hamming_nearest_next(HammingNearest *nearest, uint64 *tid, int *distance)
{
	HammingKey	rank;

	while (nearest->sorter == NULL ||
		   !hamming_sorter_next_key(nearest->sorter, &rank))
		if (!next_round(nearest))
			return false;
	nearest->from = rank.words[0] + 1;
	*tid = rank.words[0] & ((UINT64CONST(1) << TID_BITS) - 1);
	*distance = (int) (rank.words[0] >> TID_BITS);
	return true;
}

void
hamming_nearest_end(HammingNearest *nearest)
{
	if (nearest->sorter != NULL)
		hamming_sorter_end(nearest->sorter);
	pfree(nearest);
}
