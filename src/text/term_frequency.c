/*
 * term_frequency.c
 *	  How often a feature counts that occurs more than once: "How often a
 *	  feature counts" of doc/algorithm.md.
 */
#include "postgres.h"

#include <math.h>

#include "text/term_frequency.h"

/* More occurrences than this count like this many, for TF_LOG. */
#define LOG_COUNT_MAX (1 << 20)

/*
 * Return 1 + ln(count) in units of 2^-16, rounded to the nearest integer.
 * count is 1 .. LOG_COUNT_MAX.
 *
 * All processors find the same integer.  For each of these counts the exact
 * value is at least 3.0e-8 units from where the rounding changes (at 118,955).
 * The double that is rounded is below 2^20, and errs by less than 4e-10 if
 * log() errs by one in the last place.
 */
static int64
log_factor(uint64 count)
{
	return (int64) rint(WEIGHT_UNIT * (1 + log((double) count)));
}

/* Return what simhash_term_factor() returns, for TF_LOG. */
int64
simhash_log_factor(uint64 count)
{
	/* of the counts that most features have; 0: none, or not computed yet */
	static int64 known[64];

	if (count >= lengthof(known))
		return log_factor(Min(count, LOG_COUNT_MAX));
	if (known[count] == 0 && count > 0)
		known[count] = log_factor(count);
	return known[count];
}
