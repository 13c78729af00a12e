/*
 * components.c
 *	  simhash_components(...): the groups of ids that pairs make, which are
 *	  connected components, or each leader with those that join it.
 *
 * A table gives each id a number.  Connected ids are united as their pairs
 * come, and no pair is kept.  By leader, each pair is kept on a list of its
 * lesser id.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "dedup/dedup.h"
#include "near/progress.h"
#include "near/sets.h"
#include "type/cpu.h"
#include "type/secret.h"

PG_FUNCTION_INFO_V1(simhash_components);

/* Ids, and pairs, that there is room for at first: 2 to that power. */
#define INITIAL_BITS 10

/* Ids between the prefetch of a slot and its use. */
#define AHEAD 16

/* Pairs that wait, to be added together: see find_numbers(). */
#define MOST_WAITING 256

/* In place of a number, a place or an index: all bytes 255. */
#define NONE PG_UINT32_MAX

#define SIGN_BIT (UINT64CONST(1) << 63)

/* A pair of a lesser id, whose list it is on, with a greater one. */
typedef struct GreaterId
{
	uint32		number;			/* of the greater id */
	uint32		next;			/* next on the list: index of greater */
} GreaterId;

/*
 * While pairs are added, an id is its number, from 0 on, in order of first
 * appearance, and a bigint is a uint64 of the same order.  The numbers are in a
 * hash table with open addressing and linear probing, which takes 16 bytes for
 * each id that there is room for.  The bits of a slot that no number needs have
 * a tag, some bits of the hash: so hardly any id is read but the one that is
 * looked for.  With lib/simplehash.h, all takes 1.4 times as long, even with a
 * prefetch of slots, and 1.5 times as much memory.
 *
 * Then the ids are grouped: the list has those that are in a group with others,
 * as bigints, in ascending order.  They stand for its fingerprints, which have
 * one word.  The number of each is the place of the least id of its group.
 */
typedef struct IdGroups
{
	ClusterMethod method;
	uint64		waiting[2 * MOST_WAITING];	/* ids of pairs, by twos */
	int			waiting_count;
	uint64	   *ids;			/* by number */
	uint32	   *links;			/* by number: if connected, the parent in a
								 * set (sets.h); if by leader, the first on
								 * the list of greater ids, or NONE */
	uint32		count;			/* ids that are numbered */
	Size		capacity;		/* ids that there is room for; a power of two */
	uint32	   *slots;			/* 2 * capacity numbers of ids, with a tag
								 * above, or NONE */
	uint64		multiplier;		/* of the hash; odd, and secret */
	int			shift;			/* brings a hash down to the slots */
	GreaterId  *greater;		/* only if by leader */
	uint32		greater_count;
	Size		greater_capacity;
	FingerprintList list;		/* once the ids are grouped */
} IdGroups;

/* Make groups without ids, in the current memory context. */
static IdGroups *
begin_groups(ClusterMethod method)
{
	IdGroups   *groups = palloc0(sizeof(IdGroups));

	groups->method = method;
	groups->capacity = (Size) 1 << INITIAL_BITS;
	groups->ids = palloc(groups->capacity * sizeof(uint64));
	groups->links = palloc(groups->capacity * sizeof(uint32));
	groups->slots = palloc(2 * groups->capacity * sizeof(uint32));
	memset(groups->slots, 0xFF, 2 * groups->capacity * sizeof(uint32));
	groups->multiplier = simhash_secret() | 1;
	groups->shift = 64 - (INITIAL_BITS + 1);
	groups->greater_capacity = groups->capacity;
	groups->greater = palloc(groups->capacity * sizeof(GreaterId));
	return groups;
}

/*
 * Return the hash of id.  The multiplier is secret: so nobody can choose ids
 * that begin at the same slot.
 */
static inline uint64
hash_id(const IdGroups *groups, uint64 id)
{
	uint64		hash = id * groups->multiplier;

	return (hash ^ hash >> 32) * groups->multiplier;
}

static inline uint32 *
first_slot(const IdGroups *groups, uint64 hash)
{
	return &groups->slots[hash >> groups->shift];
}

static inline uint32 *
next_slot(const IdGroups *groups, uint32 *slot)
{
	return ++slot == groups->slots + 2 * groups->capacity ? groups->slots
		: slot;
}

/* Return the bits of the hash that a slot has above the number. */
static inline uint32
get_tag(const IdGroups *groups, uint64 hash)
{
	return (uint32) hash & -(uint32) groups->capacity;
}

static void
enlarge(IdGroups *groups)
{
	Size		slots_size = 4 * groups->capacity * sizeof(uint32);
	uint32		i;

	groups->capacity *= 2;
	groups->shift--;
	groups->ids = repalloc_huge(groups->ids, groups->capacity * sizeof(uint64));
	groups->links = repalloc_huge(groups->links,
								  groups->capacity * sizeof(uint32));
	groups->slots = repalloc_huge(groups->slots, slots_size);
	memset(groups->slots, 0xFF, slots_size);
	for (i = 0; i < groups->count; i++)
	{
		uint64		hash = hash_id(groups, groups->ids[i]);
		uint64		later = hash_id(groups, groups->ids[i + AHEAD]);
		uint32	   *slot = first_slot(groups, hash);

		CHECK_FOR_INTERRUPTS();
		/* ids has room behind the last id, where any value will do */
		cpu_prefetch(first_slot(groups, later));
		while (*slot != NONE)
			slot = next_slot(groups, slot);
		*slot = get_tag(groups, hash) | i;
	}
}

