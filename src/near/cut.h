/*
 * cut.h
 *	  Cuts of a word of fingerprints into segments, and what they cost; the
 *	  shares of all pairs.
 */
#ifndef SIMHASH_CUT_H
#define SIMHASH_CUT_H

#include "type/hamming.h"

/* The most bits in which fingerprints that nearly agree in a segment differ. */
#define CUT_MAX_NEAR 2

/*
 * A cut of some bits of a word, for one group.  Of the pairs that are wanted,
 * none differs in more than radius bits of the region: so each differs in at
 * most cut_near() bits of some segment.
 */
typedef struct NearCut
{
	int			radius;			/* 0 .. 64 */
	int			segment_count;	/* 1 .. radius + 1; 0: there is no cut */
	int			near;			/* cut_near() of all segments, but */
	int			nearer;			/* the first nearer segments have near + 1 */
	uint64		region;			/* bits that the segments are made of; of a
								 * share's cut, some are in no segment */
	uint64		varying;		/* bits that are not the same in all of the
								 * group */
	uint64		segments[64];	/* masks, segment_count of them; each has a
								 * varying bit */
} NearCut;

/* Begin a cut.  The caller sets the segments themselves. */
static inline void
cut_begin(NearCut *cut, int radius, int segment_count, uint64 region,
		  uint64 varying)
{
	cut->radius = radius;
	cut->segment_count = segment_count;
	cut->near = (radius + 1) / segment_count - 1;
	cut->nearer = (radius + 1) % segment_count;
	cut->region = region;
	cut->varying = varying;
}

/*
 * Return in how many bits of a segment fingerprints may differ that nearly
 * agree in the segment.  The sum of cut_near() + 1 over all segments is
 * radius + 1: so of fingerprints that nearly agree in no segment, at least
 * radius + 1 bits of the region differ.
 */
static inline int
cut_near(const NearCut *cut, int segment)
{
	return cut->near + (segment < cut->nearer);
}

/*
 * What is known of a word of a group that may be cut, without the bits in which
 * all pairs of the group differ.
 */
typedef struct GroupShape
{
	int			word_count;		/* of a fingerprint */
	double		pairs;			/* that need a comparison */
	double		within[65];		/* of these, within each radius */
	double		sort;			/* time of a sort by one segment, in
								 * comparisons */
	uint64		varying;		/* bits that are not the same in all of it */
	double		information[64];
} GroupShape;

/*
 * The segments that a search goes through one after the other, word after word:
 * of word w the first radii[w] + 1 segments of cuts[w].  Two fingerprints
 * within the radius agree in at least one of these segments.
 */
typedef struct Segments
{
	bool		is_cut;			/* else there is one, without bits, in which
								 * any two agree */
	int			word_count;
	int			radii[HAMMING_MAX_WORDS];	/* -1: the word has no segment */
	NearCut		cuts[HAMMING_MAX_WORDS];
	int			count;			/* of all segments: radius + 1 */
	/* the current segment; before the first, number is -1 */
	int			number;			/* of it, 0 .. count - 1 */
	int			word;
	int			segment;		/* of that word's cut */
} Segments;

/* number must be less than count - 1.  Go on to the next segment. */
static inline void
segments_next(Segments *segments)
{
	if (segments->number++ < 0)
		segments->word = segments->segment = 0;
	else
		segments->segment++;
	while (segments->segment > segments->radii[segments->word])
	{
		segments->word++;
		segments->segment = 0;
	}
}

/* A block of a fingerprint: see hamming_share_of(). */
typedef struct ShareBlock
{
	int			word;
	uint64		mask;			/* the bits of the block, in its word */
	int			low;			/* bits of the word that are below the block */
	int			unused;			/* 64 - width: values are spread 2^unused
								 * apart */
	uint64		offset;			/* of its values from those of block 0 */
} ShareBlock;

/*
 * All pairs within a radius, divided into shares: near/README, "Shares", proves
 * that each comes in one.
 */
typedef struct Shares
{
	int			radius;			/* 0 .. the number of bits */
	int			count;			/* shares, 1 or more */
	int			number;			/* the share that is searched */
	Segments	segments;		/* the blocks of a fingerprint that are in
								 * shares: pairs agree in one at least */
	ShareBlock	blocks[64 * HAMMING_MAX_WORDS];
} Shares;

/*
 * Return the share, 0 .. shares->count - 1, of a block of a fingerprint, where
 * block is 0 .. shares->segments.count - 1.
 *
 * The values of a block are spread over 2^64 by a permutation, as in Knuth's
 * multiplicative hashing.  They are 2^unused apart, and the values of other
 * blocks lie between them, by their offsets.  Each share is a stretch of the
 * 2^64: so shares have equally many values, however few values there are.
 */
static inline int
hamming_share_of(const Shares *shares, const uint64 *words, int block)
{
	const ShareBlock *b = &shares->blocks[block];
	uint64		value = (words[b->word] & b->mask) >> b->low;
	uint64		place = (value * UINT64CONST(0x9E3779B97F4A7C15) << b->unused) +
	b->offset;

	return (int) ((place >> 32) * shares->count >> 32);
}

/* Is any block of the fingerprint in the share that is searched? */
static inline bool
is_in_share(const Shares *shares, const uint64 *words)
{
	int			block = 0;

	while (block < shares->segments.count &&
		   hamming_share_of(shares, words, block) != shares->number)
		block++;
	return block < shares->segments.count;
}

extern void hamming_cut_choose(NearCut *cut, const GroupShape *shape,
							   int radius, uint64 region, double *least);
extern bool hamming_cut_pays(NearCut *cut, const GroupShape *shape,
							 int radius);
extern void hamming_cut_bits(NearCut *cut, const GroupShape *shape);
extern double hamming_ways_to_differ(double bits, int near, double odds);
extern double hamming_comparing_cost(const GroupShape *shape, int radius);
extern void hamming_radii_share(int word_count, int radius, int *radii);
extern bool hamming_radii_pay(int word_count, int radius);
extern bool hamming_radii_choose(const GroupShape *shapes, int radius,
								 int *radii, double *least);
extern double hamming_near_cost(int word_count, double x, double y,
								int radius);
extern void hamming_shares_begin(Shares *shares, int word_count, int radius,
								 int count);

#endif							/* SIMHASH_CUT_H */
