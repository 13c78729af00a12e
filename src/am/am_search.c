/*
 * am_search.c
 *	  Search for all fingerprints within a radius.
 *
 * Table by table, the search goes from one leaf that can hold a match to the
 * next.  It knows its place by a key, search->next: every key of the table
 * below that one has been searched.  hamming_ball_next() tells the least
 * fingerprint from there on that can match, and so which leaf to read.  The
 * inner pages on the path to the last leaf stay pinned, as the next leaf is
 * mostly below one of them.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "am/am.h"
#include "type/distance_array.h"

/* Return about how many leaves a block table has, at least 1. */
static double
count_leaves(Relation index)
{
	Buffer		root = hamming_read(index, HAMMING_ROOT(0), BUFFER_LOCK_SHARE,
									NULL);
	Page		page = BufferGetPage(root);
	int			level = hamming_special(page)->level;
	double		leaves = level == 0 ? 1 : hamming_page_count(page);

	UnlockReleaseBuffer(root);

	/* pages that fill by random insertions are full to ln 2 (Yao 1978) */
	while (--level > 0)
		leaves *= 0.7 * HAMMING_INNER_CAPACITY;
	return leaves;
}

/*
 * Prepare for searches of an index, one after the other: each from
 * hamming_search_begin() or hamming_search_begin_nulls() to
 * hamming_search_end().
 *
 * On entry and on return the caller holds no lock; the root of table 0 is
 * locked meanwhile.  On return the search pins nothing.
 */
void
hamming_search_init(HammingSearch *search, Relation index)
{
	memset(search, 0, sizeof(HammingSearch));	/* all buffers are invalid */
	search->index = index;
	search->leaves = count_leaves(index);
	search->plan_radius = -1;
}

static void
start_table(HammingSearch *search, int table)
{
	search->table = table;
	search->table_done = table < HAMMING_BLOCKS &&
		search->plan.block_radius[table] < 0;
	search->next = hamming_least_key;
}

/*
 * Begin a search for all fingerprints within radius of the centre.  On entry
 * the search before has ended.  The function takes neither locks nor pins.
 */
void
hamming_search_begin(HammingSearch *search, uint64 centre, int radius)
{
	search->centre = centre;
	search->radius = radius;
	if (search->plan_radius != radius)
		search->plan = hamming_plan(search->leaves, radius);
	search->plan_radius = radius;
	start_table(search, 0);
}

/*
 * Return only matches within radius from here on.  The plan stays that for the
 * radius that the search began with.  So found_before() decides in each table
 * as the search has done in the tables before.
 */
void
hamming_search_lower_radius(HammingSearch *search, int radius)
{
	Assert(radius >= 0 && radius <= search->radius);
	search->radius = radius;
}

/*
 * Begin a search for all rows without a fingerprint.  In their table each row
 * has the fingerprint 0.  On entry the search before has ended.
 */
void
hamming_search_begin_nulls(HammingSearch *search)
{
	search->centre = 0;
	search->radius = 0;
	search->plan.tables = HAMMING_TABLES;
	search->plan_radius = -1;
	start_table(search, HAMMING_NULLS);
}

/* Add a pinned page, which should be of level, to the end of the path. */
static HammingStep *
push_step(HammingSearch *search, Buffer buffer, int level)
{
	HammingStep *step = &search->path[search->depth];

	if (search->depth == HAMMING_MAX_HEIGHT)
		hamming_corrupted(search->index, BufferGetBlockNumber(buffer),
						  "table is too high");
	step->buffer = buffer;
	step->level = level;
	search->depth++;
	return step;
}

/*
 * Begin the path with the root of the table.  On return the root is locked,
 * and pinned twice, as it stays pinned for the next search, too.
 */
static HammingStep *
push_root(HammingSearch *search)
{
	Buffer	   *root = &search->roots[search->table];

	if (!BufferIsValid(*root))
		*root = ReadBuffer(search->index, HAMMING_ROOT(search->table));
	IncrBufferRefCount(*root);
	LockBuffer(*root, BUFFER_LOCK_SHARE);
	hamming_page_check(search->index, *root);
	return push_step(search, *root,
					 hamming_special(BufferGetPage(*root))->level);
}

/* Take the last page, which is not locked, off the path. */
static void
pop_step(HammingSearch *search)
{
	ReleaseBuffer(search->path[--search->depth].buffer);
}

/*
 * Lock and return the deepest page of the path that covered search->next when
 * it was last locked.  The pages below that page leave the path.
 */
static HammingStep *
last_step(HammingSearch *search)
{
	while (search->depth > 0)
	{
		HammingStep *step = &search->path[search->depth - 1];

		if (hamming_key_compare(step->low, search->next) <= 0 &&
			hamming_key_compare(search->next, step->high) < 0)
		{
			LockBuffer(step->buffer, BUFFER_LOCK_SHARE);
			hamming_page_check(search->index, step->buffer);
			return step;
		}
		pop_step(search);
	}
	return push_root(search);
}

/*
 * Find the leaf that covers search->next.
 *
 * On entry the caller holds no lock.  On return the leaf is locked, and is not
 * on the path; the inner pages above the leaf are.
 *
 * find_leaf() follows the protocol of hamming_find(), which lists what must
 * stay equal, but begins at the deepest page of the path that can still cover
 * the key.  Where a page is no longer the right one, find_leaf() goes back to
 * the page above, and not to the root.
 */