/* Return the number of id, which gets the next one if it has none. */
static uint32
find_or_add(IdGroups *groups, uint64 id)
{
	uint64		hash = hash_id(groups, id);
	uint32	   *slot = first_slot(groups, hash);

	for (; *slot != NONE; slot = next_slot(groups, slot))
	{
		uint32		number = *slot ^ get_tag(groups, hash);

		CHECK_FOR_INTERRUPTS();
		if (number < groups->count && groups->ids[number] == id)
			return number;
	}
	if (groups->count == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot group more than %d ids", PG_INT32_MAX)));
	*slot = get_tag(groups, hash) | groups->count;
	groups->ids[groups->count] = id;
	groups->links[groups->count] = groups->method == CLUSTER_LEADER ? NONE
		: groups->count;
	/* with the last number that there is room for, a slot could be free */
	if (++groups->count == groups->capacity - 1 && groups->count < PG_INT32_MAX)
		enlarge(groups);
	return groups->count - 1;
}

/*
 * Get the numbers of many ids.  Those that have none get the next ones.
 *
 * Slots and ids lie in no order.  Steps that do not wait for each other let
 * the processor read many of them from memory at a time.
 */
static void
find_numbers(IdGroups *groups, const uint64 *ids, int count, uint32 *numbers)
{
	int			i;

	for (i = 0; i < count; i++)
	{
		uint64		hash = hash_id(groups, ids[i]);

		numbers[i] = *first_slot(groups, hash) ^ get_tag(groups, hash);
	}
	/* of a slot that is free, or has another tag, no id has the number */
	for (i = 0; i < count; i++)
		if (numbers[i] >= groups->count || groups->ids[numbers[i]] != ids[i])
			numbers[i] = NONE;
	for (i = 0; i < count; i++)
		if (numbers[i] == NONE)
			numbers[i] = find_or_add(groups, ids[i]);
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
	uint32		numbers[2 * MOST_WAITING];
	int			i;

	find_numbers(groups, ids, groups->waiting_count, numbers);
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
static void
receive_pair(const Datum *values, void *arg)
{
	IdGroups   *groups = arg;
	int			i;

	if (DatumGetInt64(values[0]) == DatumGetInt64(values[1]))
		return;
	/* with the other sign, the order of int64 is that of uint64 */
	for (i = 0; i < 2; i++)
		groups->waiting[groups->waiting_count++] =
			(uint64) DatumGetInt64(values[i]) ^ SIGN_BIT;
	if (groups->waiting_count == 2 * MOST_WAITING)
		add_waiting(groups);
}

static const UserQuery pairs_query = {
	.columns = "a, b",.count = 2,.ids = 2,.receive = receive_pair
};

/*
 * Make the list of the ids, sorted, from the table, which is no more then.  If
 * connected, the number of an id is from then on that of the root of its set,
 * and the links are no more either.
 */
static void
sort_ids(IdGroups *groups)
{
	FingerprintList *list = &groups->list;
	Size		count = groups->count;
	Size		numbers_size = Max(count, 1) * sizeof(uint32);
	uint32		i;

	pfree(groups->slots);
	list->count = groups->count;
	list->current = groups->ids;
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
	list->spare = palloc_extended(2 * numbers_size, MCXT_ALLOC_HUGE);
	list->spare_numbers = palloc_extended(numbers_size, MCXT_ALLOC_HUGE);
	hamming_fplist_sort(list, 0, list->count, 0, 64);
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

	for (; i != NONE; i = groups->greater[i].next)
	{
		uint32	   *place = &places[groups->greater[i].number];

		CHECK_FOR_INTERRUPTS();
		if (*place == NONE)
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
		if (places[number] == NONE)
		{
			places[number] = count;
			if (groups->method == CLUSTER_LEADER &&
				!join_leader(groups, number, places))
				continue;
		}
		list->current[count] = list->current[i] ^ SIGN_BIT;
		list->numbers[count++] = places[number];
	}
	list->count = count;
}

static void
return_groups(const FingerprintList *ids, ReturnSetInfo *result)
{
	uint32		i;

	for (i = 0; i < ids->count; i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false, false};

		CHECK_FOR_INTERRUPTS();
		values[0] = Int64GetDatum(ids->current[i]);
		values[1] = Int64GetDatum(ids->current[ids->numbers[i]]);
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
	}
}

/* simhash_components(query text, method text) */
Datum
simhash_components(PG_FUNCTION_ARGS)
{
	MemoryContext call = AllocSetContextCreate(CurrentMemoryContext,
											   "simhash_components",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	IdGroups   *groups;

	/* the executor frees its own description of the rows, and no other */
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	old = MemoryContextSwitchTo(call);
	groups = begin_groups(check_method(PG_GETARG_DATUM(1)));
	simhash_progress_begin("simhash_components");
	simhash_read_user_query(fcinfo, &pairs_query, groups);
	simhash_progress_phase("grouping ids");
	add_waiting(groups);
	sort_ids(groups);
	find_least(groups, groups->list.spare_numbers);
	pfree(groups->list.spare);
	pfree(groups->list.spare_numbers);
	return_groups(&groups->list, (ReturnSetInfo *) fcinfo->resultinfo);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(call);
	return (Datum) 0;
}
