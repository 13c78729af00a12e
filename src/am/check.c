/*
 * check.c
 *	  What hamming_index_check() verifies of an index.
 *
 * Writers are locked out, so that the index stands still.  Every page must be
 * reached from a root exactly once, or be free.  What a page says of itself
 * must agree with what its parent says of it.  The entries of each table are
 * sorted, and compared: table 0 or that of NULLs must have each row of the
 * heap, and every other block table each fingerprint of table 0.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

#include "am/am.h"

typedef struct Check
{
	Relation	index;
	int			blocks;			/* of the index */
	BlockNumber pages;
	bool	   *seen;			/* by block: has the page been reached? */
	Tuplesortstate *entries;	/* of the table that is being checked, not
								 * rotated */
	Tuplesortstate *tids;		/* of table 0 and that of NULLs, to find a row
								 * that is there twice */
	int			distance;		/* pages to read ahead */
} Check;

static void
check_leaf(Check *check, BlockNumber block, Page page, int table)
{
	int			i;

	for (i = 0; i < hamming_page_count(page); i++)
	{
		HammingKey	key = hamming_leaf_key(page, i);

		if (i > 0 && i < hamming_special(page)->sorted &&
			hamming_key_compare(hamming_leaf_key(page, i - 1), key) >= 0)
			hamming_corrupted(check->index, block, "entries are out of order");
		if (!hamming_page_covers(page, key))
			hamming_corrupted(check->index, block,
							  "entry is outside the range of its page");
		if (table == HAMMING_NULLS && key.bits != 0)
			hamming_corrupted(check->index, block,
							  "row without fingerprint has one");
		if (hamming_table_has_tids(table))
		{
			hamming_check_tid(check->index, block, key.tid);
			hamming_sort_put(check->tids,
							 hamming_key(fingerprint_from_word(key.tid, 0), 0));
		}
		else
			key.bits = hamming_unrotate(key.bits,
										hamming_block_start(check->blocks,
															table));
		hamming_sort_put(check->entries, key);
	}
}

static void
check_order(Check *check, BlockNumber block, Page page)
{
	int			count = hamming_page_count(page);
	int			rank;

	if (!hamming_inner_is_permutation(page))
		hamming_corrupted(check->index, block,
						  "order of the children is not a permutation");
	if (hamming_key_compare(hamming_inner_key(page, 0),
							hamming_special(page)->low) != 0)
		hamming_corrupted(check->index, block,
						  "first child does not begin where its parent does");
	for (rank = 1; rank < count; rank++)
		if (hamming_key_compare(hamming_inner_key(page, rank - 1),
								hamming_inner_key(page, rank)) >= 0)
			hamming_corrupted(check->index, block, "children are out of order");
}

/* Read ahead the child with a rank, if there is one, and a page for it. */
static void
prefetch_child(Check *check, Page page, int rank)
{
	if (check->distance > 0 && rank < hamming_page_count(page) &&
		hamming_inner_child(page, rank) < check->pages)
		hamming_prefetch(check->index, hamming_inner_child(page, rank));
}

/*
 * Check a page and all pages below it.  table, level, low and high are what the
 * parent says of the page; level is -1 for a root, which may have any level.
 *
 * The page is copied under its lock, so that no lock is held while pages below
 * are read.
 */
static void
check_page(Check *check, BlockNumber block, int table, int level,
		   HammingKey low, HammingKey high)
{
	Buffer		buffer;
	PGAlignedBlock copy;
	Page		page = (Page) copy.data;
	HammingSpecial *special;
	int			count;
	int			rank;

	CHECK_FOR_INTERRUPTS();
	if (block >= check->pages)
		hamming_corrupted(check->index, block, "page is beyond the end");
	if (check->seen[block])
		hamming_corrupted(check->index, block, "page has two parents");
	check->seen[block] = true;
	buffer = hamming_read(check->index, block, BUFFER_LOCK_SHARE, NULL);
	memcpy(page, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);

	special = hamming_special(page);
	if (special->kind != HAMMING_PAGE_TREE || special->table != table ||
		(level >= 0 && special->level != level))
		hamming_corrupted(check->index, block,
						  "page is not of the table and level of its parent");
	if (hamming_key_compare(special->low, low) != 0 ||
		hamming_key_compare(special->high, high) != 0)
		hamming_corrupted(check->index, block,
						  "range is not what the parent says");
	if (special->level == 0)
	{
		check_leaf(check, block, page, table);
		return;
	}
	check_order(check, block, page);
	count = hamming_page_count(page);
	for (rank = 0; rank < check->distance; rank++)
		prefetch_child(check, page, rank);
	for (rank = 0; rank < count; rank++)
	{
		prefetch_child(check, page, rank + check->distance);
		check_page(check, hamming_inner_child(page, rank), table,
				   special->level - 1, hamming_inner_key(page, rank),
				   rank + 1 < count ? hamming_inner_key(page, rank + 1) : high);
	}
}

