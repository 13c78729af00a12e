/*
 * join.h
 *	  Exact similarity joins: which fingerprints of two lists, or of one, may
 *	  be within a radius of each other?
 */
#ifndef JOIN_H
#define JOIN_H

#include "dedup/fplist.h"

/*
 * Stretches x .. x_end - 1 of one list and y .. y_end - 1 of another, of
 * which each is to be compared with each.  In the join of a list with itself
 * both are the same.
 */
typedef struct Candidates
{
	uint32		x;
	uint32		x_end;
	uint32		y;
	uint32		y_end;
} Candidates;

/* At most so many parts are asked to agree at once. */
#define JOIN_MAX_LEVELS 4

/*
 * radius + levels parts of the bits, as masks.  What is within the radius
 * agrees in levels of them at least.
 */
typedef struct JoinCut
{
	int			levels;
	uint64		varying;		/* bits that are not the same in all of the
								 * group */
	uint64		parts[64];
} JoinCut;

/* A stretch of each list that is sorted by one part after another. */
typedef struct JoinNode
{
	Candidates	all;
	JoinCut    *cut;
	int			level;			/* parts in which its groups agree, by choice */
	int			first;			/* these parts, up to last, are candidates for
								 * another one */
	int			last;
	int			part;			/* that the stretches are sorted by */
	uint32		x;				/* where its next group begins */
	uint32		y;
} JoinNode;

typedef struct HammingJoin
{
	FingerprintList *x;
	FingerprintList *y;			/* may be the same */
	int			radius;
	/* sets of those numbers of the fingerprints that need no comparison */
	uint32	   *sets;
	/* in a group of a cut fewer bits vary than in what was cut */
	JoinCut		cuts[64];
	int			depth;			/* nodes in use */
	JoinNode	nodes[64 * JOIN_MAX_LEVELS];
} HammingJoin;

extern HammingJoin *hamming_join_begin(FingerprintList *x, FingerprintList *y,
									   int radius, uint32 *sets);
extern bool hamming_join_next(HammingJoin *join, Candidates *candidates);
extern bool hamming_join_is_first(const HammingJoin *join, uint64 difference);

#endif							/* JOIN_H */
