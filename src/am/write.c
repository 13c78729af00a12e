/*
 * write.c
 *	  Writing a tree of an index that is being built, leaves first.
 *
 * Leaves are filled from sorted keys.  One inner page of each level is being
 * filled, in memory.  The page is written when the next one of the level
 * begins, as only then the end of its range is known.
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "access/xlogrecord.h"
#include "miscadmin.h"
#include "storage/lmgr.h"

#include "am/am.h"

/*
 * Pages that are added together, and logged in one record.  One at a time, two
 * processes wait for each other so long that they take 0.83 of the time of one,
 * at 10 million rows, and not 0.61.
 */
#define HAMMING_PAGES_TOGETHER XLR_MAX_BLOCK_ID

struct HammingWriter
{
	Relation	index;
	int			tree;
	BlockNumber root;			/* of the tree */
	int			width;			/* words of a key */
	HammingKey	low;			/* of the leaf that is being filled */
	HammingKey	keys[HAMMING_LEAF_CAPACITY + 1];	/* of that leaf and the
													 * next one, sorted */
	int			count;			/* of keys */
	int			least;			/* keys that a leaf takes at least */
	int			most;			/* and at most */
	int			height;			/* levels that have a page; 1 as long as
								 * leaves are in no inner page */
	PGAlignedBlock leaves[HAMMING_PAGES_TOGETHER];	/* yet to be written */
	int			filled;			/* of these */
	PGAlignedBlock inner[HAMMING_MAX_HEIGHT];	/* by level, from 1 on: being
												 * filled */
};

/*
 * Fill a page, log it, also in the initial fork of an unlogged index, and
 * release its pin.  On entry the page is not locked.
 */
void
hamming_write_page(Relation index, ForkNumber fork, Buffer buffer, Page page)
{
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), page, BLCKSZ);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index) || fork == INIT_FORKNUM)
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/*
 * Add count pages, HAMMING_PAGES_TOGETHER at most, at the end of the index.
 * They follow on each other: other processes of the build that add pages wait
 * for the lock.  Return the block number of the first.
 */
static BlockNumber
add_pages(Relation index, PGAlignedBlock *pages, int count)
{
	Buffer		buffers[HAMMING_PAGES_TOGETHER];
	BlockNumber end = 0;
	int			i;

	LockRelationForExtension(index, ExclusiveLock);
	for (i = 0; i < count; i++)
	{
		buffers[i] = hamming_extend(index, MAIN_FORKNUM);
		end = BufferGetBlockNumber(buffers[i]) + 1;
	}
	UnlockRelationForExtension(index, ExclusiveLock);
	for (i = 0; i < count; i++)
	{
		LockBuffer(buffers[i], BUFFER_LOCK_EXCLUSIVE);
		memcpy(BufferGetPage(buffers[i]), pages[i].data, BLCKSZ);
		MarkBufferDirty(buffers[i]);
		UnlockReleaseBuffer(buffers[i]);
	}
	if (RelationNeedsWAL(index))
		log_newpage_range(index, MAIN_FORKNUM, end - count, end, true);
	return end - count;
}

/* Begin to write a tree.  On entry its root is there, and is empty. */
HammingWriter *
hamming_writer_begin(Relation index, HammingLayout layout, int tree)
{
	HammingWriter *writer = palloc0(sizeof(HammingWriter));
	int			capacity = hamming_capacity(layout, tree, 0);
	int			fill = hamming_fill(index, capacity);

	writer->index = index;
	writer->tree = tree;
	writer->root = hamming_root(layout, tree);
	writer->width = hamming_tree_width(layout, tree);
	writer->most = hamming_most_fill(index, capacity);
	writer->least = 2 * fill - writer->most;
	writer->height = 1;
	return writer;
}

/*
 * Enter a child in the inner page of a level.  Where that page is full, write
 * it first, enter it above, and begin the next one.
 */
static void
add_child(HammingWriter *writer, int level, HammingKey low, BlockNumber child)
{
	Page		page = (Page) writer->inner[level].data;
	bool		first = level == writer->height;

	if (first)
		writer->height++;
	else if (hamming_page_count(page) >=
			 hamming_fill(writer->index, HAMMING_INNER_ROOM(writer->width)))
	{
		hamming_set_range_key(page, true, low);
		add_child(writer, level + 1, hamming_page_low(page),
				  add_pages(writer->index, writer->inner + level, 1));
		first = true;
	}
	if (first)
		hamming_tree_page_init(page, writer->width, writer->tree, level, low,
							   hamming_greatest_key);
	hamming_inner_insert(page, hamming_page_count(page), low, child);
}

static void
write_leaves(HammingWriter *writer)
{
	BlockNumber first = add_pages(writer->index, writer->leaves,
								  writer->filled);
	int			i;

	for (i = 0; i < writer->filled; i++)
		add_child(writer, 1, hamming_page_low((Page) writer->leaves[i].data),
				  first + i);
	writer->filled = 0;
}

/* Fill a leaf with the first count keys.  Its range ends at high. */
static void
fill_leaf(HammingWriter *writer, int count, HammingKey high)
{
	Page		page;

	CHECK_FOR_INTERRUPTS();
	if (writer->filled == HAMMING_PAGES_TOGETHER)
		write_leaves(writer);
	page = (Page) writer->leaves[writer->filled++].data;
	hamming_tree_page_init(page, writer->width, writer->tree, 0, writer->low,
						   high);
	hamming_leaf_fill(page, writer->keys, count);
	writer->low = high;
	writer->count -= count;
	memmove(writer->keys, writer->keys + count,
			writer->count * sizeof(HammingKey));
}

/* Return where to put the next key, so that it need not be copied. */
HammingKey *
hamming_writer_next(HammingWriter *writer)
{
	return &writer->keys[writer->count];
}

/*
 * Write the key that was put at hamming_writer_next(), which is not below those
 * before, if it is another one.  A leaf is filled with least to most keys, so
 * that there is a choice where to cut.  Return hamming_writer_next().
 */
HammingKey *
hamming_writer_add(HammingWriter *writer)
{
	HammingKey *keys = writer->keys;
	HammingKey *key = &keys[writer->count];
	int			cut;

	if (writer->count > 0 && hamming_compare_words(key, key - 1) == 0 &&
		key->tid == key[-1].tid)
		return key;
	if (++writer->count <= writer->most)
		return key + 1;
	cut = hamming_page_cut(keys, writer->least, writer->most);
	fill_leaf(writer, cut, hamming_separator(keys[cut - 1], keys[cut]));
	return hamming_writer_next(writer);
}

void
hamming_writer_end(HammingWriter *writer)
{
	Page		root = (Page) writer->leaves[0].data;
	int			level;

	fill_leaf(writer, writer->count, hamming_greatest_key);
	if (writer->height > 1 || writer->filled > 1)
	{
		write_leaves(writer);
		for (level = 1; level + 1 < writer->height; level++)
			add_child(writer, level + 1,
					  hamming_page_low((Page) writer->inner[level].data),
					  add_pages(writer->index, writer->inner + level, 1));
		root = (Page) writer->inner[level].data;
	}
	hamming_write_page(writer->index, MAIN_FORKNUM,
					   ReadBuffer(writer->index, writer->root), root);
	pfree(writer);
}