/*
 * Five sorts share maintenance_work_mem: two of the heap, the entries of table
 * 0 and of another table, and the TIDs.
 */
static Tuplesortstate *
begin_sort(void)
{
	return simhash_number_sort_begin(HAMMING_KEY_WORDS,
									 maintenance_work_mem / 5,
									 TUPLESORT_RANDOMACCESS);
}

/* Check all pages of a table.  Returns its entries, not rotated, and sorted. */
static Tuplesortstate *
check_table(Check *check, int table)
{
	check->entries = begin_sort();
	check_page(check, HAMMING_ROOT(table), table, -1, hamming_least_key,
			   hamming_greatest_key);
	tuplesort_performsort(check->entries);
	return check->entries;
}

static void
check_other_pages(Check *check)
{
	BlockNumber block;

	for (block = HAMMING_FIXED_PAGES(check->blocks); block < check->pages;
		 block++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!check->seen[block] &&
			!hamming_is_free_page(check->index, block, NULL))
			hamming_corrupted(check->index, block, "page has no parent");
	}
}

/* Called for each row of the heap; see sort_heap(). */
static void
add_heap_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			 bool alive, void *callback_state)
{
	Tuplesortstate **sorts = callback_state;
	HammingKey	key = {isnull[0] ? 0 : DatumGetSimhash(values[0]),
	hamming_tid(tid)};

	hamming_sort_put(sorts[isnull[0] ? 1 : 0], key);
}

/*
 * Sort the rows of the heap that the index must have: sorts[0] gets those with
 * a fingerprint, sorts[1] those without.
 *
 * Error: 55000 where the snapshot is older than the index, which then may not
 * have all rows that the snapshot sees.
 */
static void
sort_heap(Relation heap, Relation index, Tuplesortstate **sorts)
{
	IndexInfo  *info = BuildIndexInfo(index);
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	HeapTupleHeader header = index->rd_indextuple->t_data;
	TableScanDesc scan;

	if (index->rd_index->indcheckxmin &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(header), snapshot->xmin))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" cannot be checked by this transaction",
						RelationGetRelationName(index)),
				 errhint("Try it in a new transaction.")));

	/* rows as the snapshot sees them, not as CREATE INDEX does */
	info->ii_Concurrent = true;
	info->ii_ExclusionOps = NULL;
	scan = table_beginscan_strat(heap, snapshot, 0, NULL, true, true);
	table_index_build_scan(heap, index, info, true, false, add_heap_row, sorts,
						   scan);
	UnregisterSnapshot(snapshot);
	tuplesort_performsort(sorts[0]);
	tuplesort_performsort(sorts[1]);
}

static bool
is_subset(Tuplesortstate *part, Tuplesortstate *whole)
{
	HammingKey	wanted;
	HammingKey	key;
	bool		found = true;

	tuplesort_rescan(part);
	tuplesort_rescan(whole);
	while (found && hamming_sort_get(part, &wanted))
	{
		CHECK_FOR_INTERRUPTS();
		do
			found = hamming_sort_get(whole, &key);
		while (found && hamming_key_compare(key, wanted) < 0);
		found = found && hamming_key_compare(key, wanted) == 0;
	}
	return found;
}

/* Is a key in the sort twice?  hamming_greatest_key is in none. */
static bool
has_duplicates(Tuplesortstate *entries)
{
	HammingKey	previous = hamming_greatest_key;
	HammingKey	key;

	tuplesort_rescan(entries);
	while (hamming_sort_get(entries, &key))
	{
		CHECK_FOR_INTERRUPTS();
		if (hamming_key_compare(previous, key) == 0)
			return true;
		previous = key;
	}
	return false;
}

