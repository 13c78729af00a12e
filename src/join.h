/*
 * join.h
 *	  Exact similarity joins: which fingerprints of two lists, or of one, may
 *	  be within a radius of each other?
 */
#ifndef JOIN_H
#define JOIN_H

#include "fplist.h"

/*
 * Stretches x .. x_end - 1 of one list and y .. y_end - 1 of another, of
 * which each is to be compared with each.  In the join of a list with itself
 * both are the same.
 */
typedef struct Candidates
{
	uint32 x;
	uint32 x_end;
	uint32 y;
	uint32 y_end;
} Candidates;

/* A stretch of each list that is cut by one part of its bits after another. */
typedef struct JoinNode
{
	Candidates all;
	uint64 varying;	  /* bits that are not the same in all */
	uint64 parts[64]; /* the radius + 1 parts, as masks */
	int part;		  /* that the stretches are sorted by */
	uint32 x;		  /* where its next group begins */
	uint32 y;
} JoinNode;

typedef struct HammingJoin
{
	FingerprintList *x;
	FingerprintList *y; /* may be the same */
	int radius;
	/* sets of those numbers of the fingerprints that need no comparison */
	uint32 *sets;
	int depth; /* nodes in use */
	/* each node's groups agree in one bit more that varies in it */
	JoinNode nodes[64];
} HammingJoin;

extern HammingJoin *join_begin(FingerprintList *x, FingerprintList *y,
							   int radius, uint32 *sets);
extern bool join_next(HammingJoin *join, Candidates *candidates);
extern bool join_is_first(const HammingJoin *join, uint64 difference);

#endif /* JOIN_H */
