/*
 * weights.h
 *	  The weight of a token, looked up by its hash.
 */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#define WEIGHT_BUCKET 4 /* tokens of a bucket, which is a cache line */

typedef struct WeightBucket
{
	uint64 hash[WEIGHT_BUCKET];
	int64 weight[WEIGHT_BUCKET]; /* in units of 2^-16; -1: this place is free */
} WeightBucket;

/*
 * A hash table.  A token is in the first bucket from that of its hash on which
 * was not full.  Two tokens with one hash are one token: no fingerprint could
 * tell them apart.
 */
typedef struct WeightTable
{
	WeightBucket *buckets;
	uint64 mask; /* number of buckets, a power of two, - 1 */
	int64 rest;	 /* weight of the tokens that are not in the table */
} WeightTable;

extern int64 weight_of(const WeightTable *table, uint64 hash);
extern void weights_of(const WeightTable *table, const uint64 *hash,
					   int64 *weight, uint32 count);
extern void weights_add(WeightTable *table, uint64 hash, int64 weight);

#endif /* WEIGHTS_H */
