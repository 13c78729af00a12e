/*
 * stored_values.h
 *	  The values of a column of fingerprints that ANALYZE has stored.
 */
#ifndef SIMHASH_STORED_VALUES_H
#define SIMHASH_STORED_VALUES_H

#include "nodes/bitmapset.h"
#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"

#include "type/width.h"

#define hamming_null_fraction WIDE(hamming_null_fraction)
#define hamming_read_values WIDE(hamming_read_values)
#define hamming_excluded_values WIDE(hamming_excluded_values)

/*
 * The values of a column that ANALYZE has stored: the most common ones, and
 * then those of the histogram.  Each stands for a part of the rows.
 */
typedef struct StoredValues
{
	int			common;			/* how many are most common */
	int			count;			/* of all */
	Fingerprint *values;
	double	   *parts;			/* of the rows, for each value */
	double		rest;			/* part of the rows that has none of the most
								 * common ones */
} StoredValues;

/* Return the number, which may be NaN, as a probability: 0 .. 1. */
static inline double
probability(double number)
{
	return number >= 0 ? Min(number, 1) : 0;
}

extern double hamming_null_fraction(VariableStatData *variable);
extern StoredValues hamming_read_values(VariableStatData *variable);
extern Bitmapset *hamming_excluded_values(PlannerInfo *root,
										  VariableStatData *variable,
										  const StoredValues *stored,
										  Bitmapset **doubtful);

#endif							/* SIMHASH_STORED_VALUES_H */
