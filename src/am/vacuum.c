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
 * the leaf of the fingerprint in each table: there the vacuum takes the mark
 * away, looks in table 0 for rows of each fingerprint, and comes to the leaf
 * again.
 *
 * A vacuum that is broken off may leave fingerprints without rows.  So the
 * metapage says that a vacuum is at work.  The next one sweeps all that a table
 * had before, and table 0 has not.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "storage/indexfsm.h"

#include "am/sort.h"
#include "am/test_stop.h"
#include "type/compat.h"

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
	 * their last row; or if repairs is true, those that have one, and all
	 * that the table had before.
	 */
	HammingSorter *sorters[HAMMING_MAX_BLOCKS];
	HammingSorter *all[HAMMING_MAX_BLOCKS];
	uint64		sorted;			/* fingerprints in each of sorters */
	bool		has_known;		/* of the table that is swept, the next */
	HammingKey	known;			/* fingerprint that has rows */

	/* the last fingerprint of table 0, whose rows may go on on the next leaf */
	bool		is_open;
	HammingBits open;
	bool		has_rows;		/* does a row live, */
	bool		has_dead;		/* or was one removed, so far? */
} Vacuum;

/* The rows of a leaf of a table with TIDs. */
typedef struct LeafRows
{
	Vacuum	   *vacuum;
	HammingKey	end;			/* of the leaf's range */
	int			count;
	int			dead;			/* of these */
	HammingKey	keys[HAMMING_LEAF_CAPACITY];	/* sorted */
	bool		is_dead[HAMMING_LEAF_CAPACITY];
} LeafRows;

/* Has the leaf the keys that were read before? */
static bool
has_same_keys(const LeafRows *rows, const HammingKey *keys, int count)
{
	int			i = 0;

	while (i < count && i < rows->count &&
		   hamming_key_compare(keys[i], rows->keys[i]) == 0)
		i++;
	return i == count && i == rows->count;
}

/*
 * A HammingKeep: read the rows of a leaf, and keep those that live.  If the
 * leaf is the same as before, it is still known which these are.
 */
static int
keep_rows(void *arg, Buffer leaf, HammingKey *keys)
{
	LeafRows   *rows = arg;
	Vacuum	   *vacuum = rows->vacuum;
	int			count = hamming_leaf_keys(BufferGetPage(leaf), keys);
	bool		is_same = has_same_keys(rows, keys, count);
	int			kept = 0;
	int			i;

	if (!is_same)
		rows->dead = 0;
	rows->end = hamming_special(BufferGetPage(leaf))->high;
	rows->count = count;
	for (i = 0; i < count; i++)
	{
		if (!is_same)
		{
			ItemPointerData tid = hamming_item_pointer(keys[i].tid);

			hamming_check_tid(vacuum->info->index, BufferGetBlockNumber(leaf),
							  keys[i].tid);
			rows->keys[i] = keys[i];
			rows->is_dead[i] = vacuum->callback(&tid, vacuum->callback_state);
			rows->dead += rows->is_dead[i];
		}
		if (!rows->is_dead[i])
			keys[kept++] = keys[i];
	}
	return kept;
}

/* Fingerprints that a sweep takes out of a table, 1 or up. */
typedef struct Swept
{
	int			count;			/* of keys.  Before a leaf is swept, keys is
								 * full, or has all keys that are left. */
	int			covered;		/* of keys, in the range of the leaf */
	HammingKey	keys[HAMMING_LEAF_CAPACITY];	/* sorted */
} Swept;

/* Set swept->covered for a leaf that covers the first key, and is locked. */
static void
find_covered(Swept *swept, Page leaf)
{
	HammingKey	high = hamming_special(leaf)->high;

	swept->covered = 0;
	while (swept->covered < swept->count &&
		   hamming_key_compare(swept->keys[swept->covered], high) < 0)
		swept->covered++;
}

