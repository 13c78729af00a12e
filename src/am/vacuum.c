/*
 * vacuum.c
 *	  Removal of dead rows, and of the pages that they leave behind.
 *
 * src/README tells the steps, what the marks of leaves and the note on the
 * metapage are for, and why no row comes to lack its fingerprint.
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
	 * For each tree but 0, as it is ordered, fingerprints that have lost
	 * their last row; or if repairs is true, those that have one, and all
	 * that the tree had before.
	 */
	HammingSorter *sorters[HAMMING_MAX_BLOCKS];
	HammingSorter *all[HAMMING_MAX_BLOCKS];
	uint64		sorted;			/* fingerprints in each of sorters */
	bool		has_known;		/* of the tree that is swept, the next */
	HammingKey	known;			/* fingerprint that has rows */

	/* the last fingerprint of tree 0, whose rows may go on on the next leaf */
	HammingBits open;
	bool		has_rows;		/* does a row live, */
	bool		has_dead;		/* or was one removed, so far? */
} Vacuum;

/* The rows of a leaf of a tree with TIDs. */
typedef struct LeafRows
{
	Vacuum	   *vacuum;
	HammingKey	end;			/* of the leaf's range */
	int			count;
	int			dead;			/* of these */
	HammingKey	keys[HAMMING_TID_CAPACITY]; /* sorted */
	bool		is_dead[HAMMING_TID_CAPACITY];
} LeafRows;

/*
 * A HammingKeep: read the rows of a leaf, and keep those that live.  Where a
 * row is the one that was read before, it is known whether it lives.
 */
static int
keep_rows(void *arg, Buffer leaf, HammingKey *keys)
{
	LeafRows   *rows = arg;
	Vacuum	   *vacuum = rows->vacuum;
	int			count = hamming_page_keys(BufferGetPage(leaf), keys);
	int			kept = 0;
	int			i;

	for (i = 0; i < count; i++)
	{
		HammingKey	key = keys[i];

		if (i >= rows->count || hamming_key_compare(key, rows->keys[i]) != 0)
		{
			ItemPointerData tid = hamming_item_pointer(key.tid);

			hamming_check_tid(vacuum->info->index, BufferGetBlockNumber(leaf),
							  key.tid);
			rows->keys[i] = key;
			rows->is_dead[i] = vacuum->callback(&tid, vacuum->callback_state);
		}
		if (!rows->is_dead[i])
			keys[kept++] = key;
	}
	rows->end = hamming_special(BufferGetPage(leaf))->high;
	rows->count = count;
	rows->dead = count - kept;
	return kept;
}

/* Fingerprints that a sweep takes out of a tree, 1 or up. */
typedef struct Swept
{
	int			count;			/* of keys.  Before a leaf is swept, keys is
								 * full, or has all keys that are left. */
	int			covered;		/* of keys, in the range of the leaf */
	HammingKey	keys[HAMMING_LEAF_CAPACITY];	/* sorted */
} Swept;

/* Set swept->covered for a locked leaf, which covers the first key. */
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
	int			count = hamming_page_keys(BufferGetPage(leaf), keys);
	int			kept = 0;
	int			i;
	int			j = 0;

	find_covered(swept, BufferGetPage(leaf));
	if (hamming_page_is_marked(BufferGetPage(leaf)))
		return -1;
	for (i = 0; i < count; i++)
	{
		while (j < swept->covered && swept->keys[j].rotated < keys[i].rotated)
			j++;
		if (j == swept->covered || swept->keys[j].rotated != keys[i].rotated)
			keys[kept++] = keys[i];
	}
	return kept;
}

/* Make the note on the metapage that a vacuum is at work, or take it away. */
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

/* All leaves are seen that can have rows of the open fingerprint, if any. */
static void
close_fingerprint(Vacuum *vacuum)
{
	int			tree;

	if (vacuum->repairs ? vacuum->has_rows
		: vacuum->has_dead && !vacuum->has_rows)
	{
		vacuum->sorted++;
		for (tree = 1; tree < vacuum->blocks; tree++)
			hamming_sorter_add_key(vacuum->sorters[tree],
								   hamming_tree_key(vacuum->blocks, tree,
													vacuum->open, 0));
	}
	vacuum->has_rows = vacuum->has_dead = false;
}

