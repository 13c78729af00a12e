/*
 * filter.c
 *	  Which fingerprints may be within a radius of any of a list?
 *
 * Of a short list, each is compared with all of the list.  Else there is a
 * Bloom filter of the bits under each mask of a word, where a mask has levels
 * of the word's radius + levels segments: near/README, "The join method",
 * proves that it loses no pair.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "near/cut.h"
#include "near/side.h"

#define MAX_LEVELS 3

/* A look at more masks would take longer than the search for pairs. */
#define FILTER_MAX_MASKS 64

/* As would a comparison with a longer list. */
#define FILTER_MAX_ROWS 1024

/* A filter takes at most 1 / FILTER_SHARE of the memory for rows. */
#define FILTER_SHARE 4

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
 * ones.  memory is for rows, in bytes.
 */
FilterPlan
hamming_filter_plan(int word_count, double rows, double others, int radius,
					Size memory)
{
	FilterPlan	best = {.passes = 1};
	FilterPlan	list = {0};
	double		least = KEPT_ROW / 2;
	int			most_log_size =
	pg_leftmost_one_pos64(Max(memory / FILTER_SHARE, 64)) + 3;
	int			radii[HAMMING_MAX_WORDS];
	int			levels;

	hamming_radii_share(word_count, radius, radii);
	list.looks = rows * word_count * LOOK / hamming_comparisons();
	list.passes = ldexp(rows * hamming_ball_size(64 * word_count, radius),
						-64 * word_count);
	if (rows <= FILTER_MAX_ROWS && list.looks + list.passes * KEPT_ROW < least)
	{
		least = list.looks + list.passes * KEPT_ROW;
		best = list;
	}
	if (others < WORTH_BLOOM * rows)
		return best;
	for (levels = 1; levels <= MAX_LEVELS; levels++)
	{
		double		masks = 0;
		double		passes = 0; /* fingerprints that agree under a mask */
		double		set;
		int			log_size;
		double		chance;
		int			w;

		for (w = 0; w < word_count && radii[w] >= 0; w++)
		{
			int			segments = radii[w] + levels;
			double		of_word = 1;
			int			i;

			if (segments > 64)
				return best;
			for (i = 1; i <= levels; i++)
				of_word *= (double) (radii[w] + i) / i;
			masks += of_word;
			passes += of_word * rows * exp2(-64.0 * levels / segments);
		}
		if (masks > FILTER_MAX_MASKS)
			break;
		set = Max(rows * masks, 1);
		log_size = (int) ceil(log2(set * BITS_FOR_EACH));
		log_size = Max(Min(log_size, most_log_size), 7);
		chance = pow(BITS_SET * set / exp2(log_size), BITS_SET);
		passes += masks * chance;
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
 * Add the masks that have the bits of mask, and levels more of the segments of
 * a word, from first on.  *end is where the next mask comes.
 */
static void
add_masks(NearFilter *filter, uint64 mask, int first, int levels,
		  int segments, int *end)
{
	if (levels == 0)
		filter->values[(*end)++] = mask;
	else
		for (; first <= segments - levels; first++)
			add_masks(filter, mask | hamming_block_mask(segments, first),
					  first + 1, levels - 1, segments, end);
}

/*
 * Return the three bits that stand for the bits of a word under a mask, and set
 * *place to where they are among those of the filter.
 */
static inline uint64
find_bits(const NearFilter *filter, uint64 word, int mask, uint64 *place)
{
	uint64		hash = hamming_hash(word & filter->values[mask]);

	*place = hash >> filter->shift;
	return UINT64CONST(1) << (hash & 63) |
		UINT64CONST(1) << (hash >> 6 & 63) |
		UINT64CONST(1) << (hash >> 12 & 63);
}

/*
 * Make the filter of a list, of 1 or more, for others other fingerprints.
 * Return NULL if it is not worth its time.
 */
NearFilter *
hamming_filter_make(const FingerprintList *list, double others, int radius,
					Size memory)
{
	FilterPlan	plan = hamming_filter_plan(list->word_count, list->count,
										   others, radius, memory);
	bool		has_masks = plan.levels > 0;
	Size		size = has_masks ? (Size) rint(plan.looks)
	: (Size) list->word_count * list->count;
	Size		bits = has_masks ? ((Size) 1 << plan.log_size) / 8 : 0;
	NearFilter *filter;
	int			end = 0;
	uint32		i;
	int			w;

	if (plan.looks == 0)
		return NULL;
	size = offsetof(NearFilter, values) + size * sizeof(uint64);
	filter = palloc_extended(size + bits, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	filter->word_count = list->word_count;
	filter->radius = radius;
	filter->count = list->count;
	hamming_radii_share(list->word_count, radius, filter->radii);
	if (has_masks)
		filter->bits = (uint64 *) ((char *) filter + size);
	filter->shift = 64 - (plan.log_size - 6);
	for (w = 0; w < list->word_count && has_masks; w++)
	{
		if (filter->radii[w] >= 0)
			add_masks(filter, 0, 0, plan.levels, filter->radii[w] + plan.levels,
					  &end);
		filter->ends[w] = end;
	}
	for (i = 0; i < list->count; i++)
	{
		uint64		words[HAMMING_MAX_WORDS];
		int			mask = 0;

		CHECK_FOR_INTERRUPTS();
		fplist_words(list, i, words);
		for (w = 0; w < list->word_count; w++)
		{
			if (!has_masks)
				filter->values[w * list->count + i] = words[w];
			for (; mask < filter->ends[w]; mask++)
			{
				uint64		place;
				uint64		set = find_bits(filter, words[w], mask, &place);

				filter->bits[place] |= set;
			}
		}
	}
	return filter;
}

/* Is the fingerprint at place i of the list within the radius? */
static bool
is_within(const NearFilter *filter, int i, const uint64 *words)
{
	int			distance = 0;
	int			w;

	for (w = 0; w < filter->word_count; w++)
		distance += pg_popcount64(filter->values[w * filter->count + i] ^
								  words[w]);
	return distance <= filter->radius;
}

/* Is the fingerprint within the radius of any of the list? */
static pg_noinline bool
is_near_list(const NearFilter *filter, const uint64 *words)
{
	uint16		matches[FILTER_MAX_ROWS];
	int			w;

	for (w = 0; w < filter->word_count && filter->radii[w] >= 0; w++)
	{
		int			found = hamming_match(filter->values + w * filter->count,
										  filter->count, words[w],
										  filter->radii[w], matches);

		while (found-- > 0)
			if (is_within(filter, matches[found], words))
				return true;
	}
	return false;
}

/* May the fingerprint be within the radius of any of the list? */
bool
hamming_filter_passes(const NearFilter *filter, const uint64 *words)
{
	bool		passes = false;
	int			mask = 0;
	int			w;

	if (filter->bits == NULL)
		return is_near_list(filter, words);
	/* all masks, without a branch: the processor gets their words together */
	for (w = 0; w < filter->word_count; w++)
	{
		for (; mask < filter->ends[w]; mask++)
		{
			uint64		place;
			uint64		bits = find_bits(filter, words[w], mask, &place);

			passes |= (filter->bits[place] & bits) == bits;
		}
	}
	return passes;
}
