/*
 * leaders.c
 *	  Clusters of what is near to their first member, the leader.
 *
 * In the order of their numbers, each fingerprint joins the least leader
 * within the radius, or, if there is none, becomes a leader.  Whoever joins a
 * leader is connected with it, so that this is done in each connected
 * component by itself; most are small.  In a large one the first half is done
 * first; then a join finds the leaders of what is in the second half, and
 * what has found none is done by itself.
 *
 * Leaders are farther than the radius from each other.  So however many
 * fingerprints there are, few leaders are near each.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/leaders.h"
#include "type/distance_array.h"
#include "dedup/join_pairs.h"

/* As many are compared each with each. */
#define FEW 1024

typedef struct Leaders
{
	FingerprintList *list;
	int			radius;
	uint32	   *leaders;		/* of each number; itself if it has none yet */
	/* what the joins in the component that begins at start need */
	uint32		start;
	uint64	   *spare_fps;
	uint32	   *spare_ids;
} Leaders;

/*
 * Sort the list by component, and then by number; components has the least
 * number of each.
 */
static void
sort_by_component(FingerprintList *list, uint32 *components)
{
	uint64	   *fps = list->spare_fps;
	uint32	   *places = list->spare_ids;
	uint32		place = 0;
	uint32		i;

	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fps[list->ids[i]] = list->fps[i];
		places[i] = 0;
	}
	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		/* what comes before is flat already */
		components[i] = components[components[i]];
		places[components[i]]++;
	}
	for (i = 0; i < list->count; i++)
	{
		uint32		size = places[i];

		places[i] = place;
		place += size;
	}
	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		place = places[components[i]]++;
		list->fps[place] = fps[i];
		list->ids[place] = i;
	}
}

/* Does it join one of the leaders at from .. to - 1? */
static bool
join_leader(Leaders *l, uint32 i, uint32 from, uint32 to)
{
	FingerprintList *list = l->list;
	uint16		matches[FEW];

	/* the first to match is the least */
	if (hamming_match(list->fps + from, to - from, list->fps[i], l->radius,
					  matches) == 0)
		return false;
	l->leaders[list->ids[i]] = list->ids[from + matches[0]];
	return true;
}

/*
 * Choose among from .. to - 1, which are few, comparing each with each; move
 * the leaders to the front, and return where they end.
 */
static uint32
choose_among_few(Leaders *l, uint32 from, uint32 to)
{
	FingerprintList *list = l->list;
	uint32		end = from;
	uint32		i;

	CHECK_FOR_INTERRUPTS();
	for (i = from; i < to; i++)
		if (!join_leader(l, i, from, end))
			fplist_swap(list, end++, i);
	return end;
}

/* A stretch of the list, copied: a join would change its order. */
static FingerprintList
copy_stretch(Leaders *l, uint32 from, uint32 to)
{
	FingerprintList *list = l->list;
	FingerprintList copy = {.fps = list->spare_fps + from,
		.ids = list->spare_ids + from,
		.count = to - from,
		.spare_fps = l->spare_fps + (from - l->start),
	.spare_ids = l->spare_ids + (from - l->start)};

	memcpy(copy.fps, list->fps + from, copy.count * sizeof(uint64));
	memcpy(copy.ids, list->ids + from, copy.count * sizeof(uint32));
	return copy;
}

/* Let those at middle .. to - 1 join the leaders at from .. end - 1. */
static void
join_leaders(Leaders *l, uint32 from, uint32 end, uint32 middle, uint32 to)
{
	FingerprintList leaders = copy_stretch(l, from, end);
	FingerprintList others = copy_stretch(l, middle, to);
	JoinPairs  *near = hamming_join_pairs_begin(&leaders, &others, l->radius);
	uint32		x;
	uint32		y;

	while (hamming_join_pairs_next(near, &x, &y))
	{
		/* as long as there is none it is the fingerprint itself, a later one */
		uint32	   *leader = &l->leaders[others.ids[y]];

		*leader = Min(*leader, leaders.ids[x]);
	}
	hamming_join_pairs_end(near);
}

/*
 * Choose among from .. to - 1; move the leaders to the front, and return
 * where they end.
 */
static uint32
choose_among(Leaders *l, uint32 from, uint32 to)
{
	FingerprintList *list = l->list;
	uint32		middle = from + (to - from) / 2;
	uint32		end;
	uint32		left;
	uint32		i;

	if (to - from <= FEW)
		return choose_among_few(l, from, to);
	end = choose_among(l, from, middle);
	join_leaders(l, from, end, middle, to);
	left = end;
	for (i = middle; i < to; i++)
		if (l->leaders[list->ids[i]] == list->ids[i])
			fplist_swap(list, left++, i);
	return choose_among(l, end, left);
}

/* Choose in a component. */
static void
choose_in_component(Leaders *l, uint32 from, uint32 to)
{
	Size		size = to - from;

	l->start = from;
	if (size > FEW)
	{
		l->spare_fps = palloc_extended(size * sizeof(uint64), MCXT_ALLOC_HUGE);
		l->spare_ids = palloc_extended(size * sizeof(uint32), MCXT_ALLOC_HUGE);
	}
	choose_among(l, from, to);
	if (size > FEW)
	{
		pfree(l->spare_fps);
		pfree(l->spare_ids);
	}
}

/*
 * clusters has the least number of each connected component, and gets the
 * number of each one's leader.  Changes the order of the list.
 */
void
simhash_choose_leaders(FingerprintList *list, int radius, uint32 *clusters)
{
	Leaders		l = {.list = list,.radius = radius,.leaders = clusters};
	uint32		from;
	uint32		to;

	sort_by_component(list, clusters);
	for (from = 0; from < list->count; from = to)
	{
		uint32		component = clusters[list->ids[from]];

		for (to = from;
			 to < list->count && clusters[list->ids[to]] == component; to++)
			clusters[list->ids[to]] = list->ids[to];
		choose_in_component(&l, from, to);
	}
}
