/*
 * search.c
 *	  Search for all fingerprints within a radius.
 *
 * src/README tells which leaves a search reads, in which order, and why it
 * returns each row once.
 *
 * With old_snapshot_threshold a vacuum may remove rows that the snapshot of a
 * search sees.  Then the search must fail: TestForOldSnapshot() looks whether a
 * leaf has changed since.  The leaf that covers the key of an entry that was
 * removed has an LSN of the removal's or a later one: a split or a merge gives
 * the LSN of its own record to each page that it moves keys to.  The search
 * comes to that leaf: it reads the leaf of each key that can match, whether an
 * entry has the key or not, in the tree that found_by_block() and
 * found_by_word() leave it to, and then the leaves of all that it finds there.
 */
#include "postgres.h"

#include "access/relscan.h"
#include "miscadmin.h"
#include "utils/spccache.h"

#include "am/am.h"
#include "type/compat.h"

/*
 * How many leaves before it is searched the processor fetches both ends of a
 * leaf, and how many before it fetches the entries.
 */
#define CPU_DISTANCE 8
#define CPU_ENTRIES_DISTANCE 3

/* The search of a tree: what the leading word of a key must be near to. */
typedef struct Area
{
	int			tree;
	int			start;			/* bits before the tree's block */
	uint64		centre;			/* rotated for the tree */
	uint64		mask;			/* of the leading block */
	int			leading_radius;
	int			radius;			/* of the word */
} Area;

/* A leaf that is to be read, as its parent shows it. */
typedef struct Leaf
{
	BlockNumber blkno;
	int			tree;
	HammingKey	from;			/* keys of the leaf below this one are not
								 * wanted */
	HammingKey	end;			/* of the leaf's range */
	uint64		last;			/* words above this one are not wanted */
} Leaf;

/* What is to be looked up in a first tree: words, or fingerprints. */
typedef struct LookUp
{
	int			tree;
	int			width;			/* words of a key that an entry must have */
	int			count;
	int			position;		/* of the next one to look up */
	bool		begun;			/* are its entries below from done? */
	HammingKey	from;
	HammingKey	keys[HAMMING_LEAF_CAPACITY];
} LookUp;

/* The most leaves that wait to be read; the queue is a ring. */
#define QUEUE 32

struct HammingSearch
{
	IndexScanDesc scan;			/* that the search is part of */
	Relation	index;
	HammingLayout layout;		/* of the index */
	HammingKey	centre;
	int			radius;			/* 0 .. all bits; see
								 * hamming_search_lower_radius() */
	HammingPlan plan;
	Area		area;			/* of the leaf that was read last */

	/* the next leaves that can have matches, in the order of trees */
	Area		ahead_area;		/* of the tree whose leaves are queued */
	int			queue_start;
	int			queue_count;
	int			prefetched;		/* leaves of the queue that are on their way
								 * from disk */
	int			prefetch_distance;	/* the most that may be so */
	int			cpu_prefetched; /* leaves of the queue that are on their way
								 * from memory to the processor's cache */
	int			cpu_entries;	/* leaves whose entries are, too */
	HammingKey	ahead;			/* the next key that can match, beyond the
								 * leaves that are queued; the greatest key if
								 * there is none */
	bool		complete;		/* is no tree after ahead_area.tree? */
	int			visited;		/* leaves that the search has read */

	Leaf		queue[QUEUE];
	LookUp		words;			/* found in the tree */
	LookUp		fingerprints;	/* found in a first tree without TIDs */
	HammingMatch matches[HAMMING_MATCHES];	/* of the last call */
};

/*
 * Prepare for searches of the index of a scan, one after the other.  What they
 * need is allocated in the current memory context.
 */
HammingSearch *
hamming_search_create(IndexScanDesc scan)
{
	HammingSearch *search = palloc(sizeof(HammingSearch));
	Relation	index = scan->indexRelation;

	/* not the arrays, which take longer than a short search */
	memset(search, 0, offsetof(HammingSearch, queue));
	search->scan = scan;
	search->index = index;
	search->layout = hamming_layout(index);
	search->prefetch_distance =
		Min(get_tablespace_io_concurrency(index->rd_rel->reltablespace), QUEUE);
	return search;
}

static void
empty_queue(HammingSearch *search)
{
	search->queue_count = search->prefetched = 0;
	search->cpu_prefetched = search->cpu_entries = 0;
	search->complete = false;
}

