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
#include "type/compat.h"

typedef struct Vacuum
{
	IndexVacuumInfo *info;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;	/* is the row with a TID dead? */
	void	   *callback_state;
	HammingLayout layout;		/* of the index */
	HammingSorter *list;		/* fingerprints that have lost their last row:
								 * in memory, and during a sweep as the first
								 * tree of the word that is swept has them */
	HammingSorter *words;		/* of these, those that have lost their last
								 * fingerprint, rotated as the tree that is
								 * swept has them */

	/* the last fingerprint of tree 0, whose rows may go on on the next leaf */
	HammingKey	last;
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
	rows->end = hamming_page_high(BufferGetPage(leaf));
	rows->count = count;
	rows->dead = count - kept;
	return kept;
}

/* Keys that a sweep takes out of a tree, 1 or up. */
typedef struct Swept
{
	int			count;			/* of keys.  Before a leaf is swept, keys is
								 * full, or has all keys that are left. */
	int			covered;		/* of keys, in the range of the leaf */
	HammingKey	keys[HAMMING_LEAF_CAPACITY];	/* sorted */
} Swept;

/* A HammingKeep: keep what is not swept, or all if the leaf is marked. */
static int
keep_others(void *arg, Buffer leaf, HammingKey *keys)
{
	Swept	   *swept = arg;
	int			count = hamming_page_keys(BufferGetPage(leaf), keys);
	HammingKey	high = hamming_page_high(BufferGetPage(leaf));
	int			kept = 0;
	int			i;
	int			j = 0;

	swept->covered = 0;
	while (swept->covered < swept->count &&
		   hamming_key_compare(swept->keys[swept->covered], high) < 0)
		swept->covered++;
	if (hamming_page_is_marked(BufferGetPage(leaf)))
		return -1;
	for (i = 0; i < count; i++)
	{
		while (j < swept->covered &&
			   hamming_compare_words(&swept->keys[j], &keys[i]) < 0)
			j++;
		if (j == swept->covered ||
			hamming_compare_words(&swept->keys[j], &keys[i]) != 0)
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
	bool		may_live = hamming_key_compare(vacuum->last, vacuum->swept) < 0;

	if (vacuum->has_dead && !vacuum->has_rows &&
		!(may_live && hamming_has(vacuum->info->index, 0, vacuum->last,
								  vacuum->layout.words)))
		hamming_sorter_add_key(vacuum->list, vacuum->last);
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
		if (hamming_compare_words(&vacuum->last, &rows->keys[i]) != 0)
			close_fingerprint(vacuum);
		vacuum->last = rows->keys[i];
		vacuum->last.tid = 0;
		vacuum->has_dead |= rows->is_dead[i];
		vacuum->has_rows |= !rows->is_dead[i];
	}
	/* unless the next leaf begins within its TIDs */
	if (hamming_key_compare(rows->end,
							hamming_last_key(vacuum->last,
											 vacuum->layout.words)) >= 0)
		close_fingerprint(vacuum);
}

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
	int			capacity = hamming_capacity(vacuum->layout, tree, level);
	LevelWalk	walk = {
		.vacuum = vacuum,
		.walk = {.index = index,.tree = tree,.level = level,
		.strategy = vacuum->info->strategy},
		.most = hamming_most_fill(index, capacity),
		.count = -1
	};

	return walk;
}

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
	HammingKey	keys[HAMMING_LEAF_CAPACITY];
	int			mode = BUFFER_LOCK_SHARE;

	for (;;)
	{
		Buffer		buffer = hamming_walk_find(&level->walk, mode);
		HammingKey	low = hamming_page_low(BufferGetPage(buffer));
		HammingKey	high = hamming_page_high(BufferGetPage(buffer));
		int			count = hamming_page_count(BufferGetPage(buffer));
		int			kept = keep(arg, buffer, keys);
		bool		is_small = kept >= 0 && level->count >= 0 &&
		level->count + kept <= level->most &&
		hamming_key_compare(level->high, low) == 0;

		if (mode == BUFFER_LOCK_EXCLUSIVE && kept >= 0 && kept < count)
			hamming_log_leaf(level->walk.index, buffer, keys, kept);
		UnlockReleaseBuffer(buffer);
		if (mode == BUFFER_LOCK_SHARE)
		{
			if (is_small && merge_next(level, keep, arg))
				return true;
			mode = BUFFER_LOCK_EXCLUSIVE;

			/*
			 * merge_next() may have called keep() for a page that was split
			 * since
			 */
			if (is_small || kept != count)
				continue;
		}
		if (kept < 0)
			return false;
		level->low = low;
		level->high = high;
		level->count = kept;
		return true;
	}
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
 * The leaf that a sweep comes to is marked, as a key on it may be needed again.
 * Take the mark away, and then all keys that are needed out of swept, of those
 * that the leaf covered when keep_others() looked at it.
 */
static void
spare_revived(LevelWalk *level, Swept *swept)
{
	Relation	index = level->vacuum->info->index;
	Buffer		leaf = hamming_walk_find(&level->walk, BUFFER_LOCK_EXCLUSIVE);
	GenericXLogState *state = GenericXLogStart(index);
	Page		page = GenericXLogRegisterBuffer(state, leaf, 0);
	int			kept = 0;
	int			i;

	hamming_page_set_marked(page, false);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(leaf);
	for (i = 0; i < swept->count; i++)
	{
		HammingKey	key = swept->keys[i];

		if (i >= swept->covered ||
			!hamming_is_needed(index, level->walk.tree, key))
			swept->keys[kept++] = key;
		vacuum_delay_point(false);
	}
	swept->count = kept;
	test_stop("sweep: a marked leaf");
}

