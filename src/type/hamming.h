/*
 * hamming.h
 *	  Arithmetic of Hamming distances.
 */
#ifndef SIMHASH_HAMMING_H
#define SIMHASH_HAMMING_H

#include "type/width.h"

static inline int
hamming_distance(Fingerprint a, Fingerprint b)
{
	return fingerprint_popcount(a ^ b);
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
 * The access method cuts a word of 64 bits into 2 to 8 blocks of bits, which
 * differ in width by one bit at most.  Block 0 has the highest bits.  An index
 * has a tree for each block of each word: it is in the order of the words
 * rotated to the left until the block is highest.
 */
#define HAMMING_MIN_BLOCKS 2
#define HAMMING_MAX_BLOCKS 8

/*
 * blocks is 1 .. HAMMING_BITS, and block 0 .. blocks.
 * Return how many bits are higher than those of the block.
 */
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

/* The fingerprint of the highest width bits, 1 .. HAMMING_BITS. */
static inline Fingerprint
hamming_leading_bits(int width)
{
	return FINGERPRINT_ALL_BITS << (HAMMING_BITS - width);
}

/* The fingerprint of the bits of a block. */
static inline Fingerprint
hamming_block_mask(int blocks, int block)
{
	return hamming_leading_bits(hamming_block_width(blocks, block)) >>
		hamming_block_start(blocks, block);
}

/* bits is 0 .. HAMMING_BITS.  Rotate a fingerprint to the left by bits. */
static inline Fingerprint
hamming_rotate(Fingerprint fingerprint, int bits)
{
	bits %= HAMMING_BITS;
	return bits == 0 ? fingerprint
		: (fingerprint << bits) | (fingerprint >> (HAMMING_BITS - bits));
}

/* Undo hamming_rotate() by the same number of bits. */
static inline Fingerprint
hamming_unrotate(Fingerprint rotated, int bits)
{
	return hamming_rotate(rotated, HAMMING_BITS - bits);
}

/*
 * Return a hash of a fingerprint, by Knuth's multiplicative hashing of each
 * word: times the golden ratio of 2^64.  All bits of the hash are of use, the
 * highest most.
 */
static inline uint64
hamming_hash(Fingerprint fingerprint)
{
	uint64		hash = 0;
	int			i;

	for (i = 0; i < FINGERPRINT_WORDS; i++)
	{
		hash ^= fingerprint_word(fingerprint, i);
		hash = (hash ^ hash >> 32) * UINT64CONST(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}

/* hamming.c */
extern bool hamming_ball_next(Fingerprint centre, Fingerprint leading,
							  int leading_radius, int radius,
							  Fingerprint from, Fingerprint *next);
extern double hamming_ball_size(double bits, int radius);

/* distance_array.c */
extern int	hamming_match(const Fingerprint *fingerprints, int count,
						  Fingerprint centre, int radius, uint16 *matches);
extern void hamming_count(const Fingerprint *fingerprints, int count,
						  Fingerprint centre, int64 *counts);
extern void hamming_add_distances(const Fingerprint *fingerprints, int count,
								  Fingerprint centre, uint16 *distances);
extern int	hamming_comparisons(void);

#endif							/* SIMHASH_HAMMING_H */
