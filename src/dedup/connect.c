/*
 * connect.c
 *	  Connect fingerprints by steps within a radius.
 *
 * near/README proves that all that should be united are.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "dedup/dedup.h"
#include "near/compare.h"
#include "near/sets.h"

/*
 * To measure the ball around the rest of a group (see connect_stretch()) costs
 * about ten comparisons for each of the rest: less than a tenth of the time
 * after REMEASURE_AFTER for each.
 */
#define REMEASURE_AFTER 128
#define WORTH_MEASURING 1024

/*
 * The sets of MAJORITY_SAMPLE members show whether a set may have most of a
 * group of WORTH_SAMPLING members or more.
 */
#define WORTH_SAMPLING 128
#define MAJORITY_SAMPLE 8

/*
 * A set has most of a group if the group has more than MAJORITY_RATIO members
 * of the set for each other fingerprint.  connect_to_majority() compares each
 * of these others with all of the group, but connect_stretch() with the rest
 * only.
 */
#define MAJORITY_RATIO 4

/*
 * A ball that holds the words of the fingerprints of a group that are not
 * reached yet.
 */
typedef struct Rest
{
	uint64		centre;
	int			radius;			/* 64 while it is not measured */
	double		compared;		/* comparisons since the ball was measured */
} Rest;

/* Return the bits that more than half of a sample of the words have. */
static uint64
find_centre(const uint64 *words, uint32 count)
{
	uint32		stride = Max(count / 255, 1);
	int			ones[64] = {0};
	uint64		centre = 0;
	int			size = 0;
	uint64		i;				/* may pass the largest count */
	int			bit;

	for (i = 0; i < count; i += stride, size++)
		for (bit = 0; bit < 64; bit++)
			ones[bit] += words[i] >> bit & 1;
	for (bit = 0; bit < 64; bit++)
		centre |= (uint64) (ones[bit] > size / 2) << bit;
	return centre;
}

/* count must be above 0.  Measure the ball of the rest, words[0 .. count). */
static void
measure_rest(Rest *rest, const uint64 *words, uint32 count)
{
	uint32		i;

	rest->centre = find_centre(words, count);
	rest->radius = 0;
	for (i = 0; i < count; i++)
		rest->radius = Max(rest->radius,
						   words_distance(&words[i], &rest->centre, 1));
	rest->compared = 0;
}

/*
 * The fingerprints at i and j are within the radius of the current word.  Unite
 * them, if they are within the radius, and their texts alike.  Return whether
 * they are in one set then.
 *
 * Texts that are not alike are compared once: a pair that was among the
 * candidates before, and is not in one set, was found not alike then.
 */
static bool
connect_pair(NearGroups *groups, uint32 i, uint32 j)
{
	const FingerprintList *list = groups->lists.x;
	uint32	   *sets = groups->lists.sets;
	uint32		a = list->numbers[i];
	uint32		b = list->numbers[j];

	if (groups->texts != NULL || groups->word_count > 1)
	{
		uint64		difference[HAMMING_MAX_WORDS];

		if (find_set(sets, a) == find_set(sets, b))
			return true;
		if (fplist_differ(list, i, list, j, current_word(groups), difference) >
			groups->radius)
			return false;
		if (groups->texts != NULL &&
			(!hamming_groups_is_first(groups, difference) ||
			 !simhash_texts_alike(groups->texts, a, b)))
			return false;
	}
	unite_sets(sets, a, b);
	return true;
}

/*
 * Unite the fingerprint at i with its matches at reached .. end - 1, and move
 * these to the front.  Return where the others begin.
 */
static uint32
reach_from(NearGroups *groups, uint32 i, uint32 reached, uint32 end)
{
	FingerprintList *list = groups->lists.x;
	Matches		matches;
	uint32		place;

	matches_begin(&matches, list, reached, end, list->current[i],
				  current_radius(groups));
	while (matches_next(&matches, &place))
	{
		/* what this moves to place was compared already, or is the match */
		if (connect_pair(groups, i, place))
			fplist_swap(list, reached++, place);
	}
	return reached;
}

