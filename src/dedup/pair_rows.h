/*
 * pair_rows.h
 *	  The pairs of rows whose fingerprints are within a radius of each other.
 */
#ifndef SIMHASH_PAIR_ROWS_H
#define SIMHASH_PAIR_ROWS_H

#include "dedup/join_pairs.h"
#include "dedup/join_parts.h"
#include "dedup/join_side.h"

typedef struct PairRows
{
	JoinSide   *x;
	JoinSide   *y;				/* may be the same side */
	FingerprintList *xs;		/* the fingerprints that are joined: the list
								 * of x, or members */
	FingerprintList *ys;
	JoinPairs  *join_pairs;
	uint32		distinct;		/* place in xs of the next fingerprint whose
								 * rows are to be paired with each other */
	/* for the pairs of one part */
	const JoinPart *part;		/* NULL for all pairs */
	int			block;			/* whose pairs come now */
	FingerprintList members;	/* those of x whose block is in the part: the
								 * first places of its list */
	/* the rows of two fingerprints that are being paired: indexes of ids */
	int			distance;		/* of the two fingerprints */
	bool		is_same;		/* are they one, with itself? */
	uint32		a;				/* current row of x */
	uint32		a_end;
	uint32		b;				/* next row of y to be paired with it */
	uint32		b_from;
	uint32		b_end;
} PairRows;

extern PairRows *simhash_pair_rows_begin(JoinSide *x, JoinSide *y, int radius);
extern PairRows *simhash_pair_rows_begin_part(JoinSide *side,
											  const JoinPart *part);
extern bool simhash_pair_rows_next(PairRows *pairs, int64 *a, int64 *b,
								   int *distance);

#endif							/* SIMHASH_PAIR_ROWS_H */
