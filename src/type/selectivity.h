/*
 * selectivity.h
 *	  What the planner expects of a Hamming ball: how many rows lie within, and
 *	  what a search costs.
 */
#ifndef SIMHASH_SELECTIVITY_H
#define SIMHASH_SELECTIVITY_H

#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "utils/selfuncs.h"

#include "type/hamming.h"

/*
 * The most rows of the sample of ANALYZE whose distances are counted.  Each is
 * compared with each other: that takes 20 to 30 ms, for either width.  If one
 * pair of rows in 2,500,000 is within a radius, the sample is expected to have
 * ten such pairs.
 */
#define SIMHASH_STATISTIC_ROWS 7000

/*
 * The kind of statistics that analyze.c stores.  A fingerprint has bits bits.
 * There are two numbers for each radius, 0 .. bits: which part of the pairs of
 * sampled rows is within the radius, and which part of the sampled rows has
 * another row within the radius.  Rows without a fingerprint do not count.
 * PostgreSQL leaves the kinds 10000 to 30000 to everybody: only columns of our
 * own types have these statistics.
 */
#define SIMHASH_STATISTIC_KIND 21864
#define SIMHASH_STATISTICS(bits) (2 * ((bits) + 1))
#define SIMHASH_DENSITY(numbers, radius) ((numbers)[2 * (radius)])
#define SIMHASH_PARTNERED(numbers, radius) ((numbers)[2 * (radius) + 1])

/*
 * The values of a column that ANALYZE has stored: the most common ones, and
 * then those of the histogram.  Each stands for a part of the rows.
 */
typedef struct StoredValues
{
	int			common;			/* how many are most common */
	int			count;			/* of all */
	int			words;			/* of a fingerprint */
	uint64	   *values;			/* words of the first, of the second, ... */
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

/* selectivity.c */
extern int	hamming_expected_radius(PlannerInfo *root, IndexPath *path,
									int column, int words, double *searches);
extern void hamming_within_selectivity(SupportRequestSelectivity *request,
									   int words);

/* stored_values.c */
extern double hamming_null_fraction(VariableStatData *variable);
extern StoredValues hamming_read_values(VariableStatData *variable, int words);
extern Bitmapset *hamming_excluded_values(PlannerInfo *root,
										  VariableStatData *variable,
										  const StoredValues *stored);

/* gist_cost.c */
extern void simhash_set_gist_costs(RelOptInfo *rel);

#endif							/* SIMHASH_SELECTIVITY_H */
