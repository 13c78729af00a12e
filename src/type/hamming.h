/*
 * hamming.h
 *	  Arithmetic of Hamming distances.
 */
#ifndef SIMHASH_HAMMING_H
#define SIMHASH_HAMMING_H

#include "port/pg_bitutils.h"

#define HAMMING_BITS 64			/* of a fingerprint: the greatest distance */

static inline int
hamming_distance(uint64 a, uint64 b)
{
	return pg_popcount64(a ^ b);
}

/*
 * A bound k of any size as a radius.  No distance is below 0 or above
 * HAMMING_BITS: so -1 stands for every negative bound, and HAMMING_BITS for
 * every larger one.
 */
static inline int32
hamming_radius(int64 k)
{
	return (int32) Max(-1, Min(k, HAMMING_BITS));
}

/*
 * A fingerprint is cut into blocks of bits, the first of which has its highest
 * bits.  Table j of a block index is sorted by the fingerprint rotated so that
 * block j leads.  Blocks differ in width by one bit at most.
 */
#define HAMMING_MIN_BLOCKS 3
#define HAMMING_MAX_BLOCKS 8

/* Return how many bits are before a block, 0 .. blocks; blocks is in range. */
static inline int
hamming_block_start(int blocks, int block)
{
	return block * HAMMING_BITS / blocks;
}

static inline int
hamming_block_width(int blocks, int block)
{
	return hamming_block_start(blocks, block + 1) -
		hamming_block_start(blocks, block);
}

/* Return the word whose highest bits are set, width of them, 1 or more. */
static inline uint64
hamming_leading_bits(int width)
{
	return ~UINT64CONST(0) << (HAMMING_BITS - width);
}

/* Rotate by 0 .. HAMMING_BITS: what is after that many bits comes first. */
static inline uint64
hamming_rotate(uint64 fingerprint, int bits)
{
	bits %= HAMMING_BITS;
	return bits == 0 ? fingerprint
		: (fingerprint << bits) | (fingerprint >> (HAMMING_BITS - bits));
}

/* Undo hamming_rotate() by the same number of bits. */
static inline uint64
hamming_unrotate(uint64 rotated, int bits)
{
	return hamming_rotate(rotated, HAMMING_BITS - bits);
}

/*
 * Return a hash of a word, by Knuth's multiplicative hashing: times the golden
 * ratio of 2^64.  All bits of the hash are of use, the highest most.
 */
static inline uint64
hamming_hash(uint64 word)
{
	uint64		hash = (word ^ word >> 32) * UINT64CONST(0x9e3779b97f4a7c15);

	return hash ^ hash >> 32;
}

extern double hamming_ball_size(double bits, int radius);
extern bool hamming_ball_next(uint64 centre, uint64 leading,
							  int leading_radius, int radius, uint64 from,
							  uint64 *next);

/*
 * A set of fingerprints, by what bounds its members x: lo <= x <= hi in
 * unsigned order, and x has every bit of all and no bit outside any.  lo and
 * hi themselves have every bit of all and none outside any.
 */
typedef struct HammingBounds
{
	uint64		lo;
	uint64		hi;
	uint64		all;
	uint64		any;
} HammingBounds;

extern int	hamming_bounds_distance(const HammingBounds *b, uint64 q,
									int enough);

#endif							/* SIMHASH_HAMMING_H */