static Area
tree_area(HammingSearch *search, int tree)
{
	Area		area = {.tree = tree};
	int			word = HAMMING_TREE_WORD(tree);
	int			block = HAMMING_TREE_BLOCK(tree);

	/* in the tree of NULLs all keys are 0 */
	if (tree == HAMMING_NULLS)
		return area;
	area.start = hamming_block_start(search->layout.blocks, block);
	area.centre = hamming_rotate(search->centre.words[word], area.start);
	area.mask = hamming_leading_bits(hamming_block_width(search->layout.blocks,
														 block));
	area.leading_radius = search->plan.block_radius[tree];
	area.radius = search->plan.word_radius[word];
	return area;
}

/*
 * Set search->ahead to the next key of the tree that can match, from the word
 * on, or to the greatest key if there is none.  Return whether that is of the
 * word itself.
 */
static bool
advance(HammingSearch *search, uint64 word)
{
	const Area *area = &search->ahead_area;
	uint64		next;

	search->ahead = hamming_greatest_key;
	if (!hamming_ball_next(area->centre, area->mask, area->leading_radius,
						   Min(area->radius, search->radius), word, &next))
		return false;
	search->ahead = hamming_word_key(next);
	return next == word;
}

/* The same from a key on, which may be the greatest. */
static void
advance_to_key(HammingSearch *search, const HammingKey *key)
{
	if (hamming_is_greatest(*key))
		search->ahead = hamming_greatest_key;
	else if (advance(search, key->words[0]))
		search->ahead = *key;
}

/*
 * Go on to queue the leaves of a tree, from key on.  On entry the queue has no
 * leaf of that tree.
 */
static void
start_tree(HammingSearch *search, int tree, HammingKey key)
{
	search->ahead_area = tree_area(search, tree);
	advance_to_key(search, &key);
}

/*
 * Return the first tree from tree on that the plan looks in, or one from
 * HAMMING_TREE(words, 0) on.
 */
static int
next_tree(const HammingSearch *search, int tree)
{
	int			end = HAMMING_TREE(search->layout.words, 0);

	while (tree < end && search->plan.block_radius[tree] < 0)
		tree++;
	return tree;
}

static void
empty_look_up(LookUp *look_up, int tree, int width)
{
	look_up->tree = tree;
	look_up->width = width;
	look_up->count = look_up->position = 0;
	look_up->begun = false;
}

static void
begin(HammingSearch *search, HammingKey centre, int radius, int tree)
{
	search->centre = centre;
	search->radius = radius;
	search->visited = 0;
	empty_look_up(&search->words, 0, 0);
	empty_look_up(&search->fingerprints, 0, 0);
	empty_queue(search);
	start_tree(search, tree, hamming_least_key);
	search->area = search->ahead_area;
}

/*
 * Begin a search for all fingerprints within radius of the centre.  Error: as
 * hamming_lock_predicate().
 */
void
hamming_search_begin(HammingSearch *search, HammingKey centre, int radius)
{
	hamming_lock_predicate(search->index, search->scan->xs_snapshot, centre,
						   radius);
	search->plan = *hamming_cached_plan(search->index, radius);
	begin(search, centre, radius, next_tree(search, 0));
}

void
hamming_search_begin_nulls(HammingSearch *search)
{
	hamming_lock_predicate(search->index, search->scan->xs_snapshot,
						   hamming_least_key, -1);
	/* no other tree comes after that */
	memset(search->plan.block_radius, -1, sizeof(search->plan.block_radius));
	begin(search, hamming_least_key, 0, HAMMING_NULLS);
}

/*
 * Return only matches within radius from here on.  The plan stays that for the
 * radius that the search began with.  So found_by_block() and found_by_word()
 * decide in each tree as the search has done in the trees before.
 */
void
hamming_search_lower_radius(HammingSearch *search, int radius)
{
	Assert(radius >= 0 && radius <= search->radius);
	search->radius = radius;
}

static Leaf *
queued_leaf(HammingSearch *search, int i)
{
	return &search->queue[(search->queue_start + i) % QUEUE];
}

/*
 * Queue the leaf below a locked page that covers search->ahead, or the page
 * itself if it is a leaf, and move search->ahead beyond what is wanted of it.
 * A leaf far from the centre often has one value of the leading block that is
 * within the radius, among others.  Only keys with that value are wanted then.
 */