/* Get the next key whose bits are not those of *key. */
static bool
next_bits(Tuplesortstate *entries, HammingKey *key)
{
	HammingBits previous = key->bits;

	do
		if (!hamming_sort_get(entries, key))
			return false;
	while (key->bits == previous);
	return true;
}

/*
 * Check that a block table without TIDs has each fingerprint of table 0, whose
 * entries are rows, and none twice.  What else it has is harmless: a crash
 * leaves it of an insertion or a removal.
 */
static void
check_fingerprints(Check *check, int table, Tuplesortstate *rows,
				   Tuplesortstate *entries)
{
	HammingKey	row;
	HammingKey	key;
	bool		more;
	int64		unused = 0;

	if (has_duplicates(entries))
		hamming_corrupted(check->index, HAMMING_ROOT(table),
						  "a fingerprint is in the table twice");
	tuplesort_rescan(rows);
	tuplesort_rescan(entries);
	more = hamming_sort_get(rows, &row);
	while (hamming_sort_get(entries, &key))
	{
		CHECK_FOR_INTERRUPTS();
		if (more && row.bits < key.bits)
			break;
		if (more && row.bits == key.bits)
			more = next_bits(rows, &row);
		else
			unused++;
	}
	if (more)
		hamming_corrupted(check->index, HAMMING_ROOT(table),
						  "a fingerprint of the first is not in the table");
	if (unused > 0)
		ereport(NOTICE,
				(errmsg_plural("block table %d of index \"%s\" has "
							   "%lld fingerprint without rows",
							   "block table %d of index \"%s\" has "
							   "%lld fingerprints without rows",
							   (unsigned long) unused, table + 1,
							   RelationGetRelationName(check->index),
							   (long long) unused),
				 errdetail("Searches pass over what a crash may leave.")));
}

/* Check that a table with TIDs has each row of the heap that it must have. */
static void
check_rows(Check *check, int table, Tuplesortstate *rows,
		   Tuplesortstate *entries)
{
	if (!is_subset(rows, entries))
		hamming_corrupted(check->index, HAMMING_ROOT(table),
						  "a row of the heap is not in the table");
}

/*
 * Check all tables: no row is in the index twice, every row of the heap is in
 * table 0 or in that of NULLs, and each fingerprint of table 0 is in all block
 * tables.
 */
static void
check_entries(Check *check, Relation heap)
{
	Tuplesortstate *rows[2] = {begin_sort(), begin_sort()};
	Tuplesortstate *first;
	Tuplesortstate *entries;
	int			table;

	check->tids = begin_sort();
	sort_heap(heap, check->index, rows);
	entries = check_table(check, HAMMING_NULLS);
	check_rows(check, HAMMING_NULLS, rows[1], entries);
	tuplesort_end(entries);
	first = check_table(check, 0);
	check_rows(check, 0, rows[0], first);
	for (table = 1; table < check->blocks; table++)
	{
		entries = check_table(check, table);
		check_fingerprints(check, table, first, entries);
		tuplesort_end(entries);
	}
	tuplesort_performsort(check->tids);
	if (has_duplicates(check->tids))
		hamming_corrupted(check->index, HAMMING_METAPAGE,
						  "a row is in the index twice");
	tuplesort_end(check->tids);
	tuplesort_end(first);
	tuplesort_end(rows[0]);
	tuplesort_end(rows[1]);
}

/*
 * Verify an index.  Errors: as sort_heap(); XX002 for the first fault that is
 * found.  On entry the table and the index are locked by ShareLock.  On entry
 * and on return the caller holds no buffer lock.
 */
void
hamming_check(Relation heap, Relation index)
{
	Check		check = {.index = index};

	check.pages = RelationGetNumberOfBlocks(index);
	check.seen = palloc_extended(Max(check.pages, 1) * sizeof(bool),
								 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	check.distance = hamming_walk_distance(index);
	/* as it is on disk now, not as the session remembers it */
	check.blocks = hamming_read_blocks(index);
	check_entries(&check, heap);
	check_other_pages(&check);
}
