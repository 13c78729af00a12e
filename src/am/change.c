/*
 * change.c
 *	  Insertion of a row.
 *
 * A fingerprint with an entry in table 0 is in all block tables.  Where the
 * leaf of table 0 that the row belongs on has the fingerprint already, the row
 * gets an entry there, and nothing else is to do: nobody takes the fingerprint
 * out of the other tables without a lock on that leaf (remove.c).  Otherwise
 * the leaves of the fingerprint in all block tables are locked, and it is
 * appended to those that lack it.
 *
 * The WAL has table 0 last.  So what a crash leaves of an insertion is a
 * fingerprint without entries in table 0.  A search passes over it, and the
 * next insertion of the fingerprint uses it.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "am/am.h"
#include "am/test_stop.h"

/* The keys of a row, and the leaves that cover them, by block table. */
typedef struct Insertion
{
	Relation	index;
	int			first_table;	/* that of keys[0] */
	int			count;			/* of keys */
	HammingKey	keys[HAMMING_MAX_BLOCKS];
	Buffer		leaves[HAMMING_MAX_BLOCKS]; /* pinned */
	int			locked;			/* leaves[0] .. leaves[locked - 1] are locked */
} Insertion;

/* Has a leaf an entry with the bits, of any row? */
static bool
has_bits(Page page, HammingBits bits)
{
	uint16		found[HAMMING_LEAF_CAPACITY];

	return hamming_leaf_equal(page, bits, found) > 0;
}

/*
 * Pin the leaf of the first table, and those of the others unless the first one
 * has the fingerprint.  Returns how many are pinned.  On entry and on return
 * the caller holds no lock.
 */
static int
pin_leaves(Insertion *insertion)
{
	Relation	index = insertion->index;
	int			table = insertion->first_table;
	Buffer		first = hamming_find(index, table, 0, insertion->keys[0],
									 BUFFER_LOCK_SHARE, NULL);
	bool		known = insertion->count > 1 &&
	has_bits(BufferGetPage(first), insertion->keys[0].bits);
	int			i;

	LockBuffer(first, BUFFER_LOCK_UNLOCK);
	insertion->leaves[0] = first;
	test_stop("insert: a leaf");
	if (known)
		return 1;
	for (i = 1; i < insertion->count; i++)
	{
		insertion->leaves[i] = hamming_pin(index, table + i, 0,
										   insertion->keys[i], NULL);
		test_stop("insert: a leaf");
	}
	return insertion->count;
}

/*
 * Lock the pinned leaves, table by table (rules 2 and 3 in tree.c), and
 * append the keys that are missing.  Returns false if a leaf has changed so
 * that this cannot be done, and *full gets the table of a leaf without room, or
 * -1.  On return insertion->locked leaves are locked.
 */
static bool
append_missing(Insertion *insertion, int pinned, int *full)
{
	HammingChange changes[HAMMING_MAX_BLOCKS];
	HammingChange *change;
	int			count = 0;
	int			i;

	*full = -1;
	insertion->locked = 0;
	for (i = 0; i < pinned; i++)
	{
		int			table = insertion->first_table + i;
		HammingKey	key = insertion->keys[i];
		Buffer		leaf = insertion->leaves[i];
		Page		page = BufferGetPage(leaf);

		insertion->locked++;
		if (!hamming_lock_pinned(insertion->index, leaf, table, 0, key))
			return false;
		if (i > 0 && has_bits(page, key.bits))
			continue;
		/* the last row of the fingerprint may have been removed */
		if (pinned < insertion->count && !has_bits(page, key.bits))
			return false;
		if (hamming_page_is_full(page))
		{
			*full = table;
			return false;
		}
		/* from the back: table 0 is logged last */
		change = &changes[HAMMING_MAX_BLOCKS - ++count];
		change->leaf = leaf;
		change->key = key;
		change->remove = -1;
	}
	hamming_log_changes(insertion->index, count,
						changes + HAMMING_MAX_BLOCKS - count);
	return true;
}

/*
 * Add the keys to their tables.  All leaves are pinned, and then locked: no
 * leaf is locked while another is read from disk.  A full leaf is split without
 * these locks, and all leaves are looked for again.
 */
static void
insert_keys(Insertion *insertion)
{
	bool		done;

	do
	{
		int			pinned = pin_leaves(insertion);
		int			full;

		test_stop("insert: all leaves");
		done = append_missing(insertion, pinned, &full);
		hamming_release_pinned(insertion->leaves, pinned, insertion->locked);
		if (full >= 0)
			hamming_make_room(insertion->index, full, 0,
							  insertion->keys[full - insertion->first_table]);
		CHECK_FOR_INTERRUPTS();
	} while (!done);
}

/*
 * aminsert.  Returns false, as for every index that is not unique.  On entry
 * and on return the caller holds no buffer lock.
 */
bool
hamming_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			   Relation heap, IndexUniqueCheck check_unique, bool unchanged,
			   IndexInfo *info)
{
	Insertion	insertion = {.index = index};
	int			blocks = hamming_open(index);
	int			table;

	if (isnull[0])
	{
		insertion.first_table = HAMMING_NULLS;
		insertion.count = 1;
		insertion.keys[0] = hamming_key(0, hamming_tid(tid));
	}
	else
	{
		insertion.count = blocks;
		for (table = 0; table < blocks; table++)
			insertion.keys[table] =
				hamming_table_key(blocks, table, DatumGetSimhash(values[0]),
								  hamming_tid(tid));
	}
	insert_keys(&insertion);
	return false;
}