/*
 * Take the keys of a list, which is in the order of a tree, 1 or up, out of
 * that tree, and merge leaves that became small.
 */
static void
sweep_tree(Vacuum *vacuum, HammingSorter *list, int tree)
{
	LevelWalk	level = begin_level(vacuum, tree, 0);
	double		leaves = hamming_measure(vacuum->info->index)[tree].leaves;
	Swept		swept = {0};

	test_stop(tree == 1 ? "sweep: first tree" : "sweep: next tree");
	for (;;)
	{
		HammingKey	end = level.high;

		vacuum_delay_point(false);
		while (swept.count < HAMMING_LEAF_CAPACITY &&
			   hamming_sorter_next_key(list, &swept.keys[swept.count]))
			swept.count++;
		if (swept.count == 0)
			break;
		test_stop("sweep: a leaf");
		level.walk.next = swept.keys[0];
		/* else most leaves have none */
		if (list->count >= leaves)
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

/* Bring a list from the order of a tree into that of another one. */
static void
rotate_list(HammingSorter *list, HammingLayout layout, int from, int tree)
{
	HammingKey	key;

	Assert(list->runs == NIL);
	hamming_sorter_rewind(list, 0, 0);
	list->count = 0;
	/* in place: each is read before one is written over it */
	while (hamming_sorter_next_key(list, &key))
		hamming_sorter_add_key(list, hamming_tree_key(layout, from, tree, key));
	hamming_sorter_finish(list);
}

/*
 * Set vacuum->words to the words of the list, which is in the order of the
 * first tree of word g, that this tree has no entry of.
 */
static void
list_words(Vacuum *vacuum, int g)
{
	HammingKeys *keys = palloc(sizeof(HammingKeys));
	HammingKey	last = hamming_greatest_key;	/* no row has it */
	HammingKey	key;

	vacuum->words->count = 0;
	hamming_keys_begin(keys, vacuum->info->index, HAMMING_TREE(g, 0));
	keys->walk.strategy = vacuum->info->strategy;
	/* the list may want few leaves: do not read ahead */
	keys->walk.read_ahead_from = hamming_greatest_key;
	hamming_sorter_rewind(vacuum->list, 0, 0);
	for (; hamming_sorter_next_key(vacuum->list, &key); last = key)
	{
		HammingKey	word = hamming_word_key(key.words[0]);
		const HammingKey *entry;

		if (last.tid == 0 && last.words[0] == key.words[0])
			continue;
		entry = hamming_keys_seek(keys, word);
		if (entry == NULL || entry->words[0] != key.words[0])
			hamming_sorter_add_key(vacuum->words, word);
		vacuum_delay_point(false);
	}
	pfree(keys);
}

/*
 * Take the fingerprints of the list out of the first trees but 0, and words
 * that no fingerprint has any more out of the other trees.  Empty the list.
 * The walk through tree 0 has passed all row leaves of each fingerprint.
 */
static void
sweep_trees(Vacuum *vacuum)
{
	HammingLayout layout = vacuum->layout;
	HammingSorter *words = layout.words == 1 ? vacuum->list : vacuum->words;
	int			g;
	int			j;

	for (g = 0; g < layout.words; g++)
	{
		if (g > 0)
		{
			rotate_list(vacuum->list, layout, HAMMING_TREE(g - 1, 0),
						HAMMING_TREE(g, 0));
			sweep_tree(vacuum, vacuum->list, HAMMING_TREE(g, 0));
		}
		/* of fingerprints of one word the walk has listed the right ones */
		if (layout.words > 1)
			list_words(vacuum, g);
		for (j = 1; j < layout.blocks; j++)
		{
			rotate_list(words, layout, HAMMING_TREE(g, j - 1),
						HAMMING_TREE(g, j));
			sweep_tree(vacuum, words, HAMMING_TREE(g, j));
		}
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
 * ambulkdelete.  stats is NULL in the first call for a vacuum.  On entry the
 * caller holds ShareUpdateExclusiveLock or more on the table.
 */
IndexBulkDeleteResult *
hamming_vacuum(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			   IndexBulkDeleteCallback callback, void *callback_state)
{
	Vacuum		vacuum = {
		.info = info,.stats = stats,
		.callback = callback,.callback_state = callback_state,
		.layout = hamming_layout(info->index)
	};
	int			words = vacuum.layout.words;
	int			memory = maintenance_work_mem;
	int			list_memory;

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
	/* words gets what the division leaves, and so has no less room than list */
	list_memory = words == 1 ? memory : memory / (words + 1) * words;
	vacuum.list = hamming_sorter_begin(words, false, list_memory);
	vacuum.words = hamming_sorter_begin(1, false, memory - list_memory);
	vacuum_tree(&vacuum, 0);
	sweep_trees(&vacuum);
	hamming_sorter_end(vacuum.list);
	hamming_sorter_end(vacuum.words);
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