static void
queue_leaf(HammingSearch *search, Buffer buffer)
{
	Leaf	   *leaf = queued_leaf(search, search->queue_count++);
	Page		page = BufferGetPage(buffer);
	uint64		block_end;

	leaf->tree = search->ahead_area.tree;
	leaf->from = search->ahead;
	if (hamming_special(page)->level == 0)
	{
		leaf->blkno = BufferGetBlockNumber(buffer);
		leaf->end = hamming_page_high(page);
	}
	else
		leaf->blkno = hamming_inner_look(page, &leaf->from, &leaf->end);
	leaf->last = leaf->end.words[0];
	block_end = leaf->from.words[0] | ~search->ahead_area.mask;
	if (block_end < leaf->last)
	{
		advance(search, block_end + 1);
		if (hamming_key_compare(search->ahead, leaf->end) >= 0)
		{
			leaf->last = block_end;
			return;
		}
	}
	advance_to_key(search, &leaf->end);
}

/* Queue leaves below one inner page, or go on to the next tree. */
static void
fill_queue(HammingSearch *search)
{
	Buffer		parent;

	if (hamming_is_greatest(search->ahead))
	{
		int			tree = next_tree(search, search->ahead_area.tree + 1);

		if (tree < HAMMING_TREE(search->layout.words, 0))
			start_tree(search, tree, hamming_least_key);
		else
			search->complete = true;
		return;
	}
	parent = hamming_find(search->index, search->ahead_area.tree, 1,
						  search->ahead, BUFFER_LOCK_SHARE, NULL);
	/* the root is a leaf, or was one */
	if (!BufferIsValid(parent))
		parent = hamming_find(search->index, search->ahead_area.tree, 0,
							  search->ahead, BUFFER_LOCK_SHARE, NULL);
	do
		queue_leaf(search, parent);
	while (search->queue_count < QUEUE &&
		   hamming_page_covers(BufferGetPage(parent), &search->ahead));
	UnlockReleaseBuffer(parent);
}

static void
cpu_prefetch_leaves(HammingSearch *search)
{
	int			distance = Min(search->queue_count, CPU_DISTANCE);

	for (; search->cpu_prefetched < distance; search->cpu_prefetched++)
		hamming_cpu_prefetch(search->index,
							 queued_leaf(search,
										 search->cpu_prefetched)->blkno);
	distance = Min(search->queue_count, CPU_ENTRIES_DISTANCE);
	for (; search->cpu_entries < distance; search->cpu_entries++)
	{
		Leaf	   *leaf = queued_leaf(search, search->cpu_entries);

		hamming_cpu_prefetch_entries(search->index, leaf->blkno,
									 hamming_tree_width(search->layout,
														leaf->tree),
									 leaf->from.words[0], leaf->last);
	}
}

/*
 * Let the operating system read leaves of the queue, as far ahead as
 * effective_io_concurrency says, but no more than the search has read: so one
 * that ends early, as with LIMIT, has read twice its leaves at most.
 */
static void
prefetch_leaves(HammingSearch *search)
{
	int			distance = Min(Min(search->queue_count, search->visited),
							   search->prefetch_distance);

	for (; search->prefetched < distance; search->prefetched++)
		hamming_disk_prefetch(search->index,
							  queued_leaf(search, search->prefetched)->blkno);
}

/*
 * Take the next leaf from the queue, where it stays until the queue is filled
 * again.  Return NULL after the last one.
 */
static Leaf *
take_leaf(HammingSearch *search)
{
	Leaf	   *leaf;

	while (!search->complete &&
		   search->queue_count <= Min(search->visited, QUEUE / 2))
		fill_queue(search);
	if (search->queue_count == 0)
		return NULL;
	cpu_prefetch_leaves(search);
	leaf = queued_leaf(search, 0);
	search->queue_start = (search->queue_start + 1) % QUEUE;
	search->queue_count--;
	search->prefetched = Max(search->prefetched - 1, 0);
	search->cpu_prefetched = Max(search->cpu_prefetched - 1, 0);
	search->cpu_entries = Max(search->cpu_entries - 1, 0);
	prefetch_leaves(search);
	search->visited++;
	return leaf;
}

/*
 * Does an earlier tree of the same word find a word that differs from that of
 * the centre by difference, not rotated?
 */
