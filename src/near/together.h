/*
 * together.h
 *	  A search for the pairs of one list, or of stretches of it, by a team of
 *	  processes.
 */
#ifndef SIMHASH_TOGETHER_H
#define SIMHASH_TOGETHER_H

#include "port/atomics.h"

#include "near/groups.h"

/* The kinds of steps, but for those of fplist.c. */
#define STEP_WALK FPLIST_STEPS	/* slices of the top node */
#define STEP_LARGE (FPLIST_STEPS + 1)	/* its large groups */
#define STEP_COMPARE (FPLIST_STEPS + 2) /* slices of search->group */
#define STEP_KEYS (FPLIST_STEPS + 3)	/* slices of keys */

/*
 * What the leader of a search decides before it makes the memory: the radius,
 * which arrays the memory has, and how many elements each array has room for.
 */
typedef struct SearchOptions
{
	int			radius;
	int			word_count;
	bool		has_sets;
	uint32		capacity;		/* of the list, and of the sets */
	uint32		first_y;		/* the numbers of another side begin here */
	uint32		settled_count;	/* numbers of x that may be settled; or 0 */
	bool		any_pair_settles;	/* is no other pair of x needed then? */
	uint32		key_capacity;	/* of keys */
} SearchOptions;

/* A group that is too large for one process: a smaller group of a node. */
typedef struct LargeGroup
{
	Candidates	group;
	uint64		flips;			/* of the node */
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

/* What all processes see. */
typedef struct SharedSearch
{
	SearchOptions options;
	pg_atomic_uint64 found;		/* pairs of rows that may be settled */
	uint32		key_count;		/* of keys that are units */
	Candidates	group;			/* that the team compares */

	/* the nodes of the leader's search */
	int			depth;
	GroupNode	nodes[MAX_NODES];

	/* their large groups: a stack, but for a step */
	pg_atomic_uint32 large_count;
	LargeGroup	large[MAX_LARGE];
	uint32		first_unit;		/* units of the step are from here to the top */
	double		large_pairs;	/* of the lowest node that is no turn */
} SharedSearch;

typedef struct Together
{
	Team	   *team;
	SharedSearch *search;
	FingerprintList list;		/* that all processes see */
	uint32	   *sets;			/* of its numbers; NULL: none */
	bool	   *settled;		/* numbers of x; NULL: none.  Any process may
								 * settle one at any time: that spares work,
								 * and changes nothing else. */
	Candidates *keys;			/* that are taken as a whole by one process */
	NearGroups *groups;			/* search of this process, in units */
	FingerprintList own;		/* copy of the group that it takes */
	Size		capacity;		/* of own */

	/*
	 * Take all candidates of groups.  Other processes may do so at the same
	 * time with other ones.
	 */
	void		(*take) (struct Together *together, NearGroups *groups);
	void	   *arg;			/* for take */
} Together;

extern Together *hamming_together_begin(const SearchOptions *options);
extern void hamming_together_search(Together *together, const Candidates *all,
									uint32 count);
extern void hamming_together_end(Together *together);
extern Together *hamming_together_attach(shm_toc *toc);

#endif							/* SIMHASH_TOGETHER_H */
