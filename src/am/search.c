/*
 * search.c
 *	  Search for all fingerprints within a radius.
 *
 * src/README tells which leaves a search reads, in which order, and why it
 * returns each row once.  Leaves wait in a queue until they are read.
 * search->ahead is the least key that can match and whose leaf has not been
 * queued: the leaf that covers it is queued next.
 *
 * With old_snapshot_threshold a vacuum may remove rows that the snapshot of a
 * search sees.  Then the search must fail: TestForOldSnapshot() looks whether a
 * leaf has changed since.  The leaf that covers the key of an entry that was
 * removed has an LSN of the removal's or a later one: a split or a merge gives
 * the LSN of its own record to each page that it moves keys to.  The search
 * comes to that leaf: it reads the leaf of each key that can match, whether an
 * entry has the key or not, in the tree that found_before() leaves it to, and
 * then the leaves of all rows of a fingerprint that it finds there.
 */
#include "postgres.h"

#include "access/relscan.h"
#include "miscadmin.h"
#include "utils/spccache.h"

#include "am/am.h"
#include "am/test_stop.h"
#include "type/compat.h"

/*
 * How many leaves before it is searched the processor fetches both ends of a
 * leaf, and how many before it fetches the entries.
 */
#define CPU_DISTANCE 8
#define CPU_ENTRIES_DISTANCE 3

/* The search of a tree: what a key of it must be near to. */
typedef struct Area
{
	int			tree;
	int			start;			/* bits before the tree's block */
	HammingBits centre;			/* rotated for the tree */
	HammingBits mask;			/* of the leading block */
	int			leading_radius;
} Area;

/* A leaf that is to be read, as its parent shows it. */
typedef struct Leaf
{
	BlockNumber blkno;
	int			tree;
	HammingKey	from;			/* keys of the leaf below this one are not
								 * wanted */
	HammingKey	end;			/* of the leaf's range */
	HammingBits last;			/* keys above this one are not wanted */
} Leaf;

/* The most leaves that wait to be read; the queue is a ring. */
#define QUEUE 32

struct HammingSearch
{
	IndexScanDesc scan;			/* that the search is part of */
	Relation	index;
	int			blocks;			/* of the index */
	Fingerprint centre;			/* not rotated */
	int			radius;			/* 0 .. HAMMING_BITS; see
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

	/* fingerprints found in the tree, whose rows are in tree 0 */
	Fingerprint found[HAMMING_LEAF_CAPACITY];
	int			found_count;
	int			found_position; /* of the next one to look up */
	uint64		found_from;		/* its rows below this TID have been seen */

	HammingMatch matches[HAMMING_MATCHES];	/* of the last call */
};

/*
 * Prepare for searches of the index of a scan, one after the other.  What they
 * need is allocated in the current memory context.
 */
HammingSearch *
hamming_search_create(IndexScanDesc scan)
{
	HammingSearch *search = palloc0(sizeof(HammingSearch));
	Relation	index = scan->indexRelation;

	search->scan = scan;
	search->index = index;
	search->blocks = hamming_blocks(index);
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

	/* in the tree of NULLs all keys are 0 */
	if (tree == HAMMING_NULLS)
		return area;
	area.start = hamming_block_start(search->blocks, tree);
	area.centre = hamming_rotate(search->centre, area.start);
	area.mask = hamming_leading_bits(hamming_block_width(search->blocks,
														 tree));
	area.leading_radius = search->plan.block_radius[tree];
	return area;
}

/*
 * Set search->ahead to the next key of the tree, from key on, that can match,
 * or to the greatest key if there is none.
 */
static void
advance(HammingSearch *search, HammingKey key)
{
	const Area *area = &search->ahead_area;
	HammingBits rotated;

	search->ahead = hamming_greatest_key;
	if (hamming_key_compare(key, hamming_greatest_key) < 0 &&
		hamming_ball_next(area->centre, area->mask, area->leading_radius,
						  search->radius, key.rotated, &rotated))
		search->ahead = rotated == key.rotated ? key : hamming_key(rotated, 0);
}

/*
 * Go on to queue the leaves of a tree, from key on.  On entry the queue has no
 * leaf of that tree.
 */
static void
start_tree(HammingSearch *search, int tree, HammingKey key)
{
	search->ahead_area = tree_area(search, tree);
	advance(search, key);
}

/* Return the first tree from tree on that the plan looks in, or blocks. */
static int
next_tree(const HammingSearch *search, int tree)
{
	while (tree < search->blocks && search->plan.block_radius[tree] < 0)
		tree++;
	return tree;
}

/* Begin a search whose first tree is tree.  The search before is over. */
static void
begin(HammingSearch *search, Fingerprint centre, int radius, int tree)
{
	search->centre = centre;
	search->radius = radius;
	search->visited = 0;
	search->found_count = search->found_position = 0;
	search->found_from = 0;
	empty_queue(search);
	start_tree(search, tree, hamming_least_key);
	search->area = search->ahead_area;
}

