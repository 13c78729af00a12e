/*
 * pairs.h
 *	  All pairs of rows within a radius of each other, of two sides or of one,
 *	  however many rows there are.
 *
 * This is the door of the room: what uses it fills sides (side.h), and takes
 * the pairs.
 */
#ifndef SIMHASH_PAIRS_H
#define SIMHASH_PAIRS_H

#include "near/compare.h"
#include "near/division.h"
#include "near/found.h"
#include "near/found_rows.h"

typedef struct NearOptions
{
	int			radius;			/* 0 .. HAMMING_BITS */
	Size		memory;			/* bytes for rows that come from files */

	/*
	 * A bit for each row of x, by its number; or NULL.  If the bit is set,
	 * the row needs no pairs any more.
	 */
	const uint8 *settled_rows;
	bool		any_pair_settles;	/* does the first pair of each such row
									 * set its bit? */

	/* Only the pairs of this share, if x and y are one side; or NULL. */
	const Share *share;

	/*
	 * How many other processes may help, where there is no share: 0 or more.
	 * They find all pairs of a pass before the first one is returned, or all
	 * pairs of all partitions.  Then memory is that of all processes.  If the
	 * caller may want few pairs only, this process begins alone, and pairs
	 * partitions alone.
	 */
	int			workers;
	bool		begins_alone;
} NearOptions;

/* Rows that are paired in one go. */
typedef struct NearPass
{
	NearSide   *x;				/* in memory; NULL: there is no pass */
	NearSide   *y;				/* may be x */
	const NearCut *cut;			/* pairs agree in a segment of it, and in none
								 * before; NULL: in any bits */
	int			segment;
	double		done;			/* share of all work before this pass */
} NearPass;

/* A process that begins alone goes on by a team after FIRST_PAIRS pairs. */
#define FIRST_PAIRS 1000

/* Pairs of fingerprints that a process returns before it goes on by a team. */
typedef struct FirstPairs
{
	int			count;
	int			left;			/* of these, that are to come again */
	FoundPair	pairs[FIRST_PAIRS]; /* sorted, once these come again */
} FirstPairs;

typedef struct NearPairs
{
	NearOptions options;
	NearWork	work;			/* so far */
	Division	division;
	bool		is_unit;		/* in a process of partitions.c: there is one
								 * partition of one segment */

	/* the current partition, or the sides */
	NearSide   *x;
	NearSide   *y;				/* may be x */
	uint64		x_next;			/* rows before this one have been in a pass as
								 * x */
	uint64		y_next;			/* the same, with the current rows of x */

	Team	   *team;			/* that has paired all partitions; or NULL */
	FoundRows	rows;			/* what it has found */

	NearPass	pass;			/* the current one */
	NearSide	loaded[2];		/* its rows of x and of y from files */
	bool	   *settled;		/* fingerprints of pass.x; may be NULL */
	Comparison *comparison;		/* of this pass and of others */
	uint32		x_group;		/* the next key of pass.x, */
	uint32		y_group;		/* and of pass.y */
	uint32		same;			/* place of the next fingerprint whose rows
								 * are paired with each other */
	uint32		same_end;

	/* of pass_team.c, in the current pass */
	int			pass_workers;	/* that its team asks for; 0: no team */
	Found	   *found;			/* by a team; or NULL */
	FirstPairs	first;			/* by this process alone, before the team */
} NearPairs;

/* Has a process that has begun alone returned or compared enough? */
static inline bool
is_team_due(const NearPairs *pairs)
{
	const Comparison *c = pairs->comparison;

	return c->most > 0 &&
		(pairs->first.count == FIRST_PAIRS ||
		 (c->compared >= c->most && c->outer != NULL));
}

/* pairs.c */
extern NearPairs *hamming_pairs_begin(NearSide *x, NearSide *y,
									  const NearOptions *options);
extern void hamming_pairs_begin_unit(NearPairs *pairs, const NearCut *cut,
									 int segment);
extern bool hamming_pairs_next(NearPairs *pairs, NearPair *pair);
extern const NearPass *hamming_pairs_next_pass(NearPairs *pairs);
extern bool hamming_pairs_next_of_pass(NearPairs *pairs, NearPair *pair);
extern bool hamming_pairs_next_key(NearPairs *pairs, Candidates *all);
extern void hamming_pairs_settle(NearPairs *pairs, const NearPair *pair);
extern void hamming_pairs_end(NearPairs *pairs);

/* pass_team.c */
extern void hamming_pass_team_begin(NearPairs *pairs);
extern void hamming_pass_team_go_on(NearPairs *pairs);
extern bool hamming_pass_team_has_come(NearPairs *pairs, const FoundPair *two);

/* partitions.c */
extern bool hamming_partitions_pair(NearPairs *pairs);
extern PGDLLEXPORT void hamming_partitions_main(dsm_segment *segment,
												shm_toc *toc);

#endif							/* SIMHASH_PAIRS_H */
