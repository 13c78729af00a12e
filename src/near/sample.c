/*
 * sample.c
 *	  What a group of fingerprints is like: which of its pairs need a
 *	  comparison, and how much its bits tell.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "near/groups.h"
#include "near/sets.h"

/* Pairs that show how much the bits vary: 64 took the same time, and 1024. */
#define SAMPLE_SIZE 256

/*
 * A group of fewer than WORTH_ASKING pairs is compared sooner than its sets are
 * looked up, which may be anywhere in memory.
 */
#define WORTH_ASKING 64

/* Return what sorting a group by one segment takes, in comparisons. */
double
hamming_group_sort_cost(const NearLists *lists, const Candidates *group)
{
	double		x = group->x_end - group->x;
	double		y = is_one_stretch(lists, group) ? 0 : group->y_end - group->y;

	return (x + y) * hamming_comparisons();
}

/* Return a word of the fingerprint at place i: the current one for -1. */
static inline uint64
word_at(const FingerprintList *list, uint32 i, int word)
{
	return word < 0 ? list->current[i] : list->words[word][list->numbers[i]];
}

/* Return the bits in which from .. end - 1 of the list differ from one. */
static uint64
find_varying(const FingerprintList *list, uint32 from, uint32 end, int word,
			 uint64 one)
{
	uint64		varying = 0;

	if (word < 0)
		for (; from < end; from++)
			varying |= list->current[from] ^ one;
	for (; from < end; from++)
	{
		CHECK_FOR_INTERRUPTS();
		varying |= word_at(list, from, word) ^ one;
	}
	return varying;
}

/*
 * Does the pair of the fingerprints at x of lists->x and at y of lists->y
 * need no comparison, as both are in one set, or as x is settled?
 */
static inline bool
is_left_out(const NearLists *lists, uint32 x, uint32 y)
{
	uint32	   *sets = lists->sets;

	if (lists->settled != NULL)
		return lists->settled[lists->x->numbers[x]];
	return sets != NULL && find_set(sets, lists->x->numbers[x]) ==
		find_set(sets, lists->y->numbers[y]);
}

/*
 * Set *x and *y to the places of pair i of SAMPLE_SIZE.  Return false if it
 * needs no comparison.
 */
static bool
sample_pair(const NearLists *lists, const Candidates *group, int i, uint32 *x,
			uint32 *y)
{
	uint64		x_size = group->x_end - group->x;
	uint32		y_size = group->y_end - group->y;

	/*
	 * Both are spread evenly, in unrelated orders.  The factor is a prime
	 * near 2^32 over the golden ratio, as in Knuth's multiplicative hashing.
	 */
	*x = group->x + (uint32) (x_size * i / SAMPLE_SIZE);
	*y = group->y + (i * UINT64CONST(2654435761)) % y_size;
	/* within one stretch, a fingerprint may meet itself: that is no pair */
	return !(is_one_stretch(lists, group) && *x == *y) &&
		!is_left_out(lists, *x, *y);
}

/*
 * Return the bits of a word, or of the current one for -1, that are not the
 * same in all of a group.
 */
uint64
hamming_group_varying(const NearLists *lists, const Candidates *group, int word)
{
	uint64		one = word_at(lists->x, group->x, word);
	uint64		varying = find_varying(lists->x, group->x, group->x_end, word,
									   one);

	if (!is_one_stretch(lists, group))
		varying |= find_varying(lists->y, group->y, group->y_end, word, one);
	return varying;
}

/*
 * Set the shape of a word of a group, or of the current one for -1.  varying
 * has its bits that are not the same in all of the group, but for those in
 * which all of its pairs differ.
 *
 * Measure by a sample which part of the pairs needs a comparison, above 0,
 * which of these is within each radius, and the information of each bit: of n
 * bits of information, one pair in 2^n agrees in the bit.  A bit has some if
 * and only if it varies.
 */
void
hamming_group_measure(const NearLists *lists, const Candidates *group, int word,
					  uint64 varying, GroupShape *shape)
{
	double		pairs = number_of_pairs(lists, group);
	int			differ[64] = {0};
	int			needed = 0;
	int			within = 0;
	int			at[65] = {0};	/* pairs, by distance */
	int			bit;
	int			i;

	for (i = 0; i < SAMPLE_SIZE; i++)
	{
		uint64		difference;
		uint32		x;
		uint32		y;

		if (!sample_pair(lists, group, i, &x, &y))
			continue;
		difference = word_at(lists->x, x, word) ^ word_at(lists->y, y, word);
		needed++;
		at[pg_popcount64(difference & varying)]++;
		for (bit = 0; bit < 64; bit++)
			differ[bit] += difference >> bit & 1;
	}
	for (bit = 0; bit < 64; bit++)
	{
		/* none in the sample is not none at all: so count half a pair more */
		double		agree = (needed - differ[bit] + 0.5) / (needed + 0.5);

		shape->information[bit] = varying >> bit & 1
			? Max(-log2(agree), 1e-3) : 0;
	}
	for (i = 0; i < 65; i++)
	{
		within += at[i];
		shape->within[i] = pairs * within / SAMPLE_SIZE;
	}
	shape->pairs = pairs * Max(needed, 0.5) / SAMPLE_SIZE;
	shape->word_count = lists->x->word_count;
	shape->varying = varying;
	shape->sort = hamming_group_sort_cost(lists, group);
}

/*
 * Is it known that no pair of the group needs a comparison?  All are in one set
 * if each x is in the set of the first y, and each y in the set of the first x.
 */
bool
hamming_group_is_done(const NearLists *lists, const Candidates *group)
{
	bool		has_y = lists->sets != NULL && !is_one_stretch(lists, group);
	uint32		x;
	uint32		y;

	if ((lists->sets == NULL && lists->settled == NULL) ||
		number_of_pairs(lists, group) < WORTH_ASKING)
		return false;
	for (x = group->x; x < group->x_end; x++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_left_out(lists, x, group->y))
			return false;
	}
	for (y = group->y; has_y && y < group->y_end; y++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_left_out(lists, group->x, y))
			return false;
	}
	return true;
}
