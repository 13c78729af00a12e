/*
 * cut.h
 *	  Cuts of fingerprints into parts, for similarity joins.
 */
#ifndef SIMHASH_CUT_H
#define SIMHASH_CUT_H

#include "type/hamming.h"

#define hamming_cut_choose WIDE(hamming_cut_choose)
#define hamming_cut_bits WIDE(hamming_cut_bits)
#define hamming_join_comparisons WIDE(hamming_join_comparisons)

/* The most parts that a cut asks to agree: a bound of the ways to choose. */
#define JOIN_MAX_LEVELS 4

/* The most bits in which fingerprints that nearly agree in a part differ. */
#define JOIN_MAX_NEAR 2

/*
 * A cut of some of the bits, for one group.  Of the pairs that are wanted,
 * none differs in more than radius bits of the region.
 *
 * Each wanted pair agrees in levels parts at least, or, if levels is 1, differs
 * in at most join_cut_near() bits of some part.
 */
typedef struct JoinCut
{
	int			levels;			/* 1 .. JOIN_MAX_LEVELS */
	int			radius;			/* 0 .. radius of the join */
	int			part_count;		/* radius + levels; if levels is 1, radius + 1
								 * or less */
	int			near;			/* join_cut_near() of the last part */
	int			nearer;			/* number of first parts whose join_cut_near()
								 * is near + 1 */
	Fingerprint region;			/* bits that the parts are made of; if levels
								 * is 1, there may be bits of no part */
	Fingerprint varying;		/* bits that are not the same in all of the
								 * group */
	Fingerprint parts[HAMMING_BITS];	/* masks, part_count of them; each has
										 * a varying bit */
} JoinCut;

/*
 * Set what a cut into radius + levels parts is of: see JoinCut.  The parts are
 * for the caller to set.
 */
static inline void
join_cut_begin(JoinCut *cut, int levels, int radius, Fingerprint region,
			   Fingerprint varying)
{
	cut->levels = levels;
	cut->radius = radius;
	cut->part_count = radius + levels;
	cut->near = 0;
	cut->nearer = 0;
	cut->region = region;
	cut->varying = varying;
}

/*
 * Return in how many bits of a part fingerprints may differ that nearly agree
 * in the part.  The sum of join_cut_near() + 1 over all parts is radius + 1 if
 * levels is 1: so of fingerprints that nearly agree in no part, at least
 * radius + 1 bits of the region differ.
 */
static inline int
join_cut_near(const JoinCut *cut, int part)
{
	return cut->near + (part < cut->nearer);
}

/* What is known of a group that may be cut. */
typedef struct GroupShape
{
	double		pairs;			/* that need a comparison */
	double		matches;		/* of these, within the radius */
	double		sort;			/* time of a sort by one part, in comparisons */
	Fingerprint varying;		/* bits that are not the same in all of it */
	double		information[HAMMING_BITS];
} GroupShape;

extern void hamming_cut_choose(JoinCut *cut, const GroupShape *shape,
							   int radius, Fingerprint region,
							   bool may_be_near, double *least);
extern void hamming_cut_bits(JoinCut *cut, const GroupShape *shape);
extern double hamming_join_comparisons(double x, double y, int radius);

/* Return the information of all bits of a region. */
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
