/*
 * sketch.c
 *	  MinHash of a set of features, and the fingerprint of one bit each:
 *	  "Minima: minhash" of doc/algorithm.md.
 *
 * A sketch depends on the set of the features alone: not on their order, and
 * not on how often each occurs.
 */
#include "postgres.h"

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

/* What tells a batch of features that takes too long: see sketch_batch(). */
#define MANY_VALUES 640
#define FEW_BINS 8
#define COPIES_MAX 64			/* features whose copies are found */

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

void
simhash_sketch_begin(void *state, bool weighted)
{
	Sketch	   *sketch = state;
	uint32		i;

	for (i = 0; unlikely(round_multipliers[SKETCH_ROUNDS - 1] == 0); i++)
		round_multipliers[i] = split_mix(MULTIPLIER_SEED, i) | 1;
	memset(sketch->least, 0xFF, sizeof(sketch->least));
	sketch->waiting = 0;
}

static inline uint64
round_prefix(uint32 round)
{
	return (uint64) round << ROUND_SHIFT;
}

/*
 * round must be below SKETCH_BINS.  Put the values that the mixed hashes
 * mixed[0 .. count) have in the round into the bins least[].  Return the bins
 * of these values: bit i stands for bin i.
 */
static uint64
fill_any(uint64 *least, const uint64 *mixed, uint32 count, uint32 round)
{
	uint64		multiplier = round_multipliers[round];
	uint64		prefix = round_prefix(round);
	uint64		filled = 0;
	uint32		i;

	for (i = 0; i < count; i++)
	{
		uint64		value = mixed[i] * multiplier;
		uint32		bin = value >> BIN_SHIFT;

		/* without a branch on which number is less */
		least[bin] = Min(least[bin], prefix | value >> VALUE_SHIFT);
		filled |= UINT64CONST(1) << bin;
	}
	return filled;
}

/*
 * Has one of mixed[0 .. count) a value in the round, below SKETCH_BINS, that
 * goes into a bin of open?  To ask takes a quarter of the time of fill_any(),
 * which writes.
 */
static bool
reaches(const uint64 *mixed, uint32 count, uint32 round, uint64 open)
{
	uint64		multiplier = round_multipliers[round];
	uint64		reached = 0;
	uint32		i;

	for (i = 0; i < count; i++)
		reached |= open >> ((mixed[i] * multiplier) >> BIN_SHIFT);
	return reached & 1;
}

/*
 * Do what fill_any() does for a round of SKETCH_BINS or more, whose values all
 * go into bin round - SKETCH_BINS.
 */
static void
fill_one(uint64 *least, const uint64 *mixed, uint32 count, uint32 round)
{
	uint64		multiplier = round_multipliers[round];
	uint64		prefix = round_prefix(round);
	uint64		new = least[round - SKETCH_BINS];
	uint32		i;

	for (i = 0; i < count; i++)
		new = Min(new, prefix | (mixed[i] * multiplier) >> VALUE_SHIFT);
	least[round - SKETCH_BINS] = new;
}

/*
 * Return the bins least[] that a value of round 1 or a later one may still go
 * into, as fill_any() does.  Set *rounds to the number of rounds that have such
 * values: those up to the latest in any bin.
 */
static uint64
open_bins(const uint64 *least, uint32 *rounds)
{
	uint64		open = 0;
	uint64		last = 0;
	int			bin;

	for (bin = SKETCH_BINS - 1; bin >= 0; bin--)
	{
		open = open << 1 | (least[bin] >= round_prefix(1));
		last = Max(last, least[bin]);
	}
	*rounds = (last >> ROUND_SHIFT) + 1;
	return open;
}

/* Are more than FEW_BINS bins in open? */
static inline bool
are_many(uint64 open)
{
	int			i;

	for (i = 0; i < FEW_BINS; i++)
		open &= open - 1;
	return open != 0;
}

/*
 * Move the distinct numbers of mixed[0 .. count) to its front, and return how
 * many there are.  Copies may stay if more than COPIES_MAX numbers differ.  So
 * a search compares with COPIES_MAX numbers at most, even if somebody has made
 * them collide.
 */
