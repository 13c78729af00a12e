/*
 * weights_table.c
 *	  The weight of a token, looked up by its hash.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "text/weights_table.h"
#include "type/cpu.h"

/*
 * Look-ups between the prefetch of a bucket and its use.  English with 100,000
 * weights took 18 % longer without the prefetch, and 12 % with 64 look-ups; it
 * made no difference from 4 to 32.
 */
#define AHEAD 16

/*
 * count, the number of buckets, must be a power of two, 2 at least.  seed must
 * be secret, for first_bucket().  rest is the weight of a token that is not in
 * the table.
 */
void
simhash_weights_init(WeightTable *table, WeightBucket *buckets, uint64 count,
					 uint64 seed, int64 rest)
{
	memset(buckets, 0xFF, count * sizeof(WeightBucket));	/* free */
	table->buckets = buckets;
	table->mask = count - 1;
	table->shift = 64 - pg_leftmost_one_pos64(count);
	table->multiplier = seed | 1;
	table->rest = rest;
}

/*
 * Return bucket->weight[i] if bucket->hash[i] is hash, and else other, without
 * a branch.
 */
static inline int64
choose_weight(const WeightBucket *bucket, int i, uint64 hash, int64 other)
{
	int64		match = -(int64) (bucket->hash[i] == hash);

	return (bucket->weight[i] & match) | (other & ~match);
}

/*
 * Return the weight of the token with the hash, or -1 if the bucket has no such
 * token, without a branch, which could not be predicted.  A free place has the
 * weight -1, and any hash.  Places are taken from the first on: the token has
 * the first with its hash.
 */
static inline int64
bucket_weight(const WeightBucket *bucket, uint64 hash)
{
	int64		weight = choose_weight(bucket, 3, hash, -1);

	weight = choose_weight(bucket, 2, hash, weight);
	weight = choose_weight(bucket, 1, hash, weight);
	return choose_weight(bucket, 0, hash, weight);
}

/*
 * Return the bucket where the search for a token with the hash begins: the
 * highest bits of the product of hash with a random odd number, the
 * multiplier.  For any two words, chosen without knowing the multiplier, the
 * searches begin in one bucket with a probability of at most 2 / buckets
 * (Dietzfelbinger, Hagerup, Katajainen and Penttonen 1997).  Chains of full
 * buckets stay short: a bucket has room for four tokens, and fill_table() has
 * about two for each.
 */
static inline uint64
first_bucket(const WeightTable *table, uint64 hash)
{
	return (hash * table->multiplier) >> table->shift;
}

/*
 * At least one bucket must not be full: there the search ends.  Return the
 * weight of the token with the hash, and table->rest if there is none.
 */
static inline int64
look_up(const WeightTable *table, uint64 hash)
{
	uint64		i;

	for (i = first_bucket(table, hash);; i = (i + 1) & table->mask)
	{
		const WeightBucket *bucket = &table->buckets[i];
		int64		weight = bucket_weight(bucket, hash);

		if (likely(weight >= 0))
			return weight;
		if (bucket->weight[WEIGHT_BUCKET - 1] < 0)
			return table->rest;
	}
}

/* Set weight[i] to the weight of the token with hash[i], for all i < count. */
void
simhash_weights_of(const WeightTable *table, const uint64 *hash, int64 *weight,
				   uint32 count)
{
	const WeightTable copy = *table;	/* the compiler knows that storing a
										 * weight does not change it */
	uint32		i;

	for (i = 0; i < count; i++)
	{
		if (i + AHEAD < count)
			cpu_prefetch(&copy.buckets[first_bucket(&copy, hash[i + AHEAD])]);
		weight[i] = look_up(&copy, hash[i]);
	}
}

/* A place must be free.  Add a token, unless there is one with the hash. */
void
simhash_weights_add(WeightTable *table, uint64 hash, int64 weight)
{
	WeightBucket *bucket;
	uint64		i = first_bucket(table, hash);
	int			j = 0;

	for (;;)
	{
		bucket = &table->buckets[i];
		if (bucket_weight(bucket, hash) >= 0)
			return;
		if (bucket->weight[WEIGHT_BUCKET - 1] < 0)
			break;
		i = (i + 1) & table->mask;
	}
	while (bucket->weight[j] >= 0)
		j++;
	bucket->hash[j] = hash;
	bucket->weight[j] = weight;
}