/*
 * Begin a search for all fingerprints within radius of the centre.  Error: as
 * hamming_lock_predicate().
 */
void
hamming_search_begin(HammingSearch *search, Fingerprint centre, int radius)
{
	hamming_lock_predicate(search->index, search->scan->xs_snapshot, centre,
						   radius);
	search->plan = hamming_cached_plan(search->index, radius);
	begin(search, centre, radius, next_tree(search, 0));
}

/* Begin a search for all rows without a fingerprint: all have the key 0. */
void
hamming_search_begin_nulls(HammingSearch *search)
{
	hamming_lock_predicate_nulls(search->index, search->scan->xs_snapshot);
	begin(search, 0, 0, HAMMING_NULLS);
}

/*
 * Return only matches within radius from here on.  The plan stays that for the
 * radius that the search began with.  So found_before() decides in each tree
 * as the search has done in the trees before.
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
 *
 * A leaf far from the centre often has one value of the leading block that is
 * within the radius, among others.  Only keys with that value are wanted then.
 */
static void
queue_leaf(HammingSearch *search, Buffer buffer)
{
	Leaf	   *leaf = queued_leaf(search, search->queue_count++);
	Page		page = BufferGetPage(buffer);
	HammingBits block_end;

	leaf->tree = search->ahead_area.tree;
	leaf->from = search->ahead;
	leaf->blkno = BufferGetBlockNumber(buffer);
	leaf->end = hamming_special(page)->high;
	if (hamming_special(page)->level > 0)
	{
		int			rank = hamming_inner_find(page, search->ahead);

		leaf->blkno = hamming_inner_child(page, rank);
		leaf->end = hamming_inner_end(page, rank);
	}
	leaf->last = leaf->end.rotated;
	block_end = leaf->from.rotated | ~search->ahead_area.mask;
	if (block_end < leaf->last)
	{
		advance(search, hamming_key(block_end + 1, 0));
		if (hamming_key_compare(search->ahead, leaf->end) >= 0)
		{
			leaf->last = block_end;
			return;
		}
	}
	advance(search, leaf->end);
}

/* Queue leaves below one inner page, or go on to the next tree. */
static void
fill_queue(HammingSearch *search)
{
	Buffer		parent;

	if (hamming_key_compare(search->ahead, hamming_greatest_key) == 0)
	{
		int			tree = next_tree(search, search->ahead_area.tree + 1);

		if (tree < search->blocks)
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
		   hamming_page_covers(BufferGetPage(parent), search->ahead));
	UnlockReleaseBuffer(parent);
}

/* Let the processor fetch the first leaves of the queue to its cache. */
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
									 leaf->from.rotated, leaf->last);
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

/* Take the next leaf from the queue.  Returns false after the last one. */
static bool
take_leaf(HammingSearch *search, Leaf *leaf)
{
	while (!search->complete &&
		   search->queue_count <= Min(search->visited, QUEUE / 2))
		fill_queue(search);
	if (search->queue_count == 0)
		return false;
	cpu_prefetch_leaves(search);
	*leaf = *queued_leaf(search, 0);
	search->queue_start = (search->queue_start + 1) % QUEUE;
	search->queue_count--;
	search->prefetched = Max(search->prefetched - 1, 0);
	search->cpu_prefetched = Max(search->cpu_prefetched - 1, 0);
	search->cpu_entries = Max(search->cpu_entries - 1, 0);
	prefetch_leaves(search);
	search->visited++;
	return true;
}

/*
 * Does the search of an earlier tree find a fingerprint that differs from the
 * centre by difference, not rotated?
 */
static bool
found_before(HammingSearch *search, Fingerprint difference)
{
	int			j;

	for (j = 0; j < search->area.tree; j++)
		if (fingerprint_popcount(difference &
								 hamming_block_mask(search->blocks, j)) <=
			search->plan.block_radius[j])
			return true;
	return false;
}

static HammingMatch
make_match(HammingSearch *search, Buffer leaf, Fingerprint fingerprint,
		   uint64 tid)
{
	HammingMatch match = {fingerprint, tid,
	hamming_distance(fingerprint, search->centre)};

	hamming_check_tid(search->index, BufferGetBlockNumber(leaf), tid);
	return match;
}

/*
 * Collect what a locked leaf has that is not below leaf->from, is within the
 * ball, and was found by no earlier tree: rows in search->matches, whose number
 * is returned, or fingerprints in search->found.
 */
