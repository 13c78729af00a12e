/*
 * id_groups.c
 *	  The groups of ids that pairs of ids make: connected components, or each
 *	  leader with those that join it.
 *
 * A table gives each id a number.  Connected ids are united as their pairs
 * come, and no pair is kept.  By leader, each pair is kept on a list of its
 * lesser id.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/dedup.h"
#include "near/sets.h"
#include "type/cpu.h"
#include "type/secret.h"

/* Pairs that there is room for at first, by leader. */
#define GREATER_CAPACITY 1024

/* The end of a list of greater ids. */
#define NO_GREATER PG_UINT32_MAX

/* The place of an id that is in no group yet.  Each of its bytes is 255. */
#define NO_PLACE PG_UINT32_MAX

#define SIGN_BIT (UINT64CONST(1) << 63)

/* Ids that there is room for at first: 2 to the power of INITIAL_BITS. */
#define INITIAL_BITS 10

/* A free slot.  Each of its bytes is 255. */
#define FREE_SLOT PG_UINT32_MAX

/* Ids between the prefetch of a slot and its use. */
#define AHEAD 16

/* Make an empty table, in the current memory context. */
static void
begin_numbers(IdNumbers *table)
{
	table->count = 0;
	table->capacity = (Size) 1 << INITIAL_BITS;
	table->ids = palloc(table->capacity * sizeof(uint64));
	table->slots = palloc(2 * table->capacity * sizeof(uint32));
	memset(table->slots, 0xFF, 2 * table->capacity * sizeof(uint32));
	table->multiplier = simhash_secret() | 1;
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

static inline uint32 *
first_slot(const IdNumbers *table, uint64 hash)
{
	return &table->slots[hash >> table->shift];
}

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
enlarge_numbers(IdNumbers *table)
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
		enlarge_numbers(table);
	return table->count - 1;
}

/*
 * Get the numbers of many ids.  Those that have none get the next ones.
 *
 * Slots and ids lie in no order.  Steps that do not wait for each other let
 * the processor read many of them from memory at a time.
 */
static void
find_numbers(IdNumbers *table, const uint64 *ids, int count,
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

/* Make groups without ids, in the current memory context. */
IdGroups *
simhash_id_groups_begin(ClusterMethod method)
{
	IdGroups   *groups = palloc0(sizeof(IdGroups));

	groups->method = method;
	begin_numbers(&groups->table);
	groups->capacity = groups->table.capacity;
	groups->links = palloc(groups->capacity * sizeof(uint32));
	if (method == CLUSTER_LEADER)
	{
		groups->greater_capacity = GREATER_CAPACITY;
		groups->greater = palloc(GREATER_CAPACITY * sizeof(GreaterId));
	}
	return groups;
}

/* The ids from first on are new: each is in no group with others. */
static void
begin_links(IdGroups *groups, uint32 first)
{
	uint32		i;

	if (groups->capacity < groups->table.capacity)
	{
		groups->capacity = groups->table.capacity;
		groups->links = repalloc_huge(groups->links,
									  groups->capacity * sizeof(uint32));
	}
	for (i = first; i < groups->table.count; i++)
		groups->links[i] = groups->method == CLUSTER_LEADER ? NO_GREATER : i;
}

/* Put the number greater on the list of the number lesser. */
static void
add_greater(IdGroups *groups, uint32 lesser, uint32 greater)
{
	GreaterId  *added;

	if (groups->greater_count == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot group more than %d pairs by leader",
						PG_INT32_MAX)));
	if (groups->greater_count == groups->greater_capacity)
	{
		groups->greater_capacity *= 2;
		groups->greater = repalloc_huge(groups->greater,
										groups->greater_capacity *
										sizeof(GreaterId));
	}
	added = &groups->greater[groups->greater_count];
	added->number = greater;
	added->next = groups->links[lesser];
	groups->links[lesser] = groups->greater_count++;
}

