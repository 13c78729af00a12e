/*
 * change.c
 *	  Insertion of a row, and removal of a fingerprint that has none.
 *
 * A fingerprint with an entry in table 0 is in all block tables.
 *
 * An insertion looks at the leaf of table 0 that the row belongs on.  Where
 * that has the fingerprint already, the row gets an entry there, and nothing
 * else is to do: nobody takes the fingerprint out of the other tables without a
 * lock on that leaf.  Otherwise the leaves of the fingerprint in all block
 * tables are locked, and it is appended to those that lack it.
 *
 * A vacuum takes a fingerprint out of a table if no row has it (vacuum.c).
 * Mostly it knows that without a look at table 0, as an insertion marks each
 * leaf where it has found a fingerprint that has no other row on its row leaf.
 * hamming_remove() is for marked leaves: it locks all leaves of table 0 on
 * which an entry of the fingerprint could come to lie.  An insertion locks one
 * of these until it has seen to all block tables.
 *
 * The WAL has table 0 last in an insertion.  So what a crash leaves of it is a
 * fingerprint without entries in table 0.  A search passes over it, and the
 * next insertion of the fingerprint uses it.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "am/am.h"
#include "am/test_stop.h"

/*
 * A search looks at all keys that were appended to a leaf since it was sorted.
 * So an insertion sorts a leaf that has MOST_APPENDED of these.  In a million
 * rows that came one by one, searches within 8 take 11 % longer than after
 * REINDEX, without it 29 %; insertions write 1.4 times the WAL.
 */
#define MOST_APPENDED 192

/* The most leaves of table 0 that a removal locks. */
#define MAX_ROW_LEAVES 3
#define MAX_LEAVES Max(MAX_ROW_LEAVES + 1, HAMMING_MAX_BLOCKS)

/*
 * Leaves that are pinned, and then locked one after the other (rules 2 and 3 in
 * tree.c), so that none is locked while another is read from disk.  The leaves
 * are in the order of their roles.
 */
typedef struct LeafSet
{
	Relation	index;
	int			count;			/* of leaves */
	int			locked;			/* leaves[0] .. leaves[locked - 1] are locked */
	Buffer		leaves[MAX_LEAVES];
	int			tables[MAX_LEAVES];
	HammingKey	keys[MAX_LEAVES];	/* that the leaves cover */
	int			change_count;
	HammingChange changes[MAX_LEAVES];
} LeafSet;

/*
 * Add the leaf of a table that covers the key.  On entry the caller holds no
 * lock.  On return the leaf is pinned, and locked in share mode: the caller
 * unlocks it.
 */
static Buffer
add_leaf(LeafSet *set, int table, HammingKey key)
{
	int			i = set->count;

	Assert(i < MAX_LEAVES);
	set->leaves[i] = hamming_find(set->index, table, 0, key, BUFFER_LOCK_SHARE,
								  NULL);
	set->tables[i] = table;
	set->keys[i] = key;
	return set->leaves[set->count++];
}

/*
 * Add the leaf of a table that covers the key.  On entry the caller holds no
 * lock.  On return the leaf is pinned, and not locked.
 */
static void
pin_leaf(LeafSet *set, int table, HammingKey key)
{
	LockBuffer(add_leaf(set, table, key), BUFFER_LOCK_UNLOCK);
}

/*
 * Lock the next of the leaves.  Returns false if it no longer covers its key.
 * On entry the leaves before it are locked exclusively, and on return it is,
 * whatever the result.
 */
static bool
lock_next(LeafSet *set)
{
	int			i = set->locked++;

	return hamming_lock_pinned(set->index, set->leaves[i], set->tables[i], 0,
							   set->keys[i]);
}

/* Add a change of leaf i, as HammingChange describes it.  No lock is taken. */
static void
add_change(LeafSet *set, int i, bool is_mark)
{
	HammingChange *change = &set->changes[set->change_count++];

	change->leaf = set->leaves[i];
	change->key = set->keys[i];
	change->is_mark = is_mark;
}

/* Unlock the leaves that are locked, release all pins, and empty the set. */
static void
release_leaves(LeafSet *set)
{
	int			i;

	for (i = 0; i < set->count; i++)
	{
		if (i < set->locked)
			LockBuffer(set->leaves[i], BUFFER_LOCK_UNLOCK);
		ReleaseBuffer(set->leaves[i]);
	}
	set->count = set->locked = set->change_count = 0;
}

/* Insertion */