static uint32
drop_copies(uint64 *mixed, uint32 count)
{
	/* a hash table of numbers kept, counted from 1 on; 0: the slot is free */
	uint8		slots[4 * COPIES_MAX] = {0};
	uint32		kept = 0;
	uint32		i;

	for (i = 0; i < count; i++)
	{
		uint64		number = mixed[i];
		uint32		slot = number % lengthof(slots);

		while (slots[slot] > 0 && mixed[slots[slot] - 1] != number)
			slot = (slot + 1) % lengthof(slots);
		if (slots[slot] > 0)
			continue;
		mixed[kept++] = number;
		if (kept <= COPIES_MAX)
			slots[slot] = kept;
	}
	return kept;
}

/*
 * count must be 1 .. FEATURES_AT_ONCE.  Add count features to the sketch.
 *
 * Let open be the bins that a value of the next round may go into.  A bin that
 * gets a value leaves open, as a value of a later round is greater.
 *
 * MANY_VALUES different values leave one of the bins without a value in 0.3 %
 * of all cases: 64 * (63/64)^640.  If many bins have none after that, the
 * features are copies of few, which are worth looking for: a text of one word
 * takes 88 rounds.  If few bins have none, somebody may have chosen features
 * whose values avoid these bins: then most rounds fill none.
 */
static void
sketch_batch(Sketch *sketch, const uint64 *hash, uint32 count)
{
	uint64		mixed[FEATURES_AT_ONCE];
	uint64	   *least = sketch->least;
	uint32		usual = MANY_VALUES / count + 1;	/* rounds */
	uint32		rounds;
	uint64		open = open_bins(least, &rounds);
	uint32		round;
	uint32		i;

	/* the caller of SQL may have handed in any numbers as hashes */
	for (i = 0; i < count; i++)
		mixed[i] = split_mix(hash[i], 0);
	open &= ~fill_any(least, mixed, count, 0);
	for (round = 1; open != 0 && round < Min(rounds, SKETCH_BINS); round++)
	{
		if (round == usual && are_many(open))
			count = drop_copies(mixed, count);
		if (round < usual || reaches(mixed, count, round, open))
			open &= ~fill_any(least, mixed, count, round);
	}
	for (; open != 0 && round < rounds; round++)
	{
		if (open >> (round - SKETCH_BINS) & 1)
			fill_one(least, mixed, count, round);
	}
}

static void
finish(Sketch *sketch)
{
	if (sketch->waiting > 0)
		sketch_batch(sketch, sketch->hash, sketch->waiting);
	sketch->waiting = 0;
}

/*
 * The add_all of simhash_sketch_methods.  Few features wait for others: a batch
 * of one would take the time of a batch of many.
 */
void
simhash_sketch_add_all(void *state, const uint64 *hash, const int64 *weight,
					   uint32 count)
{
	Sketch	   *sketch = state;

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

/* Return SKETCH_BINS bins, each PG_UINT64_MAX if no feature has been added. */
const uint64 *
simhash_sketch_bins(Sketch *sketch)
{
	finish(sketch);
	return sketch->least;
}

void
simhash_sketch_merge(void *state, void *other)
{
	uint64	   *least = ((Sketch *) state)->least;
	const uint64 *more = simhash_sketch_bins(other);
	int			bin;

	for (bin = 0; bin < SKETCH_BINS; bin++)
		least[bin] = Min(least[bin], more[bin]);
}

/*
 * Set bit i of *fingerprint to bit 32 of the value of bin i.  Return false if
 * there is no feature.
 */
bool
simhash_sketch_fingerprint(void *state, uint64 *fingerprint)
{
	Sketch	   *sketch = state;
	uint64		even = 0;		/* bits 0, 2, 4 .. */
	uint64		odd = 0;		/* bits 1, 3, 5 .., each one bit lower */
	int			bin;

	finish(sketch);
	/* the processor adds to even and to odd at the same time */
	for (bin = SKETCH_BINS - 2; bin >= 0; bin -= 2)
	{
		even = 4 * even + (sketch->least[bin] >> FINGERPRINT_SHIFT & 1);
		odd = 4 * odd + (sketch->least[bin + 1] >> FINGERPRINT_SHIFT & 1);
	}
	*fingerprint = odd << 1 | even;
	/* any feature has a value in bin 0, in round SKETCH_BINS at the latest */
	return sketch->least[0] != PG_UINT64_MAX;
}

const HalfMethods simhash_sketch_methods = {
	.state_size = sizeof(Sketch),
	.of_set = true,
	.begin = simhash_sketch_begin,
	.add_all = simhash_sketch_add_all,
	.merge = simhash_sketch_merge,
	.fingerprint = simhash_sketch_fingerprint
};
