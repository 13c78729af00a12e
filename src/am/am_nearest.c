/*
 * am_nearest.c
 *	  Rows in the order of their distances.
 *
 * A row's rank is its distance and then its TID, in one number.  The search
 * goes in rounds.  Each continues where the last one ended, and finds the
 * next rows by rank: those within a radius, which grows by 4 as long as that
 * reads few pages, and then is as large as can be.
 *
 * A round keeps only so many rows, those of the lowest ranks.  Where it finds
 * more, the next round does, and keeps 16 times as many; when that would take
 * more than work_mem, the last round sorts all the rest, on disk if need be.
 * So the number of rounds within a radius does not depend on that of the rows.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "am/am.h"

#define TID_BITS 48
#define FIRST_CAPACITY 256
#define CAPACITY_GROWTH 16

#define ST_SORT sort_ranks
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) ((*(a) > *(b)) - (*(a) < *(b)))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

struct HammingNearest
{
	uint64		centre;
	const HammingBall *balls;	/* a row is returned if it is in all of them */
	int			ball_count;
	int			limit;			/* no row is farther */
	HammingSearch *search;		/* the round under way; the scan's */
	HammingMatch *matches;		/* room for those of a leaf; the scan's */

	/* the ranks that the rounds so far have not passed: from .. */
	uint64		from;
	int			radius;			/* of the last round, -1 before the first */
	int			capacity;		/* rows that a round keeps */
	uint64	   *ranks;			/* what the last round kept, sorted: room for
								 * twice that */
	int			count;
	int			position;
	Tuplesortstate *sort;		/* the last round, where it sorts */
};

static int
rank_distance(uint64 rank)
{
	return (int) (rank >> TID_BITS);
}

/* Rows at up to this distance have ranks below. */
static uint64
rank_beyond(int distance)
{
	return (uint64) (distance + 1) << TID_BITS;
}

/*
 * Rows that are in all of the balls.
 *
 * By the triangle inequality none is farther from the centre than the centre
 * of a ball is, plus its radius.
 */
HammingNearest *
hamming_nearest_begin(HammingSearch *search, HammingMatch *matches,
					  uint64 centre, const HammingBall *balls, int count)
{
	HammingNearest *nearest = palloc0(sizeof(HammingNearest));
	int			i;

	nearest->search = search;
	nearest->matches = matches;
	nearest->centre = centre;
	nearest->balls = balls;
	nearest->ball_count = count;
	nearest->limit = 64;
	for (i = 0; i < count; i++)
		nearest->limit = Min(nearest->limit,
							 hamming_distance(centre, balls[i].centre) +
							 balls[i].radius);
	nearest->radius = -1;
	nearest->capacity = FIRST_CAPACITY;
	nearest->ranks = palloc(2 * FIRST_CAPACITY * sizeof(uint64));
	return nearest;
}

/* Ranks of the next matches that this round is for; false after the last. */
static bool
next_ranks(HammingNearest *nearest, uint64 *ranks, int *count)
{
	int			found = hamming_search_next(nearest->search, nearest->matches);
	int			i;

	*count = 0;
	for (i = 0; i < found; i++)
	{
		HammingMatch *match = &nearest->matches[i];
		uint64		rank = ((uint64) match->distance << TID_BITS) | match->tid;

		if (rank >= nearest->from &&
			hamming_in_balls(match->fingerprint, nearest->balls,
							 nearest->ball_count))
			ranks[(*count)++] = rank;
	}
	return found >= 0;
}

/* Keep the lowest ranks; returns the one below which all that were are kept. */
static uint64
keep_lowest(HammingNearest *nearest, uint64 bound)
{
	sort_ranks(nearest->ranks, nearest->count);
	if (nearest->count <= nearest->capacity)
		return bound;
	nearest->count = nearest->capacity;
	return nearest->ranks[nearest->capacity];
}

/* Find the next rows within the radius, as many as are kept. */
static void
keep_round(HammingNearest *nearest)
{
	uint64		bound = rank_beyond(nearest->radius);
	uint64		ranks[HAMMING_LEAF_CAPACITY];
	int			count;
	int			i;

	nearest->count = nearest->position = 0;
	while (next_ranks(nearest, ranks, &count))
		for (i = 0; i < count; i++)
		{
			if (ranks[i] >= bound)
				continue;
			nearest->ranks[nearest->count++] = ranks[i];
			if (nearest->count == 2 * nearest->capacity)
			{
				bound = keep_lowest(nearest, bound);
				nearest->search->radius = rank_distance(bound);
			}
		}
	nearest->from = keep_lowest(nearest, bound);
}

/* Sort all of the rows within the radius that are left. */
static void
sort_round(HammingNearest *nearest)
{
	uint64		ranks[HAMMING_LEAF_CAPACITY];
	int			count;
	int			i;

	nearest->count = nearest->position = 0;
	nearest->sort = hamming_sort_begin(work_mem, TUPLESORT_NONE);
	while (next_ranks(nearest, ranks, &count))
		for (i = 0; i < count; i++)
			hamming_sort_put(nearest->sort, hamming_key(ranks[i], 0));
	tuplesort_performsort(nearest->sort);
	nearest->from = rank_beyond(nearest->radius);
}

/*
 * The next radius: 4 more reads nothing in vain, as radii within blocks are
 * then 1 more each; but to read all leaves of one table is better than to
 * read a good part of that in vain.
 */
static int
next_radius(HammingNearest *nearest)
{
	int			radius = nearest->radius + HAMMING_BLOCKS;

	if (radius >= nearest->limit ||
		hamming_plan(nearest->search->leaves, radius).leaves >
		nearest->search->leaves / 8)
		return nearest->limit;
	return radius;
}

/* Start the next round; false if there is none. */
static bool
next_round(HammingNearest *nearest)
{
	Size		size;

	if (nearest->from < rank_beyond(nearest->radius))
	{
		/* there is more than what was kept */
		nearest->capacity *= CAPACITY_GROWTH;
	}
	else if (nearest->radius >= nearest->limit)
		return false;
	else
		nearest->radius = next_radius(nearest);

	hamming_search_begin(nearest->search, nearest->centre, nearest->radius);
	size = 2 * nearest->capacity * sizeof(uint64);
	if (size > Min(work_mem * (Size) 1024, MaxAllocSize))
		sort_round(nearest);
	else
	{
		nearest->ranks = repalloc(nearest->ranks, size);
		keep_round(nearest);
	}
	hamming_search_end(nearest->search);
	return true;
}

/* The rank of the next row. */
static bool
next_rank(HammingNearest *nearest, uint64 *rank)
{
	HammingKey	key;

	if (nearest->position < nearest->count)
	{
		*rank = nearest->ranks[nearest->position++];
		return true;
	}
	if (nearest->sort == NULL)
		return false;
	if (hamming_sort_get(nearest->sort, &key))
	{
		*rank = key.bits;
		return true;
	}
	tuplesort_end(nearest->sort);
	nearest->sort = NULL;
	return false;
}

/* The next row; false after the last. */
bool
hamming_nearest_next(HammingNearest *nearest, uint64 *tid, int *distance)
{
	uint64		rank;

	while (!next_rank(nearest, &rank))
		if (!next_round(nearest))
			return false;
	*tid = rank & ((UINT64CONST(1) << TID_BITS) - 1);
	*distance = rank_distance(rank);
	return true;
}

/* Release what is not memory of the current context. */
void
hamming_nearest_end(HammingNearest *nearest)
{
	hamming_search_end(nearest->search);
	if (nearest->sort != NULL)
		tuplesort_end(nearest->sort);
}
