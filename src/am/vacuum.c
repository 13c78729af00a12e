/*
 * vacuum.c
 *	  Removal of dead rows, and of the pages that they leave behind.
 *
 * A vacuum goes through table 0, where each row has an entry, and through that
 * of the rows without a fingerprint, and removes dead entries there.  The last
 * entry of a fingerprint goes by hamming_remove(), which takes the fingerprint
 * out of the other block tables, too.  If a vacuum is broken off, each entry
 * that it has not removed is in table 0 for the next one.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "commands/vacuum.h"
#include "storage/indexfsm.h"

#include "am/am.h"

typedef struct Vacuum
{
	IndexVacuumInfo *info;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;	/* is the row with a TID dead? */
	void	   *callback_state;
	int			blocks;			/* of the index */
} Vacuum;

/* What is to be done for a leaf. */
typedef struct DeadEntries
{
	int			count;			/* dead entries of the leaf */
	int			entries[HAMMING_TID_CAPACITY];	/* their places, ascending */
	int			last_count;		/* entries that hamming_remove() removes */
	HammingKey	last[HAMMING_TID_CAPACITY];
} DeadEntries;

/* Find the dead entries of a locked leaf of a table with TIDs. */
static void
find_dead(Vacuum *vacuum, Buffer leaf, DeadEntries *dead)
{
	Page		page = BufferGetPage(leaf);
	BlockNumber block = BufferGetBlockNumber(leaf);
	int			count = hamming_page_count(page);
	int			i;

	dead->count = dead->last_count = 0;
	for (i = 0; i < count; i++)
	{
		ItemPointer tid = hamming_leaf_tid(page, i);

		hamming_check_tid(vacuum->info->index, block, hamming_tid(tid));
		if (vacuum->callback(tid, vacuum->callback_state))
			dead->entries[dead->count++] = i;
	}
}

/*
 * Is a dead entry of a leaf of table 0 the first of those of its fingerprint,
 * and are all of these dead?  is_dead[i] says whether entry i of the leaf is.
 */
static bool
is_last(Page page, int entry, const bool *is_dead)
{
	uint16		equal[HAMMING_LEAF_CAPACITY];
	int			count = hamming_leaf_equal(page, hamming_page_bits(page)[entry],
										   equal);
	int			i;

	for (i = 0; i < count; i++)
		if (!is_dead[equal[i]])
			return false;
	return equal[0] == entry;
}

/*
 * Of each fingerprint that has only dead entries on a leaf of table 0, move one
 * from dead->entries to dead->last.
 */
static void
keep_last(Page page, DeadEntries *dead)
{
	bool		is_dead[HAMMING_TID_CAPACITY] = {false};
	int			kept = 0;
	int			i;

	for (i = 0; i < dead->count; i++)
		is_dead[dead->entries[i]] = true;
	for (i = 0; i < dead->count; i++)
	{
		int			entry = dead->entries[i];

		if (is_last(page, entry, is_dead))
			dead->last[dead->last_count++] = hamming_leaf_key(page, entry);
		else
			dead->entries[kept++] = entry;
	}
	dead->count = kept;
}

/*
 * Remove dead entries of a leaf, which is locked exclusively.  No pin of
 * another process matters: a scan keeps no position within a leaf.
 */