/* Has a leaf, which is locked, an entry with the bits, of any row? */
static bool
has_bits(Page page, HammingBits bits)
{
	uint16		found[HAMMING_LEAF_CAPACITY];

	return hamming_leaf_equal(page, bits, found) > 0;
}

/*
 * Pin the leaf of keys[0], which is of a table, and unless that leaf has the
 * fingerprint, those of keys[1] .. keys[count - 1], which are of the tables
 * after it.  On entry and on return the caller holds no lock.
 */
static void
pin_leaves(LeafSet *set, int table, int count, const HammingKey *keys)
{
	Buffer		first = add_leaf(set, table, keys[0]);
	bool		known = has_bits(BufferGetPage(first), keys[0].bits);
	int			i;

	LockBuffer(first, BUFFER_LOCK_UNLOCK);
	test_stop("insert: a leaf");
	for (i = 1; i < count && !known; i++)
	{
		pin_leaf(set, table + i, keys[i]);
		test_stop("insert: a leaf");
	}
}

/*
 * All leaves of the set are locked exclusively.  Sort each leaf that has
 * MOST_APPENDED keys or more behind its sorted ones.
 */
static void
sort_leaves(LeafSet *set)
{
	int			i;

	for (i = 0; i < set->count; i++)
	{
		Page		page = BufferGetPage(set->leaves[i]);
		HammingKey	keys[HAMMING_LEAF_CAPACITY];
		int			count = hamming_page_count(page);

		if (count - hamming_special(page)->sorted < MOST_APPENDED)
			continue;
		hamming_leaf_keys(page, keys);
		hamming_log_leaf(set->index, set->leaves[i], keys, count);
	}
}

/*
 * Lock the pinned leaves, and append the keys that are missing.  all says that
 * the leaves are those of all tables, and not the first one alone.  Where the
 * row leaf lacks the fingerprint, and another leaf has it, mark that one: a
 * vacuum may be about to take the fingerprint out of it.  Returns false if a
 * leaf has changed so that this cannot be done.  *full gets the place of a leaf
 * without room, or -1.  On entry no leaf is locked.  On return
 * leaves[0] .. leaves[set->locked - 1] are locked exclusively.
 */
static bool
append_missing(LeafSet *set, bool all, int *full)
{
	bool		missing[MAX_LEAVES];
	bool		is_new = false;
	int			i;

	*full = -1;
	for (i = 0; i < set->count; i++)
	{
		Page		page = BufferGetPage(set->leaves[i]);
		HammingBits bits = set->keys[i].bits;

		if (!lock_next(set))
			return false;
		missing[i] = !has_bits(page, bits);
		if (i == 0)
		{
			/* the last row of the fingerprint may have been removed */
			if (!all && missing[0])
				return false;
			is_new = missing[0];
			missing[0] = true;
		}
		if (missing[i] && hamming_page_is_full(page))
		{
			*full = i;
			return false;
		}
	}
	/* table 0 is logged last */
	while (--i >= 0)
	{
		if (missing[i])
			add_change(set, i, false);
		else if (is_new &&
				 !hamming_page_is_marked(BufferGetPage(set->leaves[i])))
			add_change(set, i, true);
	}
	hamming_log_changes(set->index, set->change_count, set->changes);
	sort_leaves(set);
	return true;
}

/*
 * Add keys[0] to a table, and keys[1] .. keys[count - 1] to the tables after
 * it.  A full leaf is split without locks of other leaves.  Then all leaves
 * are looked for again.  On entry and on return the caller holds no lock.
 */
static void
insert_keys(Relation index, int table, int count, const HammingKey *keys)
{
	LeafSet		set;
	bool		done;

	set.index = index;
	set.count = set.locked = set.change_count = 0;
	do
	{
		int			full;

		pin_leaves(&set, table, count, keys);
		test_stop("insert: all leaves");
		done = append_missing(&set, set.count == count, &full);
		release_leaves(&set);
		if (full >= 0)
			hamming_make_room(index, table + full, 0, keys[full]);
		CHECK_FOR_INTERRUPTS();
	} while (!done);
}

/*
 * aminsert.  Returns false, as for every index that is not unique.  On entry
 * and on return the caller holds no buffer lock.  Error: as
 * hamming_check_conflicts(), which comes after all changes.
 */
