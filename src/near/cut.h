/*
 * cut.h
 *	  Cuts of fingerprints into segments: of the groups of a search, for the
 *	  shares of all pairs, and for a filter.
 */
#ifndef SIMHASH_CUT_H
#define SIMHASH_CUT_H

#include "type/hamming.h"

/* The most segments that a cut asks to agree. */
#define CUT_MAX_LEVELS 4

/* The most bits in which fingerprints that nearly agree in a segment differ. */
#define CUT_MAX_NEAR 2

/*
 * A cut of some of the bits, for one group.  Of the pairs that are wanted,
 * none differs in more than radius bits of the region.
 *
 * Of a level cut, each wanted pair agrees in levels segments at least.  Of a
 * near cut, whose levels is 1, each differs in at most cut_near() bits of some
 * segment.
 */
typedef struct NearCut
{
	int			levels;			/* 1 .. CUT_MAX_LEVELS */
	int			radius;			/* 0 .. radius of the join */
	int			segment_count;	/* radius + levels; of a near cut, radius or
								 * less */
	int			near;			/* cut_near() of all segments, but */
	int			nearer;			/* the first nearer segments have near + 1 */
	Fingerprint region;			/* bits that the segments are made of; of a
								 * share's cut, some are in no segment */
	Fingerprint varying;		/* bits that are not the same in all of the
								 * group */
	Fingerprint segments[HAMMING_BITS]; /* masks, segment_count of them; each
										 * has a varying bit */
} NearCut;

/* Begin a level cut.  The caller sets the segments themselves. */
static inline void
cut_begin(NearCut *cut, int levels, int radius, Fingerprint region,
		  Fingerprint varying)
{
	cut->levels = levels;
	cut->radius = radius;
	cut->segment_count = radius + levels;
	cut->near = 0;
	cut->nearer = 0;
	cut->region = region;
	cut->varying = varying;
}

/*
 * Return in how many bits of a segment fingerprints may differ that nearly
 * agree in the segment.  The sum of cut_near() + 1 over all segments is
 * radius + 1 if levels is 1: so of fingerprints that nearly agree in no
 * segment, at least radius + 1 bits of the region differ.
 */
static inline int
cut_near(const NearCut *cut, int segment)
{
	return cut->near + (segment < cut->nearer);
}

/* What is known of a group that may be cut. */
typedef struct GroupShape
{
	double		pairs;			/* that need a comparison */
	double		matches;		/* of these, within the radius */
	double		sort;			/* time of a sort by one segment, in
								 * comparisons */
	Fingerprint varying;		/* bits that are not the same in all of it */
	double		information[HAMMING_BITS];
} GroupShape;

static inline double
sum_information(const GroupShape *shape, Fingerprint region)
{
	double		total = 0;
	int			bit;

	for (bit = 0; bit < HAMMING_BITS; bit++)
		if (region >> bit & 1)
			total += shape->information[bit];
	return total;
}

/* A block of a fingerprint: see hamming_share_of(). */
typedef struct ShareBlock
{
	Fingerprint mask;			/* the bits of the block */
	int			low;			/* bits of a fingerprint that are below the
								 * block */
	int			unused;			/* 64 - width: values are spread 2^unused
								 * apart */
	uint64		offset;			/* of its values from those of block 0 */
} ShareBlock;

/* The shares of a search for pairs within radius. */
typedef struct Shares
{
	int			radius;			/* 0 .. HAMMING_BITS */
	int			count;			/* shares, 1 or more */
	int			number;			/* the share that is searched */
	int			block_count;	/* blocks of a fingerprint that are in shares */
	ShareBlock	blocks[HAMMING_BITS];
} Shares;

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

/* Is any block of the fingerprint in the share that is searched? */
static inline bool
is_in_share(const Shares *shares, Fingerprint fingerprint)
{
	int			block = 0;

	while (block < shares->block_count &&
		   hamming_share_of(shares, fingerprint, block) != shares->number)
		block++;
	return block < shares->block_count;
}

/* A look at more masks would take longer than the search for pairs. */
#define FILTER_MAX_MASKS 64

/* As would a comparison with a longer list. */
#define FILTER_MAX_ROWS 1024

/* A Bloom filter pays if it is asked WORTH_BLOOM times for each of its rows. */
#define WORTH_BLOOM 2

/* A filter takes at most 1 / FILTER_SHARE of the memory for rows. */
#define FILTER_SHARE 4

typedef struct FilterPlan
{
	double		looks;			/* what a fingerprint takes, in looks at a
								 * mask; 0 for no filter */
	int			levels;			/* segments that make a mask; 0: it is
								 * compared with all of the list */
	int			log_size;		/* the masks have 2^log_size bits */
	double		passes;			/* the fraction of other fingerprints that
								 * would pass, if they are random */
} FilterPlan;

typedef struct NearFilter
{
	int			radius;			/* of a comparison; -1: there are masks */
	int			shift;			/* of a hash, to the index of a word */
	uint64	   *words;			/* behind the masks */
	int			count;			/* of masks, or of the list */
	Fingerprint fps[FLEXIBLE_ARRAY_MEMBER]; /* the masks, or the list */
} NearFilter;

/* cut.c */
extern void hamming_cut_choose(NearCut *cut, const GroupShape *shape,
							   int radius, Fingerprint region,
							   double *least);
extern void hamming_cut_bits(NearCut *cut, const GroupShape *shape);
extern double hamming_ways_to_differ(double bits, int near, double odds);
extern double hamming_near_cost(double x, double y, int radius);
extern void hamming_shares_begin(Shares *shares, int radius, int count);

/* filter.c */
extern FilterPlan hamming_filter_plan(double rows, double others, int radius,
									  Size memory);
extern NearFilter *hamming_filter_make(const Fingerprint *fps, uint32 count,
									   double others, int radius, Size memory);
extern bool hamming_filter_passes(const NearFilter *filter, Fingerprint fp);

#endif							/* SIMHASH_CUT_H */
