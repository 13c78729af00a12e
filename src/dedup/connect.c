/*
 * connect.c
 *	  Connect fingerprints by steps within a radius.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "dedup/connect.h"
#include "dedup/join.h"
#include "type/distance_array.h"

/* Fingerprints that are compared in one go. */
#define STRETCH 4096

/*
 * When the fingerprints that are not reached yet have been compared this often
 * each, on average, and are WORTH_MEASURING or more, the ball that holds them
 * is measured again.  That takes about ten comparisons for each.
 */
#define REMEASURE_AFTER 128
#define WORTH_MEASURING 1024

/*
 * From a group of WORTH_SAMPLING on, the sets of MAJORITY_SAMPLE members tell
 * whether one set may have most of the group.
 */
#define WORTH_SAMPLING 128
#define MAJORITY_SAMPLE 8

typedef struct Components
{
	FingerprintList *list;
	uint32	   *parents;
	int			radius;
} Components;

/* A ball that holds those fingerprints of a group that are not reached yet. */
typedef struct Rest
{
	uint64		centre;
	int			radius;
	double		compared;		/* comparisons since the ball was measured */
} Rest;

/* The bits that most fingerprints of a sample have. */
static uint64
find_centre(const uint64 *fps, uint32 count)
{
	uint32		stride = Max(count / 255, 1);
	int			ones[64] = {0};
	uint64		centre = 0;
	int			size = 0;
	uint64		i;				/* may pass the largest count */
	int			bit;

	for (i = 0; i < count; i += stride, size++)
		for (bit = 0; bit < 64; bit++)
			ones[bit] += fps[i] >> bit & 1;
	for (bit = 0; bit < 64; bit++)
		centre |= (uint64) (ones[bit] > size / 2) << bit;
	return centre;
}

static void
measure_rest(Rest *rest, const uint64 *fps, uint32 count)
{
	int64		counts[65] = {0};

	rest->centre = find_centre(fps, count);
	hamming_count(fps, count, rest->centre, counts);
	rest->radius = 64;
	while (counts[rest->radius] == 0)
		rest->radius--;
	rest->compared = 0;
}

/*
 * Connect i with those of reached .. end - 1 that are near it, and move them
 * to the front; returns where the others begin.
 */
static uint32
reach_from(Components *c, uint32 i, uint32 reached, uint32 end)
{
	FingerprintList *list = c->list;
	uint64		centre = list->fps[i];
	uint32		compared;
	uint32		from;

	for (from = reached; from < end; from += compared)
	{
		uint16		matches[STRETCH];
		int			count;
		int			m;

		compared = Min(end - from, STRETCH);
		count = hamming_match(list->fps + from, compared, centre, c->radius,
							  matches);
		for (m = 0; m < count; m++)
		{
			unite_sets(c->parents, list->ids[i], list->ids[from + matches[m]]);
			/* what is moved out of the way was compared already */
			fplist_swap(list, reached++, from + matches[m]);
		}
	}
	return reached;
}

/*
 * Find the set that has most of a sample of the group, which is probably the
 * set of most of the group.  Pairs of members of different sets are struck out
 * of the sample until the members left are of one set (Boyer and Moore 1991).
 * Returns false if less than half of the sample is left.
 */
static bool
find_majority(const Components *c, const Candidates *group, uint32 *majority)
{
	uint32		stride = (group->x_end - group->x) / MAJORITY_SAMPLE;
	uint32		votes = 0;
	int			i;

	for (i = 0; i < MAJORITY_SAMPLE; i++)
	{
		uint32		set = find_set(c->parents, c->list->ids[group->x + i * stride]);

		if (votes == 0)
			*majority = set;
		if (set == *majority)
			votes++;
		else
			votes--;
	}
	return votes >= MAJORITY_SAMPLE / 2;
}

/* Move the members of a set to the front; returns where they end. */
static uint32
gather_set(Components *c, const Candidates *group, uint32 set)
{
	uint32		end = group->x;
	uint32		i;

	for (i = group->x; i < group->x_end; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (find_set(c->parents, c->list->ids[i]) == set)
			fplist_swap(c->list, end++, i);
	}
	return end;
}

/* Connect those from others on with all of the group that are near them. */
static void
connect_others(Components *c, const Candidates *group, uint32 others)
{
	FingerprintList *list = c->list;
	uint32		i;

	for (i = others; i < group->x_end; i++)
	{
		uint32		compared;
		uint32		from;

		for (from = group->x; from < group->x_end; from += compared)
		{
			uint16		matches[STRETCH];
			int			count;
			int			m;

			CHECK_FOR_INTERRUPTS();
			compared = Min(group->x_end - from, STRETCH);
			count = hamming_match(list->fps + from, compared, list->fps[i],
								  c->radius, matches);
			for (m = 0; m < count; m++)
				unite_sets(c->parents, list->ids[i],
						   list->ids[from + matches[m]]);
		}
	}
}

/*
 * Is most of a group one set already?  Then it suffices to compare the others
 * with all, which is done here.
 */
static bool
connect_to_majority(Components *c, const Candidates *group)
{
	uint32		majority;
	uint32		others;

	if (group->x_end - group->x < WORTH_SAMPLING ||
		!find_majority(c, group, &majority))
		return false;
	others = gather_set(c, group, majority);
	if (group->x_end - others >= (others - group->x) / 4)
		return false;
	connect_others(c, group, others);
	return true;
}

/*
 * Find the components within a group.  What is reached is not compared with
 * again, so that the nearer all are to each other the less it takes.  What
 * was reached last goes first: it leads to where nothing is reached yet.
 *
 * By the triangle inequality nothing in a ball is near what is farther from
 * its centre than both radii together.  That tells apart clusters of which
 * each is dense, and too large to be compared with the other.
 */
static void
connect_group(Components *c, const Candidates *group)
{
	FingerprintList *list = c->list;
	Rest		rest = {.radius = 64};
	uint32		reached = group->x;
	uint32		i;

	for (i = group->x; reached < group->x_end; i++)
	{
		uint32		left = group->x_end - reached;

		CHECK_FOR_INTERRUPTS();
		if (i == reached)
			reached++;			/* begins a component */
		fplist_swap(list, i, reached - 1);
		if (left >= WORTH_MEASURING &&
			rest.compared > (double) REMEASURE_AFTER * left)
			measure_rest(&rest, list->fps + reached, group->x_end - reached);
		if (hamming_distance(list->fps[i], rest.centre) >
			rest.radius + c->radius)
			continue;
		rest.compared += left;
		reached = reach_from(c, i, reached, group->x_end);
	}
}

/*
 * The numbers of the list are 0 .. count - 1; parents has room for as many.
 * Changes the order of the list.
 */
void
simhash_connect(FingerprintList *list, int radius, uint32 *parents)
{
	Components	c = {list, parents, radius};
	HammingJoin *join = hamming_join_begin(list, list, radius, parents);
	Candidates	group;
	uint32		i;

	for (i = 0; i < list->count; i++)
		parents[i] = i;
	while (hamming_join_next(join, &group))
		if (!connect_to_majority(&c, &group))
			connect_group(&c, &group);
	pfree(join);
}