/*
 * Find the set that has most of a sample of the group, by voting (Boyer and
 * Moore 1991).  Return false if less than half of the votes are left.
 */
static bool
find_majority(const NearGroups *groups, const Candidates *group,
			  uint32 *majority)
{
	uint64		x_size = group->x_end - group->x;
	uint64		y_size = group->y_end - group->y;
	uint32		votes = 0;
	int			i;

	for (i = 0; i < MAJORITY_SAMPLE; i++)
	{
		uint32		place = i % 2 == 0 ? group->x + x_size * i / MAJORITY_SAMPLE
		: group->y + y_size * i / MAJORITY_SAMPLE;
		uint32		set = find_set(groups->lists.sets,
								   groups->lists.x->numbers[place]);

		if (votes == 0)
			*majority = set;
		votes += set == *majority ? 1 : -1;
	}
	return votes >= MAJORITY_SAMPLE / 2;
}

/*
 * Move the members of set among from .. end - 1 to the front; return where the
 * others begin.
 */
static uint32
gather_set(NearGroups *groups, uint32 from, uint32 end, uint32 set)
{
	uint32		others = from;
	uint32		i;

	for (i = from; i < end; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (find_set(groups->lists.sets, groups->lists.x->numbers[i]) == set)
			fplist_swap(groups->lists.x, others++, i);
	}
	return others;
}

/* Unite what stands at a .. a_end - 1 with its matches at b .. b_end - 1. */
static void
connect_stretches(NearGroups *groups, uint32 a, uint32 a_end, uint32 b,
				  uint32 b_end)
{
	FingerprintList *list = groups->lists.x;

	for (; a < a_end; a++)
	{
		Matches		matches;
		uint32		place;

		matches_begin(&matches, list, b, b_end, list->current[a],
					  current_radius(groups));
		while (matches_next(&matches, &place))
			connect_pair(groups, a, place);
	}
}

/*
 * If one set has most of the group, compare only the others, each with all of
 * the group that may be its partner.  Return true then.  Where most
 * fingerprints are connected, each with few others, all takes half as long.
 */
static bool
connect_to_majority(NearGroups *groups, const Candidates *group)
{
	bool		is_one = group->x == group->y;
	uint32		size = group->x_end - group->x;
	uint32		majority;
	uint32		x_others;
	uint32		y_others;
	uint32		others;

	if (!is_one)
		size += group->y_end - group->y;
	if (size < WORTH_SAMPLING || !find_majority(groups, group, &majority))
		return false;
	x_others = gather_set(groups, group->x, group->x_end, majority);
	y_others = is_one ? group->y_end
		: gather_set(groups, group->y, group->y_end, majority);
	others = group->x_end - x_others + group->y_end - y_others;
	if (others >= (size - others) / MAJORITY_RATIO)
		return false;
	connect_stretches(groups, x_others, group->x_end, group->y, group->y_end);
	connect_stretches(groups, y_others, group->y_end, group->x, x_others);
	return true;
}

/*
 * Unite all at from .. end - 1 that are within the radius of each other.
 *
 * What is done stands before i, what is reached and not done from i on, and
 * the rest from reached on.  What was reached last is compared first, as it
 * leads to where nothing is reached yet.
 *
 * A fingerprint that is farther from the centre of the ball than both radii
 * together is near nothing in the ball, by the triangle inequality, and is
 * skipped: the rest only shrinks.  Without the ball, two large dense clusters
 * that no cut divides would be compared with each other: two of 100,000
 * fingerprints took 18 times as long within 12 to 20.
 */
