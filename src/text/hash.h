/*
 * hash.h
 *	  xxHash: hashes of features, which are frozen, and seeded hashes for tables
 *	  in memory.
 */
#ifndef HASH_H
#define HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "simhash needs xxHash 0.8.0 or later: XXH3 was not final before"
#endif

/*
 * Where a table in memory begins to look for a key.  Hashes of features will
 * not do: whoever writes the text, or hands in the hashes, can choose features
 * that collide, and each of n of them is then compared with all others.  Who
 * does not know the seed cannot choose keys that collide.
 */
static inline uint64
seeded_hash(uint64 seed, const void *key, size_t length)
{
	return XXH3_64bits_withSeed(key, length, seed);
}

extern uint64 simhash_process_seed(void);

#endif							/* HASH_H */
