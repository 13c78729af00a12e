/*
 * pair_rows.h
 *	  The pairs of rows whose fingerprints are near each other.
 */
#ifndef PAIR_ROWS_H
#define PAIR_ROWS_H

#include "dedup/join_pairs.h"

/* Rows of a query, which have an id and a fingerprint. */
typedef struct PairSide
{
	/* while rows are added, each one's; then each distinct one */
	FingerprintList list;
	int64	   *ids;			/* of the rows; then sorted by fingerprint */
	uint32	   *starts;			/* where those of each distinct fingerprint
								 * begin */
	Size		capacity;
} PairSide;

typedef struct PairRows
{
	PairSide   *x;
	PairSide   *y;				/* may be the same */
	JoinPairs  *near;
	uint32		distinct;		/* the next fingerprint to be paired with
								 * itself */
	/* rows of two fingerprints at this distance, which are being paired */
	int			distance;
	bool		is_same;		/* one fingerprint, with itself */
	uint32		a;
	uint32		a_end;
	uint32		b;
	uint32		b_from;
	uint32		b_end;
} PairRows;

extern PairSide *simhash_pair_side_begin(void);
extern void simhash_pair_side_add(PairSide *side, int64 id, uint64 fingerprint);
extern PairRows *simhash_pair_rows_begin(PairSide *x, PairSide *y, int radius);
extern bool simhash_pair_rows_next(PairRows *pairs, int64 *a, int64 *b,
								   int *distance);

#endif							/* PAIR_ROWS_H */
