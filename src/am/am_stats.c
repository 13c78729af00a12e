/*
 * am_stats.c
 *	  What hamming_index_stats() tells of an index.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "am/am.h"

/*
 * How many rows have each value of each block: counts[j][value].  With three
 * blocks that takes 64 MB, with more of them less.
 */
typedef struct BlockCounts
{
	int			blocks;
	int64	   *counts[HAMMING_MAX_BLOCKS];
} BlockCounts;

static BlockCounts
allocate_counts(int blocks)
{
	BlockCounts result = {.blocks = blocks};
	int			j;

	for (j = 0; j < blocks; j++)
	{
		Size		values = (Size) 1 << hamming_block_width(blocks, j);

		result.counts[j] = palloc_extended(values * sizeof(int64),
										   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	}
	return result;
}

static void
count_blocks(BlockCounts *counts, Fingerprint fingerprint)
{
	int			j;

	for (j = 0; j < counts->blocks; j++)
	{
		int			start = hamming_block_start(counts->blocks, j);
		int			width = hamming_block_width(counts->blocks, j);

		counts->counts[j][fingerprint << start >> (HAMMING_BITS - width)]++;
	}
}

/*
 * Set *average to how many rows share a value of a block, on average of the
 * values that occur, and *largest to the most rows that share one.
 */
static void
summarize_blocks(const BlockCounts *counts, double *average, int64 *largest)
{
	int64		values = 0;
	int64		rows = 0;
	int			j;
	Size		i;

	*largest = 0;
	for (j = 0; j < counts->blocks; j++)
		for (i = 0; i < (Size) 1 << hamming_block_width(counts->blocks, j); i++)
		{
			int64		count = counts->counts[j][i];

			values += count > 0;
			rows += count;
			*largest = Max(*largest, count);
		}
	*average = (double) rows / Max(values, 1);
}

/* Return the number of entries of a table; count their blocks, if asked for. */
static int64
count_entries(Relation index, int table, BlockCounts *counts)
{
	HammingReadAhead ahead = {.index = index,.table = table};
	HammingKey	key = hamming_least_key;
	int64		entries = 0;

	while (hamming_key_compare(key, hamming_greatest_key) < 0)
	{
		Buffer		leaf;
		Page		page;
		int			i;

		CHECK_FOR_INTERRUPTS();
		hamming_read_ahead(&ahead, key);
		leaf = hamming_find(index, table, 0, key, BUFFER_LOCK_SHARE, NULL);
		page = BufferGetPage(leaf);
		for (i = 0; counts != NULL && i < hamming_page_count(page); i++)
			count_blocks(counts, hamming_page_bits(page)[i]);
		entries += hamming_page_count(page);
		key = hamming_special(page)->high;
		UnlockReleaseBuffer(leaf);
	}
	return entries;
}

static int64
count_free_pages(Relation index, int blocks, BlockNumber pages)
{
	int64		count = 0;
	BlockNumber block;

	for (block = HAMMING_FIXED_PAGES(blocks); block < pages; block++)
	{
		CHECK_FOR_INTERRUPTS();
		count += hamming_is_free_page(index, block, NULL);
	}
	return count;
}

static int
table_height(Relation index)
{
	Buffer		root = hamming_read(index, HAMMING_ROOT(0), BUFFER_LOCK_SHARE,
									NULL);
	int			height = hamming_special(BufferGetPage(root))->level + 1;

	UnlockReleaseBuffer(root);
	return height;
}

/*
 * Read what hamming_index_stats() returns.  Error: XX002 where a page cannot be
 * used.  On entry and on return the caller holds no buffer lock.
 */
void
hamming_read_stats(Relation index, HammingStats *stats)
{
	int			blocks = hamming_open(index);
	BlockCounts counts = allocate_counts(blocks);

	stats->blocks = blocks;
	stats->pages = RelationGetNumberOfBlocks(index);
	stats->rows = count_entries(index, 0, &counts);
	stats->nulls = count_entries(index, HAMMING_NULLS, NULL);
	stats->fingerprints = count_entries(index, 1, NULL);
	stats->height = table_height(index);
	stats->free_pages = count_free_pages(index, blocks, stats->pages);
	summarize_blocks(&counts, &stats->average_block, &stats->largest_block);
}
