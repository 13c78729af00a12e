/*
 * feature.h
 *	  The hashes of a feature, and where features go: to what computes with the
 *	  hashes, or to a function that sees the bytes, too.
 */
#ifndef SIMHASH_FEATURE_H
#define SIMHASH_FEATURE_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "simhash needs xxHash 0.8.0 or later: XXH3 was not final before"
#endif

/*
 * For a function that hashes features: inline all calls, so that branches of
 * XXH3 on a constant seed or length disappear.
 */
#define INLINE_HASHES __attribute__((flatten))

/*
 * A half is 64 bits of a fingerprint: the higher or the lower ones of 128 bits,
 * or all bits of a fingerprint of 64.  Each half has its own hash of a feature.
 */
#define HALF_BITS 64
#define HALVES_MAX 2			/* of a feature: one for each half */

/*
 * Return the hash of a feature for a half: 0 is the only half, or the higher
 * one, and 1 is the lower one.  The hash for half 0 tells the feature from all
 * others.  It is part of the definition of a fingerprint, which is frozen.
 * XXH3_64bits() is quicker with a seed that the compiler knows.
 */
static inline uint64
hash_feature(const void *bytes, size_t length, int half)
{
	if (half == 0)
		return XXH3_64bits(bytes, length);
	return XXH3_64bits_withSeed(bytes, length, half);
}

/* Set hash[0 .. count) to the hashes of a feature for the halves. */
static inline void
hash_feature_all(const void *bytes, size_t length, uint64 *hash, int count)
{
	int			half;

	for (half = 0; half < count; half++)
		hash[half] = hash_feature(bytes, length, half);
}

/*
 * The hash of key[0 .. length) for a table in memory; seed is
 * simhash_secret(), or a hash of other parts of the key.  The hash of a
 * feature would not do: whoever writes a text, or hands in hashes, can choose
 * n features that collide there, and the table would compare each of these
 * with all others.
 */
static inline uint64
seeded_hash(uint64 seed, const void *key, size_t length)
{
	return XXH3_64bits_withSeed(key, length, seed);
}

/*
 * Return the slot where the search for a hash begins, in a table of 2^(64 -
 * shift) slots: the highest bits of the product of hash with multiplier, a
 * random odd number.  Whoever chooses features does not know the multiplier.
 * The searches for any two of these begin in one slot with a probability of at
 * most 2 / slots (Dietzfelbinger, Hagerup, Katajainen and Penttonen 1997).
 */
static inline uint64
first_slot(uint64 hash, uint64 multiplier, int shift)
{
	return (hash * multiplier) >> shift;
}

/*
 * Allocate bytes if array is NULL, free array if bytes is 0, or else enlarge
 * array to bytes.  server_text.c has this function, and t/malloc.c another one.
 */
extern void *simhash_resize_array(void *array, size_t bytes);

/*
 * Arrays of so many 64-bit numbers are on the stack, up to eight of them in one
 * call: 24 kB.
 */
#define FEATURES_AT_ONCE 384

/* Weights are integers, in units of 2^-16: sums do not depend on the order. */
#define WEIGHT_UNIT 65536
#define WEIGHT_MAX 2147483648.0 /* the largest weight of a feature: 2^31 */

typedef struct FeatureTarget FeatureTarget;

/*
 * Features of a text that follow one another, and the tokens that these are
 * made of: feature i begins with token i.
 */
typedef struct Shingles
{
	uint32		count;			/* of features, 1 .. FEATURES_AT_ONCE */
	const uint64 (*hash)[FEATURES_AT_ONCE]; /* hash[half][i] of feature i */
	const uint8 *bytes;			/* the tokens in UTF-8, joined */
	const size_t *start;		/* of token i in bytes */
	size_t		end;			/* of the last token, with the space that
								 * would precede another word */
	const uint32 *position;		/* character of the text that token i begins
								 * with, from 0 */
} Shingles;

/*
 * A function that takes one feature.  bytes[0 .. length) is the feature in
 * UTF-8, to be copied if it is needed after the call, or NULL if the caller of
 * SQL gave hashes.  hash has one for each half.  weight is that of one
 * occurrence, in units of 2^-16.
 */
typedef void (*FeatureSink) (const FeatureTarget *target, const uint8 *bytes,
							 size_t length, const uint64 *hash, int64 weight);

/*
 * What a half of a fingerprint is made by.  A fingerprint of 128 bits is two
 * independent halves.  add_all() is called once for each half, with its hashes
 * and its state.
 */
typedef struct HalfMethods
{
	size_t		state_size;		/* bytes of a state, which is that of a half */
	bool		of_set;			/* of the set of features, so that weights are
								 * a stop list */

	/* Prepare state; weights are read only if weighted.  NULL: zeros do. */
	void		(*begin) (void *state, bool weighted);

	/* Add count features, FEATURES_AT_ONCE at most, of weights 0 .. 2^47. */
	void		(*add_all) (void *state, const uint64 *hash,
							const int64 *weight, uint32 count);

	/* Add the features of other to state.  Only aggregates need it. */
	void		(*merge) (void *state, void *other);

	/* Set *fingerprint to the half; return false if there is none. */
	bool		(*fingerprint) (void *state, uint64 *fingerprint);
} HalfMethods;

/*
 * Where features go: to one of three.
 *
 * If take_shingles is not NULL, take_shingles(arg, ...) takes the features,
 * which must be those of a text.  If sink is not NULL, sink takes each feature.
 * Else methods->add_all() takes the hashes of each half.
 */
struct FeatureTarget
{
	int			halves;			/* of the fingerprint: hashes of a feature */
	void		(*take_shingles) (void *arg, const Shingles *shingles);
	FeatureSink sink;
	const HalfMethods *methods;
	void	   *arg;			/* of take_shingles, or of sink; else the
								 * state of each half */
};

static inline void *
feature_state(const FeatureTarget *target, int half)
{
	return (char *) target->arg + half * target->methods->state_size;
}

/* Call this once, before the first feature.  Unless weighted, each weighs 1. */
static inline void
feature_begin(const FeatureTarget *target, bool weighted)
{
	int			half;

	if (target->methods == NULL || target->methods->begin == NULL)
		return;
	for (half = 0; half < target->halves; half++)
		target->methods->begin(feature_state(target, half), weighted);
}

/* Add a feature. */
static inline void
feature_add(const FeatureTarget *target, const uint8 *bytes, size_t length,
			const uint64 *hash, int64 weight)
{
	int			half;

	if (target->sink)
	{
		target->sink(target, bytes, length, hash, weight);
		return;
	}
	for (half = 0; half < target->halves; half++)
		target->methods->add_all(feature_state(target, half), &hash[half],
								 &weight, 1);
}

#endif							/* SIMHASH_FEATURE_H */
