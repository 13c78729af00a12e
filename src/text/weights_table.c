/*
 * weights_table.c
 *	  The weight of a token, looked up by its hash.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "text/shingle.h"
#include "type/cpu.h"

/*
 * Look-ups between the prefetch of a slot and its use.  English with 100,000
 * weights took 18 % longer without the prefetch.  It made no difference from 4
 * to 32.
 */
#define AHEAD 16

/*
 * count, the number of slots, must be a power of two, 2 at least.  seed must be
 * secret, for first_slot().
 */
void
simhash_weights_init(WeightTable *table, WeightSlot *slots, uint64 count,
					 uint64 seed, int64 default_weight)
{
	memset(slots, 0xFF, count * sizeof(WeightSlot));	/* free */
	table->slots = slots;
	table->mask = count - 1;
	table->shift = 64 - pg_leftmost_one_pos64(count);
	table->multiplier = seed | 1;
	table->default_weight = default_weight;
}

/*
 * A slot must be free: there the search ends.  Return the slot of the token
 * with the hash, or the free slot where it belongs.
 */
static inline WeightSlot *
find_slot(const WeightTable *table, uint64 hash)
{
	uint64		i = first_slot(hash, table->multiplier, table->shift);

	/* one branch, as nobody can predict which of the two ends the search */
	while ((table->slots[i].hash != hash) & (table->slots[i].weight >= 0))
		i = (i + 1) & table->mask;
	return &table->slots[i];
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
		int64		found;

		if (i + AHEAD < count)
			cpu_prefetch(&copy.slots[first_slot(hash[i + AHEAD],
												copy.multiplier,
												copy.shift)]);
		found = find_slot(&copy, hash[i])->weight;
		weight[i] = found < 0 ? copy.default_weight : found;
	}
}

/* Two slots must be free.  The first token of a hash counts. */
void
simhash_weights_add(WeightTable *table, uint64 hash, int64 weight)
{
	WeightSlot *slot = find_slot(table, hash);

	if (slot->weight < 0)
	{
		slot->hash = hash;
		slot->weight = weight;
	}
}