static Buffer
find_leaf(HammingSearch *search)
{
	int			descents;

	for (descents = 0; descents < HAMMING_MAX_DESCENTS; descents++)
	{
		HammingStep *step = last_step(search);

		for (;;)
		{
			Page		page = BufferGetPage(step->buffer);
			BlockNumber child;

			/* the first page of the path is a root, which may have grown */
			if (search->depth == 1)
				step->level = hamming_special(page)->level;
			if (!hamming_page_is_for(page, search->table, step->level,
									 search->next))
				break;
			if (step->level == 0)
				return search->path[--search->depth].buffer;
			step->low = hamming_special(page)->low;
			step->high = hamming_special(page)->high;
			child = hamming_inner_child(page,
										hamming_inner_find(page, search->next));
			LockBuffer(step->buffer, BUFFER_LOCK_UNLOCK);
			step = push_step(search,
							 hamming_read(search->index, child,
										  BUFFER_LOCK_SHARE, NULL),
							 step->level - 1);
		}
		LockBuffer(step->buffer, BUFFER_LOCK_UNLOCK);
		pop_step(search);
		CHECK_FOR_INTERRUPTS();
	}
	hamming_corrupted(search->index, HAMMING_ROOT(search->table),
					  "no page covers a key of the table");
}

/*
 * Does the search of an earlier table find a row whose fingerprint differs from
 * the centre by difference, both rotated for the table that is being searched?
 * It does if the row is within that table's radius in that table's block.
 */
static bool
found_before(HammingSearch *search, uint64 difference)
{
	int			j;

	for (j = 0; j < search->table; j++)
	{
		/* from the rotation of the search's table to that of table j */
		int			turn = HAMMING_BLOCKS + j - search->table;
		uint64		rotated = hamming_rotate(difference, turn);

		if (hamming_leading_distance(rotated) <= search->plan.block_radius[j])
			return true;
	}
	return false;
}

/*
 * Collect the matches of a locked leaf that are not below the key from, and
 * that no earlier table has found.  centre is rotated for the table;
 * leading_radius bounds the distance in the leading block.
 */
static int
collect_matches(HammingSearch *search, Buffer leaf, HammingKey from,
				uint64 centre, int leading_radius, HammingMatch *matches)
{
	Page		page = BufferGetPage(leaf);
	BlockNumber block = BufferGetBlockNumber(leaf);
	uint16		found[HAMMING_LEAF_CAPACITY];
	int			count = hamming_match(hamming_page_bits(page),
									  hamming_page_slots(page), centre,
									  search->radius, found);
	int			kept = 0;
	int			i;

	for (i = 0; i < count; i++)
	{
		HammingKey	key = hamming_leaf_key(page, found[i]);
		uint64		difference = key.bits ^ centre;

		/* TID 0: the slot is not used */
		if (key.tid == 0 ||
			hamming_leading_distance(difference) > leading_radius ||
			hamming_key_compare(key, from) < 0 ||
			(search->table < HAMMING_BLOCKS &&
			 found_before(search, difference)))
			continue;
		hamming_check_tid(search->index, block, key.tid);
		matches[kept].fingerprint = hamming_unrotate(key.bits, search->table);
		matches[kept].tid = key.tid;
		matches[kept].distance = pg_popcount64(difference);
		kept++;
	}
	return kept;
}

/*
 * Get the matches on the next leaf that can have some, in no order.  Returns
 * their number, which may be 0, or -1 after the last leaf, when the search has
 * ended.  matches has room for HAMMING_LEAF_CAPACITY.
 *
 * On entry and on return the caller holds no lock.  On return the search pins
 * the roots that it has used and the inner pages of its path.
 */
int
hamming_search_next(HammingSearch *search, HammingMatch *matches)
{
	while (search->table < search->plan.tables)
	{
		uint64		centre = hamming_rotate(search->centre, search->table);
		int			leading_radius = 0;
		uint64		bits;
		HammingKey	from;
		Buffer		leaf;
		int			count;

		CHECK_FOR_INTERRUPTS();
		if (search->table < HAMMING_BLOCKS)
			leading_radius = search->plan.block_radius[search->table];
		if (search->table_done ||
			!hamming_ball_next(centre, leading_radius, search->radius,
							   search->next.bits, &bits))
		{
			hamming_search_end(search);
			start_table(search, search->table + 1);
			continue;
		}
		if (bits != search->next.bits)
			search->next = hamming_key(bits, 0);
		from = search->next;
		leaf = find_leaf(search);
		count = collect_matches(search, leaf, from, centre, leading_radius,
								matches);
		search->next = hamming_special(BufferGetPage(leaf))->high;
		UnlockReleaseBuffer(leaf);
		search->table_done = hamming_key_compare(search->next,
												 hamming_greatest_key) >= 0;
		return count;
	}
	return -1;
}

/*
 * End a search, at its end or before.  On entry the caller holds no lock.  On
 * return the search pins no more than the roots that it has used.
 */
void
hamming_search_end(HammingSearch *search)
{
	while (search->depth > 0)
		pop_step(search);
}

/*
 * End a search, and release the roots: hamming_search_init() must come before
 * another one.  On entry the caller holds no lock.  On return the search pins
 * nothing.
 */
void
hamming_search_close(HammingSearch *search)
{
	int			table;

	hamming_search_end(search);
	for (table = 0; table < HAMMING_TABLES; table++)
		if (BufferIsValid(search->roots[table]))
			ReleaseBuffer(search->roots[table]);
}
