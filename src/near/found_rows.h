/*
 * found_rows.h
 *	  The rows of pairs that the processes of a team have found, in files.
 */
#ifndef SIMHASH_FOUND_ROWS_H
#define SIMHASH_FOUND_ROWS_H

#include "near/side.h"

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

typedef struct FoundRows
{
	TeamFile	file;
	NearSide	sides[2];		/* the rows of the pair that was read */
} FoundRows;

extern void hamming_rows_write(FoundRows *rows, const NearPair *pair);
extern bool hamming_rows_next(FoundRows *rows, NearPair *pair);

#endif							/* SIMHASH_FOUND_ROWS_H */
