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
 * A fingerprint is cut into blocks, the first of which has its highest bits.
 * Table j of a block index is sorted by the fingerprint rotated so that block
 * j leads.
 */
#define HAMMING_BLOCKS 4
#define HAMMING_BLOCK_BITS 16

static inline uint64
hamming_rotate(uint64 fingerprint, int block)
{
	int			bits = block % HAMMING_BLOCKS * HAMMING_BLOCK_BITS;

	return bits == 0 ? fingerprint
		: (fingerprint << bits) | (fingerprint >> (HAMMING_BITS - bits));
}

static inline uint64
hamming_unrotate(uint64 rotated, int block)
{
	return hamming_rotate(rotated, HAMMING_BLOCKS - block);
}

/* Distance within the leading block of a rotated difference. */
static inline int
hamming_leading_distance(uint64 difference)
{
	return pg_popcount32((uint32) (difference >>
								   (HAMMING_BITS - HAMMING_BLOCK_BITS)));
}

/*
 * The pigeonhole principle, with a radius r of its own for each block (Manku,
 * Jain and Das Sarma 2007; Norouzi, Punjani and Fleet 2012): fingerprints at
 * distance at most k are in some block j at distance at most
 *
 *		r(j) = floor((k - j) / 4),	-1 where no block need be within it.
 *
 * If not, they would be at distance at least r(j) + 1 in every block, which
 * is floor((k - j + 4) / 4); for j = 0 .. 3 these add up to k + 1, as among
 * four consecutive integers each remainder occurs once.
 */
static inline int
hamming_block_radius(int k, int block)
{
	return (k - block + HAMMING_BLOCKS) / HAMMING_BLOCKS - 1;
}

extern double hamming_ball_size(double bits, int radius);
extern bool hamming_ball_next(uint64 centre, int leading_radius, int radius,
							  uint64 from, uint64 *next);

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