static bool
found_by_block(const HammingSearch *search, int tree, uint64 difference)
{
	const int16 *block_radius = search->plan.block_radius +
	hamming_first_tree(tree);
	int			j;

	for (j = 0; j < HAMMING_TREE_BLOCK(tree); j++)
		if (pg_popcount64(difference &
						  hamming_block_mask(search->layout.blocks, j)) <=
			block_radius[j])
			return true;
	return false;
}

static bool
found_by_word(const HammingSearch *search, int tree, const HammingKey *row)
{
	int			g;

	for (g = 0; g < HAMMING_TREE_WORD(tree); g++)
		if (pg_popcount64(row->words[g] ^ search->centre.words[g]) <=
			search->plan.word_radius[g])
			return true;
	return false;
}

/*
 * Take those of count entries of a locked leaf of a first tree, or of NULLs,
 * that are within the radius and in the range from .. last of keys, and that no
 * earlier word finds: in trees with TIDs as search->matches from matched on, in
 * others as fingerprints to look up.  places has the places of the entries,
 * whose leading words are near enough.  Return the number of matches.
 */
static int
take_entries(HammingSearch *search, Buffer leaf, int tree, uint16 *places,
			 int count, const HammingKey *from, const HammingKey *last,
			 int matched)
{
	HammingLayout layout = search->layout;
	int			first = hamming_first_tree(tree);
	Page		page = BufferGetPage(leaf);
	HammingEntries entries = hamming_entries(page);
	HammingKey	centre = hamming_tree_key(layout, 0, first, search->centre);
	LookUp	   *fingerprints = &search->fingerprints;
	uint16		distances[HAMMING_LEAF_CAPACITY];
	int			i;

	count = hamming_leaf_within(page, &centre, search->radius, places, count,
								distances);
	for (i = 0; i < count; i++)
	{
		HammingKey	key = hamming_entry_key(&entries, places[i]);
		HammingKey	row = hamming_tree_key(layout, first, 0, key);

		if (hamming_key_compare(key, *from) < 0 ||
			hamming_key_compare(key, *last) > 0 ||
			found_by_word(search, tree, &row))
			continue;
		if (hamming_tree_has_tids(tree))
		{
			HammingMatch match = {row, distances[i]};

			hamming_check_tid(search->index, BufferGetBlockNumber(leaf),
							  row.tid);
			search->matches[matched++] = match;
		}
		else
			fingerprints->keys[fingerprints->count++] = row;
	}
	return matched;
}

/*
 * Take those of count entries of a locked leaf of a tree that is not the first
 * of its word, not below from, that no earlier block finds: as words to look
 * up.  places has their places.
 */
static void
take_words(HammingSearch *search, Page page, const uint16 *places, int count,
		   uint64 from)
{
	const Area *area = &search->area;
	HammingEntries entries = hamming_entries(page);
	LookUp	   *words = &search->words;
	int			i;

	for (i = 0; i < count; i++)
	{
		uint64		word = entries.words[places[i]];
		uint64		difference = hamming_unrotate(word ^ area->centre,
												  area->start);

		if (word >= from && !found_by_block(search, area->tree, difference))
			words->keys[words->count++] =
				hamming_word_key(hamming_unrotate(word, area->start));
	}
}

/*
 * Collect what a locked leaf has that is not below leaf->from, is within the
 * ball, and was found by no earlier tree: rows in search->matches, whose number
 * is returned, or what is to be looked up.
 */
static int
collect_matches(HammingSearch *search, Buffer buffer, const Leaf *leaf)
{
	const Area *area = &search->area;
	const HammingKey greatest = hamming_greatest_key;
	Page		page = BufferGetPage(buffer);
	const uint64 *words = hamming_entries(page).words;
	uint16		near[HAMMING_LEAF_CAPACITY];
	int			count = hamming_leaf_match(page, leaf->from.words[0],
										   leaf->last, area->centre,
										   Min(area->radius, search->radius),
										   near);
	int			kept = 0;
	int			i;

	empty_look_up(&search->words, hamming_first_tree(area->tree), 1);
	empty_look_up(&search->fingerprints, 0, search->layout.words);
	for (i = 0; i < count; i++)
	{
		near[kept] = near[i];
		kept += pg_popcount64((words[near[i]] ^ area->centre) & area->mask) <=
			area->leading_radius;
	}
	if (kept == 0)
		return 0;
	if (area->tree == HAMMING_NULLS || HAMMING_TREE_BLOCK(area->tree) == 0)
		return take_entries(search, buffer, area->tree, near, kept,
							&leaf->from, &greatest, 0);
	take_words(search, page, near, kept, leaf->from.words[0]);
	return 0;
}

