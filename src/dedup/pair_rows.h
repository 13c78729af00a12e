/*
 * pair_rows.h
 *	  The pairs of rows whose fingerprints are within a radius of each other.
 */
#ifndef SIMHASH_PAIR_ROWS_H
#define SIMHASH_PAIR_ROWS_H

#include "dedup/join_pairs.h"

/*
 * The rows of a query.  While rows are added, the list has the fingerprint of
 * each row, and ids its id.  Then the rows are grouped: the list has each
 * distinct fingerprint once, numbered from 0 on, and the rows of fingerprint n
 * have ids[starts[n]] .. ids[starts[n + 1] - 1].
 */
typedef struct PairSide
{
	FingerprintList list;
	int64	   *ids;
	uint32	   *starts;			/* one more than there are fingerprints */
	Size		capacity;		/* rows that there is room for */
} PairSide;

typedef struct PairRows
{
	PairSide   *x;
	PairSide   *y;				/* may be the same side */
	JoinPairs  *join_pairs;
	uint32		distinct;		/* number of the next fingerprint whose rows
								 * are to be paired with each other */
	/* the rows of two fingerprints that are being paired: indexes of ids */
	int			distance;		/* of the two fingerprints */
	bool		is_same;		/* are they one, with itself? */
	uint32		a;				/* current row of x */
	uint32		a_end;
	uint32		b;				/* next row of y to be paired with it */
	uint32		b_from;
	uint32		b_end;
} PairRows;

extern PairSide *simhash_pair_side_begin(void);
extern void simhash_pair_side_add(PairSide *side, int64 id, uint64 fingerprint);
extern PairRows *simhash_pair_rows_begin(PairSide *x, PairSide *y, int radius);
extern bool simhash_pair_rows_next(PairRows *pairs, int64 *a, int64 *b,
								   int *distance);

#endif							/* SIMHASH_PAIR_ROWS_H */
