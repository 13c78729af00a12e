/*
 * check.c
 *	  What hamming_index_check() reads of an index.
 *
 * The structural half of the check needs no lock but that of a page at a time,
 * so that it runs while others write, and on a standby.  What it verifies holds
 * at each instant of a sound index:
 *
 * - what one page says of itself.  The check copies the page under its lock,
 *   and looks at the copy;
 * - that a page and its parent agree on the page's range.  Both are locked one
 *   after the other, and a split or a merge may come between.  So where they
 *   disagree both are read again, HAMMING_MAX_DESCENTS times at most;
 * - that each block tree has a key for all that its source tree has.  A key
 *   that a walk through the tree has not met may have been removed since the
 *   walk through the source tree.  So both are looked at again, as often: first
 *   the source tree, then the other one.
 *
 * Each time that something is read again in vain, another process must have
 * changed it between the two locks.  No sound index comes near the limit.  No
 * page has two parents: each of them would have to begin where the page does.
 *
 * The other half compares the index with the heap, and needs an index that
 * stands still.  So do three checks that a writer would upset between two
 * looks: no TID is in the index twice, as the row of a TID may be replaced; no
 * key is without rows; each page is in a tree or free.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "am/sort.h"

typedef struct Check
{
	Relation	index;
	Relation	heap;			/* NULL for the structural half alone */
	HammingLayout layout;		/* of the index */
	BlockNumber pages;			/* that have been found in trees */
	HammingKeys keys;			/* of the tree that is read */
} Check;

/*
 * Return what is wrong with a copy of the leaf blkno; NULL if nothing is.  Two
 * equal keys are on one leaf, as each key is in the range of one leaf.
 */
static const char *
leaf_fault(Check *check, BlockNumber blkno, Page page)
{
	HammingKey	keys[HAMMING_LEAF_CAPACITY];
	HammingSpecial *special = hamming_special(page);
	HammingEntries entries = hamming_entries(page);
	bool		rows = hamming_tree_has_tids(special->tree);
	int			count = entries.count;
	int			i;

	for (i = 0; i < count; i++)
	{
		keys[i] = hamming_entry_key(&entries, i);
		if (i > 0 && i < special->sorted &&
			hamming_key_compare(keys[i - 1], keys[i]) >= 0)
			return "entries are out of order";
		if (!hamming_page_covers(page, &keys[i]))
			return "entry is outside the range of its page";
		if (special->tree == HAMMING_NULLS && keys[i].words[0] != 0)
			return "row without fingerprint has one";
		if (rows)
			hamming_check_tid(check->index, blkno, keys[i].tid);
	}
	hamming_page_keys(page, keys);
	for (i = 1; i < count; i++)
		if (hamming_key_compare(keys[i - 1], keys[i]) == 0)
			return rows ? "a row is in the index twice"
				: "a fingerprint is in the tree twice";
	return NULL;
}

static const char *
inner_fault(Page page)
{
	HammingKey	keys[HAMMING_INNER_CAPACITY];
	int			count = hamming_page_count(page);
	int			rank;

	if (!hamming_inner_is_permutation(page))
		return "order of the children is not a permutation";
	hamming_page_keys(page, keys);
	if (hamming_key_compare(keys[0], hamming_page_low(page)) != 0)
		return "first child does not begin where its parent does";
	for (rank = 1; rank < count; rank++)
		if (hamming_key_compare(keys[rank - 1], keys[rank]) >= 0)
			return "children are out of order";
	return NULL;
}

/*
 * Is the range of copy, a copy of the page blkno, what its parent says, or of a
 * root all keys?
 */
static bool
agrees_with_parent(Relation index, BlockNumber blkno, Page copy)
{
	HammingSpecial *special = hamming_special(copy);
	HammingKey	begin = hamming_page_low(copy);
	Buffer		buffer = hamming_find(index, special->tree, special->level + 1,
									  begin, BUFFER_LOCK_SHARE, NULL);
	HammingKey	low = hamming_least_key;
	HammingKey	high = hamming_greatest_key;
	BlockNumber child = hamming_root(hamming_layout(index), special->tree);

	if (BufferIsValid(buffer))
	{
		Page		page = BufferGetPage(buffer);

		low = hamming_inner_key(page, hamming_inner_find(page, &begin));
		child = hamming_inner_look(page, &begin, &high);
		UnlockReleaseBuffer(buffer);
	}
	return child == blkno && hamming_key_compare(begin, low) == 0 &&
		hamming_key_compare(hamming_page_high(copy), high) == 0;
}