/*
 * Learn from a leaf of tree 0, the next one of the walk, which fingerprints
 * have lost their last row.
 */
static void
note_fingerprints(Vacuum *vacuum, const LeafRows *rows)
{
	int			i;

	for (i = 0; i < rows->count; i++)
	{
		HammingBits rotated = rows->keys[i].rotated;

		if (vacuum->open != rotated)
			close_fingerprint(vacuum);
		vacuum->open = rotated;
		vacuum->has_dead |= rows->is_dead[i];
		vacuum->has_rows |= !rows->is_dead[i];
	}
	/* unless the next leaf begins within its TIDs */
	if (hamming_key_compare(rows->end, hamming_key(vacuum->open,
												   HAMMING_BEYOND_TIDS)) >= 0)
		close_fingerprint(vacuum);
}

/* A HammingKeep that keeps all. */
static int
keep_all(void *arg, Buffer buffer, HammingKey *keys)
{
	return hamming_page_keys(BufferGetPage(buffer), keys);
}

/*
 * A walk along a level, which removes entries and merges pages.  Where the
 * level is that of inner pages, it merges only.
 */
typedef struct LevelWalk
{
	Vacuum	   *vacuum;
	HammingWalk walk;
	int			most;			/* entries of a page that were two */

	/* the page that the walk has come to, or that it was merged into */
	HammingKey	low;			/* its range */
	HammingKey	high;
	int			count;			/* of its entries; -1: there is no page yet */
	bool		has_merged;		/* were pages of the level merged? */
} LevelWalk;

static LevelWalk
begin_level(Vacuum *vacuum, int tree, int level)
{
	Relation	index = vacuum->info->index;
	int			capacity = level > 0 ? HAMMING_INNER_CAPACITY
	: hamming_leaf_capacity(tree);
	LevelWalk	walk = {
		.vacuum = vacuum,
		.walk = {.index = index,.tree = tree,.level = level,
		.strategy = vacuum->info->strategy},
		.most = hamming_most_fill(index, capacity),
		.count = -1
	};

	return walk;
}

/* Merge the page of level with its right neighbour, as hamming_merge(). */
static bool
merge_next(LevelWalk *level, HammingKeep keep, void *arg)
{
	int			count = hamming_merge(&level->walk, level->low, keep, arg,
									  &level->high);

	if (count < 0)
		return false;
	level->count = count;
	level->has_merged = true;
	return true;
}

/*
 * Go to the page that covers level->walk.next.  Remove what keep(arg) does not
 * keep, and merge the page with the one before, by one record if that can be.
 * Return false, and change nothing, if keep() returns -1.
 */
static bool
clean_page(LevelWalk *level, HammingKeep keep, void *arg)
{
	Vacuum	   *vacuum = level->vacuum;
	HammingKey	keys[HAMMING_LEAF_CAPACITY];
	Buffer		buffer = hamming_walk_find(&level->walk, BUFFER_LOCK_SHARE);
	HammingSpecial special = *hamming_special(BufferGetPage(buffer));
	int			count = hamming_page_count(BufferGetPage(buffer));
	int			kept = keep(arg, buffer, keys);
	bool		is_small = kept >= 0 && level->count >= 0 &&
	level->count + kept <= level->most &&
	hamming_key_compare(level->high, special.low) == 0;

	UnlockReleaseBuffer(buffer);
	if (kept < count && special.tree == 0 && !vacuum->is_noted)
		note_sweep(vacuum, true);
	if (is_small && merge_next(level, keep, arg))
		return true;
	/* keep() may have seen less of the page, which was split, by now */
	if (is_small || kept != count)
	{
		buffer = hamming_walk_find(&level->walk, BUFFER_LOCK_EXCLUSIVE);
		special = *hamming_special(BufferGetPage(buffer));
		count = hamming_page_count(BufferGetPage(buffer));
		kept = keep(arg, buffer, keys);
		if (kept >= 0 && kept < count)
			hamming_log_leaf(vacuum->info->index, buffer, keys, kept);
		UnlockReleaseBuffer(buffer);
	}
	if (kept < 0)
		return false;
	level->low = special.low;
	level->high = special.high;
	level->count = kept;
	return true;
}

