/*
 * pair_rows.h
 *	  The rows of two fingerprints, two by two.
 */
#ifndef SIMHASH_PAIR_ROWS_H
#define SIMHASH_PAIR_ROWS_H

#include "near/found_rows.h"

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

#endif							/* SIMHASH_PAIR_ROWS_H */
