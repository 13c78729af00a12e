/*
 * write.c
 *	  Writing a table of an index that is being built, leaves first.
 *
 * Leaves are filled from sorted elements.  One inner page of each level is
 * being filled, in memory.  It is written when the next page of the level
 * begins, as only then the end of its range is known.
 *
 * A process of a parallel build writes a range of a table: leaves only, which
 * it lists in a file.  The leader puts all leaves under inner pages.
 *
 * Nobody else reads or writes the index: before CREATE INDEX has committed, or
 * CREATE INDEX CONCURRENTLY has marked the index as ready, no session inserts
 * into it.
 */
#include "postgres.h"

#include "access/xlog_internal.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/lmgr.h"

#include "am/build.h"

/* Pages */

/*
 * How many pages are logged together, in one record, and added together where
 * other processes add pages, too.
 */
#define PAGES_TOGETHER XLR_MAX_BLOCK_ID

/* Log the pages that were handed out and are not logged yet. */
void
hamming_pages_log(HammingPages *pages)
{
	if (RelationNeedsWAL(pages->index))
		log_newpage_range(pages->index, MAIN_FORKNUM, pages->logged,
						  pages->next, true);
	pages->logged = pages->next;
}

/*
 * Add pages at the end of the index, to be handed out.  On entry none is left.
 *
 * Pages of a parallel build are added many together, which follow on each
 * other.  The lock is needed although hamming_extend() may see no need for it:
 * for the leader the index is one that only its own transaction sees.
 */
static void
add_pages(HammingPages *pages)
{
	int			count = pages->parallel ? PAGES_TOGETHER : 1;
	BlockNumber first = InvalidBlockNumber;
	int			i;

	if (pages->parallel)
		LockRelationForExtension(pages->index, ExclusiveLock);
	for (i = 0; i < count; i++)
	{
		Buffer		buffer = hamming_extend(pages->index, MAIN_FORKNUM);

		if (i == 0)
			first = BufferGetBlockNumber(buffer);
		ReleaseBuffer(buffer);
	}
	if (pages->parallel)
		UnlockRelationForExtension(pages->index, ExclusiveLock);
	if (first != pages->next)
	{
		hamming_pages_log(pages);
		pages->logged = pages->next = first;
	}
	pages->end = first + count;
}

/* Fill a page that is pinned and not locked, and release the pin. */
void
hamming_write_page(Buffer buffer, Page page)
{
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	memcpy(BufferGetPage(buffer), page, BLCKSZ);
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
}

/*
 * Fill the next page.  Returns its number.  All pages that were handed out
 * before have been filled, so that they can be logged.
 */
static BlockNumber
write_next(HammingPages *pages, Page page)
{
	CHECK_FOR_INTERRUPTS();
	if (pages->next - pages->logged == PAGES_TOGETHER)
		hamming_pages_log(pages);
	if (pages->next == pages->end)
		add_pages(pages);
	hamming_write_page(ReadBuffer(pages->index, pages->next), page);
	return pages->next++;
}

/* Tables */

/* An element of a list of leaves. */
typedef struct Child
{
	HammingKey	low;
	uint64		block;
} Child;

struct HammingWriter
{
	HammingPages *pages;
	int			table;
	HammingKey	low;			/* of the leaf that is being filled */
	HammingKey	high;			/* of the range that is written */
	HammingKey	keys[HAMMING_LEAF_CAPACITY + 1];	/* of the leaf that is
													 * being filled, and the
													 * next one, sorted */
	int			count;			/* of keys */
	int			least;			/* keys that a leaf takes at least */
	int			most;			/* and at most */
	BufFile    *leaves;			/* a list of Child; NULL: leaves go under the
								 * inner pages */
	int			height;			/* the levels that have a page; 1 as long as
								 * leaves are in no inner page */
	PGAlignedBlock leaf;
	PGAlignedBlock inner[HAMMING_MAX_HEIGHT];	/* by level, from 1 on: being
												 * filled */
};

/*
 * Begin to write the range first .. last of the rotated fingerprints of a
 * table.  With leaves, a file, write leaves only, and list them there.
 */
HammingWriter *
hamming_writer_begin(HammingPages *pages, int table, HammingBits first,
					 HammingBits last, BufFile *leaves)
{
	HammingWriter *writer = palloc0(sizeof(HammingWriter));
	int			capacity = hamming_leaf_capacity(table);
	int			fill = hamming_fill(pages->index, capacity);
	int			slack = Min(fill / HAMMING_CUT_SLACK, capacity - fill);

	writer->pages = pages;
	writer->table = table;
	writer->low = hamming_key(first, 0);
	writer->high = last == FINGERPRINT_ALL_BITS ? hamming_greatest_key
		: hamming_key(last + 1, 0);
	writer->least = fill - slack;
	writer->most = fill + slack;
	writer->leaves = leaves;
	writer->height = 1;
	return writer;
}

