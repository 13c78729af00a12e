/*
 * id_numbers.c
 *	  Number ids from 0 on, in order of first appearance.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/id_numbers.h"

/* Ids that there is room for at first: 2 to the power of INITIAL_BITS. */
#define INITIAL_BITS 10

/* A free slot.  Each of its bytes is 255. */
#define NO_NUMBER PG_UINT32_MAX

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
 * Return the slot where the search for id begins.  The multiplier is secret:
 * so nobody can choose ids that begin at the same slot.
 */
static inline uint64
first_slot(const IdNumbers *table, uint64 id)
{
	uint64		hash = id * table->multiplier;

	hash = (hash ^ hash >> 32) * table->multiplier;
	return hash >> table->shift;
}

/* Return the slot that has the number of id, or else the one to put it in. */
static uint32 *
find_slot(const IdNumbers *table, uint64 id)
{
	uint64		mask = 2 * table->capacity - 1;
	uint64		slot = first_slot(table, id);

	while (table->slots[slot] != NO_NUMBER &&
		   table->ids[table->slots[slot]] != id)
	{
		CHECK_FOR_INTERRUPTS();
		slot = (slot + 1) & mask;
	}
	return &table->slots[slot];
}

/* Double the room. */
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
		CHECK_FOR_INTERRUPTS();
		*find_slot(table, table->ids[i]) = i;
	}
}

/* Return the number of id, which gets the next one if it has none. */
static uint32
find_or_add(IdNumbers *table, uint64 id)
{
	uint32	   *slot = find_slot(table, id);

	if (*slot != NO_NUMBER)
		return *slot;
	if (table->count == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("more than %d ids cannot be grouped", PG_INT32_MAX)));
	if (table->count == table->capacity)
	{
		enlarge(table);
		slot = find_slot(table, id);
	}
	table->ids[table->count] = id;
	*slot = table->count;
	return table->count++;
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
		numbers[i] = table->slots[first_slot(table, ids[i])];
	for (i = 0; i < count; i++)
		if (numbers[i] != NO_NUMBER && table->ids[numbers[i]] != ids[i])
			numbers[i] = NO_NUMBER;
	for (i = 0; i < count; i++)
		if (numbers[i] == NO_NUMBER)
			numbers[i] = find_or_add(table, ids[i]);
}
