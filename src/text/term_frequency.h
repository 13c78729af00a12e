/*
 * term_frequency.h
 *	  How often a feature counts that occurs more than once.
 */
#ifndef SIMHASH_TERM_FREQUENCY_H
#define SIMHASH_TERM_FREQUENCY_H

#include "text/sink.h"
#include "type/width.h"			/* for uint128 */

typedef enum TermFrequency
{
	TF_COUNT,					/* once for each occurrence */
	TF_LOG,						/* 1 + ln(occurrences) times */
	TF_ONCE
} TermFrequency;

extern int64 simhash_log_factor(uint64 count);

/*
 * Return how many times count occurrences count by tf, in units of 2^-16: 0 for
 * none, without a branch, as nobody can predict which of two texts has a
 * feature.
 */
static inline int64
simhash_term_factor(TermFrequency tf, uint64 count)
{
	if (tf == TF_ONCE)
		return (int64) (count > 0) * WEIGHT_UNIT;
	if (tf == TF_COUNT)
		return (int64) count * WEIGHT_UNIT;
	return simhash_log_factor(count);
}

/*
 * weight is that of one occurrence, 0 or more, in units of 2^-16.  Return the
 * product of weight and of the factor of count occurrences, in units of 2^-32.
 */
static inline uint128
simhash_exact_vote(TermFrequency tf, uint64 count, int64 weight)
{
	return (uint128) (uint64) weight * (uint64) simhash_term_factor(tf, count);
}

/*
 * tf is TF_LOG or TF_ONCE.  weight is that of one occurrence, 0 .. 2^47 units
 * of 2^-16.  Return the vote of a feature that occurs count times, in the same
 * units, rounded down.  A factor is below 2^20: so the vote is below 2^51.
 */
static inline int64
simhash_term_vote(TermFrequency tf, uint64 count, int64 weight)
{
	return (int64) (simhash_exact_vote(tf, count, weight) / WEIGHT_UNIT);
}

#endif							/* SIMHASH_TERM_FREQUENCY_H */
