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
 * For a function that hashes features: what the function calls becomes part of
 * it.  Branches on a seed or a length that the compiler knows are left out.
 */
#define INLINE_HASHES __attribute__((flatten))

/*
 * A half is 64 bits of a fingerprint: the higher or the lower ones of 128 bits,
 * or all bits of a fingerprint of 64.  Each half has its own hash of a feature.
 */
#define HALF_BITS 64
#define FEATURE_HASHES_MAX 2	/* of a feature: one for each half */

/*
 * Hash number 0 makes the only half, or the higher one; hash number 1 makes the
 * lower one.  Hash number 0 tells the feature from all others.  XXH3_64bits()
 * is quicker with a seed that the compiler knows.
 */
static inline uint64
hash_feature(const void *bytes, size_t length, int number)
{
	if (number == 0)
		return XXH3_64bits(bytes, length);
	return XXH3_64bits_withSeed(bytes, length, number);
}

/* Set hash[0 .. count) to the hashes of a feature. */
static inline void
hash_feature_all(const void *bytes, size_t length, uint64 *hash, int count)
{
	int			number;

	for (number = 0; number < count; number++)
		hash[number] = hash_feature(bytes, length, number);
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