static int
collect_matches(HammingSearch *search, Buffer buffer, const Leaf *leaf)
{
	const Area *area = &search->area;
	Page		page = BufferGetPage(buffer);
	bool		has_tids = hamming_page_has_tids(page);
	uint16		near[HAMMING_LEAF_CAPACITY];
	int			count = hamming_leaf_match(page, leaf->from.rotated, leaf->last,
										   area->centre, search->radius, near);
	int			kept = 0;
	int			i;

	search->found_count = search->found_position = 0;
	for (i = 0; i < count; i++)
	{
		HammingKey	key = hamming_leaf_key(page, near[i]);
		HammingBits difference = key.rotated ^ area->centre;
		Fingerprint fingerprint = hamming_unrotate(key.rotated, area->start);

		if (fingerprint_popcount(difference & area->mask) >
			area->leading_radius ||
			hamming_key_compare(key, leaf->from) < 0 ||
			(area->tree != HAMMING_NULLS &&
			 found_before(search, hamming_unrotate(difference, area->start))))
			continue;
		if (has_tids)
			search->matches[kept++] = make_match(search, buffer, fingerprint,
												 key.tid);
		else
			search->found[search->found_count++] = fingerprint;
	}
	return kept;
}

/*
 * Find a leaf that was queued.  Where another leaf covers leaf->from by now,
 * or the leaf ends elsewhere, after a split or a merge, set leaf->last to the
 * end, and fill the queue again from there on.  On return the leaf is locked
 * in share mode.
 */
static Buffer
find_leaf(HammingSearch *search, Leaf *leaf)
{
	Buffer		buffer = hamming_read(search->index, leaf->blkno,
									  BUFFER_LOCK_SHARE, NULL);
	HammingKey	end;

	if (!hamming_page_is_for(BufferGetPage(buffer), leaf->tree, 0, leaf->from))
	{
		UnlockReleaseBuffer(buffer);
		buffer = hamming_find(search->index, leaf->tree, 0, leaf->from,
							  BUFFER_LOCK_SHARE, NULL);
	}
	end = hamming_special(BufferGetPage(buffer))->high;
	if (hamming_key_compare(end, leaf->end) != 0)
	{
		leaf->last = end.rotated;
		empty_queue(search);
		start_tree(search, leaf->tree, end);
	}
	return buffer;
}

/*
 * Read the next leaf of the queue.  Return false after the last one.  *count
 * gets the number of matches.
 */
static bool
search_leaf(HammingSearch *search, int *count)
{
	Leaf		leaf;
	Buffer		buffer;

	CHECK_FOR_INTERRUPTS();
	if (!take_leaf(search, &leaf))
		return false;
	if (leaf.tree != search->area.tree)
		search->area = tree_area(search, leaf.tree);
	buffer = find_leaf(search, &leaf);
	TestForOldSnapshot(search->scan->xs_snapshot, search->index,
					   BufferGetPage(buffer));
	*count = collect_matches(search, buffer, &leaf);
	UnlockReleaseBuffer(buffer);
	return true;
}

/*
 * Collect rows of the fingerprint that is to be looked up next, those of one
 * leaf of tree 0, from search->found_from on, in matches.  Returns the number
 * of rows: 0 of a fingerprint without rows.
 */
static int
look_up(HammingSearch *search, HammingMatch *matches)
{
	Fingerprint fingerprint = search->found[search->found_position];
	HammingKey	from = hamming_key(fingerprint, search->found_from);
	Buffer		leaf = hamming_find(search->index, 0, 0, from,
									BUFFER_LOCK_SHARE, NULL);
	Page		page = BufferGetPage(leaf);
	uint16		equal[HAMMING_LEAF_CAPACITY];
	int			count = hamming_leaf_match(page, fingerprint, fingerprint,
										   fingerprint, 0, equal);
	HammingKey	end = hamming_special(page)->high;
	int			kept = 0;
	int			i;

	TestForOldSnapshot(search->scan->xs_snapshot, search->index, page);
	for (i = 0; i < count; i++)
	{
		HammingKey	key = hamming_leaf_key(page, equal[i]);

		if (key.tid >= from.tid)
			matches[kept++] = make_match(search, leaf, fingerprint, key.tid);
	}
	UnlockReleaseBuffer(leaf);
	search->found_from = end.rotated == fingerprint ? end.tid : 0;
	if (search->found_from == 0 || search->found_from > HAMMING_BEYOND_TIDS)
	{
		search->found_from = 0;
		search->found_position++;
	}
	return kept;
}

/*
 * Look up the rows of the fingerprints in search->found, as long as there is
 * room for those of one more leaf.  Returns the number of matches.
 */
static int
look_up_all(HammingSearch *search)
{
	int			count = 0;

	test_stop("search: between trees");
	while (search->found_position < search->found_count &&
		   count <= HAMMING_MATCHES - HAMMING_TID_CAPACITY)
	{
		CHECK_FOR_INTERRUPTS();
		count += look_up(search, search->matches + count);
	}
	return count;
}

/*
 * Get the next matches, in no order: *matches, which the caller may change, are
 * there until the next call.  Returns their number, or -1 after the last ones.
 * On return the search pins nothing.
 */
int
hamming_search_next(HammingSearch *search, HammingMatch **matches)
{
	int			count = 0;

	while (count == 0)
	{
		if (search->found_position < search->found_count)
			count = look_up_all(search);
		else if (!search_leaf(search, &count))
			return -1;
	}
	*matches = search->matches;
	return count;
}
