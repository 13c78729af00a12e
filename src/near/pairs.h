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
#include "near/side.h"

/* A bit for each number from 0 on. */
static inline void
set_bit(uint8 *bits, uint64 number)
{
	bits[number / 8] |= 1 << number % 8;
}

static inline bool
is_bit_set(const uint8 *bits, uint64 number)
{
	return bits[number / 8] >> number % 8 & 1;
}

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

	/*
	 * Are x and y two sides with the same rows, and may the pair of a row and
	 * itself be left out?
	 */
	bool		are_same_rows;

	/* Only the pairs of this share, if x and y are one side; or NULL. */
	const Shares *share;

	/*
	 * How many other processes may help; 0 with a share.  They find all pairs
	 * of a pass before the first one is returned, unless there are too many
	 * (pass_team.c), or all pairs of all partitions.  Then memory is that of
	 * all processes.
	 */
	int			workers;
} NearOptions;

/* Each row of x at x .. x_end - 1 is paired with each row of y there. */
typedef struct NearPair
{
	const NearSide *x_side;		/* has the rows of x, in memory */
	uint32		x;
	uint32		x_end;
	const NearSide *y_side;
	uint32		y;
	uint32		y_end;

	bool		is_same;		/* are these the same rows?  Then each two of
								 * them are a pair. */
	int			distance;
	uint32		fingerprint;	/* number of that of x, in x_side */
} NearPair;

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

/* Partitions of a segment at most: each has a buffer of 8 kB for each side. */
#define MAX_PARTITIONS 1024

/*
 * The sides, and their partitions in files, by key and by the current segment
 * of the cut.  Of sides that are not divided there is one partition: the sides
 * themselves.
 */
typedef struct Division
{
	NearSide   *x;
	NearSide   *y;				/* may be x */
	const Shares *share;		/* only its rows are in partitions; or NULL */

	/* Rows are paired that agree in one segment of a cut after the other. */
	bool		is_cut;			/* else they need agree in no segment */
	NearCut		cut;			/* without a cut, of one segment */
	int			segment;		/* the current one; -1 before the first */

	int			partitions;		/* how many */
	int			partition;		/* the current one, of the segment */
	NearSide   *x_partitions;	/* x, if the sides are not divided */
	NearSide   *y_partitions;	/* x_partitions, if y is x */
} Division;

typedef struct NearPairs
{
	NearOptions options;
	NearWork	work;			/* so far */
	Division	division;
	bool		is_unit;		/* in a process of partitions.c: there is one
								 * partition of one segment */

	uint64		x_next;			/* rows of the partition before this one have
								 * been in a pass as x */
	uint64		y_next;			/* the same, with the current rows of x */

	Team	   *team;			/* that has paired all partitions; or NULL */
	NearSide	rows[2];		/* of the pair that was read last */
	TeamFile	file;			/* what a team has found, of all partitions or
								 * of the pass */

	NearPass	pass;			/* the current one */
	NearSide	loaded[2];		/* its rows of x and of y from files */
	bool	   *settled;		/* fingerprints of pass.x; may be NULL */
	Comparison *comparison;		/* of this pass and of others */
	uint32		x_group;		/* the next key of pass.x, */
	uint32		y_group;		/* and of pass.y */
	uint32		same;			/* place of the next fingerprint whose rows
								 * are paired with each other */
	uint32		same_end;

	struct Together *together;	/* of the team that has found all of the
								 * current pass; or NULL */
} NearPairs;

/*
 * Note that all rows of x are settled in the pair that was returned last: their
 * fingerprint needs no pairs any more, in this pass.
 */
static inline void
settle_pair(NearPairs *pairs, const NearPair *pair)
{
	pairs->settled[pair->fingerprint] = true;
}

/* Are the sides divided into partitions? */
static inline bool
is_divided(const Division *division)
{
	return division->x_partitions != division->x;
}

/* Is the fingerprint's block of the current segment in the share, if any? */
static inline bool
is_in_segment(const Division *division, Fingerprint fp)
{
	return division->share == NULL ||
		hamming_share_of(division->share, fp,
						 division->segment) == division->share->number;
}

/* pairs.c */
extern NearPairs *hamming_pairs_begin(NearSide *x, NearSide *y,
									  const NearOptions *options);
extern bool hamming_pairs_next(NearPairs *pairs, NearPair *pair);
extern const NearPass *hamming_pairs_next_pass(NearPairs *pairs);
extern bool hamming_pairs_next_of_pass(NearPairs *pairs, NearPair *pair);
extern bool hamming_pairs_next_key(NearPairs *pairs, Candidates *all);
extern void hamming_pairs_end(NearPairs *pairs);

/* division.c */
extern void hamming_division_begin(Division *division, NearSide *x,
								   NearSide *y, const Shares *share);
extern bool hamming_division_choose(Division *division,
									const NearOptions *options);
extern void hamming_division_make(Division *division, Size memory);
extern void hamming_division_next(Division *division, SharedFileSet *files,
								  NearWork *work);
extern void hamming_division_end(Division *division);
extern const char *hamming_division_file(int side, uint32 partition);
extern double hamming_division_stretch(double count, double other_count,
									   double at_once);
extern bool hamming_prefers_stretches(double x, double y, double at_once);

/* pass_team.c */
extern void hamming_pass_team_begin(NearPairs *pairs);
extern void hamming_pass_team_end(NearPairs *pairs);
extern PGDLLEXPORT void hamming_pass_team_main(dsm_segment *segment,
											   shm_toc *toc);

/* partitions.c */
extern bool hamming_partitions_pair(NearPairs *pairs);
extern bool hamming_partitions_next(NearPairs *pairs, NearPair *pair);
extern PGDLLEXPORT void hamming_partitions_main(dsm_segment *segment,
												shm_toc *toc);

/*
 * Rows *a of x and *b of y come next, unless they are none of the pair: go on
 * to the next that are.  Return false if there are none left.
 */
static inline bool
find_rows(const NearPair *pair, uint32 *a, uint32 *b)
{
	for (; *a < pair->x_end; ++*a, *b = pair->y)
	{
		/* rows that share a fingerprint are paired with later ones */
		if (pair->is_same)
			*b = Max(*b, *a + 1);
		if (*b < pair->y_end)
			return true;
	}
	return false;
}

#endif							/* SIMHASH_PAIRS_H */
