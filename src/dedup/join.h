/*
 * join.h
 *	  Exact similarity joins: which fingerprints of two lists, or of one, may
 *	  be within a radius of each other?
 */
#ifndef SIMHASH_JOIN_H
#define SIMHASH_JOIN_H

#include "dedup/fplist.h"

#define hamming_join_begin WIDE(hamming_join_begin)
#define hamming_join_settle WIDE(hamming_join_settle)
#define hamming_join_restrict WIDE(hamming_join_restrict)
#define hamming_join_next WIDE(hamming_join_next)
#define hamming_join_is_first WIDE(hamming_join_is_first)
#define hamming_join_choose_cut WIDE(hamming_join_choose_cut)
#define hamming_join_comparisons WIDE(hamming_join_comparisons)

/*
 * Each fingerprint at the places x .. x_end - 1 of one list is to be compared
 * with each at y .. y_end - 1 of another.  In the join of a list with itself
 * both stretches are the same.
 */
typedef struct Candidates
{
	uint32		x;
	uint32		x_end;
	uint32		y;
	uint32		y_end;
} Candidates;

/* The most parts that a cut asks to agree: a bound of the ways to choose. */
#define JOIN_MAX_LEVELS 4

/*
 * A cut of some of the bits, for one group.  Of the pairs that are wanted,
 * none differs in more than radius bits of the region.
 */
typedef struct JoinCut
{
	int			levels;			/* 1 .. JOIN_MAX_LEVELS */
	int			radius;			/* 0 .. radius of the join */
	Fingerprint region;			/* bits that the parts are made of; if levels
								 * is 1, there may be bits of no part */
	Fingerprint varying;		/* bits that are not the same in all of the
								 * group */
	Fingerprint parts[HAMMING_BITS];	/* masks, radius + levels of them;
										 * each has a varying bit */
} JoinCut;

/* Set what a cut is of: see JoinCut.  The parts are for the caller to set. */
static inline void
join_cut_begin(JoinCut *cut, int levels, int radius, Fingerprint region,
			   Fingerprint varying)
{
	cut->levels = levels;
	cut->radius = radius;
	cut->region = region;
	cut->varying = varying;
}

/*
 * A node divides a group by the parts first .. last of a cut, one after the
 * other: what agrees in the part is a smaller group.
 */
typedef struct JoinNode
{
	Candidates	all;			/* the group that is divided */
	JoinCut    *cut;
	int			level;			/* of the parts of the cut, its smaller groups
								 * agree in level chosen ones: 1 .. levels */
	int			first;
	int			last;
	int			part;			/* the stretches are sorted by this part;
								 * before the first sort, it is first - 1 */
	uint32		x;				/* the next smaller group begins here */
	uint32		y;
} JoinNode;

/*
 * The nodes are a stack: each divides a smaller group of the one below it.  A
 * group that agrees in all levels of its cut may get a cut of its own.  Here
 * the first cut has two levels, and the second one has one:
 *
 *		candidates		a smaller group of nodes[2]
 *		nodes[2]		cuts[1], level 1: sorted by part 0, 1, 2, ...
 *		nodes[1]		cuts[0], level 2: sorted by part 5, after 4
 *		nodes[0]		cuts[0], level 1: sorted by part 3, after 0, 1, 2
 *
 * There are never more than HAMMING_BITS nodes, nor more than HAMMING_BITS
 * cuts: doc/algorithm.md 6 has the proof.
 */
typedef struct HammingJoin
{
	FingerprintList *x;
	FingerprintList *y;			/* may be the same list */
	int			radius;
	uint32	   *sets;			/* see hamming_join_begin(); may be NULL */
	const bool *settled;		/* see hamming_join_settle(); may be NULL */
	JoinCut		cuts[HAMMING_BITS];
	int			depth;			/* nodes in use; -1 before the first call */
	JoinNode	nodes[HAMMING_BITS];
} HammingJoin;

extern HammingJoin *hamming_join_begin(FingerprintList *x, FingerprintList *y,
									   int radius, uint32 *sets);
extern void hamming_join_settle(HammingJoin *join, const bool *settled);
extern void hamming_join_restrict(HammingJoin *join, const JoinCut *cut,
								  int part);
extern bool hamming_join_next(HammingJoin *join, Candidates *candidates);
extern bool hamming_join_is_first(const HammingJoin *join,
								  Fingerprint difference);
extern bool hamming_join_choose_cut(FingerprintList *x, FingerprintList *y,
									int radius, Fingerprint varying,
									JoinCut *cut);
extern double hamming_join_comparisons(double x, double y, int radius);

#endif							/* SIMHASH_JOIN_H */
