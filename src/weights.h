/*
 * weights.h
 *	  The weight of a token, looked up by its hash.
 */
#ifndef WEIGHTS_H
#define WEIGHTS_H

/*
 * An open-addressing hash table.  Two tokens with one hash are one token: no
 * fingerprint could tell them apart.
 */
typedef struct WeightSlot
{
	uint64 hash;
	int64 weight; /* in units of 2^-16; -1 where the slot is free */
} WeightSlot;

typedef struct WeightTable
{
	WeightSlot *slots;
	uint64 mask; /* number of slots, a power of two, - 1 */
	int64 rest;	 /* weight of the tokens that are not in the table */
} WeightTable;

/* The slot of a hash, or the free one where it belongs. */
static inline WeightSlot *
weight_slot(const WeightTable *table, uint64 hash)
{
	uint64 i = hash & table->mask;

	while (table->slots[i].weight >= 0 && table->slots[i].hash != hash)
		i = (i + 1) & table->mask;
	return &table->slots[i];
}

static inline int64
weight_of(const WeightTable *table, uint64 hash)
{
	int64 weight = weight_slot(table, hash)->weight;

	return weight >= 0 ? weight : table->rest;
}

#endif /* WEIGHTS_H */