static Page
inner_page(HammingWriter *writer, int level)
{
	return (Page) writer->inner[level].data;
}

static void
start_inner(HammingWriter *writer, int level, HammingKey low)
{
	hamming_page_init(inner_page(writer, level), HAMMING_PAGE_TREE,
					  writer->table, level, low, hamming_greatest_key);
}

/*
 * Enter a child in the inner page of a level.  Where that page is full, write
 * it first, enter it above, and begin the next one.
 */
static void
add_child(HammingWriter *writer, int level, HammingKey low, BlockNumber child)
{
	Page		page = inner_page(writer, level);

	if (level == writer->height)
	{
		writer->height++;
		start_inner(writer, level, hamming_least_key);
	}
	else if (hamming_page_count(page) >=
			 hamming_fill(writer->pages->index, HAMMING_INNER_CAPACITY))
	{
		hamming_special(page)->high = low;
		add_child(writer, level + 1, hamming_special(page)->low,
				  write_next(writer->pages, page));
		start_inner(writer, level, low);
	}
	hamming_inner_insert(page, hamming_page_count(page), low, child);
}

/* Make a leaf of the first count keys, whose range ends at high. */
static Page
make_leaf(HammingWriter *writer, int count, HammingKey high)
{
	Page		page = (Page) writer->leaf.data;

	hamming_page_init(page, HAMMING_PAGE_TREE, writer->table, 0, writer->low,
					  high);
	hamming_leaf_fill(page, writer->keys, count);
	writer->count -= count;
	memmove(writer->keys, writer->keys + count,
			writer->count * sizeof(HammingKey));
	return page;
}

static void
write_leaf(HammingWriter *writer, int count, HammingKey high)
{
	Child		child = {.low = writer->low};

	child.block = write_next(writer->pages, make_leaf(writer, count, high));
	if (writer->leaves != NULL)
		BufFileWrite(writer->leaves, &child, sizeof(child));
	else
		add_child(writer, 1, child.low, child.block);
	writer->low = high;
}

/*
 * Write count elements of width words, which come after those before.  A leaf
 * gets least to most keys, so that there is a choice where to cut.
 */
void
hamming_writer_add(HammingWriter *writer, const uint64 *words, Size count,
				   int width)
{
	while (count > 0)
	{
		HammingKey *keys = writer->keys;
		int			added = Min(count, writer->most + 1 - writer->count);
		int			i;

		for (i = 0; i < added; i++, words += width)
			keys[writer->count++] =
				hamming_key(fingerprint_from_words(words),
							width == FINGERPRINT_WORDS ? 0
							: words[FINGERPRINT_WORDS]);
		count -= added;
		if (writer->count > writer->most)
		{
			int			cut = hamming_choose_cut(keys, writer->least,
												 writer->most);

			write_leaf(writer, cut, hamming_separator(keys[cut - 1],
													  keys[cut]));
		}
	}
}

/* Enter the leaves on the list of another process. */
void
hamming_writer_add_leaves(HammingWriter *writer, HammingRun leaves)
{
	for (; leaves.count > 0; leaves.count--)
	{
		Child		child;

		CHECK_FOR_INTERRUPTS();
		BufFileReadExact(leaves.file, &child, sizeof(child));
		add_child(writer, 1, child.low, child.block);
	}
}

/* Write the last leaf and the inner pages below the root; return the root. */
static Page
finish_table(HammingWriter *writer)
{
	int			level;

	if (writer->height == 1)
		return make_leaf(writer, writer->count, writer->high);
	if (writer->count > 0)
		write_leaf(writer, writer->count, writer->high);
	for (level = 1; level + 1 < writer->height; level++)
	{
		Page		page = inner_page(writer, level);

		add_child(writer, level + 1, hamming_special(page)->low,
				  write_next(writer->pages, page));
	}
	return inner_page(writer, level);
}

/* Write what is left: the last leaf of a list, or all up to the root. */
void
hamming_writer_end(HammingWriter *writer)
{
	if (writer->leaves != NULL)
		write_leaf(writer, writer->count, writer->high);
	else
		hamming_write_page(ReadBuffer(writer->pages->index,
									  HAMMING_ROOT(writer->table)),
						   finish_table(writer));
	pfree(writer);
}