static void
remove_entries(Vacuum *vacuum, Buffer leaf, const DeadEntries *dead)
{
	GenericXLogState *state;
	Page		page;
	int			i;

	if (dead->count == 0)
		return;
	state = GenericXLogStart(vacuum->info->index);
	page = GenericXLogRegisterBuffer(state, leaf, 0);
	/* the last first, as the last entry takes the place of one removed */
	for (i = dead->count - 1; i >= 0; i--)
		hamming_leaf_remove(page, dead->entries[i]);
	GenericXLogFinish(state);
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
 * Let the operating system read the leaves of a fingerprint from disk, but that
 * of table 0.
 */
static void
prefetch_leaves(Vacuum *vacuum, Fingerprint fingerprint)
{
	int			table;

	for (table = 1; table < vacuum->blocks; table++)
		hamming_disk_prefetch_leaf(vacuum->info->index, table,
								   hamming_table_key(vacuum->blocks, table,
													 fingerprint, 0));
}

/*
 * Remove the entries dead->last of table 0, each with its fingerprint.  Where
 * the rows of a fingerprint could be on many leaves, remove the entry alone.
 * Then other rows have the fingerprint, or the other tables keep a fingerprint
 * without rows, which adds nothing to the result of a search.
 */
static void
remove_last(Vacuum *vacuum, const DeadEntries *dead)
{
	Relation	index = vacuum->info->index;
	int			distance = hamming_walk_distance(index);
	int			fetched = 0;
	int			i;

	for (i = 0; i < dead->last_count; i++)
	{
		HammingKey	key = dead->last[i];

		for (; fetched < Min(i + distance, dead->last_count); fetched++)
			prefetch_leaves(vacuum, dead->last[fetched].bits);
		if (!hamming_remove(index, key.bits, key.tid))
		{
			Buffer		leaf = hamming_find(index, 0, 0, key,
											BUFFER_LOCK_EXCLUSIVE, NULL);
			DeadEntries one = {.count = 1};

			one.entries[0] = hamming_leaf_find(BufferGetPage(leaf), key);
			if (one.entries[0] >= 0)
				remove_entries(vacuum, leaf, &one);
			UnlockReleaseBuffer(leaf);
		}
		vacuum_delay_point(false);
	}
}

/*
 * Remove the dead entries of the leaf that covers the key, of a table with
 * TIDs.  The leaf is locked exclusively only where it has some.  Returns what
 * is left on it.
 */
static VisitedPage
clean_leaf(Vacuum *vacuum, int table, HammingKey key)
{
	DeadEntries dead;
	VisitedPage visited;
	Buffer		leaf = hamming_find(vacuum->info->index, table, 0, key,
									BUFFER_LOCK_SHARE, vacuum->info->strategy);

	find_dead(vacuum, leaf, &dead);
	visited = describe_page(BufferGetPage(leaf));
	UnlockReleaseBuffer(leaf);
	if (dead.count == 0)
		return visited;

	leaf = hamming_find(vacuum->info->index, table, 0, key,
						BUFFER_LOCK_EXCLUSIVE, vacuum->info->strategy);
	find_dead(vacuum, leaf, &dead);
	visited = describe_page(BufferGetPage(leaf));
	visited.removed = dead.count;
	visited.count -= dead.count;
	if (table == 0)
		keep_last(BufferGetPage(leaf), &dead);
	remove_entries(vacuum, leaf, &dead);
	UnlockReleaseBuffer(leaf);
	remove_last(vacuum, &dead);
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
 * Go through the pages of a table's level, in the order of their ranges.
 * Remove dead entries from leaves with TIDs, and merge neighbours.  Returns
 * false if the table has no such level.
 */
static bool
vacuum_level(Vacuum *vacuum, int table, int level)
{
	Relation	index = vacuum->info->index;
	bool		counted = level == 0 && hamming_table_has_tids(table);
	int			capacity = level > 0 ? HAMMING_INNER_CAPACITY
	: hamming_leaf_capacity(table);
	HammingReadAhead ahead = {.index = index,.table = table,.level = level,
	.strategy = vacuum->info->strategy};
	HammingKey	key = hamming_least_key;
	VisitedPage left = {.count = -1};
	VisitedPage page;

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
		if (left.count >= 0 &&
			left.count + page.count <= hamming_fill(index, capacity) &&
			hamming_merge(index, table, level, left.low,
						  vacuum->info->strategy))
			left.count += page.count;
		else
			left = page;
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
 * ambulkdelete.  stats is NULL in the first call for a vacuum.
 *
 * On entry the caller holds ShareUpdateExclusiveLock or more on the table.  On
 * entry and on return the caller holds no buffer lock.
 */
IndexBulkDeleteResult *
hamming_vacuum(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			   IndexBulkDeleteCallback callback, void *callback_state)
{
	Vacuum		vacuum = {info, stats, callback, callback_state,
	hamming_open(info->index)};
	int			table;

	if (stats == NULL)
		vacuum.stats = palloc0(sizeof(IndexBulkDeleteResult));
	/* of several calls, the last one says how many rows are left */
	vacuum.stats->num_index_tuples = 0;

	vacuum_table(&vacuum, 0);
	/* only then leaves of the other tables may have become empty */
	if (vacuum.stats->tuples_removed > 0)
		for (table = 1; table < vacuum.blocks; table++)
			vacuum_table(&vacuum, table);
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
