/*
 * weights_table.h
 *	  The weight of a token, looked up by its hash.
 */
#ifndef SIMHASH_WEIGHTS_TABLE_H
#define SIMHASH_WEIGHTS_TABLE_H

#define WEIGHT_BUCKET 4			/* tokens of a bucket */

/* A bucket is as long as a cache line, to which the caller aligns buckets. */
typedef struct WeightBucket
{
	uint64		hash[WEIGHT_BUCKET];
	int64		weight[WEIGHT_BUCKET];	/* in units of 2^-16; -1: this place
										 * is free */
} WeightBucket;

/*
 * A hash table of tokens, which never shrinks.  The search for a token begins
 * in first_bucket() and goes on to the next bucket, cyclically, as long as
 * buckets are full.  A token is added to the first bucket on this way that is
 * not full.  Two tokens with one hash are one token: no fingerprint could tell
 * them apart.
 */
typedef struct WeightTable
{
	WeightBucket *buckets;
	uint64		mask;			/* number of buckets - 1 */
	int			shift;			/* 64 - log2(number of buckets) */
	uint64		multiplier;		/* odd, and secret: see first_bucket() */
	int64		rest;			/* weight of tokens that are not in the table */
	uint64		id;				/* of a table in weights_cache.c: 1 or more,
								 * and never that of another one */
} WeightTable;

extern void simhash_weights_init(WeightTable *table, WeightBucket *buckets,
								 uint64 count, uint64 seed, int64 rest);
extern void simhash_weights_of(const WeightTable *table, const uint64 *hash,
							   int64 *weight, uint32 count);
extern void simhash_weights_add(WeightTable *table, uint64 hash, int64 weight);

#endif							/* SIMHASH_WEIGHTS_TABLE_H */
