/*
 * am_search.c
 *	  Search for all fingerprints within a radius.
 *
 * Table by table, the search goes from one leaf that can hold a match to the
 * next.  It knows where it is by a key: everything below has been seen.
 * From there hamming_ball_next() tells the least key that can match, and so
 * which leaf to read; inner pages on the way to the last leaf stay pinned, as
 * the next one is mostly below one of them.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "am/am.h"
#include "type/distance_array.h"

/* About how many leaves a block table has. */
static double
count_leaves(Relation index)
{
	Buffer		root = hamming_read(index, HAMMING_ROOT(0), BUFFER_LOCK_SHARE, NULL);
	Page		page = BufferGetPage(root);
	int			level = hamming_special(page)->level;
	double		leaves = level == 0 ? 1 : hamming_page_count(page);

	UnlockReleaseBuffer(root);
	/* pages that fill by insertion are full to ln 2 on average (Yao 1978) */
	while (--level > 0)
		leaves *= 0.7 * HAMMING_INNER_CAPACITY;
	return leaves;
}

/* Prepare for searches, one after the other, of an index. */
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

/* The radius is 0 .. 64. */
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

/* All rows without a fingerprint: those with that of 0 in their table. */
void
hamming_search_begin_nulls(HammingSearch *search)
{
	search->centre = 0;
	search->radius = 0;
	search->plan.tables = HAMMING_TABLES;
	search->plan_radius = -1;
	start_table(search, HAMMING_NULLS);
}

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

/* The root of the table, locked.  It stays pinned for the next search. */
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

static void
pop_step(HammingSearch *search)
{
	ReleaseBuffer(search->path[--search->depth].buffer);
}

/* The deepest page of the path that covered the next key, locked. */
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

/* The leaf that covers the next key, locked; see hamming_find(). */
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

			/* a root may have grown */
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
			step = push_step(
							 search,
							 hamming_read(search->index, child, BUFFER_LOCK_SHARE, NULL),
							 step->level - 1);
		}
		LockBuffer(step->buffer, BUFFER_LOCK_UNLOCK);
		pop_step(search);
		CHECK_FOR_INTERRUPTS();
	}
	hamming_corrupted(search->index, HAMMING_ROOT(search->table),
					  "no page covers a key of the table");
}

/* Would, or did, the search of an earlier table find it? */
static bool
found_before(HammingSearch *search, uint64 difference)
{
	int			j;

	for (j = 0; j < search->table; j++)
		if (hamming_leading_distance(hamming_rotate(
													difference, HAMMING_BLOCKS + j - search->table)) <=
			search->plan.block_radius[j])
			return true;
	return false;
}

/*
 * Collect the matches of a locked leaf that are not below the key from.
 * Error: XX002 for a TID that no row can have.
 */
static int
collect(HammingSearch *search, Buffer leaf, HammingKey from, uint64 centre,
		int leading_radius, HammingMatch *matches)
{
	Page		page = BufferGetPage(leaf);
	BlockNumber block = BufferGetBlockNumber(leaf);
	uint16		found[HAMMING_LEAF_CAPACITY];
	int			count = hamming_match(hamming_page_bits(page), hamming_page_slots(page),
									  centre, search->radius, found);
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
 * The matches on the next leaf that may have some; their number, which may be
 * 0, or -1 when there are no more leaves.  matches has room for
 * HAMMING_LEAF_CAPACITY.
 */
int
hamming_search_next(HammingSearch *search, HammingMatch *matches)
{
	while (search->table < search->plan.tables)
	{
		uint64		centre = hamming_rotate(search->centre, search->table);
		int			leading_radius = search->table == HAMMING_NULLS
		? 0
		: search->plan.block_radius[search->table];
		uint64		bits;
		HammingKey	from;
		Buffer		leaf;
		int			count;

		CHECK_FOR_INTERRUPTS();
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
		count = collect(search, leaf, from, centre, leading_radius, matches);
		search->next = hamming_special(BufferGetPage(leaf))->high;
		UnlockReleaseBuffer(leaf);
		search->table_done = hamming_key_compare(search->next,
												 hamming_greatest_key) >= 0;
		return count;
	}
	return -1;
}

/* End a search before it has come to its end. */
void
hamming_search_end(HammingSearch *search)
{
	while (search->depth > 0)
		pop_step(search);
}

/* After the last search. */
void
hamming_search_close(HammingSearch *search)
{
	int			table;

	hamming_search_end(search);
	for (table = 0; table < HAMMING_TABLES; table++)
		if (BufferIsValid(search->roots[table]))
			ReleaseBuffer(search->roots[table]);
}
