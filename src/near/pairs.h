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

#include "near/pass.h"

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
