/*
 * share.h
 *	  The shares of a search for the pairs of one side, for work on many
 *	  machines.
 */
#ifndef SIMHASH_SHARE_H
#define SIMHASH_SHARE_H

#include "near/cut.h"

/* A block of a fingerprint: see hamming_share_of(). */
typedef struct ShareBlock
{
	Fingerprint mask;			/* the bits of the block */
	int			low;			/* bits of a fingerprint that are below the
								 * block */
	int			unused;			/* bits of 64 that the block does not have */
	uint64		offset;			/* of its values from those of block 0 */
} ShareBlock;

/* All shares of a search for pairs within radius. */
typedef struct Shares
{
	int			radius;			/* 0 .. HAMMING_BITS */
	int			count;			/* shares, 1 or more */
	int			block_count;	/* blocks of a fingerprint that are in shares */
	ShareBlock	blocks[HAMMING_BITS];
} Shares;

/* One of the shares. */
typedef struct Share
{
	Shares		shares;
	int			number;			/* 0 .. shares.count - 1 */
} Share;

extern void hamming_shares_begin(Shares *shares, int radius, int count);
extern void hamming_shares_cut(const Shares *shares, NearCut *cut);

/*
 * Return the share, 0 .. shares->count - 1, of a block of a fingerprint, where
 * block is 0 .. shares->block_count - 1.
 *
 * The values of a block are spread over 2^64 by a permutation, as in Knuth's
 * multiplicative hashing.  They are 2^unused apart, and the values of other
 * blocks lie between them, by their offsets.  Each share is a stretch of the
 * 2^64: so shares have equally many values, however few values there are.  Of
 * a block of more than 64 bits the two halves are folded into one first.
 */
static inline int
hamming_share_of(const Shares *shares, Fingerprint fingerprint, int block)
{
	const ShareBlock *b = &shares->blocks[block];
	uint64		value = fingerprint_fold((fingerprint & b->mask) >> b->low);
	uint64		place = (value * UINT64CONST(0x9E3779B97F4A7C15) << b->unused) +
	b->offset;

	return (int) ((place >> 32) * shares->count >> 32);
}

/* Is the block of the fingerprint in the share? */
static inline bool
is_block_in_share(const Share *share, Fingerprint fingerprint, int block)
{
	return hamming_share_of(&share->shares, fingerprint,
							block) == share->number;
}

/* Is any block of the fingerprint in the share? */
static inline bool
is_in_share(const Share *share, Fingerprint fingerprint)
{
	int			block;

	for (block = 0; block < share->shares.block_count; block++)
		if (is_block_in_share(share, fingerprint, block))
			return true;
	return false;
}

#endif							/* SIMHASH_SHARE_H */