bool
hamming_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			   Relation heap, IndexUniqueCheck check_unique, bool unchanged,
			   IndexInfo *info)
{
	int			blocks = hamming_open(index);
	HammingKey	keys[HAMMING_MAX_BLOCKS] = {{0, hamming_tid(tid)}};
	Fingerprint fingerprint = isnull[0] ? 0 : DatumGetSimhash(values[0]);
	int			table;

	if (isnull[0])
		insert_keys(index, HAMMING_NULLS, 1, keys);
	else
	{
		for (table = 0; table < blocks; table++)
			keys[table] = hamming_table_key(blocks, table, fingerprint,
											hamming_tid(tid));
		insert_keys(index, 0, blocks, keys);
	}
	hamming_check_conflicts(index, fingerprint, isnull[0]);
	return false;
}

/* Removal */

/*
 * Pin the leaves of table 0 that can have entries of the fingerprint.  Returns
 * false if they are too many.  On entry and on return the caller holds no lock.
 */
static bool
pin_row_leaves(LeafSet *set, Fingerprint fingerprint)
{
	HammingKey	key = hamming_key(fingerprint, 0);
	HammingKey	beyond = hamming_key(fingerprint, HAMMING_BEYOND_TIDS);

	while (hamming_key_compare(key, beyond) < 0)
	{
		Buffer		leaf;

		if (set->count == MAX_ROW_LEAVES)
			return false;
		leaf = add_leaf(set, 0, key);
		key = hamming_special(BufferGetPage(leaf))->high;
		LockBuffer(leaf, BUFFER_LOCK_UNLOCK);
	}
	return true;
}

/*
 * Lock the leaves of table 0, the first count of the set.  *has_rows gets
 * whether they have an entry of the fingerprint.  Returns false if the leaves
 * no longer are all that can have entries.  On entry no leaf is locked.  On
 * return leaves[0] .. leaves[set->locked - 1] are locked exclusively.
 */
static bool
lock_row_leaves(LeafSet *set, int count, Fingerprint fingerprint,
				bool *has_rows)
{
	HammingKey	end = set->keys[0];
	int			i;

	*has_rows = false;
	for (i = 0; i < count; i++)
	{
		Page		page = BufferGetPage(set->leaves[i]);

		if (!lock_next(set))
			return false;
		/* the leaf begins where the one before ends */
		if (i > 0 && hamming_key_compare(hamming_special(page)->low, end) != 0)
			return false;
		end = hamming_special(page)->high;
		*has_rows |= has_bits(page, fingerprint);
	}
	return hamming_key_compare(end, hamming_key(fingerprint,
												HAMMING_BEYOND_TIDS)) >= 0;
}

/*
 * Lock the last leaf, and take its key out of it.  Returns false if it covers
 * another range.  On entry the leaves of table 0 are locked exclusively, and on
 * return all leaves are.
 */
static bool
take_out(LeafSet *set)
{
	HammingKey	keys[HAMMING_LEAF_CAPACITY];
	int			last = set->locked;
	int			count;
	int			kept = 0;
	int			i;

	if (!lock_next(set))
		return false;
	count = hamming_leaf_keys(BufferGetPage(set->leaves[last]), keys);
	for (i = 0; i < count; i++)
		if (keys[i].bits != set->keys[last].bits)
			keys[kept++] = keys[i];
	if (kept < count)
		hamming_log_leaf(set->index, set->leaves[last], keys, kept);
	return true;
}

/*
 * Take the fingerprint out of a table, 1 or up, if no row has it.  Leave it
 * where its rows could be on more than MAX_ROW_LEAVES leaves.
 *
 * On entry the caller is the only process that vacuums the index (rule 5 in
 * tree.c).  On entry and on return it holds no lock.
 */
void
hamming_remove(Relation index, int table, Fingerprint fingerprint)
{
	int			blocks = hamming_open(index);
	LeafSet		set;
	int			attempts;

	set.index = index;
	set.count = set.locked = set.change_count = 0;
	for (attempts = 0; attempts < HAMMING_MAX_DESCENTS; attempts++)
	{
		bool		few = pin_row_leaves(&set, fingerprint);
		int			row_leaves = set.count;
		bool		done = false;
		bool		has_rows;

		if (few)
		{
			pin_leaf(&set, table,
					 hamming_table_key(blocks, table, fingerprint, 0));
			test_stop("remove: all leaves");
			done = lock_row_leaves(&set, row_leaves, fingerprint, &has_rows) &&
				(has_rows || take_out(&set));
		}
		release_leaves(&set);
		if (done || !few)
			return;
		CHECK_FOR_INTERRUPTS();
	}
	hamming_corrupted(index, HAMMING_ROOT(0),
					  "leaves of a fingerprint do not follow each other");
}
