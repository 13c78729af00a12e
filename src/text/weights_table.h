/*
 * weights_table.h
 *	  The weight of a token, looked up by its hash.
 */
#ifndef SIMHASH_WEIGHTS_TABLE_H
#define SIMHASH_WEIGHTS_TABLE_H

typedef struct WeightSlot
{
	uint64		hash;			/* of a token */
	int64		weight;			/* in units of 2^-16; -1: the slot is free */
} WeightSlot;

/*
 * A hash table of tokens, which never grows.  The search for a token begins in
 * first_slot() and goes on to the next slot, cyclically, as long as slots are
 * not free.  Two tokens with one hash are one token: no fingerprint could tell
 * them apart.
 */
typedef struct WeightTable
{
	WeightSlot *slots;
	uint64		mask;			/* number of slots - 1 */
	int			shift;			/* 64 - log2(number of slots) */
	uint64		multiplier;		/* odd, and secret: see first_slot() */
	int64		default_weight; /* weight of tokens that are not in the table */
	uint64		id;				/* of a table in weights_cache.c: 1 or more,
								 * and never that of another one */
} WeightTable;

extern void simhash_weights_init(WeightTable *table, WeightSlot *slots,
								 uint64 count, uint64 seed,
								 int64 default_weight);
extern void simhash_weights_of(const WeightTable *table, const uint64 *hash,
							   int64 *weight, uint32 count);
extern void simhash_weights_add(WeightTable *table, uint64 hash, int64 weight);

#endif							/* SIMHASH_WEIGHTS_TABLE_H */
