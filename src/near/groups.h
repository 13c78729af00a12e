/*
 * groups.h
 *	  Which fingerprints of two lists, or of one, may be within a radius of
 *	  each other?
 */
#ifndef SIMHASH_GROUPS_H
#define SIMHASH_GROUPS_H

#include "port/atomics.h"

#include "near/fplist.h"
#include "near/cut.h"

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
	uint32		passes;			/* over the sorted stretches, so far */
	uint32		large;			/* of a node that a team walks: its large
								 * groups are on SharedNodes.large from here */
	uint32		x;				/* the next smaller group has its x here */
	uint32		y;				/* where its y was looked for last: the next
								 * one is not far */
} GroupNode;

/* What a member searches: all that it walks, or one group that is given. */
typedef enum GivenGroup
{
	GIVEN_NONE,
	GIVEN_WHOLE,				/* all is handed out as it is */
	GIVEN_LARGE,				/* all is divided, or handed out */
	GIVEN_DONE					/* the same, and that was begun */
} GivenGroup;

/* A group that is too large for one process: a smaller group of a node. */
typedef struct LargeGroup
{
	Candidates	group;
	Fingerprint flips;			/* of the node */
	double		pairs;
} LargeGroup;

#define MAX_LARGE 4096

/*
 * A group of LARGE_PAIRS, which one process compares in 4 ms, is large.  Large
 * groups are units of a step of their own.  But the team divides the group of a
 * unit that has more than 1 / LARGE_SHARE of the pairs of all large groups:
 * such a unit would keep LARGE_SHARE processes waiting.
 */
#define LARGE_PAIRS (4096.0 * 4096.0)
#define LARGE_SHARE 64

/* The nodes of a leader's search, as all processes of a team see them. */
typedef struct SharedNodes
{
	int			depth;
	GroupNode	nodes[HAMMING_BITS];
	int			cut_of[HAMMING_BITS];	/* the cut of each node: index of */
	NearCut		cuts[HAMMING_BITS];
	pg_atomic_uint32 large_count;
	LargeGroup	large[MAX_LARGE];	/* a stack, but for a step: */
	uint32		first_unit;		/* its units are from here to the top */
	double		large_pairs;	/* of all large groups of nodes[0] */
} SharedNodes;

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

	/*
	 * Of a search by a team.  The leader has walk: once its top node is
	 * sorted, walk(arg, groups) has the team take the smaller groups of the
	 * node, but for large ones, which the leader divides.  A member has
	 * shared: the top node of common divides this list, which other processes
	 * read, too.  x and y of a member are a list of its own, to which each
	 * smaller group is copied.  Alone, a process has none of these.
	 */
	SharedNodes *common;
	void		(*walk) (void *arg, struct NearGroups *groups);
	void	   *arg;
	const FingerprintList *shared;
	Size		capacity;		/* of x, if shared is not NULL */
	int			only;			/* see hamming_groups_begin_large() */
	GivenGroup	given;			/* what the search is about, in place of walk */

	/* of what progress.c shows, the share before this search, and its own */
	double		done_before;
	double		done_here;		/* 0: the search shows nothing */

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

/* Return how many pairs comparing each with each takes. */
static inline double
number_of_pairs(const NearGroups *groups, const Candidates *group)
{
	double		x = group->x_end - group->x;

	if (is_one_stretch(groups, group))
		return x * (x - 1) / 2;
	return x * (group->y_end - group->y);
}

extern NearGroups *hamming_groups_make(FingerprintList *x, FingerprintList *y,
									   int radius);
extern void hamming_groups_begin(NearGroups *groups, const Candidates *all,
								 const NearCut *cut, int segment);
extern void hamming_groups_copy(NearGroups *groups, Candidates *group);
extern void hamming_groups_publish(const NearGroups *groups);
extern uint32 hamming_groups_large_units(NearGroups *groups);
extern void hamming_groups_begin_large(NearGroups *groups, uint32 unit);
extern void hamming_groups_begin_whole(NearGroups *groups,
									   const Candidates *all);
extern uint32 hamming_groups_slices(const Candidates *all);
extern void hamming_groups_begin_unit(NearGroups *groups,
									  uint32 slice, uint32 slices);
extern bool hamming_groups_next(NearGroups *groups, Candidates *candidates);
extern void hamming_groups_show(const NearGroups *groups, double of_segment);
extern bool hamming_groups_is_first(const NearGroups *groups,
									Fingerprint difference);
extern bool hamming_groups_choose_cut(FingerprintList *x, FingerprintList *y,
									  int radius, Fingerprint varying,
									  NearCut *cut);

#endif							/* SIMHASH_GROUPS_H */