static void
add_waiting(IdGroups *groups)
{
	const uint64 *ids = groups->waiting;
	uint32		first = groups->table.count;
	uint32		numbers[2 * ID_GROUPS_WAITING];
	int			i;

	find_numbers(&groups->table, ids, groups->waiting_count,
				 numbers);
	begin_links(groups, first);
	for (i = 0; i < groups->waiting_count; i += 2)
	{
		CHECK_FOR_INTERRUPTS();
		if (groups->method == CLUSTER_CONNECTED)
			unite_sets(groups->links, numbers[i], numbers[i + 1]);
		else if (ids[i] < ids[i + 1])
			add_greater(groups, numbers[i], numbers[i + 1]);
		else
			add_greater(groups, numbers[i + 1], numbers[i]);
	}
	groups->waiting_count = 0;
}

/* Add a pair, but none of an id with itself: that makes no group. */
void
simhash_id_groups_add(IdGroups *groups, int64 a, int64 b)
{
	if (a == b)
		return;
	/* with the other sign, the order of int64 is that of uint64 */
	groups->waiting[groups->waiting_count++] = (uint64) a ^ SIGN_BIT;
	groups->waiting[groups->waiting_count++] = (uint64) b ^ SIGN_BIT;
	if (groups->waiting_count == 2 * ID_GROUPS_WAITING)
		add_waiting(groups);
}

/*
 * Make the list of the ids, sorted, from the table, which is no more then.  If
 * connected, the number of an id is from then on that of the root of its set,
 * and the links are no more either.
 */
static void
sort_ids(IdGroups *groups)
{
	FingerprintList *list = &groups->list;
	Size		count = groups->table.count;
	Size		numbers_size = Max(count, 1) * sizeof(uint32);
	uint32		i;

	pfree(groups->table.slots);
	list->count = groups->table.count;
	list->fps = groups->table.ids;
	list->numbers = groups->links;
	if (groups->method == CLUSTER_LEADER)
		list->numbers = palloc_extended(numbers_size, MCXT_ALLOC_HUGE);
	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		/* the parent comes before i: its own parent is the root by now */
		list->numbers[i] = groups->method == CLUSTER_LEADER ? i :
			groups->links[groups->links[i]];
	}
	list->spare_fps = palloc_extended(2 * numbers_size, MCXT_ALLOC_HUGE);
	list->spare_numbers = palloc_extended(numbers_size, MCXT_ALLOC_HUGE);
	hamming_fplist_sort(list, 0, list->count, 0, HAMMING_BITS);
}

/*
 * The id with that number leads a group: let its greater ids that are in no
 * group join.  Return false if there are none.
 */
static bool
join_leader(const IdGroups *groups, uint32 number, uint32 *places)
{
	bool		joined = false;
	uint32		i = groups->links[number];

	for (; i != NO_GREATER; i = groups->greater[i].next)
	{
		uint32	   *place = &places[groups->greater[i].number];

		CHECK_FOR_INTERRUPTS();
		if (*place == NO_PLACE)
		{
			*place = places[number];
			joined = true;
		}
	}
	return joined;
}

/*
 * The list is sorted by id.  Leave the ids that are in a group with others,
 * as bigints, and replace their numbers by the place of the least id of the
 * group.
 *
 * The least id is the first of its group that comes.  Connected: the group is
 * a set, which has two ids at least, as each id is in a pair with another.  By
 * leader: an id that has joined no group when it comes leads one.  Those that
 * join it are on its list of greater ids: so the leader is the least.
 */
static void
find_least(IdGroups *groups, uint32 *places)
{
	FingerprintList *list = &groups->list;
	uint32		count = 0;
	uint32		i;

	memset(places, 0xFF, list->count * sizeof(uint32));
	for (i = 0; i < list->count; i++)
	{
		uint32		number = list->numbers[i];

		CHECK_FOR_INTERRUPTS();
		if (places[number] == NO_PLACE)
		{
			places[number] = count;
			if (groups->method == CLUSTER_LEADER &&
				!join_leader(groups, number, places))
				continue;
		}
		list->fps[count] = list->fps[i] ^ SIGN_BIT;
		list->numbers[count++] = places[number];
	}
	list->count = count;
}

/* Group the ids: see IdGroups.  No pairs can be added from then on. */
void
simhash_id_groups_finish(IdGroups *groups)
{
	FingerprintList *list = &groups->list;

	add_waiting(groups);
	sort_ids(groups);
	pfree(list->spare_fps);
	find_least(groups, list->spare_numbers);
	pfree(list->spare_numbers);
	if (groups->method == CLUSTER_LEADER)
	{
		pfree(groups->links);
		pfree(groups->greater);
	}
}
