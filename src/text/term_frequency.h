/*
 * term_frequency.h
 *	  How often a feature counts that occurs more than once.
 */
#ifndef SIMHASH_TERM_FREQUENCY_H
#define SIMHASH_TERM_FREQUENCY_H

typedef enum TermFrequency
{
	TF_COUNT,					/* once for each occurrence */
	TF_LOG,						/* 1 + ln(occurrences) times */
	TF_ONCE
} TermFrequency;

extern int64 simhash_term_factor(TermFrequency tf, uint64 count);
extern int64 simhash_term_vote(TermFrequency tf, uint64 count, int64 weight);

#endif							/* SIMHASH_TERM_FREQUENCY_H */
