/*
 * sketch.c
 *	  MinHash of a set of features, and the fingerprint of one bit each:
 *	  "Minima: minhash" of doc/algorithm.md.
 *
 * A sketch depends on the set of the features alone: not on their order, and
 * not on how often each occurs.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "text/sketch.h"

/*
 * A bin keeps the round in its highest 7 bits, and below these the highest 57
 * bits of the value.  The lowest 7 bits of the value would decide only between
 * two values whose other bits are the same, and the fingerprint with them.
 */
#define ROUND_SHIFT 57
#define VALUE_SHIFT 7
#define BIN_SHIFT 58			/* the bin of a value is above this */
#define FINGERPRINT_SHIFT (32 - VALUE_SHIFT)	/* bit 32 of the value */

/*
 * Return output number i, from 0 on, of SplitMix64 with a seed (Steele, Lea and
 * Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
 */
static inline uint64
split_mix(uint64 seed, uint32 i)
{
	uint64		z = seed + (i + 1) * UINT64CONST(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/*
 * The value of a feature in a round is its mixed hash times this odd number.
 *
 * Texts that are made from one template differ in the same features, so that it
 * depends on the numbers how many of such pairs come near each other.  Of the
 * first 16 seeds, MULTIPLIER_SEED is one of two with which precision and recall
 * are at least 0.98 at k = 8, by words => 2, for English and Japanese package
 * descriptions, long files, and HTML pages.
 */
static uint64 round_multipliers[SKETCH_ROUNDS];

#define MULTIPLIER_SEED 4

static void
fill_multipliers(void)
{
	uint32		round;

	for (round = 0; round < SKETCH_ROUNDS; round++)
		round_multipliers[round] = split_mix(MULTIPLIER_SEED, round) | 1;
}

static void
clear_bins(uint64 *least)
{
	memset(least, 0xFF, SKETCH_BINS * sizeof(uint64));
}

void
simhash_sketch_init(Sketch *sketch)
{
	if (unlikely(round_multipliers[0] == 0))
		fill_multipliers();
	clear_bins(sketch->least);
	sketch->waiting = 0;
}

/*
 * Has the sketch no feature?  Any feature has a value in bin 0, in round
 * SKETCH_BINS at the latest, which is less than PG_UINT64_MAX.
 */
static inline bool
sketch_is_empty(const Sketch *sketch)
{
	return sketch->least[0] == PG_UINT64_MAX;
}

static inline uint64
round_prefix(uint32 round)
{
	return (uint64) round << ROUND_SHIFT;
}

/*
 * round must be below SKETCH_BINS, and no value in the bins least[] of a later
 * round.  Put the values that the mixed hashes mixed[0 .. count) have in the
 * round into the bins.  Return the number of bins that had no value before.
 */
static uint32
fill_any(uint64 *least, const uint64 *mixed, uint32 count, uint32 round)
{
	uint64		multiplier = round_multipliers[round];
	uint64		prefix = round_prefix(round);
	uint32		filled = 0;
	uint32		i;

	for (i = 0; i < count; i++)
	{
		uint64		value = mixed[i] * multiplier;
		uint64		new = prefix | value >> VALUE_SHIFT;
		uint32		bin = value >> BIN_SHIFT;

		/*
		 * There is no branch on whether the bin had a value, or which one is
		 * less.  The highest bit of a bin is 1 only if there was none: of a
		 * round below SKETCH_BINS this bit is 0.
		 */
		filled += least[bin] >> 63;
		least[bin] = Min(least[bin], new);
	}
	return filled;
}

/*
 * Do the same for a round of SKETCH_BINS or more, whose values all go into bin
 * round - SKETCH_BINS.  Return 1 if that bin had no value before, or 0.
 */
static uint32
fill_one(uint64 *least, const uint64 *mixed, uint32 count, uint32 round)
{
	uint64		multiplier = round_multipliers[round];
	uint64		prefix = round_prefix(round);
	uint64		old = least[round - SKETCH_BINS];
	uint64		new = old;
	uint32		i;

	for (i = 0; i < count; i++)
		new = Min(new, prefix | (mixed[i] * multiplier) >> VALUE_SHIFT);
	least[round - SKETCH_BINS] = new;
	return old == PG_UINT64_MAX;
}

/*
 * Return the number of rounds that a batch can still change a bin in: those up
 * to the latest in any bin of the sketch.
 */
static uint32
needed_rounds(const Sketch *sketch)
{
	uint64		last = 0;
	int			bin;

	for (bin = 0; bin < SKETCH_BINS; bin++)
		last = Max(last, sketch->least[bin]);
	return (last >> ROUND_SHIFT) + 1;
}

/*
 * The bins least[] must have no value, and count must be 1 or more.  Fill the
 * bins with the values of mixed[0 .. count).  Values of round number rounds and
 * later ones may be left out.
 */
static void
fill_bins(uint64 *least, const uint64 *mixed, uint32 count, uint32 rounds)
{
	uint32		empty = SKETCH_BINS;
	uint32		round;

	for (round = 0; round < rounds && empty > 0; round++)
	{
		if (round < SKETCH_BINS)
			empty -= fill_any(least, mixed, count, round);
		else
			empty -= fill_one(least, mixed, count, round);
	}
}

/* Add the features whose values are in the bins least[] to the sketch. */
static void
merge_bins(Sketch *sketch, const uint64 *least)
{
	int			bin;

	for (bin = 0; bin < SKETCH_BINS; bin++)
		sketch->least[bin] = Min(sketch->least[bin], least[bin]);
}

/* count must be 1 .. FEATURES_AT_ONCE.  Add count features to the sketch. */
static void
sketch_batch(Sketch *sketch, const uint64 *hash, uint32 count)
{
	uint64		mixed[FEATURES_AT_ONCE];
	uint32		i;

	/* the caller of SQL may have handed in any numbers as hashes */
	for (i = 0; i < count; i++)
		mixed[i] = split_mix(hash[i], 0);
	if (sketch_is_empty(sketch))
		fill_bins(sketch->least, mixed, count, SKETCH_ROUNDS);
	else
	{
		uint64		least[SKETCH_BINS];

		clear_bins(least);
		fill_bins(least, mixed, count, needed_rounds(sketch));
		merge_bins(sketch, least);
	}
}

/* Put the features that wait into the bins. */
static void
finish(Sketch *sketch)
{
	if (sketch->waiting > 0)
		sketch_batch(sketch, sketch->hash, sketch->waiting);
	sketch->waiting = 0;
}

/*
 * Add count features, FEATURES_AT_ONCE at most, to the set.  Few features wait
 * for others, because a batch of one feature takes as many rounds as a batch of
 * many.
 */
void
simhash_sketch_add(Sketch *sketch, const uint64 *hash, uint32 count)
{
	if (sketch->waiting + count > SKETCH_WAITING)
		finish(sketch);
	if (count > SKETCH_WAITING)
	{
		sketch_batch(sketch, hash, count);
		return;
	}
	memcpy(sketch->hash + sketch->waiting, hash, count * sizeof(uint64));
	sketch->waiting += count;
}

/* Add the features of another sketch. */
void
simhash_sketch_merge(Sketch *sketch, Sketch *other)
{
	finish(other);
	merge_bins(sketch, other->least);
}

/* Return SKETCH_BINS bins, each PG_UINT64_MAX if no feature has been added. */
const uint64 *
simhash_sketch_bins(Sketch *sketch)
{
	finish(sketch);
	return sketch->least;
}

/*
 * Set bit i of *fingerprint to bit 32 of the value of bin i.  Return false if
 * there is no feature.
 */
bool
simhash_sketch_fingerprint(Sketch *sketch, uint64 *fingerprint)
{
	uint64		even = 0;		/* bits 0, 2, 4 .. */
	uint64		odd = 0;		/* bits 1, 3, 5 .., each one place lower */
	int			bin;

	finish(sketch);
	/* the processor adds to even and to odd at the same time */
	for (bin = SKETCH_BINS - 2; bin >= 0; bin -= 2)
	{
		even = 4 * even + (sketch->least[bin] >> FINGERPRINT_SHIFT & 1);
		odd = 4 * odd + (sketch->least[bin + 1] >> FINGERPRINT_SHIFT & 1);
	}
	*fingerprint = odd << 1 | even;
	return !sketch_is_empty(sketch);
}

/* The add_all of a FeatureTarget: sketch is a Sketch. */
static void
add_to_sketch(void *sketch, const uint64 *hash, const int64 *weight,
			  uint32 count)
{
	simhash_sketch_add(sketch, hash, count);
}

/*
 * Return a target that adds features to sketch[0 .. hashes), by each of their
 * hashes to the sketch of its number.  Their weights do not count.
 */
FeatureTarget
simhash_sketch_target(Sketch *sketch, int hashes)
{
	FeatureTarget target = {
		.hashes = hashes,
		.add_all = add_to_sketch,
		.arg = sketch,
		.arg_size = sizeof(Sketch)
	};

	return target;
}
