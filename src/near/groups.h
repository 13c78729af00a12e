/*
 * groups.h
 *	  Exact similarity joins: which fingerprints of two lists, or of one, may
 *	  be within a radius of each other?
 */
#ifndef SIMHASH_GROUPS_H
#define SIMHASH_GROUPS_H

#include "near/fplist.h"
#include "near/cut.h"

#define hamming_join_begin WIDE(hamming_join_begin)
#define hamming_join_settle WIDE(hamming_join_settle)
#define hamming_join_restrict WIDE(hamming_join_restrict)
#define hamming_join_next WIDE(hamming_join_next)
#define hamming_join_is_first WIDE(hamming_join_is_first)
#define hamming_join_choose_cut WIDE(hamming_join_choose_cut)

/*
 * Each fingerprint at the places x .. x_end - 1 of one list is to be compared
 * with each at y .. y_end - 1 of another.  In the join of a list with itself
 * both are stretches of this list.  Such stretches are the same, or have no
 * place in common.
 */
typedef struct Candidates
{
	uint32		x;
	uint32		x_end;
	uint32		y;
	uint32		y_end;
} Candidates;

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
	Fingerprint flipped;		/* bits in which all pairs of all differ */
	int			part;			/* the stretches are sorted by this part;
								 * before the first sort, it is first - 1 */
	Fingerprint flips;			/* bits of the part in which all pairs of a
								 * smaller group differ */
	uint32		x;				/* the next smaller group has its x here */
	uint32		y;				/* the last smaller group had its y near here */
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

/* Is each member of the group to be compared with each other member? */
static inline bool
is_one_stretch(const HammingJoin *join, const Candidates *group)
{
	return join->x == join->y && group->x == group->y;
}

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

#endif							/* SIMHASH_GROUPS_H */
