/*
 * feature_table.c
 *	  The distinct features of one text or two, in a hash table in memory.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "text/feature_set.h"

#define LEAST_SLOTS 64			/* of the first columns */

/*
 * seed must be secret, for first_slot().  Prepare a table with a column of
 * counts for each of the sides, and one of weights if weighted.  The columns
 * may take limit bytes, or what LEAST_SLOTS take if that is more.  If the first
 * columns fit into space[0 .. TABLE_SPACE), they are there: space must live as
 * long as the table.
 */
void
simhash_table_init(FeatureTable *table, int sides, bool weighted, size_t limit,
				   uint64 seed, uint64 *space)
{
	memset(table, 0, sizeof(FeatureTable));
	table->multiplier = seed | 1;
	table->sides = sides;
	table->weighted = weighted;
	table->limit = limit;
	table->space = space;
}

static inline size_t
column_bytes(const FeatureTable *table, uint64 slots)
{
	return (slots + 1) * (1 + table->sides + table->weighted) * sizeof(uint64);
}

/*
 * Give the table new columns of slots, a power of two: copies of those that
 * begin with from, or all free if from is NULL.  The old columns stay where
 * they are.
 */
static void
set_columns(FeatureTable *table, uint64 slots, const uint64 *from)
{
	size_t		bytes = column_bytes(table, slots);
	uint64	   *column = table->space;
	int			side;

	if (table->slots > 0 || bytes > TABLE_SPACE * sizeof(uint64))
		column = simhash_resize_array(NULL, bytes);
	table->hash = column;
	if (from != NULL)
		memcpy(column, from, bytes);
	else
		memset(column, 0, bytes);
	for (side = 0; side < table->sides; side++)
		table->count[side] = column += slots + 1;
	if (table->weighted)
		table->weight = (int64 *) column + slots + 1;
	table->slots = slots;
	table->shift = 64 - pg_leftmost_one_pos64(slots);
}

/*
 * Make the first columns, for expected features, as far as the limit allows:
 * three slots or more for each, so that few searches find their slot taken.
 * If expected nearly fills a batch, make twice as many slots: the features of
 * another batch are likely to follow.
 */
static void
make_first_columns(FeatureTable *table, uint32 expected)
{
	uint64		factor = expected < FEATURES_AT_ONCE - 128 ? 3 : 6;
	uint64		slots = pg_nextpower2_64(Max(factor * expected, LEAST_SLOTS));

	while (slots > LEAST_SLOTS && column_bytes(table, slots) > table->limit)
		slots /= 2;
	set_columns(table, slots, NULL);
}

/*
 * Return the slot that has the hash, or the free slot where it belongs.  The
 * search ends, because half of the slots are free.
 */
static inline uint64
find_slot(const FeatureTable *table, uint64 hash)
{
	uint64		slot;

	if (unlikely(hash == 0))
		return table->slots;
	slot = first_slot(hash, table->multiplier, table->shift);
	/* one branch, as nobody can predict whether the feature is new */
	while (Min(table->hash[slot], table->hash[slot] ^ hash) != 0)
		slot = (slot + 1) & (table->slots - 1);
	return slot;
}

static void
free_columns(const FeatureTable *table, uint64 *hash)
{
	if (hash != table->space)
		simhash_resize_array(hash, 0);
}

/* Move the features to columns twice as long. */
static void
enlarge(FeatureTable *table)
{
	uint64		slots = table->slots;
	uint64	   *hash = table->hash;
	uint64	   *count[FEATURE_SIDES];
	int64	   *weight = table->weight;
	uint64		from;
	int			side;

	memcpy(count, table->count, sizeof(count));
	set_columns(table, 2 * slots, NULL);
	for (from = 0; from <= slots; from++)
	{
		uint64		to;

		CHECK_FOR_INTERRUPTS();
		if (hash[from] == 0)
			continue;
		to = find_slot(table, from < slots ? hash[from] : 0);
		table->hash[to] = hash[from];
		for (side = 0; side < table->sides; side++)
			table->count[side][to] = count[side][from];
		if (table->weighted)
			table->weight[to] = weight[from];
	}
	free_columns(table, hash);
}

/*
 * expected is the number of features to come, as far as the caller knows.
 * Enlarge the table if the table has no room.  Return how many features there
 * is room for: 0 if the old columns and the longer ones, which both exist while
 * features move, would together take more than table->limit.
 */
static uint64
make_room(FeatureTable *table, uint32 expected)
{
	if (table->slots == 0)
		make_first_columns(table, expected);
	else if (table->used == table->slots / 2 &&
			 column_bytes(table, 3 * table->slots) <= table->limit)
		enlarge(table);
	return table->slots / 2 - table->used;
}

/* Count an occurrence, in the text of side, of the feature in the slot. */
static inline void
count_occurrence(FeatureTable *table, int side, uint64 slot, int64 weight)
{
	if (table->count[side])
		table->distinct[side] += table->count[side][slot]++ == 0;
	if (table->weight)
		table->weight[slot] = Max(table->weight[slot], weight);
}

