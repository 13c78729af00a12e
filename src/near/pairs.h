/*
 * pairs.h
 *	  The pairs of fingerprints of two lists of entries that are within a
 *	  radius, however long the lists are.
 */
#ifndef SIMHASH_PAIRS_H
#define SIMHASH_PAIRS_H

#include "near/compare.h"
#include "near/side.h"

#define hamming_passes_begin WIDE(hamming_passes_begin)
#define hamming_passes_next WIDE(hamming_passes_next)
#define hamming_passes_end WIDE(hamming_passes_end)

/* Most partitions that the entries are divided into: a file each, of 8 kB. */
#define JOIN_MAX_PARTITIONS 1024

typedef struct JoinPasses
{
	EntryList  *x;
	EntryList  *y;
	int			radius;
	Size		rows_at_once;	/* that both sides of a pass may have */
	const uint8 *settled_rows;	/* see hamming_passes_begin(); may be NULL */
	uint64		passes;			/* so far */
	uint64		compared;		/* pairs that ended passes compared */
	uint64		written;		/* bytes of partitions, so far */

	/* where the lists are in files */
	bool		is_cut;
	JoinCut		cut;
	int			part;			/* of the cut; -1 before the first */
	int			partitions;
	int			partition;		/* the current one, of the part */
	EntryList  *x_parts;		/* the partitions of each side */
	EntryList  *y_parts;
	uint64		x_next;			/* entries of the partition before this one
								 * have been in a pass */
	uint64		y_next;			/* the same, with the current x_side */

	/* the current pass */
	MemoryContext context;		/* of passes, and of x_side */
	MemoryContext y_context;	/* of y_side and pairs */
	JoinSide   *x_side;
	JoinSide   *y_side;
	bool	   *settled;		/* fingerprints of x_side; may be NULL */
	JoinPairs  *pairs;
} JoinPasses;

extern JoinPasses *hamming_passes_begin(EntryList *x, EntryList *y, int radius,
										Size rows_at_once,
										const uint8 *settled_rows);
extern bool hamming_passes_next(JoinPasses *passes, uint32 *x, uint32 *y);
extern void hamming_passes_end(JoinPasses *passes);

#endif							/* SIMHASH_PAIRS_H */
