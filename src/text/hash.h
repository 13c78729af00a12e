/*
 * hash.h
 *	  xxHash: XXH3_64bits() of features, and seeded hashes of tables in memory.
 *
 * The hash of a feature is part of the definition of a fingerprint, which is
 * frozen.
 */
#ifndef SIMHASH_HASH_H
#define SIMHASH_HASH_H

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
 * others.  XXH3_64bits() is quicker with a seed that the compiler knows.
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

#endif							/* SIMHASH_HASH_H */
