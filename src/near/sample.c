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
 * A group of fewer than WORTH_ESTIMATING is sorted too quickly for the sample
 * of number_needed(), up to 64 looks at a pair and its two sets.
 */
#define WORTH_ESTIMATING 2048

/*
 * A group of fewer than WORTH_ASKING pairs is compared sooner than its sets are
 * looked up, which may be anywhere in memory.
 */
#define WORTH_ASKING 64

/* Return what sorting a group by one segment takes, in comparisons. */
double
hamming_group_sort_cost(const NearGroups *groups, const Candidates *group)
{
	double		x = group->x_end - group->x;
	double		y = is_one_stretch(groups, group) ? 0 : group->y_end - group->y;

	return (x + y) * hamming_comparisons();
}

static Fingerprint
find_varying(const Fingerprint *fps, uint32 count, Fingerprint one)
{
	Fingerprint varying = 0;
	uint32		i;

	for (i = 0; i < count; i++)
		varying |= fps[i] ^ one;
	return varying;
}

/*
 * Does the pair of the fingerprints at x of groups->x and at y of groups->y
 * need no comparison, as both are in one set, or as x is settled?
 */
static inline bool
is_left_out(const NearGroups *groups, uint32 x, uint32 y)
{
	uint32	   *sets = groups->sets;

	if (groups->settled != NULL)
		return groups->settled[groups->x->numbers[x]];
	return sets != NULL && find_set(sets, groups->x->numbers[x]) ==
		find_set(sets, groups->y->numbers[y]);
}

/* Get pair i of SAMPLE_SIZE; return false if it needs no comparison. */
static bool
sample_pair(const NearGroups *groups, const Candidates *group, int i,
			Fingerprint *difference)
{
	uint64		x_size = group->x_end - group->x;
	uint32		y_size = group->y_end - group->y;

	/*
	 * Both are spread evenly, in unrelated orders.  The factor is a prime
	 * near 2^32 over the golden ratio, as in Knuth's multiplicative hashing.
	 */
	uint32		x = group->x + (uint32) (x_size * i / SAMPLE_SIZE);
	uint32		y = group->y + (i * UINT64CONST(2654435761)) % y_size;

	*difference = groups->x->fps[x] ^ groups->y->fps[y];
	/* within one stretch, a fingerprint may meet itself: that is no pair */
	return !(is_one_stretch(groups, group) && x == y) &&
		!is_left_out(groups, x, y);
}

/*
 * Estimate, above 0, how many pairs of a group need a comparison: all, if an
 * eighth or more of the sample do, as in most groups of most data.
 */
static double
number_needed(const NearGroups *groups, const Candidates *group)
{
	double		pairs = number_of_pairs(groups, group);
	Fingerprint difference;
	int			needed = 0;
	int			i;

	if ((groups->sets == NULL && groups->settled == NULL) ||
		group->x_end - group->x < WORTH_ESTIMATING)
		return pairs;
	/* a quarter of the sample will do: it decides by a factor, no more */
	for (i = 0; i < SAMPLE_SIZE; i += 4)
	{
		needed += sample_pair(groups, group, i, &difference);
		if (needed == SAMPLE_SIZE / 4 / 8)
			return pairs;
	}
	return pairs * Max(needed, 0.5) / (SAMPLE_SIZE / 4);
}

/* Do the pairs that need a comparison take no longer than sorts sorts? */
bool
hamming_group_is_compared_sooner(const NearGroups *groups,
								 const Candidates *group, int sorts)
{
	double		sorting = hamming_group_sort_cost(groups, group) * sorts;

	return number_of_pairs(groups, group) <= sorting ||
		number_needed(groups, group) <= sorting;
}

/*
 * Measure the information of each bit by a sample: of n bits of information,
 * one pair in 2^n agrees in the bit.  A bit has some if and only if it varies.
 * Return which fraction of the pairs needs a comparison: it is above 0.  Set
 * *matches to the fraction that is also within the radius.
 */
