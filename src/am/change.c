/*
 * change.c
 *	  Insertion of a row.
 *
 * src/README tells the steps, and why a fingerprint with an entry in tree 0 is
 * in all block trees throughout.
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

/*
 * Keys that go to trees which follow on each other, and the leaves that cover
 * them.  The leaves are pinned, and then locked one after the other (rules 2
 * and 3 in tree.c), so that none is locked while another is read from disk.
 */
typedef struct Insertion
{
	Relation	index;
	int			count;			/* of keys */
	int			tree;			/* of keys[0]; that of keys[i] is tree + i */
	HammingKey	keys[HAMMING_MAX_BLOCKS];
	bool		is_known;		/* had the leaf of keys[0] the fingerprint?
								 * Then the insertion is of keys[0] alone. */
	int			pinned;			/* how many leaves are, the first of them */
	int			locked;			/* and how many of these */
	Buffer		leaves[HAMMING_MAX_BLOCKS];
	bool		has[HAMMING_MAX_BLOCKS];	/* has the leaf the fingerprint? */
} Insertion;

/* Pin the leaf of keys[0], and unless it has the fingerprint, all others. */
static void
pin_leaves(Insertion *insertion)
{
	int			i;

	insertion->is_known = false;
	for (i = 0; i < insertion->count && !insertion->is_known; i++)
	{
		HammingKey	key = insertion->keys[i];
		Buffer		leaf = hamming_find(insertion->index, insertion->tree + i,
										0, key, BUFFER_LOCK_SHARE, NULL);

		if (i == 0)
			insertion->is_known = hamming_leaf_has(BufferGetPage(leaf),
												   key.rotated);
		LockBuffer(leaf, BUFFER_LOCK_UNLOCK);
		insertion->leaves[i] = leaf;
		insertion->pinned++;
		test_stop("insert: a leaf");
	}
}

/*
 * Lock the pinned leaves exclusively, and see which of them have the
 * fingerprint.  Returns false, and sets *full to the place of a leaf without
 * room, or -1, if the insertion must start again.  On entry no leaf is locked.
 * On return leaves[0] .. leaves[locked - 1] are locked.
 */
static bool
lock_leaves(Insertion *insertion, int *full)
{
	int			i;

	*full = -1;
	for (i = 0; i < insertion->pinned; i++)
	{
		HammingKey	key = insertion->keys[i];
		Page		page = BufferGetPage(insertion->leaves[i]);

		insertion->locked++;
		if (!hamming_lock_pinned(insertion->index, insertion->leaves[i],
								 insertion->tree + i, 0, key))
			return false;
		insertion->has[i] = hamming_leaf_has(page, key.rotated);
		/* the last row of the fingerprint may have been removed */
		if (i == 0 && insertion->is_known && !insertion->has[0])
			return false;
		if ((i == 0 || !insertion->has[i]) && hamming_page_is_full(page))
		{
			*full = i;
			return false;
		}
	}
	return true;
}

/*
 * Sort each leaf that has MOST_APPENDED keys or more behind its sorted ones.
 * All leaves of the insertion are locked exclusively.
 */
static void
sort_leaves(Insertion *insertion)
{
	int			i;

	for (i = 0; i < insertion->pinned; i++)
	{
		Page		page = BufferGetPage(insertion->leaves[i]);
		HammingKey	keys[HAMMING_LEAF_CAPACITY];
		int			count = hamming_page_count(page);

		if (count - hamming_special(page)->sorted < MOST_APPENDED)
			continue;
		hamming_page_keys(page, keys);
		hamming_log_leaf(insertion->index, insertion->leaves[i], keys, count);
	}
}

/*
 * Append the row to its leaf, and the fingerprint to those that lack it.  Where
 * the row leaf lacks the fingerprint, and another leaf has it, mark that one: a
 * vacuum may be about to take the fingerprint out of it.  All leaves of the
 * insertion are locked exclusively.
 */
static void
append_keys(Insertion *insertion)
{
	HammingChange changes[HAMMING_MAX_BLOCKS];
	int			count = 0;
	int			i;

	/* tree 0 is logged last */
	for (i = insertion->pinned - 1; i >= 0; i--)
	{
		HammingChange change = {.leaf = insertion->leaves[i],
		.key = insertion->keys[i]};

		change.is_mark = i > 0 && insertion->has[i];
		if (change.is_mark &&
			(insertion->has[0] ||
			 hamming_page_is_marked(BufferGetPage(change.leaf))))
			continue;
		changes[count++] = change;
	}
	hamming_log_changes(insertion->index, count, changes);
	sort_leaves(insertion);
}

static void
release_leaves(Insertion *insertion)
{
	int			i;

	for (i = 0; i < insertion->pinned; i++)
	{
		if (i < insertion->locked)
			LockBuffer(insertion->leaves[i], BUFFER_LOCK_UNLOCK);
		ReleaseBuffer(insertion->leaves[i]);
	}
	insertion->pinned = insertion->locked = 0;
}

/*
 * aminsert.  Returns false, as for every index that is not unique.  Error: as
 * hamming_check_conflicts(), which comes after all changes.
 */
bool
hamming_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			   Relation heap, IndexUniqueCheck check_unique, bool unchanged,
			   IndexInfo *info)
{
	int			blocks = hamming_blocks(index);
	uint64		row = hamming_tid(tid);
	Fingerprint fingerprint = isnull[0] ? 0 : DatumGetSimhash(values[0]);
	Insertion	insertion;
	bool		done;
	int			full;
	int			i;

	insertion.index = index;
	insertion.tree = isnull[0] ? HAMMING_NULLS : 0;
	insertion.count = isnull[0] ? 1 : blocks;
	insertion.pinned = insertion.locked = 0;
	insertion.keys[0] = hamming_key(fingerprint, row);
	for (i = 1; i < insertion.count; i++)
		insertion.keys[i] = hamming_tree_key(blocks, i, fingerprint, row);
	do
	{
		pin_leaves(&insertion);
		test_stop("insert: all leaves");
		done = lock_leaves(&insertion, &full);
		if (done)
			append_keys(&insertion);
		release_leaves(&insertion);
		/* a full leaf is split without other locks */
		if (full >= 0)
			hamming_make_room(index, insertion.tree + full, 0,
							  insertion.keys[full]);
		CHECK_FOR_INTERRUPTS();
	} while (!done);
	hamming_check_conflicts(index, fingerprint, isnull[0]);
	return false;
}