/*
 * Copy the page that a walk comes to, at an instant when it and its parent
 * agree.  Return its block number.
 */
static BlockNumber
copy_page(const HammingWalk *walk, Page page)
{
	BlockNumber blkno = InvalidBlockNumber;
	int			i;

	for (i = 0; i < HAMMING_MAX_DESCENTS; i++)
	{
		Buffer		buffer = hamming_walk_find(walk, BUFFER_LOCK_SHARE);

		blkno = BufferGetBlockNumber(buffer);
		memcpy(page, BufferGetPage(buffer), BLCKSZ);
		UnlockReleaseBuffer(buffer);
		if (walk->tree == 0 && walk->level == 0)
			test_stop("index check: a leaf");
		if (agrees_with_parent(walk->index, blkno, page))
			return blkno;
		CHECK_FOR_INTERRUPTS();
	}
	hamming_corrupted(walk->index, blkno,
					  "range is not what the parent says");
}

/*
 * Check the pages of a tree, and count them, level by level from the root down:
 * so a fault is named best.
 */
static void
check_tree(Check *check, int tree)
{
	int			level = hamming_height(check->index, tree);

	while (--level >= 0)
	{
		HammingWalk walk = {.index = check->index,.tree = tree,.level = level};
		PGAlignedBlock copy;
		Page		page = (Page) copy.data;

		for (; hamming_walk_on(&walk); walk.next = hamming_page_high(page))
		{
			BlockNumber blkno = copy_page(&walk, page);
			const char *fault = level == 0 ? leaf_fault(check, blkno, page)
			: inner_fault(page);

			if (fault != NULL)
				hamming_corrupted(check->index, blkno, fault);
			check->pages++;
		}
	}
}

/* Does the source tree of a block tree need a key that the tree lacks? */
static bool
is_missing(Check *check, int tree, HammingKey key)
{
	int			width = hamming_tree_width(check->layout, tree);
	int			i;

	for (i = 0; i < HAMMING_MAX_DESCENTS; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!hamming_is_needed(check->index, tree, key) ||
			hamming_has(check->index, tree, key, width))
			return false;
	}
	return true;
}

/*
 * Check that the tree has each key of the sorter, which has none twice.
 * Return how many other keys the tree has, while the index stands still.
 */
static int64
check_keys(Check *check, int tree, HammingSorter *sorter)
{
	bool		rows = hamming_tree_has_tids(tree);
	HammingKey	wanted;
	HammingKey	key;
	bool		more;
	int64		others = 0;

	hamming_keys_begin(&check->keys, check->index, tree);
	more = hamming_keys_next(&check->keys, &key);
	while (hamming_sorter_next_key(sorter, &wanted))
	{
		for (; more && hamming_key_compare(key, wanted) < 0; others++)
			more = hamming_keys_next(&check->keys, &key);
		if (more && hamming_key_compare(key, wanted) == 0)
			more = hamming_keys_next(&check->keys, &key);
		else if (rows || is_missing(check, tree, wanted))
			hamming_corrupted(check->index, hamming_root(check->layout, tree),
							  rows ? "a row of the heap is not in the tree"
							  : "a fingerprint of tree 0 is not here");
	}
	for (; more; others++)
		more = hamming_keys_next(&check->keys, &key);
	return others;
}

/*
 * Check that a block tree, 1 or up, has a key for each entry of its source
 * tree.
 */
static void
check_derived_tree(Check *check, int tree)
{
	int			source = hamming_source_tree(tree);
	int			width = hamming_tree_width(check->layout, tree);
	HammingSorter *sorter = hamming_sorter_begin(width, false,
												 maintenance_work_mem);
	HammingKey	last = hamming_greatest_key;	/* no row has it */
	HammingKey	entry;
	int64		unused;

	hamming_keys_begin(&check->keys, check->index, source);
	while (hamming_keys_next(&check->keys, &entry))
	{
		HammingKey	key = hamming_tree_key(check->layout, source, tree, entry);

		if (hamming_key_compare(key, last) != 0)
			hamming_sorter_add_key(sorter, key);
		last = key;
	}
	hamming_sorter_finish(sorter);
	test_stop("index check: fingerprints");
	unused = check_keys(check, tree, sorter);
	hamming_sorter_end(sorter);
	if (check->heap != NULL && unused > 0)
		ereport(NOTICE,
				(errmsg_plural("block tree %d of index \"%s\" has "
							   "%lld fingerprint without rows",
							   "block tree %d of index \"%s\" has "
							   "%lld fingerprints without rows",
							   (unsigned long) unused,
							   hamming_tree_ordinal(check->layout, tree) + 1,
							   RelationGetRelationName(check->index),
							   (long long) unused),
				 errdetail("This is harmless. A crash, or a canceled vacuum, "
						   "may leave such fingerprints, and searches ignore "
						   "them."),
				 errhint("REINDEX removes them.")));
}

