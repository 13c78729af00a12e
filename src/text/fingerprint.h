/*
 * fingerprint.h
 *	  Votes of weighted features, and the fingerprint that they elect.
 *
 * Charikar, "Similarity estimation techniques from rounding algorithms"
 * (2002); Manku, Jain and Das Sarma, "Detecting near-duplicates for web
 * crawling" (2007).
 */
#ifndef SIMHASH_FINGERPRINT_H
#define SIMHASH_FINGERPRINT_H

#include "text/sink.h"
#include "type/width.h"			/* for uint128 */

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

#endif							/* SIMHASH_FINGERPRINT_H */
