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
#include "near/together.h"

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
	int			radius;			/* 0 .. the number of bits */
	Size		memory;			/* bytes for rows that come from files */

	/*
	 * A bit for each row of x, by its number; or NULL.  If the bit is set,
	 * the row needs no pairs any more.
	 */
	const uint8 *settled_rows;
	bool		any_pair_settles;	/* does the first pair of each such row
									 * set its bit? */

	/*
	 * Are the rows of x among those of y, which is another side, and may the
	 * pair of a row and itself be left out?
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

/* A team that finds all pairs of a pass, as a process of it sees it. */
typedef struct PassTeam
{
	Together   *together;		/* NULL: there is no team */
	Comparison	comparison;		/* by this process */
	TeamFile	file;			/* what it has found, and in the end all have */
} PassTeam;

/* Sides that are paired pass by pass, each of a stretch of x and one of y. */
typedef struct NearPasses
{
	NearOptions options;
	NearWork	work;			/* so far */
	NearSide   *all_x;
	NearSide   *all_y;			/* may be all_x */
	const Segments *only;		/* see hamming_groups_begin() */
	uint64		x_next;			/* rows before this one have been in a pass as
								 * x */
	uint64		y_next;			/* the same, with the current rows of x */
	NearSide	loaded[2];		/* rows of x and of y from files */

	/* the current pass */
	NearSide   *x;				/* grouped; NULL: there is no pass */
	NearSide   *y;				/* may be x */
	bool	   *settled;		/* fingerprints of x; may be NULL */
	Comparison *comparison;		/* of this pass and of others */
	uint32		next_key[2];	/* see hamming_sides_next_key() */
	uint32		same;			/* place of the next fingerprint whose rows
								 * are paired with each other */
	uint32		same_end;
	PassTeam	team;			/* that has found all; or none */
} NearPasses;

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

/* Partitions of a segment at most: each has a buffer of 8 kB for each side. */
#define MAX_PARTITIONS 1024

/* The partitions of two sides, by key, and by the current segment of cuts. */
typedef struct Division
{
	NearSide   *x;
	NearSide   *y;				/* may be x */
	const Shares *share;		/* only its rows are in partitions; or NULL */
	Segments	segments;
	int			partitions;		/* how many; 1, the sides, if not divided */
	NearSide   *x_partitions;
	NearSide   *y_partitions;	/* x_partitions, if y is x */
} Division;

/* A team that pairs all partitions, as a process of it sees it. */
typedef struct PartitionTeam
{
	struct SharedPartitions *shared;
	NearPasses	passes;			/* the pairs of a partition */
	TeamFile	file;			/* what they found, and in the end all have */
	NearSide	rows[2];		/* in the leader: of the pair that was read
								 * last */
} PartitionTeam;

typedef struct NearPairs
{
	Division	division;
	int			partition;		/* the current one, of the segment */
	NearPasses	passes;			/* its pairs, */
	PartitionTeam *team;		/* or a team that has paired all partitions */
} NearPairs;

/*
 * Note that all rows of x are settled in the pair that was returned last: their
 * fingerprint needs no pairs any more, in this pass.
 */
static inline void
settle_pair(NearPairs *pairs, const NearPair *pair)
{
	pairs->passes.settled[pair->fingerprint] = true;
}

/* pass_team.c */
extern void hamming_pass_team_begin(PassTeam *team, const NearSide *x,
									const NearSide *y, const bool *settled,
									NearOptions *options, NearWork *work);
extern void hamming_pass_team_end(PassTeam *team);
extern PGDLLEXPORT void hamming_pass_team_main(dsm_segment *segment,
											   shm_toc *toc);

/* pass.c */
extern bool hamming_prefers_stretches(double x, double y, double at_once);
extern void hamming_passes_make(NearPasses *p, int word_count,
								const NearOptions *options);
extern void hamming_passes_begin(NearPasses *p, NearSide *x, NearSide *y,
								 const Segments *only);
extern bool hamming_passes_next(NearPasses *p, NearPair *pair);
extern void hamming_passes_end(NearPasses *p);

/* division.c */
extern void hamming_division_begin(Division *division, NearSide *x,
								   NearSide *y, const Shares *share);
extern bool hamming_division_choose(Division *division,
									const NearOptions *options);
extern void hamming_division_make(Division *division, Size memory);
extern bool hamming_division_next(Division *division, SharedFileSet *files,
								  NearWork *work);
extern void hamming_division_end(Division *division);
extern const char *hamming_division_file(int side, uint32 partition);

/* partitions.c */
extern PartitionTeam *hamming_partitions_pair(Division *division,
											  NearOptions *options,
											  NearWork *work);
extern bool hamming_partitions_next(PartitionTeam *team, NearPair *pair);
extern PGDLLEXPORT void hamming_partitions_main(dsm_segment *segment,
												shm_toc *toc);

/* pairs.c */
extern NearPairs *hamming_pairs_begin(NearSide *x, NearSide *y,
									  const NearOptions *options);
extern bool hamming_pairs_next(NearPairs *pairs, NearPair *pair);
extern NearWork hamming_pairs_take_work(NearPairs *pairs);
extern void hamming_pairs_end(NearPairs *pairs);

#endif							/* SIMHASH_PAIRS_H */