/* Check that no TID is in tree 0 and that of NULLs together twice. */
static void
check_tids(Check *check)
{
	static const int trees[] = {0, HAMMING_NULLS};
	HammingSorter *sorter = hamming_sorter_begin(1, false,
												 maintenance_work_mem);
	HammingKey	previous = hamming_greatest_key;
	HammingKey	key;
	Size		i;

	for (i = 0; i < lengthof(trees); i++)
	{
		hamming_keys_begin(&check->keys, check->index, trees[i]);
		while (hamming_keys_next(&check->keys, &key))
			hamming_sorter_add_key(sorter, hamming_word_key(key.tid));
	}
	hamming_sorter_finish(sorter);
	while (hamming_sorter_next_key(sorter, &key))
	{
		CHECK_FOR_INTERRUPTS();
		if (key.words[0] == previous.words[0])
			hamming_corrupted(check->index, HAMMING_METAPAGE,
							  "a row is in the index twice");
		previous = key;
	}
	hamming_sorter_end(sorter);
}

static void
add_heap_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			 bool alive, void *callback_state)
{
	HammingSorter **sorters = callback_state;

	hamming_sorter_add_key(sorters[isnull[0]],
						   hamming_row_key(index, values[0], isnull[0], tid));
}

/*
 * Check that the index has the rows of the heap: those with a fingerprint in
 * tree 0, the others in that of NULLs.  Error: 55000 where the snapshot is
 * older than the index, which then may not have all rows that the snapshot
 * sees.
 */
static void
check_heap(Check *check)
{
	int			memory = maintenance_work_mem / 2;
	HammingSorter *sorters[] = {
		hamming_sorter_begin(check->layout.words, true, memory),
		hamming_sorter_begin(1, true, memory)
	};
	Relation	index = check->index;
	IndexInfo  *info = BuildIndexInfo(index);
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	HeapTupleHeader header = index->rd_indextuple->t_data;
	TableScanDesc scan;
	int			i;

	if (index->rd_index->indcheckxmin &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(header), snapshot->xmin))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is newer than the snapshot of this "
						"transaction",
						RelationGetRelationName(index)),
				 errhint("Check the index in a new transaction.")));

	/* rows as the snapshot sees them, not as CREATE INDEX does */
	info->ii_Concurrent = true;
	info->ii_ExclusionOps = NULL;
	scan = table_beginscan_strat(check->heap, snapshot, 0, NULL, true, true);
	table_index_build_scan(check->heap, index, info, true, false, add_heap_row,
						   sorters, scan);
	UnregisterSnapshot(snapshot);
	for (i = 0; i < 2; i++)
	{
		hamming_sorter_finish(sorters[i]);
		check_keys(check, i == 0 ? 0 : HAMMING_NULLS, sorters[i]);
		hamming_sorter_end(sorters[i]);
	}
}

/*
 * Verify an index, and if heap is not NULL, that it agrees with its table.
 * Errors: as check_heap(); XX002 for the first fault that is found.  On entry
 * the index is locked by AccessShareLock, or, with a heap, both by ShareLock.
 */
void
hamming_check(Relation heap, Relation index)
{
	Check	   *check = palloc0(sizeof(Check));
	BlockNumber pages;
	int			tree;

	check->index = index;
	check->heap = heap;
	/* as it is on disk now, not as the session remembers it */
	check->layout = hamming_read_layout(index);
	check_tree(check, HAMMING_NULLS);
	for (tree = 0; tree < HAMMING_TREES;
		 tree = hamming_next_tree(check->layout, tree))
		check_tree(check, tree);
	if (heap != NULL)
	{
		pages = RelationGetNumberOfBlocks(index);
		/* all but the metapage are in a tree or free */
		if (1 + check->pages + hamming_count_free(index, pages, false,
												  NULL) != pages)
			hamming_corrupted(index, HAMMING_METAPAGE,
							  "a page is neither in a tree nor free");
		check_tids(check);
		check_heap(check);
	}
	for (tree = hamming_next_tree(check->layout, 0); tree < HAMMING_TREES;
		 tree = hamming_next_tree(check->layout, tree))
		check_derived_tree(check, tree);
	pfree(check);
}
