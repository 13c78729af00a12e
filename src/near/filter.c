/*
 * filter.c
 *	  Which fingerprints may be within a radius of any of a list?
 *
 * Of a short list, each is compared with all of the list.  Else there is a
 * Bloom filter of the bits under each mask, where a mask has levels of radius
 * + levels segments: near/README, "The join method", proves that it loses no
 * pair.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "near/cut.h"

#define MAX_LEVELS 3

/*
 * Each mask of a fingerprint sets BITS_SET bits of the filter, which has
 * BITS_FOR_EACH for each: so one in 150 passes by chance.  A filter of twice
 * the size lets fewer pass, but stays in no second cache.
 */
#define BITS_SET 3
#define BITS_FOR_EACH 16

/*
 * What a row that passes takes, in looks at a mask.  A filter is worth its
 * looks if it halves that, as data that is not random may let more pass.
 */
#define KEPT_ROW 80

/*
 * A look at a mask takes as long as hamming_comparisons() / LOOK comparisons.
 */
#define LOOK 2.5

/*
 * Plan the best filter of a list of rows random fingerprints, for others other
 * ones.
 */
FilterPlan
hamming_filter_plan(double rows, double others, int radius, Size memory)
{
	FilterPlan	best = {.passes = 1};
	FilterPlan	list = {.looks = rows * LOOK / hamming_comparisons()};
	double		least = KEPT_ROW / 2;
	int			most_log_size = pg_leftmost_one_pos64(Max(memory, 64)) + 3;
	double		masks = 1;
	int			levels;

	list.passes = rows * hamming_ball_size(HAMMING_BITS, radius) /
		exp2(HAMMING_BITS);
	if (rows <= FILTER_MAX_ROWS && list.looks + list.passes * KEPT_ROW < least)
	{
		least = list.looks + list.passes * KEPT_ROW;
		best = list;
	}
	if (others < WORTH_BLOOM * rows)
		return best;
	for (levels = 1; levels <= MAX_LEVELS; levels++)
	{
		int			segments = radius + levels;
		double		bits = (double) HAMMING_BITS * levels / segments;
		double		set;
		int			log_size;
		double		chance;
		double		passes;

		masks *= (double) segments / levels;
		if (masks > FILTER_MAX_MASKS || segments > HAMMING_BITS)
			break;
		set = Max(rows * masks, 1);
		log_size = (int) ceil(log2(set * BITS_FOR_EACH));
		log_size = Max(Min(log_size, most_log_size), 7);
		chance = pow(BITS_SET * set / exp2(log_size), BITS_SET);
		passes = masks * (rows * exp2(-bits) + chance);
		if (masks + passes * KEPT_ROW < least)
		{
			least = masks + passes * KEPT_ROW;
			best.looks = masks;
			best.levels = levels;
			best.log_size = log_size;
			best.passes = passes;
		}
	}
	return best;
}

/*
 * Add the masks that have the bits of mask, and levels more segments, from
 * first on.
 */
static void
add_masks(NearFilter *filter, Fingerprint mask, int first, int levels,
		  int segments)
{
	if (levels == 0)
		filter->fps[filter->count++] = mask;
	else
		for (; first <= segments - levels; first++)
			add_masks(filter, mask | hamming_block_mask(segments, first),
					  first + 1, levels - 1, segments);
}

/*
 * Return the three bits that stand for the fingerprint's bits under a mask,
 * and set *word to the index of the word that has them.
 */
static inline uint64
find_bits(const NearFilter *filter, Fingerprint fp, int mask, uint64 *word)
{
	uint64		hash = hamming_hash(fp & filter->fps[mask]);

	*word = hash >> filter->shift;
	return UINT64CONST(1) << (hash & 63) |
		UINT64CONST(1) << (hash >> 6 & 63) |
		UINT64CONST(1) << (hash >> 12 & 63);
}

static NearFilter *
make_list(const Fingerprint *fps, uint32 count, int radius)
{
	NearFilter *filter = palloc(offsetof(NearFilter, fps) +
								count * sizeof(Fingerprint));

	filter->radius = radius;
	filter->count = count;
	memcpy(filter->fps, fps, count * sizeof(Fingerprint));
	return filter;
}

/*
 * Make the filter of a list, of 1 or more, for others other fingerprints.
 * Return NULL if it is not worth its time.
 */
NearFilter *
hamming_filter_make(const Fingerprint *fps, uint32 count, double others,
					int radius, Size memory)
{
	FilterPlan	plan = hamming_filter_plan(count, others, radius, memory);
	NearFilter *filter;
	Size		masks;
	uint32		i;
	int			mask;

	if (plan.looks == 0)
		return NULL;
	if (plan.levels == 0)
		return make_list(fps, count, radius);
	masks = (Size) rint(plan.looks) * sizeof(Fingerprint);
	filter = palloc_extended(offsetof(NearFilter, fps) + masks +
							 ((Size) 1 << plan.log_size) / 8,
							 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	filter->radius = -1;
	filter->words = (uint64 *) ((char *) filter->fps + masks);
	filter->shift = 64 - (plan.log_size - 6);
	add_masks(filter, 0, 0, plan.levels, radius + plan.levels);
	for (i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (mask = 0; mask < filter->count; mask++)
		{
			uint64		word;
			uint64		bits = find_bits(filter, fps[i], mask, &word);

			filter->words[word] |= bits;
		}
	}
	return filter;
}

/* Is the fingerprint within the radius of any of the list? */
static pg_noinline bool
is_near_list(const NearFilter *filter, Fingerprint fp)
{
	uint16		matches[FILTER_MAX_ROWS];

	return hamming_match(filter->fps, filter->count, fp, filter->radius,
						 matches) > 0;
}

/* May the fingerprint be within the radius of any of the list? */
bool
hamming_filter_passes(const NearFilter *filter, Fingerprint fp)
{
	bool		passes = false;
	int			mask;

	if (filter->radius >= 0)
		return is_near_list(filter, fp);
	/* all masks, without a branch: the processor gets their words together */
	for (mask = 0; mask < filter->count; mask++)
	{
		uint64		word;
		uint64		bits = find_bits(filter, fp, mask, &word);

		passes |= (filter->words[word] & bits) == bits;
	}
	return passes;
}
