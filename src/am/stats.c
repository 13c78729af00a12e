/*
 * stats.c
 *	  What hamming_index_stats() tells of an index.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "am/build.h"

/* Values of a block of more bits are sorted, and not counted in an array. */
#define COUNTED_BITS 22

/*
 * How many rows have each value of each block: in counts[j][value], which take
 * up to 32 MB a block, or in sorters[j], which have the value of each row at
 * the front of a fingerprint.
 */
typedef struct BlockCounts
{
	int			blocks;
	int64	   *counts[HAMMING_MAX_BLOCKS]; /* or NULL */
	HammingSorter *sorters[HAMMING_MAX_BLOCKS];
} BlockCounts;

static BlockCounts
allocate_counts(int blocks)
{
	BlockCounts result = {.blocks = blocks};
	int			j;

	for (j = 0; j < blocks; j++)
	{
		int			width = hamming_block_width(blocks, j);

		if (width <= COUNTED_BITS)
			result.counts[j] = palloc_extended(sizeof(int64) << width,
											   MCXT_ALLOC_HUGE |
											   MCXT_ALLOC_ZERO);
		else
			result.sorters[j] = hamming_sorter_begin(FINGERPRINT_WORDS,
													 maintenance_work_mem /
													 blocks,
													 NULL, HAMMING_LIST, 0);
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
		HammingBits value = fingerprint << start & hamming_leading_bits(width);

		if (counts->counts[j] != NULL)
			counts->counts[j][value >> (HAMMING_BITS - width)]++;
		else
			fingerprint_to_words(value, hamming_sorter_add(counts->sorters[j]));
	}
}

/* What is known of the values of blocks so far. */
typedef struct Summary
{
	int64		values;			/* that occur */
	int64		rows;			/* that have them, once for each block */
	int64		largest;		/* the most rows that share one */
} Summary;

static void
add_value(Summary *summary, int64 rows)
{
	summary->values += rows > 0;
	summary->rows += rows;
	summary->largest = Max(summary->largest, rows);
}

/* Add the values of a block from the sorter, and end it. */
static void
add_sorted(Summary *summary, HammingSorter *sorter)
{
	HammingReader *reader;
	const uint64 *words;
	Fingerprint last = 0;
	int64		rows = 0;		/* that have the last value */
	Size		count;

	hamming_sorter_finish(sorter);
	reader = hamming_sorter_read(sorter);
	while ((words = hamming_reader_next(reader, &count)) != NULL)
		for (; count > 0; count--, words += FINGERPRINT_WORDS)
		{
			Fingerprint value = fingerprint_from_words(words);

			if (value != last)
			{
				add_value(summary, rows);
				rows = 0;
			}
			last = value;
			rows++;
		}
	add_value(summary, rows);
	hamming_reader_end(reader);
	hamming_sorter_end(sorter);
}

/*
 * Set *average to how many rows share a value of a block, on average of the
 * values that occur, and *largest to the most rows that share one.
 */
static void
summarize_blocks(const BlockCounts *counts, double *average, int64 *largest)
{
	Summary		summary = {0};
	int			j;
	Size		i;

	for (j = 0; j < counts->blocks; j++)
	{
		if (counts->counts[j] == NULL)
			add_sorted(&summary, counts->sorters[j]);
		else
			for (i = 0; i < (Size) 1 << hamming_block_width(counts->blocks, j);
				 i++)
				add_value(&summary, counts->counts[j][i]);
	}
	*average = (double) summary.rows / Max(summary.values, 1);
	*largest = summary.largest;
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
