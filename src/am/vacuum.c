/*
 * vacuum.c
 *	  Removal of dead rows, and of the pages that they leave behind.
 *
 * A vacuum goes through table 0, where each row has an entry, and through that
 * of the rows without a fingerprint, and removes dead entries there, leaf by
 * leaf.  So it learns which fingerprints have lost their last row.  Then it
 * goes through the other tables, and takes these fingerprints out of each leaf
 * that has some.  src/README proves that no row comes to lack its fingerprint.
 *
 * A fingerprint may get a row again meanwhile.  Then the insertion has marked
 * the leaf of the fingerprint in each table: there the vacuum looks at each
 * fingerprint again, together with its leaf of table 0.
 *
 * A vacuum that is broken off may leave fingerprints without rows.  So the
 * metapage says that a vacuum is at work.  The next one finds what others have
 * left, by comparing each table with table 0.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "storage/indexfsm.h"

#include "am/build.h"
#include "am/test_stop.h"

typedef struct Vacuum
{
	IndexVacuumInfo *info;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;	/* is the row with a TID dead? */
	void	   *callback_state;
	int			blocks;			/* of the index */
	bool		is_noted;		/* does the metapage say that it is swept? */
	bool		repairs;		/* has another vacuum been broken off? */

	/*
	 * For each table but 0, as it is ordered, fingerprints that have lost
	 * their last row; or if repairs is true, all that have one.
	 */
	HammingKeySort sorts[HAMMING_MAX_BLOCKS];
	uint64		sorted;			/* fingerprints in each of them */

	/* the last fingerprint of table 0, whose rows may go on on the next leaf */
	bool		is_open;
	HammingBits open;
	bool		has_rows;		/* does a row live, */
	bool		has_dead;		/* or was one removed, so far? */
} Vacuum;

/* The keys of a leaf of a table with TIDs. */
typedef struct LeafRows
{
	HammingKey	end;			/* of the leaf's range */
	int			count;
	int			dead;			/* of these */
	HammingKey	keys[HAMMING_TID_CAPACITY]; /* sorted */
	bool		is_dead[HAMMING_TID_CAPACITY];
} LeafRows;

/*
 * Read a leaf of a table with TIDs, which is locked.  Return whether it has
 * dead rows.  to_first says to stop at the first of them.
 */
static bool
read_rows(Vacuum *vacuum, Buffer leaf, bool to_first, LeafRows *rows)
{
	Page		page = BufferGetPage(leaf);
	BlockNumber block = BufferGetBlockNumber(leaf);
	HammingKey	keys[HAMMING_LEAF_CAPACITY];
	int			i;

	rows->end = hamming_special(page)->high;
	rows->count = hamming_leaf_keys(page, keys);
	rows->dead = 0;
	for (i = 0; i < rows->count && !(to_first && rows->dead > 0); i++)
	{
		ItemPointerData tid = hamming_item_pointer(keys[i].tid);

		hamming_check_tid(vacuum->info->index, block, keys[i].tid);
		rows->keys[i] = keys[i];
		rows->is_dead[i] = vacuum->callback(&tid, vacuum->callback_state);
		rows->dead += rows->is_dead[i];
	}
	return rows->dead > 0;
}

/* Remove the dead rows of a leaf, which is locked exclusively. */
static void
remove_rows(Vacuum *vacuum, Buffer leaf, const LeafRows *rows)
{
	HammingKey	keys[HAMMING_TID_CAPACITY];
	int			kept = 0;
	int			i;

	for (i = 0; i < rows->count; i++)
		if (!rows->is_dead[i])
			keys[kept++] = rows->keys[i];
	if (kept < rows->count)
		hamming_log_leaf(vacuum->info->index, leaf, keys, kept);
}

