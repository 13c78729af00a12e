/*
 * change.c
 *	  Insertion of a row: src/README tells the steps, and why they are right.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "am/am.h"

/*
 * A search looks at all keys that were appended to a leaf since it was sorted.
 * So an insertion sorts a leaf that has MOST_APPENDED of these, or MOST_WIDE if
 * keys have more words than one: a split leaves such a leaf with half of 368 or
 * 507 keys, and one sort between two splits is worth most.  wal.c sorts, too,
 * where that costs no WAL.
 */
#define MOST_APPENDED 192
#define MOST_WIDE 128

/* A leaf that an insertion changes, or may change. */
typedef struct InsertionLeaf
{
	int			tree;
	HammingKey	key;			/* that goes there */
	Buffer		buffer;			/* of the leaf that covers the key */
	int			width;			/* words of the key, */
	int			shared;			/* and of these, what an entry of the leaf
								 * has: see hamming_leaf_shares() */
} InsertionLeaf;

/*
 * The leaves of an insertion are in the order of trees.  They are pinned, and
 * then locked one after the other (rules 2 and 3 in tree.c), so that none is
 * locked while another is read from disk.
 */
typedef struct Insertion
{
	Relation	index;
	int			pinned;			/* leaves that are */
	int			locked;			/* and how many of these */
	InsertionLeaf leaves[HAMMING_MAX_WORDS * HAMMING_MAX_BLOCKS];
} Insertion;

/* See what of its key a leaf has, which is locked. */
static void
look_at(InsertionLeaf *leaf)
{
	Page		page = BufferGetPage(leaf->buffer);

	leaf->width = hamming_page_width(page);
	/* of NULLs all keys are new */
	if (leaf->tree != HAMMING_NULLS)
		leaf->shared = hamming_leaf_shares(page, leaf->key, leaf->width);
}

/*
 * May a block tree, 1 or up, lack its key of the insertion?  If the insertion
 * has no leaf of the source tree, that tree has its own key, and so tree has
 * one, too.
 */
static bool
may_lack(const Insertion *insertion, int tree)
{
	int			source = hamming_source_tree(tree);
	int			i;

	for (i = 0; i < insertion->pinned; i++)
	{
		const InsertionLeaf *leaf = &insertion->leaves[i];

		if (leaf->tree == source)
			return leaf->shared < (HAMMING_TREE_BLOCK(tree) > 0 ? 1
								   : leaf->width);
	}
	return false;
}

static void
pin_leaf(Insertion *insertion, int tree, HammingKey key)
{
	InsertionLeaf *leaf = &insertion->leaves[insertion->pinned++];

	leaf->tree = tree;
	leaf->key = key;
	leaf->buffer = hamming_find(insertion->index, tree, 0, key,
								BUFFER_LOCK_SHARE, NULL);
	leaf->shared = 0;
	/* only first trees are source trees */
	if (HAMMING_TREE_BLOCK(tree) == 0)
		look_at(leaf);
	LockBuffer(leaf->buffer, BUFFER_LOCK_UNLOCK);
	test_stop("insert: a leaf");
}

/*
 * Lock the pinned leaves exclusively, and see which of them have their keys.
 * Return false, and set *full to the place of a leaf without room, or -1, if
 * the insertion must start again.  On entry no leaf is locked.  On return
 * leaves[0] .. leaves[locked - 1] are.
 */
static bool
lock_leaves(Insertion *insertion, int *full)
{
	int			i;

	*full = -1;
	for (i = 0; i < insertion->pinned; i++)
	{
		InsertionLeaf *leaf = &insertion->leaves[i];
		int			shared = leaf->shared;

		insertion->locked++;
		if (!hamming_lock_pinned(insertion->index, leaf->buffer, leaf->tree, 0,
								 leaf->key))
			return false;
		look_at(leaf);
		/* what the leaf had was removed, and leaves are missing here now */
		if (leaf->shared < shared)
			return false;
		if ((i == 0 || leaf->shared < leaf->width) &&
			hamming_page_is_full(BufferGetPage(leaf->buffer)))
		{
			*full = i;
			return false;
		}
	}
	return true;
}

/* Sort each leaf that has many appended keys.  All are locked exclusively. */
static void
sort_leaves(Insertion *insertion)
{
	int			i;

	for (i = 0; i < insertion->pinned; i++)
	{
		Buffer		leaf = insertion->leaves[i].buffer;
		Page		page = BufferGetPage(leaf);
		HammingKey	keys[HAMMING_LEAF_CAPACITY];
		int			count = hamming_page_count(page);

		if (count - hamming_special(page)->sorted <
			(hamming_page_width(page) == 1 ? MOST_APPENDED : MOST_WIDE))
			continue;
		hamming_page_keys(page, keys);
		hamming_log_leaf(insertion->index, leaf, keys, count);
	}
}

/*
 * Append the row to its leaf, and the keys to those that lack theirs.  Where a
 * leaf has its key, and the leaf of its source tree has no entry for it, mark
 * the leaf: a vacuum may be about to take the key out of it.  All leaves of the
 * insertion are locked exclusively.
 */
static void
append_keys(Insertion *insertion)
{
	HammingChange changes[HAMMING_MAX_WORDS * HAMMING_MAX_BLOCKS];
	int			count = 0;
	int			i;

	/* the last tree first: so a tree is logged no later than its source tree */
	for (i = insertion->pinned - 1; i >= 0; i--)
	{
		const InsertionLeaf *leaf = &insertion->leaves[i];
		HammingChange change = {.leaf = leaf->buffer,.key = leaf->key};

		change.is_mark = i > 0 && leaf->shared == leaf->width;
		if (change.is_mark &&
			(!may_lack(insertion, leaf->tree) ||
			 hamming_page_is_marked(BufferGetPage(leaf->buffer))))
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
		Buffer		buffer = insertion->leaves[i].buffer;

		if (i < insertion->locked)
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		ReleaseBuffer(buffer);
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
	HammingLayout layout = hamming_layout(index);
	HammingKey	row = hamming_row_key(index, values[0], isnull[0], tid);
	Insertion	insertion = {.index = index};
	bool		done;
	int			full;
	int			tree;

	do
	{
		pin_leaf(&insertion, isnull[0] ? HAMMING_NULLS : 0, row);
		for (tree = hamming_next_tree(layout, 0);
			 tree < HAMMING_TREES && !isnull[0];
			 tree = hamming_next_tree(layout, tree))
			if (may_lack(&insertion, tree))
				pin_leaf(&insertion, tree,
						 hamming_tree_key(layout, 0, tree, row));
		test_stop("insert: all leaves");
		done = lock_leaves(&insertion, &full);
		if (done)
			append_keys(&insertion);
		release_leaves(&insertion);
		/* a full leaf is split without other locks */
		if (full >= 0)
			hamming_make_room(index, insertion.leaves[full].tree, 0,
							  insertion.leaves[full].key);
		CHECK_FOR_INTERRUPTS();
	} while (!done);
	hamming_check_conflicts(index, row, isnull[0]);
	return false;
}
