/*
 * weights_table.c
 *	  The weight of a token, looked up by its hash.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "text/weights_table.h"
#include "type/cpu.h"

#define AHEAD 16				/* lookups for which memory is fetched early */

/*
 * Begin a table without tokens.  The number of buckets, count, is a power of
 * two, 2 at least.  The seed is any number that is not known to others.
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

/* The i-th weight if it is that of the hash, else the other one. */
static inline int64
choose_weight(const WeightBucket *bucket, int i, uint64 hash, int64 other)
{
	int64		match = -(int64) (bucket->hash[i] == hash);

	return (bucket->weight[i] & match) | (other & ~match);
}

/*
 * The weight of a token of this hash in a bucket, -1 if there is none: without
 * a branch, which could not be predicted.  Places are taken from the first on,
 * so that a free one never hides a token, whatever is in it.
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
 * The bucket where the search for a token of this hash begins: the highest bits
 * of the product with a random odd number.  For whoever chooses words without
 * knowing that number, two of them begin in one bucket with a probability of at
 * most 2 / buckets (Dietzfelbinger, Hagerup, Katajainen and Penttonen 1997).
 * Chains of full buckets stay short, as a bucket has room for four tokens and
 * there are about two for each.
 */
static inline uint64
first_bucket(const WeightTable *table, uint64 hash)
{
	return (hash * table->multiplier) >> table->shift;
}

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

int64
simhash_weight_of(const WeightTable *table, uint64 hash)
{
	return look_up(table, hash);
}

/* The same for many. */
void
simhash_weights_of(const WeightTable *table, const uint64 *hash, int64 *weight,
				   uint32 count)
{
	const WeightTable copy = *table;	/* which the weights do not overwrite */
	uint32		i;

	for (i = 0; i < count; i++)
	{
		if (i + AHEAD < count)
			cpu_prefetch(&copy.buckets[first_bucket(&copy, hash[i + AHEAD])]);
		weight[i] = look_up(&copy, hash[i]);
	}
}

/* Add a token, unless it is there, to a table that has room. */
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