/* Has the metapage the note that a vacuum is at work, or was? */
static bool
is_swept(Relation index)
{
	Buffer		buffer = hamming_read(index, HAMMING_METAPAGE,
									  BUFFER_LOCK_SHARE, NULL);
	HammingMeta *meta = (HammingMeta *) PageGetContents(BufferGetPage(buffer));
	bool		result = meta->is_swept != 0;

	UnlockReleaseBuffer(buffer);
	return result;
}

/* Make the note, or take it away.  The metapage alone is locked meanwhile. */
static void
note_sweep(Vacuum *vacuum, bool is_swept)
{
	Relation	index = vacuum->info->index;
	Buffer		buffer = hamming_read(index, HAMMING_METAPAGE,
									  BUFFER_LOCK_EXCLUSIVE, NULL);
	GenericXLogState *state = GenericXLogStart(index);
	Page		page = GenericXLogRegisterBuffer(state, buffer, 0);

	((HammingMeta *) PageGetContents(page))->is_swept = is_swept;
	/* an index of 1.0.0 has no room for it yet */
	((PageHeader) page)->pd_lower = HAMMING_CONTENT + sizeof(HammingMeta);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
	vacuum->is_noted = is_swept;
}

/* All leaves are seen that can have rows of the open fingerprint. */
static void
close_fingerprint(Vacuum *vacuum)
{
	int			table;

	if (vacuum->is_open && (vacuum->repairs ? vacuum->has_rows
							: vacuum->has_dead && !vacuum->has_rows))
	{
		vacuum->sorted++;
		for (table = 1; table < vacuum->blocks; table++)
			hamming_sort_add(&vacuum->sorts[table],
							 hamming_table_key(vacuum->blocks, table,
											   vacuum->open, 0));
	}
	vacuum->is_open = vacuum->has_rows = vacuum->has_dead = false;
}

/*
 * Learn from a leaf of table 0, the next one of the walk, which fingerprints
 * have lost their last row.
 */
static void
note_fingerprints(Vacuum *vacuum, const LeafRows *rows)
{
	int			i;

	for (i = 0; i < rows->count; i++)
	{
		HammingBits bits = rows->keys[i].bits;

		if (vacuum->is_open && vacuum->open != bits)
			close_fingerprint(vacuum);
		vacuum->is_open = true;
		vacuum->open = bits;
		if (rows->is_dead[i])
			vacuum->has_dead = true;
		else
			vacuum->has_rows = true;
	}
	/* unless the next leaf begins within its TIDs */
	if (vacuum->is_open &&
		hamming_key_compare(rows->end, hamming_key(vacuum->open,
												   HAMMING_BEYOND_TIDS)) >= 0)
		close_fingerprint(vacuum);
}

/* A page that a walk along a level has come to. */
typedef struct VisitedPage
{
	HammingKey	low;			/* its range */
	HammingKey	high;
	int			count;			/* entries that are left */
	int			removed;		/* dead entries that were removed */
} VisitedPage;

/* Describe a page, which is locked, before any entry is removed from it. */
static VisitedPage
describe_page(Page page)
{
	HammingSpecial *special = hamming_special(page);
	VisitedPage visited = {special->low, special->high,
	hamming_page_count(page), 0};

	return visited;
}

/*
 * Remove the dead entries of the leaf that covers the key, of a table with
 * TIDs.  The leaf is locked exclusively only where it has some.  Returns what
 * is left on it.
 */
static VisitedPage
clean_leaf(Vacuum *vacuum, int table, HammingKey key)
{
	LeafRows	rows;
	VisitedPage visited;
	bool		has_dead;
	Buffer		leaf = hamming_find(vacuum->info->index, table, 0, key,
									BUFFER_LOCK_SHARE, vacuum->info->strategy);

	has_dead = read_rows(vacuum, leaf, true, &rows);
	visited = describe_page(BufferGetPage(leaf));
	UnlockReleaseBuffer(leaf);
	if (has_dead)
	{
		if (table == 0 && !vacuum->is_noted)
			note_sweep(vacuum, true);
		leaf = hamming_find(vacuum->info->index, table, 0, key,
							BUFFER_LOCK_EXCLUSIVE, vacuum->info->strategy);
		read_rows(vacuum, leaf, false, &rows);
		visited = describe_page(BufferGetPage(leaf));
		visited.removed = rows.dead;
		visited.count -= rows.dead;
		remove_rows(vacuum, leaf, &rows);
		UnlockReleaseBuffer(leaf);
	}
	if (table == 0)
		note_fingerprints(vacuum, &rows);
	return visited;
}