/* Merge neighbours on the inner levels of a tree: merges make room above. */
static void
merge_inner(Vacuum *vacuum, int tree)
{
	int			height = hamming_height(vacuum->info->index, tree);
	int			i;

	for (i = 1; i < height; i++)
	{
		LevelWalk	level = begin_level(vacuum, tree, i);

		for (; hamming_walk_on(&level.walk); level.walk.next = level.high)
		{
			clean_page(&level, keep_all, NULL);
			vacuum_delay_point(false);
		}
	}
}

/* Remove the dead rows of a tree with TIDs, and merge neighbours. */
static void
vacuum_tree(Vacuum *vacuum, int tree)
{
	LevelWalk	level = begin_level(vacuum, tree, 0);
	LeafRows	rows = {.vacuum = vacuum};

	for (; hamming_walk_on(&level.walk); level.walk.next = level.high)
	{
		rows.count = 0;
		clean_page(&level, keep_rows, &rows);
		vacuum->stats->tuples_removed += rows.dead;
		vacuum->stats->num_index_tuples += rows.count - rows.dead;
		if (tree == 0)
			note_fingerprints(vacuum, &rows);
		vacuum_delay_point(false);
	}
	merge_inner(vacuum, tree);
}

/*
 * The leaf that a sweep comes to is marked, as a fingerprint on it may have a
 * row again.  Take the mark away, and then all fingerprints that have a row out
 * of swept, of those that the leaf covers.
 */
static void
spare_revived(LevelWalk *level, Swept *swept)
{
	Relation	index = level->vacuum->info->index;
	int			start = hamming_block_start(level->vacuum->blocks,
											level->walk.tree);
	Buffer		leaf = hamming_walk_find(&level->walk, BUFFER_LOCK_EXCLUSIVE);
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
		HammingKey	key = swept->keys[i];

		if (i >= swept->covered ||
			!hamming_has(index, 0, hamming_unrotate(key.rotated, start)))
			swept->keys[kept++] = key;
		vacuum_delay_point(false);
	}
	swept->count = kept;
	test_stop("sweep: a marked leaf");
}

/* Get the next fingerprint to take out of a tree, 1 or up, in its order. */
static bool
next_swept(Vacuum *vacuum, int tree, HammingKey *key)
{
	HammingSorter *with_rows = vacuum->sorters[tree];
	HammingKey *known = &vacuum->known;

	if (!vacuum->repairs)
		return hamming_sorter_next_key(with_rows, key);
	while (hamming_sorter_next_key(vacuum->all[tree], key))
	{
		while (vacuum->has_known && known->rotated < key->rotated)
			vacuum->has_known = hamming_sorter_next_key(with_rows, known);
		if (!vacuum->has_known || known->rotated != key->rotated)
			return true;
	}
	return false;
}

/*
 * The walk through tree 0 has ended: take the fingerprints that have no row
 * out of a tree, 1 or up, and merge leaves that became small.
 */
