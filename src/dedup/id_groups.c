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

#include "dedup/id_groups.h"
#include "near/sets.h"

/* Pairs that there is room for at first, by leader. */
#define GREATER_CAPACITY 1024

/* The end of a list of greater ids. */
#define NO_GREATER PG_UINT32_MAX

/* The place of an id that is in no group yet.  Each of its bytes is 255. */
#define NO_PLACE PG_UINT32_MAX

#define SIGN_BIT (UINT64CONST(1) << 63)

/* Make groups without ids, in the current memory context. */
IdGroups *
simhash_id_groups_begin(ClusterMethod method)
{
	IdGroups   *groups = palloc0(sizeof(IdGroups));

	groups->method = method;
	simhash_id_numbers_begin(&groups->table);
	groups->capacity = groups->table.capacity;
	groups->links = palloc(groups->capacity * sizeof(uint32));
	if (method == CLUSTER_LEADER)
	{
		groups->greater_capacity = GREATER_CAPACITY;
		groups->greater = palloc(GREATER_CAPACITY * sizeof(GreaterId));
	}
	return groups;
}

/* Set the links of the ids from first on, which are new. */
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

	simhash_id_numbers_find(&groups->table, ids, groups->waiting_count,
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

/*
 * Group the ids: see IdGroups.  No pairs can be added from then on.  What is
 * left takes 12 to 20 bytes for each id.
 */
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
