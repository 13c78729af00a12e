/*
 * leaders.c
 *	  Clusters of the partners of their first member, the leader.
 *
 * Fingerprints are partners if they are within the radius and, where there are
 * texts, their texts are alike.  In the order of their numbers, each
 * fingerprint joins the least leader that is its partner, or, if there is none,
 * becomes a leader.  A fingerprint is connected with its leader: so each
 * component of fingerprints within the radius is done by itself.  A large one
 * is divided and conquered by choose_among(), which near/README proves right.
 * Leaders are no partners of each other: so few leaders are near each
 * fingerprint, unless many texts are near and not alike.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/dedup.h"
#include "near/compare.h"
#include "near/progress.h"

/*
 * Up to FEW fingerprints, which must fit uint16, are each compared with the
 * leaders among them.  256, 1024 and 4096 took the same time within 6 %.
 */
#define FEW 1024

typedef struct Leaders
{
	FingerprintList *list;
	int			radius;
	Texts	   *texts;			/* of the numbers; NULL: what is within the
								 * radius is a partner */
	uint32	   *leaders;		/* the leader of each number; the number
								 * itself if it has joined none */
} Leaders;

/* a and b are within the radius.  Are they partners? */
static inline bool
are_alike(const Leaders *l, uint32 a, uint32 b)
{
	return l->texts == NULL || simhash_texts_alike(l->texts, a, b);
}

/* The fingerprints at i and j are within the radius of word 0. */
static inline bool
are_partners(const Leaders *l, uint32 i, uint32 j)
{
	const FingerprintList *list = l->list;
	uint64		difference[HAMMING_MAX_WORDS];

	return fplist_differ(list, i, list, j, 0, difference) <= l->radius &&
		are_alike(l, list->numbers[i], list->numbers[j]);
}

/*
 * On entry components[number] has the set that hamming_connect() made, for each
 * of the numbers 0 .. numbers - 1.  Sort the list by component, and each
 * component by number.  On return components[number] is the least number of its
 * component.
 */
static void
sort_by_component(FingerprintList *list, uint32 numbers, uint32 *components)
{
	uint64	   *words = list->spare;
	uint32	   *places = list->spare_numbers;
	uint32		place = 0;
	uint32		i;

	memset(places, 0, numbers * sizeof(uint32));
	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		words[list->numbers[i]] = list->current[i];
	}
	for (i = 0; i < numbers; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (components[i] == NO_SET)
			continue;
		/* a parent comes before its child, and so has its root by now */
		components[i] = components[components[i]];
		places[components[i]]++;
	}
	for (i = 0; i < numbers; i++)
	{
		uint32		size = places[i];

		CHECK_FOR_INTERRUPTS();
		places[i] = place;
		place += size;
	}
	for (i = 0; i < numbers; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (components[i] == NO_SET)
			continue;
		place = places[components[i]]++;
		list->current[place] = words[i];
		list->numbers[place] = i;
	}
}

/* choose_among() for FEW at most. */
static uint32
choose_among_few(Leaders *l, uint32 from, uint32 to)
{
	FingerprintList *list = l->list;
	uint16		matches[FEW];
	uint32		end = from;
	uint32		i;

	CHECK_FOR_INTERRUPTS();
	for (i = from; i < to; i++)
	{
		uint32		number = list->numbers[i];
		int			count = hamming_match(list->current + from, end - from,
										  list->current[i], Min(l->radius, 64),
										  matches);
		int			match = 0;

		/* leaders ascend by number: the first partner is the least */
		while (match < count && !are_partners(l, from + matches[match], i))
			match++;
		if (match < count)
			l->leaders[number] = list->numbers[from + matches[match]];
		else
			fplist_swap(list, end++, i);
	}
	return end;
}

/* Copy from .. to - 1, as a comparison changes the order. */
static FingerprintList
copy_stretch(const FingerprintList *list, uint32 from, uint32 to)
{
	FingerprintList copy;

	hamming_fplist_allocate_beside(&copy, list, to - from);
	hamming_fplist_copy(&copy, list, from, to);
	return copy;
}

/*
 * end must be at most middle.  Let each fingerprint at middle .. to - 1 join
 * the least leader at from .. end - 1 that is its partner, if any.
 */
static void
join_leaders(Leaders *l, uint32 from, uint32 end, uint32 middle, uint32 to)
{
	FingerprintList leaders = copy_stretch(l->list, from, end);
	FingerprintList others = copy_stretch(l->list, middle, to);
	Comparison *c = hamming_compare_make(&leaders, &others, l->radius);
	Candidates	all = {0, leaders.count, 0, others.count};
	FoundPair	pair;

	hamming_groups_begin(c->groups, &all, NULL);
	while (hamming_compare_next(c, &pair))
	{
		/* before it joins one this is its own number, which is greater */
		uint32	   *leader = &l->leaders[pair.y];

		if (pair.x < *leader && are_alike(l, pair.x, pair.y))
			*leader = pair.x;
	}
	pfree(c->groups);
	pfree(c);
	hamming_fplist_free(&leaders);
	hamming_fplist_free(&others);
}

/*
 * The fingerprints at from .. to - 1 must be of one component, ascend by
 * number, and be no partners of the leaders before from.  Move their leaders to
 * the front, still ascending, and return where the leaders end.  All others
 * join one of these leaders.
 */
static uint32
choose_among(Leaders *l, uint32 from, uint32 to)
{
	FingerprintList *list = l->list;
	uint32		middle = from + (to - from) / 2;
	uint32		end;
	uint32		left;
	uint32		i;

	simhash_progress_share(from, list->count);
	if (to - from <= FEW)
		return choose_among_few(l, from, to);
	end = choose_among(l, from, middle);
	join_leaders(l, from, end, middle, to);
	left = end;
	for (i = middle; i < to; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (l->leaders[list->numbers[i]] == list->numbers[i])
			fplist_swap(list, left++, i);
	}
	return choose_among(l, end, left);
}

/*
 * On entry clusters has the sets that hamming_connect() made within radius; on
 * return, for each number on the list the leader that it has joined, or itself.
 * The order of the list changes.  If texts is not NULL, partners must be alike,
 * too.
 */
void
hamming_choose_leaders(FingerprintList *list, uint32 numbers, int radius,
					   Texts *texts, uint32 *clusters)
{
	Leaders		l = {
		.list = list,.radius = radius,.texts = texts,.leaders = clusters
	};
	uint32		from;
	uint32		end;

	simhash_progress_phase("choosing leaders");
	sort_by_component(list, numbers, clusters);
	for (from = 0; from < list->count; from = end)
	{
		uint32		component = clusters[list->numbers[from]];

		for (end = from; end < list->count &&
			 clusters[list->numbers[end]] == component; end++)
		{
			CHECK_FOR_INTERRUPTS();
			clusters[list->numbers[end]] = list->numbers[end];
		}
		choose_among(&l, from, end);
	}
}