static void
sweep_tree(Vacuum *vacuum, int tree)
{
	LevelWalk	level = begin_level(vacuum, tree, 0);
	HammingShape shapes[HAMMING_MAX_BLOCKS];
	Swept		swept = {0};

	hamming_sorter_finish(vacuum->sorters[tree]);
	if (vacuum->repairs)
	{
		hamming_sorter_finish(vacuum->all[tree]);
		vacuum->has_known = hamming_sorter_next_key(vacuum->sorters[tree],
													&vacuum->known);
	}
	hamming_measure(vacuum->info->index, shapes);
	for (;;)
	{
		HammingKey	end = level.high;

		vacuum_delay_point(false);
		while (swept.count < HAMMING_LEAF_CAPACITY &&
			   next_swept(vacuum, tree, &swept.keys[swept.count]))
			swept.count++;
		if (swept.count == 0)
			break;
		test_stop("sweep: a leaf");
		level.walk.next = swept.keys[0];
		/* else most leaves have none */
		if (vacuum->repairs || vacuum->sorted >= shapes[tree].leaves)
			hamming_walk_read_ahead(&level.walk);
		if (!clean_page(&level, keep_others, &swept))
		{
			spare_revived(&level, &swept);
			continue;
		}
		swept.count -= swept.covered;
		memmove(swept.keys, swept.keys + swept.covered,
				swept.count * sizeof(HammingKey));
		/* the leaf before was left out */
		if (hamming_key_compare(end, level.low) < 0 &&
			level.count <= level.most / 2)
			merge_next(&level, keep_all, NULL);
	}
	hamming_sorter_end(vacuum->sorters[tree]);
	if (vacuum->repairs)
		hamming_sorter_end(vacuum->all[tree]);
	if (level.has_merged)
		merge_inner(vacuum, tree);
}

/*
 * Begin to collect fingerprints.  If another vacuum was broken off, collect all
 * of each tree, 1 or up, before the walk through tree 0.
 */
static void
begin_sorters(Vacuum *vacuum)
{
	int			memory = maintenance_work_mem;
	HammingKeys *keys = palloc(sizeof(HammingKeys));
	HammingKey	key;
	int			tree;

	if (AmAutoVacuumWorkerProcess() && autovacuum_work_mem != -1)
		memory = autovacuum_work_mem;
	memory /= (vacuum->blocks - 1) * (vacuum->repairs ? 2 : 1);
	for (tree = 1; tree < vacuum->blocks; tree++)
	{
		vacuum->sorters[tree] = hamming_sorter_begin(FINGERPRINT_WORDS,
													 memory);
		if (!vacuum->repairs)
			continue;
		vacuum->all[tree] = hamming_sorter_begin(FINGERPRINT_WORDS, memory);
		hamming_keys_begin(keys, vacuum->info->index, tree,
						   vacuum->info->strategy);
		while (hamming_keys_next(keys, &key))
		{
			hamming_sorter_add_key(vacuum->all[tree], key);
			vacuum_delay_point(false);
		}
	}
	pfree(keys);
}

/*
 * ambulkdelete.  stats is NULL in the first call for a vacuum.
 *
 * On entry the caller holds ShareUpdateExclusiveLock or more on the table.
 */
IndexBulkDeleteResult *
hamming_vacuum(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			   IndexBulkDeleteCallback callback, void *callback_state)
{
	Vacuum		vacuum = {
		.info = info,.stats = stats,
		.callback = callback,.callback_state = callback_state,
		.blocks = hamming_blocks(info->index)
	};
	int			tree;

	if (stats == NULL)
		vacuum.stats = palloc0(sizeof(IndexBulkDeleteResult));
	/* of several calls, the last one says how many rows are left */
	vacuum.stats->num_index_tuples = 0;

	vacuum.is_noted = vacuum.repairs = hamming_read_meta(info->index).is_swept;
	begin_sorters(&vacuum);
	vacuum_tree(&vacuum, 0);
	for (tree = 1; tree < vacuum.blocks; tree++)
	{
		test_stop(tree == 1 ? "sweep: first tree" : "sweep: next tree");
		sweep_tree(&vacuum, tree);
	}
	if (vacuum.is_noted)
		note_sweep(&vacuum, false);
	vacuum_tree(&vacuum, HAMMING_NULLS);
	return vacuum.stats;
}

/* amvacuumcleanup.  Unless hamming_vacuum() was called, stats is NULL. */
IndexBulkDeleteResult *
hamming_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (info->analyze_only || stats == NULL)
		return stats;
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	stats->estimated_count = false;
	stats->pages_free = hamming_count_free(info->index, stats->num_pages, true,
										   info->strategy);
	IndexFreeSpaceMapVacuum(info->index);
	return stats;
}
