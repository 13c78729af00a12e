/*
 * groups.h
 *	  Which fingerprints of two lists, or of one, may be within a radius of
 *	  each other?
 */
#ifndef SIMHASH_GROUPS_H
#define SIMHASH_GROUPS_H

#include "near/fplist.h"
#include "near/cut.h"

#define hamming_groups_make WIDE(hamming_groups_make)
#define hamming_groups_begin WIDE(hamming_groups_begin)
#define hamming_groups_next WIDE(hamming_groups_next)
#define hamming_groups_is_first WIDE(hamming_groups_is_first)
#define hamming_groups_choose_cut WIDE(hamming_groups_choose_cut)

/*
 * Each fingerprint at the places x .. x_end - 1 of one list is to be compared
 * with each at y .. y_end - 1 of another.  In a search within one list both
 * are stretches of this list.  Such stretches are the same, or have no place
 * in common.
 */
typedef struct Candidates
{
	uint32		x;
	uint32		x_end;
	uint32		y;
	uint32		y_end;
} Candidates;

/*
 * A node divides a group by the segments first .. last of a cut, one after the
 * other: what agrees in the segment is a smaller group.
 */
typedef struct GroupNode
{
	Candidates	all;			/* the group that is divided */
	NearCut    *cut;
	int			level;			/* of the segments of the cut, its smaller
								 * groups agree in level chosen ones: 1 ..
								 * levels */
	int			first;
	int			last;
	Fingerprint flipped;		/* bits in which all pairs of all differ */
	int			segment;		/* the stretches are sorted by this segment;
								 * before the first sort, it is first - 1 */
	Fingerprint flips;			/* bits of the segment in which all pairs of a
								 * smaller group differ */
	uint32		x;				/* the next smaller group has its x here */
	uint32		y;				/* where its y was looked for last: the next
								 * one is not far */
} GroupNode;

/*
 * The nodes are a stack: each divides a smaller group of the one below it.  A
 * group that agrees in all levels of its cut may get a cut of its own.  Here
 * the first cut has two levels, and the second one has one:
 *
 *		candidates		a smaller group of nodes[2]
 *		nodes[2]		cuts[1], level 1: sorted by segment 0, 1, 2, ...
 *		nodes[1]		cuts[0], level 2: sorted by segment 5, after 4
 *		nodes[0]		cuts[0], level 1: sorted by segment 3, after 0, 1, 2
 *
 * There are never more than HAMMING_BITS nodes, nor more than HAMMING_BITS
 * cuts: doc/algorithm.md 6 has the proof.
 */
typedef struct NearGroups
{
	FingerprintList *x;
	FingerprintList *y;			/* may be the same list */
	int			radius;
	uint32	   *sets;			/* see hamming_groups_make(); may be NULL */
	const bool *settled;		/* the same */
	Candidates	all;			/* that are divided */
	NearCut		cuts[HAMMING_BITS];
	int			depth;			/* nodes in use; -1 before the first group,
								 * and 0 after the last */
	GroupNode	nodes[HAMMING_BITS];
} NearGroups;

/* Is each member of the group to be compared with each other member? */
static inline bool
is_one_stretch(const NearGroups *groups, const Candidates *group)
{
	return groups->x == groups->y && group->x == group->y;
}

extern NearGroups *hamming_groups_make(FingerprintList *x, FingerprintList *y,
									   int radius);
extern void hamming_groups_begin(NearGroups *groups, const Candidates *all,
								 const NearCut *cut, int segment);
extern bool hamming_groups_next(NearGroups *groups, Candidates *candidates);
extern bool hamming_groups_is_first(const NearGroups *groups,
									Fingerprint difference);
extern bool hamming_groups_choose_cut(FingerprintList *x, FingerprintList *y,
									  int radius, Fingerprint varying,
									  NearCut *cut);

#endif							/* SIMHASH_GROUPS_H */
