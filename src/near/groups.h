/*
 * groups.h
 *	  Which fingerprints of two lists, or of one, may be within a radius of
 *	  each other?
 */
#ifndef SIMHASH_GROUPS_H
#define SIMHASH_GROUPS_H

#include "near/cut.h"
#include "near/fplist.h"

/* Two lists whose pairs are wanted, or one. */
typedef struct NearLists
{
	FingerprintList *x;
	FingerprintList *y;			/* may be the same list */
	uint32	   *sets;			/* see hamming_groups_make(); may be NULL */
	const bool *settled;		/* the same */
} NearLists;

/* Is each member of the group to be compared with each other member? */
static inline bool
is_one_stretch(const NearLists *lists, const Candidates *group)
{
	return lists->x == lists->y && group->x == group->y;
}

static inline double
number_of_pairs(const NearLists *lists, const Candidates *group)
{
	double		x = group->x_end - group->x;

	if (is_one_stretch(lists, group))
		return x * (x - 1) / 2;
	return x * (group->y_end - group->y);
}

/*
 * A node divides a group, by one segment after the other: by the segments 0 ..
 * last of a cut, where what agrees in the segment is a smaller group; or, as a
 * turn, by the words 0 .. last, where the whole group is searched within the
 * radius of the word.
 */
typedef struct GroupNode
{
	Candidates	all;			/* the group that is divided */
	bool		is_turn;
	int			word;			/* its smaller groups have this word, */
	int			radius;			/* and wanted within this radius of it */
	int			radii[HAMMING_MAX_WORDS];	/* of a turn: of each word; -1: it
											 * is not searched */
	NearCut		cut;			/* of the word */
	int			last;
	int			segment;		/* the stretches are sorted by this segment;
								 * before the first sort, it is -1 */
	uint64		flipped[HAMMING_MAX_WORDS]; /* bits of each word in which all
											 * pairs of all differ */
	uint64		flips;			/* bits of the segment in which all pairs of a
								 * smaller group differ */
	uint32		passes;			/* over the sorted stretches, so far */
	uint32		x;				/* the next smaller group has its x here */
	uint32		y;				/* where its y was looked for last: the next
								 * one is not far */

	/* of a team's leader: see together.c */
	bool		is_walked;		/* has the team walked the segment? */
	uint32		large;			/* where the node's large groups begin */
} GroupNode;

/* README, claim 2, proves that there are never more. */
#define NODES_OF_WORD 65
#define MAX_NODES (NODES_OF_WORD * HAMMING_MAX_WORDS)

/*
 * The nodes are a stack: each divides a smaller group of the one below it, by a
 * cut of its own, or turns it to other words.
 */
typedef struct NearGroups
{
	NearLists	lists;
	int			word_count;
	int			radius;
	bool		radii_pay;		/* hamming_radii_pay(), of several words */
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
	GroupNode	nodes[FLEXIBLE_ARRAY_MEMBER];	/* NODES_OF_WORD a word */
} NearGroups;

/* Return the word that the lists have in the current group. */
static inline int
current_word(const NearGroups *groups)
{
	return groups->depth == 0 ? 0 : groups->nodes[groups->depth - 1].word;
}

/* Return within which radius of that word its pairs are wanted. */
static inline int
current_radius(const NearGroups *groups)
{
	return groups->depth == 0 ? Min(groups->radius, 64)
		: groups->nodes[groups->depth - 1].radius;
}

/* Are the x of the node's groups among its y? */
static inline bool
divides_one_stretch(const NearGroups *groups, const GroupNode *node)
{
	const Candidates *all = &node->all;

	return groups->lists.x == groups->lists.y && all->x >= all->y &&
		all->x < all->y_end;
}

/* sample.c */
extern double hamming_group_sort_cost(const NearLists *lists,
									  const Candidates *group);
extern uint64 hamming_group_varying(const NearLists *lists,
									const Candidates *group, int word);
extern void hamming_group_measure(const NearLists *lists,
								  const Candidates *group, int word,
								  uint64 varying, GroupShape *shape);
extern bool hamming_group_is_done(const NearLists *lists,
								  const Candidates *group);

/* groups.c */
extern NearGroups *hamming_groups_make(FingerprintList *x, FingerprintList *y,
									   int radius);
extern void hamming_groups_begin(NearGroups *groups, const Candidates *all,
								 const Segments *only);
extern void hamming_groups_begin_above(NearGroups *groups,
									   const Candidates *all, bool is_whole);
extern bool hamming_groups_next(NearGroups *groups, Candidates *candidates);
extern bool hamming_groups_next_smaller(const NearGroups *groups,
										GroupNode *node, Candidates *group);
extern bool hamming_groups_is_first(const NearGroups *groups,
									const uint64 *difference);

#endif							/* SIMHASH_GROUPS_H */
