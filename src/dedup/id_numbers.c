/*
 * id_numbers.c
 *	  Number ids from 0 on, in order of first appearance.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/id_numbers.h"
#include "type/cpu.h"

/* Ids that there is room for at first: 2 to the power of INITIAL_BITS. */
#define INITIAL_BITS 10

/* A free slot.  Each of its bytes is 255. */
#define FREE_SLOT PG_UINT32_MAX

/* Ids between the prefetch of a slot and its use. */
#define AHEAD 16

/* Make an empty table, in the current memory context. */
void
simhash_id_numbers_begin(IdNumbers *table)
{
	table->count = 0;
	table->capacity = (Size) 1 << INITIAL_BITS;
	table->ids = palloc(table->capacity * sizeof(uint64));
	table->slots = palloc(2 * table->capacity * sizeof(uint32));
	memset(table->slots, 0xFF, 2 * table->capacity * sizeof(uint32));
	if (!pg_strong_random(&table->multiplier, sizeof(table->multiplier)))
		elog(ERROR, "could not generate a random number");
	table->multiplier |= 1;
	table->shift = 64 - (INITIAL_BITS + 1);
}

/*
 * Return the hash of id.  The multiplier is secret: so nobody can choose ids
 * that begin at the same slot.
 */
static inline uint64
hash_id(const IdNumbers *table, uint64 id)
{
	uint64		hash = id * table->multiplier;

	return (hash ^ hash >> 32) * table->multiplier;
}

/* Return the slot where the search for an id with the hash begins. */
static inline uint32 *
first_slot(const IdNumbers *table, uint64 hash)
{
	return &table->slots[hash >> table->shift];
}

/* Return the slot after another one, where the first follows the last. */
static inline uint32 *
next_slot(const IdNumbers *table, uint32 *slot)
{
	return ++slot == table->slots + 2 * table->capacity ? table->slots : slot;
}

/* Return the bits of the hash that a slot has above the number. */
static inline uint32
get_tag(const IdNumbers *table, uint64 hash)
{
	return (uint32) hash & -(uint32) table->capacity;
}

static void
enlarge(IdNumbers *table)
{
	Size		slots_size = 4 * table->capacity * sizeof(uint32);
	uint32		i;

	table->capacity *= 2;
	table->shift--;
	table->ids = repalloc_huge(table->ids, table->capacity * sizeof(uint64));
	table->slots = repalloc_huge(table->slots, slots_size);
	memset(table->slots, 0xFF, slots_size);
	for (i = 0; i < table->count; i++)
	{
		uint64		hash = hash_id(table, table->ids[i]);
		uint64		later = hash_id(table, table->ids[i + AHEAD]);
		uint32	   *slot = first_slot(table, hash);

		CHECK_FOR_INTERRUPTS();
		/* ids has room behind the last id, where any value will do */
		cpu_prefetch(first_slot(table, later));
		while (*slot != FREE_SLOT)
			slot = next_slot(table, slot);
		*slot = get_tag(table, hash) | i;
	}
}

/* Return the number of id, which gets the next one if it has none. */
static uint32
find_or_add(IdNumbers *table, uint64 id)
{
	uint64		hash = hash_id(table, id);
	uint32	   *slot = first_slot(table, hash);

	for (; *slot != FREE_SLOT; slot = next_slot(table, slot))
	{
		uint32		number = *slot ^ get_tag(table, hash);

		CHECK_FOR_INTERRUPTS();
		if (number < table->count && table->ids[number] == id)
			return number;
	}
	if (table->count == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot group more than %d ids", PG_INT32_MAX)));
	*slot = get_tag(table, hash) | table->count;
	table->ids[table->count] = id;
	/* with the last number that there is room for, a slot could be free */
	if (++table->count == table->capacity - 1 && table->count < PG_INT32_MAX)
		enlarge(table);
	return table->count - 1;
}

/*
 * Get the numbers of many ids.  Those that have none get the next ones.
 *
 * Slots and ids lie in no order.  Steps that do not wait for each other let
 * the processor read many of them from memory at a time.
 */
void
simhash_id_numbers_find(IdNumbers *table, const uint64 *ids, int count,
						uint32 *numbers)
{
	int			i;

	for (i = 0; i < count; i++)
	{
		uint64		hash = hash_id(table, ids[i]);

		numbers[i] = *first_slot(table, hash) ^ get_tag(table, hash);
	}
	/* of a slot that is free, or has another tag, no id has the number */
	for (i = 0; i < count; i++)
		if (numbers[i] >= table->count || table->ids[numbers[i]] != ids[i])
			numbers[i] = FREE_SLOT;
	for (i = 0; i < count; i++)
		if (numbers[i] == FREE_SLOT)
			numbers[i] = find_or_add(table, ids[i]);
}
