/*
 * remove.c
 *	  Removal of a fingerprint that no row has any longer.
 *
 * A fingerprint with an entry in table 0 is in all block tables.  So it is
 * taken out of the others only while all leaves of table 0 are locked on which
 * an entry of the fingerprint could come to lie, and none does.  An insertion
 * locks one of these leaves until it has seen to all block tables.
 *
 * The WAL has table 0 first.  So what a crash leaves of a removal is a
 * fingerprint without entries in table 0.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "am/am.h"
#include "am/test_stop.h"

/* The most leaves of table 0 that a removal locks. */
#define MAX_ROW_LEAVES 3
#define MAX_LEAVES (MAX_ROW_LEAVES + HAMMING_MAX_BLOCKS - 1)

/* The leaves on which a fingerprint is or could be, pinned. */
typedef struct Removal
{
	Relation	index;
	int			blocks;			/* of the index */
	Fingerprint fingerprint;
	uint64		tid;			/* of the entry to remove */
	int			row_leaves;		/* those of table 0 come first */
	int			count;			/* of leaves */
	int			locked;			/* leaves[0] .. leaves[locked - 1] are locked */
	Buffer		leaves[MAX_LEAVES];
	HammingKey	keys[MAX_LEAVES];	/* that the leaves cover */
	int			change_count;
	HammingChange changes[MAX_LEAVES];
} Removal;

static void
add_leaf(Removal *removal, Buffer leaf, HammingKey key)
{
	removal->leaves[removal->count] = leaf;
	removal->keys[removal->count++] = key;
}

static void
add_change(Removal *removal, Buffer leaf, int entry)
{
	HammingChange *change = &removal->changes[removal->change_count++];

	change->leaf = leaf;
	change->remove = entry;
}

/*
 * Pin the leaves of table 0 that can have entries of the fingerprint.  Returns
 * false if they are too many.
 */
static bool
pin_row_leaves(Removal *removal)
{
	HammingKey	key = hamming_key(removal->fingerprint, 0);
	HammingKey	beyond = hamming_key(removal->fingerprint, HAMMING_BEYOND_TIDS);

	while (hamming_key_compare(key, beyond) < 0)
	{
		Buffer		leaf;

		if (removal->count == MAX_ROW_LEAVES)
			return false;
		leaf = hamming_find(removal->index, 0, 0, key, BUFFER_LOCK_SHARE, NULL);
		add_leaf(removal, leaf, key);
		key = hamming_special(BufferGetPage(leaf))->high;
		LockBuffer(leaf, BUFFER_LOCK_UNLOCK);
	}
	removal->row_leaves = removal->count;
	return true;
}

static void
pin_other_leaves(Removal *removal)
{
	int			table;

	for (table = 1; table < removal->blocks; table++)
	{
		HammingKey	key = hamming_table_key(removal->blocks, table,
											removal->fingerprint, 0);

		add_leaf(removal, hamming_pin(removal->index, table, 0, key, NULL),
				 key);
	}
}

/* Lock the next of the leaves.  Returns false if it covers another range. */
static bool
lock_next(Removal *removal, int table)
{
	int			i = removal->locked++;

	return hamming_lock_pinned(removal->index, removal->leaves[i], table, 0,
							   removal->keys[i]);
}

/*
 * Lock the leaves of table 0, and look for entries of the fingerprint.  *last
 * gets whether there is none but that of removal->tid.  Returns false if the
 * leaves no longer are all that can have entries.
 */
static bool
lock_row_leaves(Removal *removal, bool *last)
{
	HammingKey	end = hamming_key(removal->fingerprint, 0);
	HammingKey	beyond = hamming_key(removal->fingerprint, HAMMING_BEYOND_TIDS);
	int			i;
	int			j;

	*last = true;
	for (i = 0; i < removal->row_leaves; i++)
	{
		Page		page = BufferGetPage(removal->leaves[i]);
		uint16		equal[HAMMING_LEAF_CAPACITY];
		int			count;

		if (!lock_next(removal, 0))
			return false;
		/* the leaf begins where the one before ends */
		if (i > 0 && hamming_key_compare(hamming_special(page)->low, end) != 0)
			return false;
		end = hamming_special(page)->high;
		count = hamming_leaf_equal(page, removal->fingerprint, equal);
		for (j = 0; j < count; j++)
		{
			if (hamming_leaf_key(page, equal[j]).tid != removal->tid)
				*last = false;
			else if (removal->change_count > 0)
				hamming_corrupted(removal->index,
								  BufferGetBlockNumber(removal->leaves[i]),
								  "a row is in the table twice");
			else
				add_change(removal, removal->leaves[i], equal[j]);
		}
	}
	return hamming_key_compare(end, beyond) >= 0;
}

/* Lock the other leaves.  Returns false if one covers another range. */
static bool
lock_other_leaves(Removal *removal)
{
	int			table;

	for (table = 1; table < removal->blocks; table++)
	{
		int			i = removal->locked;
		int			entry;

		if (!lock_next(removal, table))
			return false;
		entry = hamming_leaf_find(BufferGetPage(removal->leaves[i]),
								  removal->keys[i]);
		if (entry >= 0)
			add_change(removal, removal->leaves[i], entry);
	}
	return true;
}

static void
release_leaves(Removal *removal)
{
	hamming_release_pinned(removal->leaves, removal->count, removal->locked);
	removal->count = removal->locked = removal->change_count = 0;
}

/*
 * Remove the entry of the row tid, which is dead, from table 0.  If no other
 * row has the fingerprint, remove the fingerprint from the other block tables.
 *
 * Returns false, and removes nothing, where the rows of the fingerprint could
 * be on more than MAX_ROW_LEAVES leaves.
 *
 * On entry the caller is the only process that vacuums the index.  On entry and
 * on return it holds no lock.
 */
bool
hamming_remove(Relation index, Fingerprint fingerprint, uint64 tid)
{
	Removal		removal = {.index = index,.fingerprint = fingerprint};
	int			attempts;

	removal.tid = tid;
	removal.blocks = hamming_open(index);
	for (attempts = 0; attempts < HAMMING_MAX_DESCENTS; attempts++)
	{
		bool		last;
		bool		done;

		if (!pin_row_leaves(&removal))
		{
			release_leaves(&removal);
			return false;
		}
		pin_other_leaves(&removal);
		test_stop("remove: all leaves");
		done = lock_row_leaves(&removal, &last) &&
			(!last || lock_other_leaves(&removal));
		if (done)
			hamming_log_changes(index, removal.change_count, removal.changes);
		release_leaves(&removal);
		if (done)
			return true;
		CHECK_FOR_INTERRUPTS();
	}
	hamming_corrupted(index, HAMMING_ROOT(0),
					  "leaves of a fingerprint do not follow each other");
}
