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
#include "near/found.h"
#include "near/found_rows.h"
#include "near/share.h"
#include "near/side.h"

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

typedef struct NearPairs
{
	NearSide   *x;
	NearSide   *y;				/* may be x */
	NearOptions options;
	uint64		passes;			/* so far */
	uint64		written;		/* bytes of partitions, and of pairs that
								 * teams have found, so far */
	Size		most_memory;	/* bytes of rows from files, in any pass */

	/* Rows are paired that agree in one segment of a cut after the other. */
	bool		is_cut;			/* else they need agree in no segment */
	NearCut		cut;			/* without a cut, of one segment */
	int			segment;		/* the current one; -1 before the first */

	/* Partitions of sides in files, by key and segment; or the sides. */
	bool		is_divided;
	int			partitions;		/* 1 for the sides */
	int			partition;		/* the current one, of the segment */
	NearSide   *x_partitions;
	NearSide   *y_partitions;	/* x_partitions, if y is x */
	uint64		x_next;			/* rows of the partition before this one have
								 * been in a pass as x */
	uint64		y_next;			/* the same, with the current rows of x */

	Team	   *team;			/* that has paired all partitions; or NULL */
	FoundRows	rows;			/* what it has found */

	/* the current pass */
	NearSide   *x_pass;			/* NULL: none */
	NearSide   *y_pass;			/* may be x_pass; NULL: none */
	NearSide	loaded[2];		/* rows of x and of y from files */
	bool	   *settled;		/* fingerprints of x_pass; may be NULL */
	Comparison *comparison;		/* of this pass and of others */
	int			pass_workers;	/* that its team asks for; 0: no team */
	Found	   *found;			/* pairs of the pass, by a team; or NULL */
	FoundWork	work;			/* of teams */
	FoundPair  *first_pairs;	/* before that, of this process alone */
	int			first_count;
	int			first_left;		/* of these, that are to come again */
	uint32		x_group;		/* the next key of x_pass, */
	uint32		y_group;		/* and of y_pass */
	uint32		same;			/* place of the next fingerprint whose rows
								 * are paired with each other */
	uint32		same_end;
} NearPairs;

extern NearPairs *hamming_pairs_begin(NearSide *x, NearSide *y,
									  const NearOptions *options);
extern bool hamming_pairs_next(NearPairs *pairs, NearPair *pair);
extern bool hamming_pairs_next_pass(NearPairs *pairs);
extern bool hamming_pairs_next_of_pass(NearPairs *pairs, NearPair *pair);
extern void hamming_pairs_settle(NearPairs *pairs, const NearPair *pair);
extern void hamming_pairs_end(NearPairs *pairs);
extern bool hamming_pairs_prefer_stretches(double x, double y, double at_once);
extern PGDLLEXPORT void hamming_pairs_main(dsm_segment *segment, shm_toc *toc);

#endif							/* SIMHASH_PAIRS_H */