/*
 * The table must have room for count features, and no columns of counts or
 * weights.  fresh must have room for count features.  Set fresh[0 .. n) to the
 * features that were not in the table, and return n.
 */
static uint32
add_hashes(FeatureTable *table, const uint64 *hash, uint32 count,
		   uint64 *fresh)
{
	const FeatureTable copy = *table;	/* the compiler knows that storing a
										 * hash does not change it */
	uint64	   *waiting = fresh + count;
	uint32		n = 0;
	uint32		i;

	/*
	 * Nobody can predict whether a feature is new.  So no branch depends on
	 * that: with such a branch, simhash() of texts of 4,000 different words
	 * takes 9 % longer, and that of English as long.  Where another feature
	 * has the first slot, the feature waits at the end of fresh.  Each
	 * feature takes one element of fresh at most, at the front or at the end.
	 * So the two ends cannot overlap, but for the last feature, which both
	 * may write.
	 */
	for (i = 0; i < count; i++)
	{
		uint64		new = hash[i];
		uint64		slot = first_slot(new, copy.multiplier, copy.shift);
		uint64		old = copy.hash[slot];
		bool		is_taken = Min(old, old ^ new) != 0;

		if (unlikely(new == 0))
		{
			*--waiting = 0;
			continue;
		}
		waiting[-1] = new;
		waiting -= is_taken;
		fresh[n] = new;
		n += old == 0;
		copy.hash[slot] = is_taken ? old : new;
	}
	for (; waiting < fresh + count; waiting++)
	{
		uint64		new = *waiting;
		uint64		slot = find_slot(&copy, new);

		fresh[n] = new;
		n += copy.hash[slot] == 0;
		copy.hash[slot] = new | (new == 0);
	}
	table->used += n;
	return n;
}

/*
 * The table must have room for count features.  Add them, with a column of
 * counts or of weights at least.
 */
static void
count_hashes(FeatureTable *table, int side, const uint64 *hash,
			 const int64 *weight, uint32 count)
{
	const FeatureTable copy = *table;	/* as in add_hashes() */
	uint32		i;

	for (i = 0; i < count; i++)
	{
		uint64		slot = find_slot(&copy, hash[i]);

		table->used += copy.hash[slot] == 0;
		copy.hash[slot] = hash[i] | (hash[i] == 0);
		count_occurrence(table, side, slot, table->weight ? weight[i] : 0);
	}
}

/*
 * Add count features, by their hashes and, if the table has a column for
 * these, their weights.  Return the number of features that were added: fewer
 * than count if the table has become full.
 *
 * If the table has no columns of counts and weights, set fresh[0 .. n) to the
 * features that were not in the table, where n is how much table->used has
 * grown.  fresh must have room for count features.
 */
uint32
simhash_table_add(FeatureTable *table, int side, const uint64 *hash,
				  const int64 *weight, uint32 count, uint64 *fresh)
{
	bool		plain = table->sides == 0 && !table->weighted;
	uint32		added = 0;

	while (added < count)
	{
		uint32		some = Min(make_room(table, count), count - added);

		if (some == 0)
			break;
		if (plain)
			fresh += add_hashes(table, hash + added, some, fresh);
		else
			count_hashes(table, side, hash + added, weight + added, some);
		added += some;
	}
	return added;
}

/*
 * Count an occurrence of a feature that is in the table.  Return false if the
 * feature is not there.
 */
bool
simhash_table_count(FeatureTable *table, int side, uint64 hash, int64 weight)
{
	uint64		slot = find_slot(table, hash);

	if (table->hash[slot] == 0)
		return false;
	count_occurrence(table, side, slot, weight);
	return true;
}

/*
 * Set slots[0 .. n) to the slots from *next on that are not free, and *next to
 * where this stopped.  Return n: room at most, and 0 at the end.
 */
uint32
simhash_table_list(const FeatureTable *table, uint64 *next, uint64 *slots,
				   uint32 room)
{
	uint64		slot = *next;
	uint64		end = table->slots > 0 ? table->slots + 1 : 0;
	uint32		n = 0;

	while (slot < end && n < room)
	{
		uint64		stop = Min(end, slot + room - n);

		/* without a branch on whether the slot is free */
		for (; slot < stop; slot++)
		{
			slots[n] = slot;
			n += table->hash[slot] != 0;
		}
	}
	*next = slot;
	return n;
}

/* space is that of copy, and must live as long. */
void
simhash_table_copy(FeatureTable *copy, const FeatureTable *table,
				   uint64 *space)
{
	*copy = *table;
	copy->space = space;
	copy->slots = 0;
	if (table->slots > 0)
		set_columns(copy, table->slots, table->hash);
}

void
simhash_table_free(FeatureTable *table)
{
	if (table->slots > 0)
		free_columns(table, table->hash);
}
