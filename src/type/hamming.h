/*
 * hamming.h
 *	  Arithmetic of Hamming distances.
 */
#ifndef SIMHASH_HAMMING_H
#define SIMHASH_HAMMING_H

#include "port/pg_bitutils.h"

/* in what every file includes, so that the first that make compiles stops it */
#ifndef HAVE_INT128
#error "simhash needs a 64-bit system: PostgreSQL has no integers of 128 bits"
#endif

/*
 * A fingerprint is one or more words of 64 bits, one of simhash64 and two of
 * simhash128.  Word 0 has the highest bits, whatever the byte order of the
 * machine: compared from word 0 on, words have the order of their fingerprints.
 * This is the most words of a fingerprint; pages and records of an index have
 * no such limit.
 */
#ifndef HAMMING_MAX_WORDS
#define HAMMING_MAX_WORDS 2
#endif

static inline int
words_distance(const uint64 *a, const uint64 *b, int words)
{
	int			distance = 0;
	int			i;

	for (i = 0; i < words; i++)
		distance += pg_popcount64(a[i] ^ b[i]);
	return distance;
}

/* Return -1, 0 or 1, as a is below b, equal, or above it. */
static inline int
words_compare(const uint64 *a, const uint64 *b, int words)
{
	int			i;

	for (i = 0; i < words; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/*
 * A bound k of any size as a radius.  No distance is below 0 or above bits, the
 * width of a fingerprint: so -1 stands for every negative bound, and bits for
 * every larger one.
 */
static inline int32
hamming_radius(int64 k, int bits)
{
	return (int32) Max(-1, Min(k, bits));
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
 * blocks is 1 .. 64, and block 0 .. blocks.  Return how many bits are higher
 * than those of the block.
 */
static inline int
hamming_block_start(int blocks, int block)
{
	return block * 64 / blocks;
}

static inline int
hamming_block_width(int blocks, int block)
{
	return hamming_block_start(blocks, block + 1) -
		hamming_block_start(blocks, block);
}

/* The highest width bits of a word, 1 .. 64. */
static inline uint64
hamming_leading_bits(int width)
{
	return PG_UINT64_MAX << (64 - width);
}

/* The bits of a block. */
static inline uint64
hamming_block_mask(int blocks, int block)
{
	return hamming_leading_bits(hamming_block_width(blocks, block)) >>
		hamming_block_start(blocks, block);
}

/* bits is 0 .. 64.  Rotate a word to the left by bits. */
static inline uint64
hamming_rotate(uint64 word, int bits)
{
	bits %= 64;
	return bits == 0 ? word : (word << bits) | (word >> (64 - bits));
}

/* Undo hamming_rotate() by the same number of bits. */
static inline uint64
hamming_unrotate(uint64 rotated, int bits)
{
	return hamming_rotate(rotated, 64 - bits);
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

/* hamming.c */
extern double hamming_ball_size(double bits, int radius);
extern bool hamming_ball_next(uint64 centre, uint64 leading,
							  int leading_radius, int radius, uint64 from,
							  uint64 *next);
extern int	hamming_choose_cut(const uint64 *words, int stride, int least,
							   int most);

/* distance_array.c */
extern int	hamming_match(const uint64 *words, int count, uint64 centre,
						  int radius, uint16 *matches);
extern void hamming_add_distances(const uint64 *words, int count,
								  uint64 centre, uint16 *distances);
extern int	hamming_comparisons(void);

#endif							/* SIMHASH_HAMMING_H */
