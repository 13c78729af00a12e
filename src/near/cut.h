/*
 * cut.h
 *	  Cuts of fingerprints into segments, for similarity joins.
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

extern void hamming_cut_choose(NearCut *cut, const GroupShape *shape,
							   int radius, Fingerprint region,
							   double *least);
extern void hamming_cut_bits(NearCut *cut, const GroupShape *shape);
extern double hamming_near_cost(double x, double y, int radius);

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

#endif							/* SIMHASH_CUT_H */