/*
 * Look at the page of a table's level that covers the key, and remove the dead
 * entries of a leaf with TIDs.  Returns false if the table has no such level.
 */
static bool
visit_page(Vacuum *vacuum, int table, int level, HammingKey key,
		   VisitedPage *visited)
{
	Buffer		buffer;

	if (level == 0 && hamming_table_has_tids(table))
	{
		*visited = clean_leaf(vacuum, table, key);
		return true;
	}
	buffer = hamming_find(vacuum->info->index, table, level, key,
						  BUFFER_LOCK_SHARE, vacuum->info->strategy);
	if (!BufferIsValid(buffer))
		return false;
	*visited = describe_page(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return true;
}

/*
 * A walk has come to a page, after the page *left, if left->count is not -1.
 * Merge the two if they are neighbours and small enough, or the page with its
 * right neighbour if the walk has left out the one before.  Set *left for the
 * next page, and *has_merged if pages were merged.
 */
static void
merge_visited(Vacuum *vacuum, int table, int level, VisitedPage *left,
			  const VisitedPage *page, bool *has_merged)
{
	Relation	index = vacuum->info->index;
	int			capacity = level > 0 ? HAMMING_INNER_CAPACITY
	: hamming_leaf_capacity(table);
	int			most = hamming_most_fill(index, capacity);
	bool		is_next = left->count >= 0 &&
	hamming_key_compare(left->high, page->low) == 0;

	if (is_next && left->count + page->count <= most &&
		hamming_merge(index, table, level, left->low, vacuum->info->strategy))
	{
		left->high = page->high;
		left->count += page->count;
		*has_merged = true;
		return;
	}
	if (!is_next && left->count >= 0 && page->count <= most / 2)
		*has_merged |= hamming_merge(index, table, level, page->low,
									 vacuum->info->strategy);
	*left = *page;
}

/*
 * Go through the pages of a table's level, in the order of their ranges.
 * Remove dead entries from leaves with TIDs, and merge neighbours.  Returns
 * false if the table has no such level.
 */
static bool
vacuum_level(Vacuum *vacuum, int table, int level)
{
	Relation	index = vacuum->info->index;
	bool		counted = level == 0 && hamming_table_has_tids(table);
	HammingReadAhead ahead = {.index = index,.table = table,.level = level,
	.strategy = vacuum->info->strategy};
	HammingKey	key = hamming_least_key;
	VisitedPage left = {.count = -1};
	VisitedPage page;
	bool		has_merged = false;

	for (; hamming_key_compare(key, hamming_greatest_key) < 0; key = page.high)
	{
		hamming_read_ahead(&ahead, key);
		if (!visit_page(vacuum, table, level, key, &page))
			return false;
		if (counted)
		{
			vacuum->stats->tuples_removed += page.removed;
			vacuum->stats->num_index_tuples += page.count;
		}
		merge_visited(vacuum, table, level, &left, &page, &has_merged);
		vacuum_delay_point(false);
	}
	return true;
}

/* Clean a table, level by level: merges of leaves make room above. */
static void
vacuum_table(Vacuum *vacuum, int table)
{
	int			level = 0;

	while (vacuum_level(vacuum, table, level))
		level++;
}

/*
 * Take fingerprints out of the leaf of a table, 1 or up, that covers the first
 * of keys, which are sorted.  Look at each again if the leaf is marked.  Set
 * *visited to the leaf.  Returns how many of the keys the leaf covered.
 */
static int
sweep_leaf(Vacuum *vacuum, int table, const HammingKey *keys, int count,
		   VisitedPage *visited)
{
	Relation	index = vacuum->info->index;
	Buffer		leaf = hamming_find(index, table, 0, keys[0],
									BUFFER_LOCK_EXCLUSIVE,
									vacuum->info->strategy);
	Page		page = BufferGetPage(leaf);
	HammingKey	kept[HAMMING_LEAF_CAPACITY];
	int			covered = 0;
	int			kept_count = 0;
	int			i;
	int			j = 0;

	*visited = describe_page(page);
	while (covered < count &&
		   hamming_key_compare(keys[covered], visited->high) < 0)
		covered++;
	if (hamming_special(page)->kind == HAMMING_PAGE_REVIVED)
	{
		GenericXLogState *state = GenericXLogStart(index);

		page = GenericXLogRegisterBuffer(state, leaf, 0);
		hamming_special(page)->kind = HAMMING_PAGE_TREE;
		GenericXLogFinish(state);
		UnlockReleaseBuffer(leaf);
		for (i = 0; i < covered; i++)
			hamming_remove(index, table,
						   hamming_unrotate(keys[i].bits,
											hamming_block_start(vacuum->blocks,
																table)));
		return covered;
	}
	visited->count = hamming_leaf_keys(page, kept);
	for (i = 0; i < visited->count; i++)
	{
		while (j < covered && keys[j].bits < kept[i].bits)
			j++;
		if (j == covered || keys[j].bits != kept[i].bits)
			kept[kept_count++] = kept[i];
	}
	if (kept_count < visited->count)
		hamming_log_leaf(index, leaf, kept, kept_count);
	UnlockReleaseBuffer(leaf);
	visited->count = kept_count;
	return covered;
}

/*
 * Take the fingerprints that have lost their last row out of a table, 1 or up,
 * and merge leaves that became small.
 */
static void
sweep_table(Vacuum *vacuum, int table)
{
	Relation	index = vacuum->info->index;
	HammingKeySort *sort = &vacuum->sorts[table];
	HammingReadAhead ahead = {.index = index,.table = table,
	.strategy = vacuum->info->strategy};
	HammingShape shapes[HAMMING_MAX_BLOCKS];
	HammingKey	keys[HAMMING_LEAF_CAPACITY];
	VisitedPage left = {.high = hamming_greatest_key};
	bool		has_merged = false;
	int			count = 0;
	int			level;

	hamming_measure(index, shapes);
	for (;;)
	{
		VisitedPage page;
		int			covered;

		while (count < HAMMING_LEAF_CAPACITY &&
			   hamming_sort_next(sort, &keys[count]))
			count++;
		if (count == 0)
			break;
		test_stop("sweep: a leaf");
		/* else most leaves have none */
		if (vacuum->sorted >= shapes[table].leaves)
			hamming_read_ahead(&ahead, keys[0]);
		covered = sweep_leaf(vacuum, table, keys, count, &page);
		count -= covered;
		memmove(keys, keys + covered, count * sizeof(HammingKey));
		merge_visited(vacuum, table, 0, &left, &page, &has_merged);
		vacuum_delay_point(false);
	}
	for (level = 1; has_merged && vacuum_level(vacuum, table, level); level++)
		;
}

/*
 * Another vacuum was broken off: take all fingerprints without rows out of a
 * table, 1 or up.  A fingerprint that is new since the walk through table 0 is
 * looked at once more, too.
 */
static void
repair_table(Vacuum *vacuum, int table)
{
	Relation	index = vacuum->info->index;
	HammingKeySort *sort = &vacuum->sorts[table];
	int			start = hamming_block_start(vacuum->blocks, table);
	HammingKey	next = hamming_least_key;
	HammingKey	known;
	bool		has_more = hamming_sort_next(sort, &known);

	while (hamming_key_compare(next, hamming_greatest_key) < 0)
	{
		HammingKey	keys[HAMMING_LEAF_CAPACITY];
		Buffer		leaf = hamming_find(index, table, 0, next,
										BUFFER_LOCK_SHARE,
										vacuum->info->strategy);
		int			count = hamming_leaf_keys(BufferGetPage(leaf), keys);
		int			i;

		next = hamming_special(BufferGetPage(leaf))->high;
		UnlockReleaseBuffer(leaf);
		for (i = 0; i < count; i++)
		{
			while (has_more && known.bits < keys[i].bits)
				has_more = hamming_sort_next(sort, &known);
			if (!has_more || known.bits != keys[i].bits)
				hamming_remove(index, table,
							   hamming_unrotate(keys[i].bits, start));
		}
		vacuum_delay_point(false);
	}
	vacuum_table(vacuum, table);
}

/* Return what the sort for one of the other tables may take, in kilobytes. */
static int
memory_for_sort(int blocks)
{
	int			memory = maintenance_work_mem;

	if (IsAutoVacuumWorkerProcess() && autovacuum_work_mem != -1)
		memory = autovacuum_work_mem;
	return memory / (blocks - 1);
}

/*
 * ambulkdelete.  stats is NULL in the first call for a vacuum.
 *
 * On entry the caller holds ShareUpdateExclusiveLock or more on the table.  On
 * entry and on return the caller holds no buffer lock.
 */
IndexBulkDeleteResult *
hamming_vacuum(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			   IndexBulkDeleteCallback callback, void *callback_state)
{
	Vacuum		vacuum = {
		.info = info,.stats = stats,
		.callback = callback,.callback_state = callback_state,
		.blocks = hamming_open(info->index)
	};
	int			table;

	if (stats == NULL)
		vacuum.stats = palloc0(sizeof(IndexBulkDeleteResult));
	/* of several calls, the last one says how many rows are left */
	vacuum.stats->num_index_tuples = 0;

	vacuum.is_noted = vacuum.repairs = is_swept(info->index);
	for (table = 1; table < vacuum.blocks; table++)
		vacuum.sorts[table] = hamming_sort_begin(FINGERPRINT_WORDS,
												 memory_for_sort(vacuum.blocks));
	vacuum_table(&vacuum, 0);
	for (table = 1; table < vacuum.blocks; table++)
	{
		test_stop(table == 1 ? "sweep: first table" : "sweep: next table");
		hamming_sort_finish(&vacuum.sorts[table]);
		if (vacuum.repairs)
			repair_table(&vacuum, table);
		else
			sweep_table(&vacuum, table);
		hamming_sort_end(&vacuum.sorts[table]);
	}
	if (vacuum.is_noted)
		note_sweep(&vacuum, false);
	vacuum_table(&vacuum, HAMMING_NULLS);
	return vacuum.stats;
}

/* Enter the free pages in the free space map.  Returns their number. */
static BlockNumber
record_free_pages(IndexVacuumInfo *info, BlockNumber pages)
{
	BlockNumber count = 0;
	BlockNumber block;

	for (block = HAMMING_FIXED_PAGES(hamming_open(info->index)); block < pages;
		 block++)
	{
		if (hamming_is_free_page(info->index, block, info->strategy))
		{
			RecordFreeIndexPage(info->index, block);
			count++;
		}
		vacuum_delay_point(false);
	}
	return count;
}

/*
 * amvacuumcleanup.  If stats is NULL, no hamming_vacuum() has changed a page.
 * On entry and on return the caller holds no buffer lock.
 */
IndexBulkDeleteResult *
hamming_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (info->analyze_only || stats == NULL)
		return stats;
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	stats->estimated_count = false;
	stats->pages_free = record_free_pages(info, stats->num_pages);
	IndexFreeSpaceMapVacuum(info->index);
	return stats;
}
