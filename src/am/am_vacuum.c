/*
 * am_vacuum.c
 *	  Removal of dead rows, and of the pages that they leave behind.
 *
 * A row may be in some tables and not in others only while it is dead, and
 * then it is in table 0, which is cleaned last: so a table 0 without dead
 * rows says that there are none, even where an earlier vacuum was broken off.
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
	IndexBulkDeleteCallback callback;
	void	   *callback_state;
} Vacuum;

/*
 * The dead entries of a locked leaf, ascending.  Error: XX002 for a TID that
 * no row can have.
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

/* Has table 0 any dead row?  If not, its rows have been counted. */
static bool
any_dead(Vacuum *vacuum)
{
	HammingKey	key = hamming_least_key;
	double		rows = 0;

	while (hamming_key_compare(key, hamming_greatest_key) < 0)
	{
		int			dead[HAMMING_LEAF_CAPACITY];
		Buffer		leaf = hamming_find(vacuum->info->index, 0, 0, key,
										BUFFER_LOCK_SHARE, vacuum->info->strategy);
		Page		page = BufferGetPage(leaf);
		int			count = find_dead(vacuum, leaf, dead);

		rows += hamming_page_count(page);
		key = hamming_special(page)->high;
		UnlockReleaseBuffer(leaf);
		if (count > 0)
			return true;
		vacuum_delay_point(false);
	}
	vacuum->stats->num_index_tuples += rows;
	return false;
}

/* Remove the dead entries of a leaf; returns their number. */
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
 * Go through a level of a table, remove dead entries if it is that of the
 * leaves, and merge pages with much room.  False if there is no such level.
 */
static bool
vacuum_level(Vacuum *vacuum, int table, int level)
{
	Relation	index = vacuum->info->index;
	HammingKey	key = hamming_least_key;
	HammingKey	previous_low = hamming_least_key;
	int			previous_count = -1;

	/* each row is in one of these two */
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

/* Clean a table, level by level. */
static void
vacuum_table(Vacuum *vacuum, int table)
{
	int			level = 0;

	while (vacuum_level(vacuum, table, level))
		level++;
}

/* Remove the rows that the callback calls dead from all tables. */
IndexBulkDeleteResult *
hamming_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
					IndexBulkDeleteCallback callback, void *callback_state)
{
	Vacuum		vacuum = {info, stats, callback, callback_state};
	int			table;

	if (stats == NULL)
		vacuum.stats = palloc0(sizeof(IndexBulkDeleteResult));
	/* only what the last call found counts */
	vacuum.stats->num_index_tuples = 0;

	if (any_dead(&vacuum))
		for (table = HAMMING_BLOCKS - 1; table >= 0; table--)
			vacuum_table(&vacuum, table);
	vacuum_table(&vacuum, HAMMING_NULLS);
	return vacuum.stats;
}

/* Enter the pages that are not used in the free space map; returns how many. */
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

/* Without a bulk deletion nothing needs to be done. */
IndexBulkDeleteResult *
hamming_vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (info->analyze_only || stats == NULL)
		return stats;
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	stats->estimated_count = false;
	stats->pages_free = record_free_pages(info, stats->num_pages);
	IndexFreeSpaceMapVacuum(info->index);
	return stats;
}
