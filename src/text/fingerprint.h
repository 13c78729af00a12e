/*
 * fingerprint.h
 *	  Votes of weighted features, and the fingerprint that they elect.
 *
 * Charikar, "Similarity estimation techniques from rounding algorithms"
 * (2002); Manku, Jain and Das Sarma, "Detecting near-duplicates for web
 * crawling" (2007).
 */
#ifndef FINGERPRINT_H
#define FINGERPRINT_H

/*
 * Weights are integers, in units of 2^-16: sums do not depend on the order
 * of the features.
 */
#define WEIGHT_UNIT 65536
#define WEIGHT_MAX 2147483648.0 /* the largest weight of a feature: 2^31 */

#define VOTES_BATCH 16			/* features that are counted at once */

/*
 * Features of weight 1: fewer than 2^VOTES_PLANES.  A text of 1 GB has fewer
 * than 2^33: one code point of three bytes becomes 18 at most.
 */
#define VOTES_PLANES 36

/* What features of any weight add up to. */
typedef struct WeightSums
{
	int64		ones[64];		/* weight of the features whose hash has bit i
								 * set */
	int64		total;			/* weight of all features */
} WeightSums;

/* Votes of features that all weigh 1, or that all come with a weight. */
typedef struct Votes
{
	uint64		hash[VOTES_BATCH];	/* not yet counted */
	int64		weight[VOTES_BATCH];	/* of these, if weighted */
	uint32		waiting;		/* how many they are */
	bool		weighted;
	bool		overflow;		/* has the total weight passed 2^63 - 1? */

	/* Not weighted: bit i of plane[j] is bit j of the count of bit i. */
	uint64		count;			/* features */
	uint64		plane[VOTES_PLANES];

	/* Weighted; waiting features are in the total only. */
	WeightSums	sums;
} Votes;

extern void simhash_votes_init(Votes *v, bool weighted);
extern void simhash_votes_count(Votes *v);
extern void simhash_votes_add_all(Votes *v, const uint64 *hash,
								  const int64 *weight, uint32 count);
extern bool simhash_votes_fingerprint(Votes *v, uint64 *fingerprint);
extern void simhash_sums_add(WeightSums *sums, const uint64 *hash,
							 const int64 *weight, int count);
extern bool simhash_sums_fingerprint(const WeightSums *sums,
									 uint64 *fingerprint);
extern bool simhash_weight_from_double(double weight, int64 *result);

/* Add a feature of weight 1. */
static inline void
votes_add(Votes *v, uint64 hash)
{
	v->hash[v->waiting++] = hash;
	if (v->waiting == VOTES_BATCH)
		simhash_votes_count(v);
}

/* Add a feature of any weight, 0 or more, in units of 2^-16. */
static inline void
votes_add_weighted(Votes *v, uint64 hash, int64 weight)
{
	if (unlikely(weight > PG_INT64_MAX - v->sums.total))
	{
		v->overflow = true;
		return;
	}
	v->sums.total += weight;
	v->weight[v->waiting] = weight;
	votes_add(v, hash);
}

#endif							/* FINGERPRINT_H */