static void
connect_stretch(NearGroups *groups, uint32 from, uint32 end)
{
	FingerprintList *list = groups->lists.x;
	Rest		rest = {.radius = 64};
	uint32		reached = from;
	uint32		i;

	for (i = from; reached < end; i++)
	{
		uint32		left = end - reached;

		CHECK_FOR_INTERRUPTS();
		if (i == reached)
			reached++;			/* begins a component of the stretch */
		fplist_swap(list, i, reached - 1);
		if (left >= WORTH_MEASURING &&
			rest.compared > (double) REMEASURE_AFTER * left)
			measure_rest(&rest, list->current + reached, end - reached);
		if (pg_popcount64(list->current[i] ^ rest.centre) >
			rest.radius + current_radius(groups))
			continue;
		rest.compared += left;
		reached = reach_from(groups, i, reached, end);
	}
}

/* Unite all pairs of the group that are within the radius of each other. */
static void
connect_group(NearGroups *groups, const Candidates *group)
{
	if (connect_to_majority(groups, group))
		return;
	if (group->x == group->y)
		connect_stretch(groups, group->x, group->x_end);
	else if (group->x_end - group->x < group->y_end - group->y)
		connect_stretches(groups, group->x, group->x_end, group->y,
						  group->y_end);
	else
		connect_stretches(groups, group->y, group->y_end, group->x,
						  group->x_end);
}

/* Together.take. */
static void
connect_candidates(Together *together, NearGroups *groups)
{
	Candidates	group;

	while (hamming_groups_next(groups, &group))
		connect_group(groups, &group);
}

/*
 * The numbers of the list must be below that count.  Let a team connect the
 * list, if that is worth it, and move the list to the team's memory.  Else
 * return NULL.
 */
Together *
hamming_connect_begin(FingerprintList *list, uint32 numbers, int radius)
{
	SearchOptions options = {
		.radius = radius,.word_count = list->word_count,.has_sets = true,
		.capacity = numbers
	};
	double		count = list->count;
	int			workers =
	simhash_team_workers(hamming_near_cost(list->word_count, count, count,
										   radius), 0);
	Together   *together = workers == 0 ? NULL
	: hamming_together_begin(&options);

	if (together == NULL)
		return NULL;
	hamming_fplist_bring(&together->list, list, numbers);
	hamming_fplist_free(list);
	*list = together->list;
	list->team = together->team;
	together->take = connect_candidates;
	simhash_team_launch(together->team, CppAsString2(hamming_connect_main),
						workers);
	return together;
}

/* What a worker does: PostgreSQL finds this function by its name. */
void
hamming_connect_main(dsm_segment *segment, shm_toc *toc)
{
	Together   *together = hamming_together_attach(toc);

	together->take = connect_candidates;
	simhash_team_serve(together->team);
	simhash_team_end(together->team);
}

/*
 * The list must have numbers below that count, each once at most.  Return sets
 * of these (see sets.h): two numbers share one if and only if steps of at most
 * radius lead from one fingerprint to the other.  A number that is not on the
 * list has NO_SET there.  The order of the list changes.  If together is not
 * NULL, its team connects the list, and the sets are its own.
 *
 * If texts is not NULL, which has those of the numbers, the texts of each step
 * must be alike.  Then together must be NULL.
 */
uint32 *
hamming_connect(FingerprintList *list, uint32 numbers, int radius,
				Together *together, Texts *texts)
{
	Size		size = numbers * sizeof(uint32);
	uint32	   *sets = together != NULL ? together->sets
	: palloc_extended(size, MCXT_ALLOC_HUGE);
	NearGroups *groups;
	Candidates	all = {0, list->count, 0, list->count};
	uint32		i;

	memset(sets, 0xFF, size);
	for (i = 0; i < list->count; i++)
		sets[list->numbers[i]] = list->numbers[i];
	Assert(together == NULL || texts == NULL);
	if (together != NULL)
	{
		together->list.count = list->count;
		hamming_together_search(together, &all, 1);
		return sets;
	}
	groups = hamming_groups_make(list, list, radius);
	groups->lists.sets = sets;
	groups->texts = texts;
	groups->done_here = 1;
	hamming_groups_begin(groups, &all, NULL);
	connect_candidates(NULL, groups);
	pfree(groups);
	return sets;
}