static double
measure_bits(const NearGroups *groups, const Candidates *group,
			 Fingerprint varying, double *information, double *matches)
{
	int			differ[HAMMING_BITS] = {0};
	int			needed = 0;
	int			within = 0;
	int			bit;
	int			i;

	for (i = 0; i < SAMPLE_SIZE; i++)
	{
		Fingerprint difference;

		if (!sample_pair(groups, group, i, &difference))
			continue;
		needed++;
		within += fingerprint_popcount(difference) <= groups->radius;
		for (bit = 0; bit < HAMMING_BITS; bit++)
			differ[bit] += difference >> bit & 1;
	}
	for (bit = 0; bit < HAMMING_BITS; bit++)
	{
		/* none in the sample is not none at all: so count half a pair more */
		double		agree = (needed - differ[bit] + 0.5) / (needed + 0.5);

		information[bit] = varying >> bit & 1 ? Max(-log2(agree), 1e-3) : 0;
	}
	*matches = (double) within / SAMPLE_SIZE;
	return Max(needed, 0.5) / SAMPLE_SIZE;
}

/*
 * Set the shape of a group, which may be cut.  Leave out the bits of flipped,
 * in which all of its pairs differ.
 */
void
hamming_group_measure(const NearGroups *groups, const Candidates *group,
					  Fingerprint flipped, GroupShape *shape)
{
	const Fingerprint *x = groups->x->fps;
	double		pairs = number_of_pairs(groups, group);

	shape->varying = find_varying(x + group->x, group->x_end - group->x,
								  x[group->x]);
	if (!is_one_stretch(groups, group))
		shape->varying |= find_varying(groups->y->fps + group->y,
									   group->y_end - group->y, x[group->x]);
	shape->varying &= ~flipped;
	shape->sort = hamming_group_sort_cost(groups, group);
	shape->pairs = pairs * measure_bits(groups, group, shape->varying,
										shape->information, &shape->matches);
	shape->matches *= pairs;
}

/*
 * Is it known that no pair of the group needs a comparison?  All are in one set
 * if each x is in the set of the first y, and each y in the set of the first x.
 */
bool
hamming_group_is_done(const NearGroups *groups, const Candidates *group)
{
	bool		has_y = groups->sets != NULL && !is_one_stretch(groups, group);
	uint32		x;
	uint32		y;

	if ((groups->sets == NULL && groups->settled == NULL) ||
		number_of_pairs(groups, group) < WORTH_ASKING)
		return false;
	for (x = group->x; x < group->x_end; x++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_left_out(groups, x, group->y))
			return false;
	}
	for (y = group->y; has_y && y < group->y_end; y++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_left_out(groups, group->x, y))
			return false;
	}
	return true;
}

/*
 * Choose a cut into radius + 1 segments, for a search segment by segment: two
 * fingerprints within radius agree in at least one segment.  x and y are
 * samples of the lists, and varying has the bits in which fingerprints of the
 * lists differ.
 *
 * Return false if no cut pays.  Such a search compares a pair once for each
 * segment in which the pair agrees.  A cut pays if a random pair agrees in
 * half a segment at most, on average.
 */
bool
hamming_groups_choose_cut(FingerprintList *x, FingerprintList *y, int radius,
						  Fingerprint varying, NearCut *cut)
{
	int			segments = radius + 1;
	NearGroups *groups = hamming_groups_make(x, y, radius);
	Candidates	all = {0, x->count, 0, y->count};
	GroupShape	shape;
	double		total;

	measure_bits(groups, &all, varying, shape.information, &shape.matches);
	pfree(groups);
	total = sum_information(&shape, FINGERPRINT_ALL_BITS);
	if (fingerprint_popcount(varying) < segments ||
		segments * exp2(-total / segments) > 0.5)
		return false;
	cut_begin(cut, 1, radius, FINGERPRINT_ALL_BITS, varying);
	hamming_cut_bits(cut, &shape);
	return true;
}