/* A HammingKeep: keep what is not swept, or all if the leaf is marked. */
static int
keep_others(void *arg, Buffer leaf, HammingKey *keys)
{
	Swept	   *swept = arg;
	int			count = hamming_leaf_keys(BufferGetPage(leaf), keys);
	int			kept = 0;
	int			i;
	int			j = 0;

	find_covered(swept, BufferGetPage(leaf));
	if (hamming_page_is_marked(BufferGetPage(leaf)))
		return -1;
	for (i = 0; i < count; i++)
	{
		while (j < swept->covered && swept->keys[j].bits < keys[i].bits)
			j++;
		if (j == swept->covered || swept->keys[j].bits != keys[i].bits)
			keys[kept++] = keys[i];
	}
	return kept;
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
	/* an index that was built before has no room for it yet */
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
			hamming_sorter_add_key(vacuum->sorters[table],
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

/* A walk along a level of a table. */
typedef struct LevelWalk
{
	Vacuum	   *vacuum;
	int			table;
	int			level;
	int			most;			/* entries of a page that were two */
	HammingReadAhead ahead;

	/* the page that the walk has come to, or that it was merged into */
	HammingKey	low;			/* its range */
	HammingKey	high;
	int			count;			/* of its entries; -1: there is no page yet */
	bool		has_merged;		/* were pages of the level merged? */
} LevelWalk;

static LevelWalk
begin_walk(Vacuum *vacuum, int table, int level)
{
	Relation	index = vacuum->info->index;
	int			capacity = level > 0 ? HAMMING_INNER_CAPACITY
	: hamming_leaf_capacity(table);
	LevelWalk	walk = {
		.vacuum = vacuum,.table = table,.level = level,
		.most = hamming_most_fill(index, capacity),
		.ahead = {
			.index = index,.table = table,.level = level,
			.strategy = vacuum->info->strategy
		},
		.count = -1
	};

	return walk;
}

/*
 * Find the page of the level that covers the key, and lock it in mode.  Returns
 * InvalidBuffer if the table has no such level.
 */
static Buffer
find_page(const LevelWalk *walk, HammingKey key, int mode)
{
	return hamming_find(walk->vacuum->info->index, walk->table, walk->level,
						key, mode, walk->vacuum->info->strategy);
}

/*
 * Merge the page of walk with its right neighbour, if hamming_merge() allows
 * it.  keep(arg) says what is kept of the neighbour; NULL keeps all.  count is
 * what that is expected to be.  Return whether the two pages were merged.
 */
static bool
merge_next(LevelWalk *walk, int count, HammingKeep keep, void *arg)
{
	if (!hamming_merge(walk->vacuum->info->index, walk->table, walk->level,
					   walk->low, keep, arg, walk->vacuum->info->strategy,
					   &walk->high))
		return false;
	walk->count += count;
	walk->has_merged = true;
	return true;
}

/*
 * A page has the range that special says, and count entries that are to be
 * kept.  Is it the right neighbour of the page of walk, and have both room on
 * one page?
 */
static bool
fits(const LevelWalk *walk, const HammingSpecial *special, int count)
{
	return walk->count >= 0 && count >= 0 &&
		walk->count + count <= walk->most &&
		hamming_key_compare(walk->high, special->low) == 0;
}

/*
 * Go to the leaf that covers the key.  Remove what keep(arg) does not keep, and
 * merge the leaf with the one before, by one record if that can be.  Return
 * false, and remove nothing, if keep() returns -1.
 */
static bool
clean_leaf(LevelWalk *walk, HammingKey key, HammingKeep keep, void *arg)
{
	HammingKey	keys[HAMMING_LEAF_CAPACITY];
	Buffer		leaf = find_page(walk, key, BUFFER_LOCK_SHARE);
	HammingSpecial special = *hamming_special(BufferGetPage(leaf));
	int			count = hamming_page_count(BufferGetPage(leaf));
	int			kept = keep(arg, leaf, keys);
	bool		is_small = fits(walk, &special, kept);

	UnlockReleaseBuffer(leaf);
	if (kept < count && walk->table == 0 && !walk->vacuum->is_noted)
		note_sweep(walk->vacuum, true);
	if (is_small && merge_next(walk, kept, keep, arg))
		return true;
	/* keep() may have seen less of the leaf, which was split, by now */
	if (is_small || kept != count)
	{
		leaf = find_page(walk, key, BUFFER_LOCK_EXCLUSIVE);
		special = *hamming_special(BufferGetPage(leaf));
		count = hamming_page_count(BufferGetPage(leaf));
		kept = keep(arg, leaf, keys);
		if (kept >= 0 && kept < count)
			hamming_log_leaf(walk->vacuum->info->index, leaf, keys, kept);
		UnlockReleaseBuffer(leaf);
	}
	if (kept < 0)
		return false;
	walk->low = special.low;
	walk->high = special.high;
	walk->count = kept;
	return true;
}

/*
 * Go to the page that covers the key.  Remove nothing, but merge the page with
 * the page of walk, if that can be.  Return false if the table has no such
 * level.
 */
static bool
visit_page(LevelWalk *walk, HammingKey key)
{
	Buffer		buffer = find_page(walk, key, BUFFER_LOCK_SHARE);
	HammingSpecial special;
	int			count;

	if (!BufferIsValid(buffer))
		return false;
	special = *hamming_special(BufferGetPage(buffer));
	count = hamming_page_count(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	if (fits(walk, &special, count) && merge_next(walk, count, NULL, NULL))
		return true;
	walk->low = special.low;
	walk->high = special.high;
	walk->count = count;
	return true;
}

/* Go to the leaf of a table with TIDs that covers the key. */
static void
visit_rows(LevelWalk *walk, HammingKey key)
{
	Vacuum	   *vacuum = walk->vacuum;
	LeafRows	rows;

	rows.vacuum = vacuum;
	rows.count = -1;
	clean_leaf(walk, key, keep_rows, &rows);
	vacuum->stats->tuples_removed += rows.dead;
	vacuum->stats->num_index_tuples += rows.count - rows.dead;
	if (walk->table == 0)
		note_fingerprints(vacuum, &rows);
}

/*
 * Go through the pages of a table's level, in the order of their ranges.
 * Remove dead entries from leaves with TIDs, and merge neighbours.  Returns
 * false if the table has no such level.
 */
static bool
vacuum_level(Vacuum *vacuum, int table, int level)
{
	LevelWalk	walk = begin_walk(vacuum, table, level);
	HammingKey	key = hamming_least_key;

	for (; hamming_key_compare(key, hamming_greatest_key) < 0; key = walk.high)
	{
		hamming_read_ahead(&walk.ahead, key);
		if (level == 0 && hamming_table_has_tids(table))
			visit_rows(&walk, key);
		else if (!visit_page(&walk, key))
			return false;
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
 * The leaf that covers the first of the swept fingerprints is marked, as a
 * fingerprint on it may have a row again.  Take the mark away, and then all
 * fingerprints that have a row out of swept, of those that the leaf covers.
 */
static void
spare_revived(LevelWalk *walk, Swept *swept)
{
	Relation	index = walk->vacuum->info->index;
	int			start = hamming_block_start(walk->vacuum->blocks, walk->table);
	Buffer		leaf = find_page(walk, swept->keys[0], BUFFER_LOCK_EXCLUSIVE);
	GenericXLogState *state = GenericXLogStart(index);
	Page		page = GenericXLogRegisterBuffer(state, leaf, 0);
	int			kept = 0;
	int			i;

	find_covered(swept, page);
	hamming_special(page)->kind = HAMMING_PAGE_TREE;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(leaf);
	for (i = 0; i < swept->count; i++)
	{
		if (i >= swept->covered ||
			!hamming_has(index, 0, hamming_unrotate(swept->keys[i].bits, start)))
			swept->keys[kept++] = swept->keys[i];
		vacuum_delay_point(false);
	}
	swept->count = kept;
	test_stop("sweep: a marked leaf");
}

/*
 * Get the next fingerprint that is to be taken out of a table, 1 or up, in its
 * order.  Return false after the last.
 */
static bool
next_swept(Vacuum *vacuum, int table, HammingKey *key)
{
	HammingSorter *with_rows = vacuum->sorters[table];
	HammingKey *known = &vacuum->known;

	if (!vacuum->repairs)
		return hamming_sorter_next_key(with_rows, key);
	while (hamming_sorter_next_key(vacuum->all[table], key))
	{
		while (vacuum->has_known && known->bits < key->bits)
			vacuum->has_known = hamming_sorter_next_key(with_rows, known);
		if (!vacuum->has_known || known->bits != key->bits)
			return true;
	}
	return false;
}

/*
 * The walk through table 0 has ended: take the fingerprints that have no row
 * out of a table, 1 or up, and merge leaves that became small.
 */
static void
sweep_table(Vacuum *vacuum, int table)
{
	Relation	index = vacuum->info->index;
	LevelWalk	walk = begin_walk(vacuum, table, 0);
	HammingShape shapes[HAMMING_MAX_BLOCKS];
	Swept		swept = {0};
	int			level;

	hamming_sorter_finish(vacuum->sorters[table]);
	if (vacuum->repairs)
	{
		hamming_sorter_finish(vacuum->all[table]);
		vacuum->has_known = hamming_sorter_next_key(vacuum->sorters[table],
													&vacuum->known);
	}
	hamming_measure(index, shapes);
	for (;;)
	{
		HammingKey	end = walk.high;

		while (swept.count < HAMMING_LEAF_CAPACITY &&
			   next_swept(vacuum, table, &swept.keys[swept.count]))
			swept.count++;
		if (swept.count == 0)
			break;
		test_stop("sweep: a leaf");
		/* else most leaves have none */
		if (vacuum->repairs || vacuum->sorted >= shapes[table].leaves)
			hamming_read_ahead(&walk.ahead, swept.keys[0]);
		if (!clean_leaf(&walk, swept.keys[0], keep_others, &swept))
		{
			spare_revived(&walk, &swept);
			continue;
		}
		swept.count -= swept.covered;
		memmove(swept.keys, swept.keys + swept.covered,
				swept.count * sizeof(HammingKey));
		/* the leaf before was left out */
		if (hamming_key_compare(end, walk.low) < 0 &&
			walk.count <= walk.most / 2)
			merge_next(&walk, 0, NULL, NULL);
		vacuum_delay_point(false);
	}
	hamming_sorter_end(vacuum->sorters[table]);
	if (vacuum->repairs)
		hamming_sorter_end(vacuum->all[table]);
	for (level = 1; walk.has_merged && vacuum_level(vacuum, table, level);
		 level++)
		;
}

/*
 * Another vacuum was broken off: collect all fingerprints of a table, 1 or up,
 * before the walk through table 0.
 */
static void
collect_all(Vacuum *vacuum, int table)
{
	LevelWalk	walk = begin_walk(vacuum, table, 0);
	HammingKey	key = hamming_least_key;

	while (hamming_key_compare(key, hamming_greatest_key) < 0)
	{
		HammingKey	keys[HAMMING_LEAF_CAPACITY];
		Buffer		leaf;
		int			count;
		int			i;

		hamming_read_ahead(&walk.ahead, key);
		leaf = find_page(&walk, key, BUFFER_LOCK_SHARE);
		count = hamming_leaf_keys(BufferGetPage(leaf), keys);
		key = hamming_special(BufferGetPage(leaf))->high;
		UnlockReleaseBuffer(leaf);
		for (i = 0; i < count; i++)
			hamming_sorter_add_key(vacuum->all[table], keys[i]);
		vacuum_delay_point(false);
	}
}

/* Begin the sorters for the other tables. */
static void
begin_sorters(Vacuum *vacuum)
{
	int			memory = maintenance_work_mem / (vacuum->blocks - 1);
	int			table;

	if (AmAutoVacuumWorkerProcess() && autovacuum_work_mem != -1)
		memory = autovacuum_work_mem / (vacuum->blocks - 1);
	if (vacuum->repairs)
		memory /= 2;
	for (table = 1; table < vacuum->blocks; table++)
	{
		vacuum->sorters[table] = hamming_sorter_begin(FINGERPRINT_WORDS, memory);
		if (!vacuum->repairs)
			continue;
		vacuum->all[table] = hamming_sorter_begin(FINGERPRINT_WORDS, memory);
		collect_all(vacuum, table);
	}
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
	begin_sorters(&vacuum);
	vacuum_table(&vacuum, 0);
	for (table = 1; table < vacuum.blocks; table++)
	{
		test_stop(table == 1 ? "sweep: first table" : "sweep: next table");
		sweep_table(&vacuum, table);
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
