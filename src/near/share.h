/*
 * share.h
 *	  The parts of a join of a list with itself, for work on many machines.
 */
#ifndef SIMHASH_SHARE_H
#define SIMHASH_SHARE_H

#include "near/compare.h"

#define hamming_parts_begin WIDE(hamming_parts_begin)
#define hamming_parts_restrict WIDE(hamming_parts_restrict)


/* A block of a fingerprint: see hamming_part_of(). */
typedef struct PartBlock
{
	Fingerprint mask;			/* the bits of the block */
	int			low;			/* bits of a fingerprint that are below the
								 * block */
	int			unused;			/* bits of a word that are beyond the block */
	uint64		offset;			/* of its values from those of block 0 */
} PartBlock;

/* All parts of a join, by fingerprints within radius of each other. */
typedef struct JoinParts
{
	int			radius;			/* 0 .. HAMMING_BITS */
	int			count;			/* parts, 1 or more */
	int			block_count;	/* blocks of a fingerprint that are in parts */
	PartBlock	blocks[HAMMING_BITS];
} JoinParts;

/* One of the parts. */
typedef struct JoinPart
{
	JoinParts	parts;
	int			number;			/* 0 .. parts.count - 1 */
} JoinPart;

extern void hamming_parts_begin(JoinParts *parts, int radius, int count);
extern void hamming_parts_restrict(const JoinParts *parts, JoinPairs *pairs,
								   int block);

/*
 * Return the part, 0 .. parts->count - 1, of a block of a fingerprint, where
 * block is 0 .. parts->block_count - 1.
 *
 * The values of a block are spread over 2^64 by a permutation, as in Knuth's
 * multiplicative hashing.  They are 2^unused apart, and the values of other
 * blocks lie between them, by their offsets.  Each part is a stretch of the
 * 2^64: so parts have equally many values, however few values there are.  Of a
 * block of more than 64 bits, its words are folded into one first.
 */
static inline int
hamming_part_of(const JoinParts *parts, Fingerprint fingerprint, int block)
{
	const PartBlock *b = &parts->blocks[block];
	uint64		value = fingerprint_fold((fingerprint & b->mask) >> b->low);
	uint64		place = (value * UINT64CONST(0x9E3779B97F4A7C15) << b->unused) +
	b->offset;

	return (int) ((place >> 32) * parts->count >> 32);
}

/* Is the block of the fingerprint in the part? */
static inline bool
is_block_in_part(const JoinPart *part, Fingerprint fingerprint, int block)
{
	return hamming_part_of(&part->parts, fingerprint, block) == part->number;
}

/* Is any block of the fingerprint in the part? */
static inline bool
is_in_part(const JoinPart *part, Fingerprint fingerprint)
{
	int			block;

	for (block = 0; block < part->parts.block_count; block++)
		if (is_block_in_part(part, fingerprint, block))
			return true;
	return false;
}

#endif							/* SIMHASH_SHARE_H */
