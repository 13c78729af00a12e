/*
 * groups.h
 *	  Which fingerprints of two lists, or of one, may be within a radius of
 *	  each other?
 */
#ifndef SIMHASH_GROUPS_H
#define SIMHASH_GROUPS_H

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
	NearCut		cut;
	int			level;			/* how many segments of the cut its smaller
								 * groups agree in: 1 .. cut.levels */
	int			first;
	int			last;
	Fingerprint flipped;		/* bits in which all pairs of all differ */
	int			segment;		/* the stretches are sorted by this segment;
								 * before the first sort, it is first - 1 */
	Fingerprint flips;			/* bits of the segment in which all pairs of a
								 * smaller group differ */
	uint32		passes;			/* over the sorted stretches, so far */
	uint32		x;				/* the next smaller group has its x here */
	uint32		y;				/* where its y was looked for last: the next
								 * one is not far */

	/* of a team's leader: see together.c */
	bool		is_walked;		/* has the team walked the segment? */
	uint32		large;			/* where the node's large groups begin */
} GroupNode;

/*
 * The nodes are a stack: each divides a smaller group of the one below it.  A
 * group that agrees in all levels of its cut may get a cut of its own.
 * There are never more than HAMMING_BITS nodes: README, claim 2, has the proof.
 */
typedef struct NearGroups
{
	FingerprintList *x;
	FingerprintList *y;			/* may be the same list */
	int			radius;
	uint32	   *sets;			/* see hamming_groups_make(); may be NULL */
	const bool *settled;		/* the same */
	void	   *texts;			/* that dedup/connect.c compares; NULL: none */

	/*
	 * In the leader of a team: get the next smaller group of the top node, of
	 * those that the team leaves to the leader.  NULL: there is no team.
	 */
	bool		(*next_left) (void *arg, struct NearGroups *groups,
							  Candidates *group);
	void	   *arg;

	/* of what progress.c shows, the share before this search, and its own */
	double		done_before;
	double		done_here;		/* 0: the search shows nothing */

	Candidates	all;			/* what is searched, */
	bool		is_fresh;		/* which was neither divided nor handed out, */
	bool		is_whole;		/* and is not to be divided */
	int			base;			/* nodes above which the search is: in a
								 * process of a team, those of the leader */
	int			depth;			/* nodes in use */
	GroupNode	nodes[HAMMING_BITS];
} NearGroups;

/* Is each member of the group to be compared with each other member? */
static inline bool
is_one_stretch(const NearGroups *groups, const Candidates *group)
{
	return groups->x == groups->y && group->x == group->y;
}

static inline double
number_of_pairs(const NearGroups *groups, const Candidates *group)
{
	double		x = group->x_end - group->x;

	if (is_one_stretch(groups, group))
		return x * (x - 1) / 2;
	return x * (group->y_end - group->y);
}

/* Are the x of the node's groups among its y? */
static inline bool
divides_one_stretch(const NearGroups *groups, const GroupNode *node)
{
	const Candidates *all = &node->all;

	return groups->x == groups->y && all->x >= all->y && all->x < all->y_end;
}

/* groups.c */
extern NearGroups *hamming_groups_make(FingerprintList *x, FingerprintList *y,
									   int radius);
extern void hamming_groups_begin(NearGroups *groups, const Candidates *all,
								 const NearCut *cut, int segment);
extern void hamming_groups_begin_above(NearGroups *groups,
									   const Candidates *all, bool is_whole);
extern bool hamming_groups_next(NearGroups *groups, Candidates *candidates);
extern double hamming_groups_done(const NearGroups *groups, double of_segment);
extern bool hamming_groups_next_smaller(const NearGroups *groups,
										GroupNode *node, Candidates *group);
extern bool hamming_groups_is_first(const NearGroups *groups,
									Fingerprint difference);

/* sample.c */
extern double hamming_group_sort_cost(const NearGroups *groups,
									  const Candidates *group);
extern bool hamming_group_is_compared_sooner(const NearGroups *groups,
											 const Candidates *group,
											 int sorts);
extern void hamming_group_measure(const NearGroups *groups,
								  const Candidates *group,
								  Fingerprint flipped, GroupShape *shape);
extern bool hamming_group_is_done(const NearGroups *groups,
								  const Candidates *group);
extern bool hamming_groups_choose_cut(FingerprintList *x, FingerprintList *y,
									  int radius, Fingerprint varying,
									  NearCut *cut);

#endif							/* SIMHASH_GROUPS_H */
