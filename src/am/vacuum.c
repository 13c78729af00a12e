/*
 * vacuum.c
 *	  Removal of dead rows, and of the pages that they leave behind.
 *
 * src/README tells the steps, what the marks of leaves are for, and why no row
 * comes to lack its fingerprint.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"

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
	HammingSorter *list;		/* fingerprints that have lost their last row:
								 * in memory, and during a sweep rotated as
								 * the tree that is swept has them */

	/* the last fingerprint of tree 0, whose rows may go on on the next leaf */
	HammingBits last;
	bool		has_rows;		/* does a row live, */
	bool		has_dead;		/* or was one removed, so far? */
	HammingKey	swept;			/* the walk had come so far at the last sweep */
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
 * A HammingKeep: read the rows of a leaf, and keep those that live.  It is
 * called again under each new lock.  Rows at the places where they were keep
 * the answer that the callback gave.
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

/*
 * The walk has passed all leaves that can have rows of the last fingerprint.
 * If no row lives, add the fingerprint to the list.  But where a sweep came
 * between these leaves, the first of them may have got a row, the marks of
 * which the sweep has cleared.
 */
static void
close_fingerprint(Vacuum *vacuum)
{
	HammingKey	first = hamming_key(vacuum->last, 0);
	bool		may_live = hamming_key_compare(first, vacuum->swept) < 0;

	if (vacuum->has_dead && !vacuum->has_rows &&
		!(may_live && hamming_has(vacuum->info->index, 0, vacuum->last)))
		hamming_sorter_add_key(vacuum->list, first);
	vacuum->has_rows = vacuum->has_dead = false;
}

/*
 * Add to the list the fingerprints that have lost their last row on a leaf of
 * tree 0, the next one of the walk.
 */
static void
list_fingerprints(Vacuum *vacuum, const LeafRows *rows)
{
	int			i;

	for (i = 0; i < rows->count; i++)
	{
		HammingBits rotated = rows->keys[i].rotated;

		if (vacuum->last != rotated)
			close_fingerprint(vacuum);
		vacuum->last = rotated;
		vacuum->has_dead |= rows->is_dead[i];
		vacuum->has_rows |= !rows->is_dead[i];
	}
	/* unless the next leaf begins within its TIDs */
	if (hamming_key_compare(rows->end, hamming_key(vacuum->last,
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
	if (is_small && merge_next(level, keep, arg))
		return true;
	/* merge_next() may have called keep() for a page that was split since */
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

/*
 * Take the fingerprints of the list, which is in the order of a tree, 1 or up,
 * out of that tree, and merge leaves that became small.
 */
static void
sweep_tree(Vacuum *vacuum, int tree)
{
	LevelWalk	level = begin_level(vacuum, tree, 0);
	HammingShape shapes[HAMMING_MAX_BLOCKS];
	Swept		swept = {0};

	hamming_measure(vacuum->info->index, shapes);
	for (;;)
	{
		HammingKey	end = level.high;

		vacuum_delay_point(false);
		while (swept.count < HAMMING_LEAF_CAPACITY &&
			   hamming_sorter_next_key(vacuum->list, &swept.keys[swept.count]))
			swept.count++;
		if (swept.count == 0)
			break;
		test_stop("sweep: a leaf");
		level.walk.next = swept.keys[0];
		/* else most leaves have none */
		if (vacuum->list->count >= shapes[tree].leaves)
			hamming_walk_read_ahead(&level.walk);
		if (!clean_page(&level, keep_others, &swept))
		{
			spare_revived(&level, &swept);
			continue;
		}
		swept.count -= swept.covered;
		memmove(swept.keys, swept.keys + swept.covered,
				swept.count * sizeof(HammingKey));
		/* no key of the list is on the leaf before: merge with the next one */
		if (hamming_key_compare(end, level.low) < 0 &&
			level.count <= level.most / 2)
			merge_next(&level, keep_all, NULL);
	}
	if (level.has_merged)
		merge_inner(vacuum, tree);
}

/* Bring the list from the order of a tree into that of the next one. */
static void
rotate_list(HammingSorter *list, int width)
{
	HammingKey	key;

	Assert(list->runs == NIL);
	hamming_sorter_rewind(list, 0, 0);
	list->count = 0;
	/* in place: each is read before one is written over it */
	while (hamming_sorter_next_key(list, &key))
		hamming_sorter_add_key(list,
							   hamming_key(hamming_rotate(key.rotated, width),
										   0));
	hamming_sorter_finish(list);
}

/*
 * Take the fingerprints of the list out of all trees but 0, and empty the list.
 * The walk through tree 0 has passed all row leaves of each of them.
 */
static void
sweep_trees(Vacuum *vacuum)
{
	int			tree;

	for (tree = 1; tree < vacuum->blocks; tree++)
	{
		rotate_list(vacuum->list,
					hamming_block_width(vacuum->blocks, tree - 1));
		test_stop(tree == 1 ? "sweep: first tree" : "sweep: next tree");
		sweep_tree(vacuum, tree);
	}
	vacuum->list->count = 0;
}

/*
 * Remove the dead rows of a tree with TIDs, and merge neighbours.  The list
 * never goes to a file: the other trees are swept of it as soon as it may have
 * no room for all fingerprints of the next leaf, and the last one before.
 */
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
		{
			list_fingerprints(vacuum, &rows);
			if (vacuum->list->most - vacuum->list->count <=
				HAMMING_TID_CAPACITY)
			{
				sweep_trees(vacuum);
				vacuum->swept = level.high;
			}
		}
		vacuum_delay_point(false);
	}
	merge_inner(vacuum, tree);
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
	int			memory = maintenance_work_mem;

	if (stats == NULL)
	{
		vacuum.stats = palloc0(sizeof(IndexBulkDeleteResult));
		/* before this vacuum gives pages back: then the map has some */
		hamming_find_lost(info->index, info->strategy);
	}
	/* of several calls, the last one says how many rows are left */
	vacuum.stats->num_index_tuples = 0;

	if (AmAutoVacuumWorkerProcess() && autovacuum_work_mem != -1)
		memory = autovacuum_work_mem;
	vacuum.list = hamming_sorter_begin(FINGERPRINT_WORDS, memory);
	vacuum_tree(&vacuum, 0);
	sweep_trees(&vacuum);
	hamming_sorter_end(vacuum.list);
	vacuum_tree(&vacuum, HAMMING_NULLS);
	return vacuum.stats;
}

/* amvacuumcleanup.  Unless hamming_vacuum() was called, stats is NULL. */
IndexBulkDeleteResult *
hamming_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	BlockNumber used;

	if (info->analyze_only || stats == NULL)
		return stats;
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	stats->estimated_count = false;
	used = hamming_count_used(info->index, info->strategy);
	/* pages may have been added since they were counted */
	stats->pages_free = stats->num_pages - Min(used, stats->num_pages);
	return stats;
}
