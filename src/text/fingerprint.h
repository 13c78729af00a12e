/*
 * fingerprint.h
 *	  How often a feature counts; votes of weighted features, and the
 *	  fingerprint that they elect.
 *
 * Charikar, "Similarity estimation techniques from rounding algorithms"
 * (2002); Manku, Jain and Das Sarma, "Detecting near-duplicates for web
 * crawling" (2007).
 */
#ifndef SIMHASH_FINGERPRINT_H
#define SIMHASH_FINGERPRINT_H

#include "text/feature.h"

typedef enum TermFrequency
{
	TF_COUNT,					/* once for each occurrence */
	TF_LOG,						/* 1 + ln(occurrences) times */
	TF_ONCE
} TermFrequency;

#define VOTES_BATCH 16			/* features that are counted at once */

/*
 * Planes of the counters: there must be fewer than 2^VOTES_PLANES features of
 * weight 1.  A text of 1 GB, 2^30 bytes, has fewer than 2^33 features, as
 * three bytes become 18 code points at most (U+FDFA), and a code point one
 * feature.
 */
#define VOTES_PLANES 36

/*
 * ones[i] is the weight of the features whose hash has bit i set, modulo 2^64.
 * If total is right, it is 0 <= ones[i] <= total.
 */
typedef struct WeightSums
{
	uint64		ones[HALF_BITS];
	int64		total;			/* weight of all features */
} WeightSums;

/* Votes of features that all weigh 1, or that all come with a weight. */
typedef struct Votes
{
	uint64		hash[VOTES_BATCH];	/* of the features not yet counted */
	int64		weight[VOTES_BATCH];	/* of these, if weighted */
	uint32		waiting;		/* number of these */
	bool		weighted;

	/*
	 * If not weighted: bit i of plane[j] is bit j of the number of counted
	 * features whose hash has bit i set.
	 */
	uint64		count;			/* of counted features */
	uint64		plane[VOTES_PLANES];

	/* If weighted: */
	uint128		total;			/* weight of all features */
	WeightSums	sums;			/* of counted ones; total is set at the end */
} Votes;

extern const HalfMethods simhash_votes_methods;

extern void simhash_votes_begin(void *votes, bool weighted);
extern void simhash_votes_add_all(void *votes, const uint64 *hash,
								  const int64 *weight, uint32 count);
extern bool simhash_votes_fingerprint(void *votes, uint64 *fingerprint);
extern void simhash_sums_add(WeightSums *sums, const uint64 *hash,
							 const int64 *weight, int count);
extern bool simhash_sums_fingerprint(void *state, uint64 *fingerprint);
extern bool simhash_weight_from_double(double weight, int64 *result);
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

#endif							/* SIMHASH_FINGERPRINT_H */
