/*
 * together.h
 *	  A search for the pairs of one list, or of stretches of it, by a team of
 *	  processes.
 */
#ifndef SIMHASH_TOGETHER_H
#define SIMHASH_TOGETHER_H

#include "near/groups.h"

/* A pair of fingerprints. */
typedef struct FoundPair
{
	uint32		x;				/* numbers of the fingerprints */
	uint32		y;
	int32		distance;
} FoundPair;

/*
 * What the leader of a search decides before it makes the memory: the radius,
 * which arrays the memory has, and how many elements each array has room for.
 */
typedef struct SearchOptions
{
	int			radius;
	bool		has_sets;
	uint32		capacity;		/* of the list, and of the sets */
	uint32		settled_count;	/* numbers of x that may be settled; or 0 */
	bool		any_pair_settles;	/* see FoundSearch */
	uint32		key_capacity;	/* of keys */
	uint32		pair_capacity;	/* of pairs */
} SearchOptions;

/* What all processes see. */
typedef struct SharedSearch
{
	SearchOptions options;
	uint32		key_count;		/* of keys that are units */
	pg_atomic_uint64 pair_count;	/* above pair_capacity: some had no room */
	pg_atomic_uint64 compared;	/* pairs, by workers that have ended */
	SharedNodes nodes;
	Candidates	group;			/* that the team compares */
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
	FoundPair  *pairs;			/* that any process has found */
	NearGroups *walked;			/* of the leader, by the team; or NULL */
	NearGroups *groups;			/* search of this process, in units */
	FingerprintList own;		/* its list */

	/*
	 * Take all candidates of groups.  Other processes may do so at the same
	 * time with other ones.
	 */
	void		(*take) (struct Together *together, NearGroups *groups);
	void	   *arg;			/* for take */

	/*
	 * In the leader: take search->group, by steps of kinds from
	 * TOGETHER_STEPS on.  NULL: the team compares it by slices.
	 */
	void		(*take_large) (struct Together *together);
	/* Do a unit of such a step. */
	void		(*do_unit) (struct Together *together, const TeamStep *step,
							uint32 unit);
} Together;

#define TOGETHER_STEPS (FPLIST_STEPS + 4)

extern Together *hamming_together_begin(const SearchOptions *options);
extern void hamming_together_search(Together *together, const Candidates *all,
									uint32 count);
extern void hamming_together_dismiss(Together *together);
extern void hamming_together_end(Together *together);
extern Together *hamming_together_attach(shm_toc *toc);

#endif							/* SIMHASH_TOGETHER_H */
