/*
 * term_frequency.h
 *	  How often a feature counts that occurs more than once.
 */
#ifndef SIMHASH_TERM_FREQUENCY_H
#define SIMHASH_TERM_FREQUENCY_H

#include "text/sink.h"

typedef enum TermFrequency
{
	TF_COUNT,					/* once for each occurrence */
	TF_LOG,						/* 1 + ln(occurrences) times */
	TF_ONCE
} TermFrequency;

extern int64 simhash_log_factor(uint64 count);
extern int64 simhash_term_vote(TermFrequency tf, uint64 count, int64 weight);

/*
 * Return how often count occurrences count, in units of 2^-16; 0 if there is
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

#endif							/* SIMHASH_TERM_FREQUENCY_H */
