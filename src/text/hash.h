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
 * The hash of key[0 .. length) for a table in memory; seed is
 * simhash_process_seed(), or a hash of other parts of the key.  The hash of a
 * feature would not do: whoever writes a text, or hands in hashes, can choose
 * n features that collide there, and the table would compare each of these
 * with all others.
 */
static inline uint64
seeded_hash(uint64 seed, const void *key, size_t length)
{
	return XXH3_64bits_withSeed(key, length, seed);
}

extern uint64 simhash_process_seed(void);

#endif							/* SIMHASH_HASH_H */
