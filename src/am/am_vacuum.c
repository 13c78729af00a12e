/*
 * am_vacuum.c
 *	  Removal of dead rows, and of the pages that they leave behind.
 *
 * An insertion enters a row in all block tables at once.  A vacuum removes a
 * dead row from table 0 last.  So a row that is in some block tables and not
 * in others is dead, and is in table 0.  Where table 0 has no dead row, no
 * block table has one, even if an earlier vacuum was broken off.
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
} Vacuum;

/*
 * Find the dead entries of a locked leaf.  dead gets their positions,
 * ascending.  Returns their number.
 */
static int
find_dead(Vacuum *vacuum, Buffer leaf, int *dead)
{
	Page		page = BufferGetPage(leaf);
	BlockNumber block = BufferGetBlockNumber(leaf);
	int			entries = hamming_page_count(page);
	int			count = 0;
	int			i;

	for (i = 0; i < entries; i++)
	{
		ItemPointer tid = hamming_leaf_tid(page, i);

		hamming_check_tid(vacuum->info->index, block, hamming_tid(tid));
		if (vacuum->callback(tid, vacuum->callback_state))
			dead[count++] = i;
	}
	return count;
}

/* Has table 0 a dead row?  If not, *rows gets the number of its rows. */
static bool
has_dead_rows(Vacuum *vacuum, double *rows)
{
	HammingKey	key = hamming_least_key;

	*rows = 0;
	while (hamming_key_compare(key, hamming_greatest_key) < 0)
	{
		int			dead[HAMMING_LEAF_CAPACITY];
		Buffer		leaf = hamming_find(vacuum->info->index, 0, 0, key,
										BUFFER_LOCK_SHARE,
										vacuum->info->strategy);
		Page		page = BufferGetPage(leaf);
		int			count = find_dead(vacuum, leaf, dead);

		*rows += hamming_page_count(page);
		key = hamming_special(page)->high;
		UnlockReleaseBuffer(leaf);
		if (count > 0)
			return true;
		vacuum_delay_point(false);
	}
	return false;
}

/*
 * Remove the dead entries of a leaf, which is locked exclusively.  No pin of
 * another process matters: a scan keeps no position within a leaf.
 */
static int
clean_leaf(Vacuum *vacuum, Buffer leaf)
{
	int			dead[HAMMING_LEAF_CAPACITY];
	int			count = find_dead(vacuum, leaf, dead);
	int			i;

	if (count > 0)
	{
		GenericXLogState *state = GenericXLogStart(vacuum->info->index);
		Page		page = GenericXLogRegisterBuffer(state, leaf, 0);

		/* the last first, as the last entry takes the place of one removed */
		for (i = count - 1; i >= 0; i--)
			hamming_leaf_remove(page, dead[i]);
		GenericXLogFinish(state);
	}
	return count;
}

/*
 * Go through the pages of a table's level, in the order of their ranges.
 * Remove dead entries where the level is 0, and merge neighbours.  Returns
 * false if the table has no such level.
 */
static bool
vacuum_level(Vacuum *vacuum, int table, int level)
{
	Relation	index = vacuum->info->index;
	HammingKey	key = hamming_least_key;
	HammingKey	previous_low = hamming_least_key;
	int			previous_count = -1;

	/* a row is in each block table or in that of NULLs, and counts once */
	bool		counted = level == 0 && (table == 0 || table == HAMMING_NULLS);

	while (hamming_key_compare(key, hamming_greatest_key) < 0)
	{
		Buffer		buffer = hamming_find(index, table, level, key,
										  BUFFER_LOCK_EXCLUSIVE,
										  vacuum->info->strategy);
		Page		page;
		HammingKey	low;
		int			capacity;
		int			count;
		int			removed = 0;

		if (!BufferIsValid(buffer))
			return false;
		page = BufferGetPage(buffer);
		if (level == 0)
			removed = clean_leaf(vacuum, buffer);
		low = hamming_special(page)->low;
		key = hamming_special(page)->high;
		capacity = hamming_capacity(page);
		count = hamming_page_count(page);
		UnlockReleaseBuffer(buffer);
		if (counted)
		{
			vacuum->stats->tuples_removed += removed;
			vacuum->stats->num_index_tuples += count;
		}

		if (previous_count >= 0 &&
			previous_count + count <= hamming_fill(index, capacity) &&
			hamming_merge(index, table, level, previous_low,
						  vacuum->info->strategy))
			previous_count += count;
		else
		{
			previous_low = low;
			previous_count = count;
		}
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
	Vacuum		vacuum = {info, stats, callback, callback_state};
	double		rows;
	int			table;

	if (stats == NULL)
		vacuum.stats = palloc0(sizeof(IndexBulkDeleteResult));
	/* of several calls, the last one says how many rows are left */
	vacuum.stats->num_index_tuples = 0;

	if (has_dead_rows(&vacuum, &rows))
		for (table = HAMMING_BLOCKS - 1; table >= 0; table--)
			vacuum_table(&vacuum, table);
	else
		vacuum.stats->num_index_tuples = rows;
	vacuum_table(&vacuum, HAMMING_NULLS);
	return vacuum.stats;
}

/* Enter the free pages in the free space map.  Returns their number. */
static BlockNumber
record_free_pages(IndexVacuumInfo *info, BlockNumber blocks)
{
	BlockNumber count = 0;
	BlockNumber block;

	for (block = HAMMING_ROOT(HAMMING_TABLES); block < blocks; block++)
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