/*
 * Find a leaf that was queued.  Where another leaf covers leaf->from by now, or
 * the leaf ends elsewhere, after a split or a merge, set leaf->last to the end,
 * and fill the queue again from there on.  On return the leaf is locked in
 * share mode.
 */
static Buffer
find_leaf(HammingSearch *search, Leaf *leaf)
{
	Buffer		buffer = hamming_read(search->index, leaf->blkno,
									  BUFFER_LOCK_SHARE, NULL);
	Page		page;

	if (!hamming_page_is_for(BufferGetPage(buffer), leaf->tree, 0,
							 &leaf->from))
	{
		UnlockReleaseBuffer(buffer);
		buffer = hamming_find(search->index, leaf->tree, 0, leaf->from,
							  BUFFER_LOCK_SHARE, NULL);
	}
	page = BufferGetPage(buffer);
	if (hamming_range_compare(hamming_range(page, true),
							  hamming_page_width(page), &leaf->end) != 0)
	{
		leaf->last = hamming_page_high(page).words[0];
		empty_queue(search);
		start_tree(search, leaf->tree, hamming_page_high(page));
	}
	return buffer;
}

/* Read the next leaf of the queue.  Return false after the last one. */
static bool
search_leaf(HammingSearch *search, int *count)
{
	Leaf	   *leaf;
	Buffer		buffer;

	CHECK_FOR_INTERRUPTS();
	leaf = take_leaf(search);
	if (leaf == NULL)
		return false;
	if (leaf->tree != search->area.tree)
		search->area = tree_area(search, leaf->tree);
	buffer = find_leaf(search, leaf);
	TestForOldSnapshot(search->scan->xs_snapshot, search->index,
					   BufferGetPage(buffer));
	*count = collect_matches(search, buffer, leaf);
	UnlockReleaseBuffer(buffer);
	return true;
}

/*
 * Take the entries of the key that is to be looked up next, those of one leaf.
 * Return the number of matches: count, and how many were added.
 */
static int
look_up_next(HammingSearch *search, LookUp *look_up, int count)
{
	HammingKey	wanted = look_up->keys[look_up->position];
	HammingKey	from = look_up->begun ? look_up->from : wanted;
	HammingKey	last = hamming_last_key(wanted, look_up->width);
	Buffer		leaf;
	Page		page;
	uint16		equal[HAMMING_LEAF_CAPACITY];
	int			entries;

	test_stop("search: between trees");
	leaf = hamming_find(search->index, look_up->tree, 0, from,
						BUFFER_LOCK_SHARE, NULL);
	page = BufferGetPage(leaf);
	TestForOldSnapshot(search->scan->xs_snapshot, search->index, page);
	entries = hamming_leaf_match(page, wanted.words[0], wanted.words[0],
								 wanted.words[0], 0, equal);
	count = take_entries(search, leaf, look_up->tree, equal, entries, &from,
						 &last, count);
	look_up->from = hamming_page_high(page);
	UnlockReleaseBuffer(leaf);
	look_up->begun = hamming_key_compare(look_up->from, last) <= 0;
	if (!look_up->begun)
		look_up->position++;
	return count;
}

/*
 * Look up what was found, as long as there is room for the entries of one more
 * leaf: fingerprints first, which come of words.  Return the number of matches.
 */
static int
look_up_all(HammingSearch *search)
{
	LookUp	   *words = &search->words;
	LookUp	   *fingerprints = &search->fingerprints;
	int			count = 0;

	while (count <= HAMMING_MATCHES - HAMMING_TID_CAPACITY)
	{
		CHECK_FOR_INTERRUPTS();
		if (fingerprints->position < fingerprints->count)
			count = look_up_next(search, fingerprints, count);
		else if (words->position < words->count)
		{
			fingerprints->count = fingerprints->position = 0;
			count = look_up_next(search, words, count);
		}
		else
			break;
	}
	return count;
}

/*
 * Get the next matches, in no order: *matches, which the caller may change, are
 * there until the next call.  Return their number, or -1 after the last ones.
 * On return the search pins nothing.
 */
int
hamming_search_next(HammingSearch *search, HammingMatch **matches)
{
	int			count;

	while ((count = look_up_all(search)) == 0)
	{
		if (!search_leaf(search, &count))
			return -1;
		if (count > 0)
			break;
	}
	*matches = search->matches;
	return count;
}
