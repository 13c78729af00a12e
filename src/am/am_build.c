/*
 * am_build.c
 *	  CREATE INDEX.
 *
 * The heap is read once, into the sort that table 0 is written from.  Each
 * other block table is sorted from the leaves of table 0.
 *
 * The index is written without WAL, and then logged page by page.  Nobody else
 * writes to it: before CREATE INDEX has committed, or CREATE INDEX
 * CONCURRENTLY has marked the index as ready, no session inserts into it.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/tuplesort.h"

#include "am/am.h"

/* Phases of pg_stat_progress_create_index; PostgreSQL has reserved phase 1. */
#define PHASE_SCAN (PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE + 1)
#define PHASE_SORT (PHASE_SCAN + 1) /* of table 0; of others + 2 * table */
#define PHASE_WRITE (PHASE_SORT + 1)	/* as PHASE_SORT */

/* ambuildphasename: the name of a phase; NULL if there is no such phase. */
char *
hamming_build_phase_name(int64 phase)
{
	int64		table = (phase - PHASE_SORT) / 2;

	if (phase == PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE)
		return "initializing";
	if (phase == PHASE_SCAN)
		return "scanning table";
	if (phase < PHASE_SCAN || table > HAMMING_MAX_BLOCKS)
		return NULL;
	if (table == HAMMING_MAX_BLOCKS)
		return (phase - PHASE_SORT) % 2 == 0
			? "sorting rows without fingerprint"
			: "writing rows without fingerprint";
	return psprintf("%s block table " INT64_FORMAT,
					(phase - PHASE_SORT) % 2 == 0 ? "sorting" : "writing",
					table + 1);
}

static void
report_phase(int64 phase)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, phase);
}

/*
 * Writing a table, leaves first.  One page of each level is being filled, in
 * memory.  It is written when the next page of the level begins, as only then
 * the end of its range is known.
 */

typedef struct TableWriter
{
	Relation	index;
	int			table;
	HammingKey	keys[HAMMING_LEAF_CAPACITY + 1];	/* not yet on a leaf,
													 * sorted */
	int			count;			/* of keys */
	int			least;			/* keys that a leaf takes at least */
	int			most;			/* and at most */
	int			height;			/* levels that have a page */
	PGAlignedBlock pages[HAMMING_MAX_HEIGHT];	/* by level: being filled */
} TableWriter;

/* Fill a page that is pinned and not locked, and release the pin. */
static void
write_page(Buffer buffer, Page page)
{
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	memcpy(BufferGetPage(buffer), page, BLCKSZ);
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
}

static void
start_page(TableWriter *writer, int level, HammingKey low)
{
	hamming_page_init((Page) writer->pages[level].data, HAMMING_PAGE_TREE,
					  writer->table, level, low, hamming_greatest_key);
}

static void finish_page(TableWriter *writer, int level);

/* Return the inner page of the level for a child whose range begins at low. */
static Page
parent_with_room(TableWriter *writer, int level, HammingKey low)
{
	Page		page = (Page) writer->pages[level].data;

	if (level == writer->height)
	{
		writer->height++;
		start_page(writer, level, hamming_least_key);
	}
	else if (hamming_page_count(page) >=
			 hamming_fill(writer->index, hamming_capacity(page)))
	{
		hamming_special(page)->high = low;
		finish_page(writer, level);
		start_page(writer, level, low);
	}
	return page;
}

/* Write the page of a level that is not the root, and enter it above. */
static void
finish_page(TableWriter *writer, int level)
{
	Page		page = (Page) writer->pages[level].data;
	HammingKey	low = hamming_special(page)->low;
	Buffer		buffer = hamming_extend(writer->index, MAIN_FORKNUM);
	BlockNumber block = BufferGetBlockNumber(buffer);
	Page		parent = parent_with_room(writer, level + 1, low);

	write_page(buffer, page);
	hamming_inner_insert(parent, hamming_page_count(parent), low, block);
}

/* Put the first count of the keys on the leaf that is being filled. */
static void
fill_leaf(TableWriter *writer, int count)
{
	int			i;

	for (i = 0; i < count; i++)
		hamming_leaf_append((Page) writer->pages[0].data, writer->keys[i]);
	hamming_special((Page) writer->pages[0].data)->sorted = count;
	writer->count -= count;
	memmove(writer->keys, writer->keys + count,
			writer->count * sizeof(HammingKey));
}

/* A leaf gets least to most keys, so that there is a choice where to cut. */
static void
add_key(TableWriter *writer, HammingKey key)
{
	HammingKey	cut;
	int			count;

	writer->keys[writer->count++] = key;
	if (writer->count <= writer->most)
		return;
	count = hamming_choose_cut(writer->keys, writer->least, writer->most);
	cut = hamming_separator(writer->keys[count - 1], writer->keys[count]);
	fill_leaf(writer, count);
	hamming_special((Page) writer->pages[0].data)->high = cut;
	finish_page(writer, 0);
	start_page(writer, 0, cut);
}

/*
 * End the sort of all keys of a table, and write the keys.  Returns the number
 * of keys.
 */
static double
write_table(Relation index, int table, Tuplesortstate *sort)
{
	TableWriter *writer = palloc0(sizeof(TableWriter));
	int			capacity = hamming_leaf_capacity(table);
	int			fill = hamming_fill(index, capacity);
	int			slack = Min(fill / HAMMING_CUT_SLACK, capacity - fill);
	int			phase = 2 * Min(table, HAMMING_MAX_BLOCKS);
	HammingKey	previous = hamming_greatest_key;
	HammingKey	key;
	double		rows = 0;
	int			level;

	report_phase(PHASE_SORT + phase);
	tuplesort_performsort(sort);
	report_phase(PHASE_WRITE + phase);
	writer->index = index;
	writer->table = table;
	writer->least = fill - slack;
	writer->most = fill + slack;
	writer->height = 1;
	start_page(writer, 0, hamming_least_key);
	while (hamming_sort_get(sort, &key))
	{
		CHECK_FOR_INTERRUPTS();
		if (hamming_key_compare(key, previous) == 0)
			continue;
		add_key(writer, key);
		previous = key;
		rows++;
	}
	tuplesort_end(sort);

	fill_leaf(writer, writer->count);
	for (level = 0; level + 1 < writer->height; level++)
		finish_page(writer, level);
	write_page(ReadBuffer(index, HAMMING_ROOT(table)),
			   (Page) writer->pages[level].data);
	pfree(writer);
	return rows;
}

/*
 * Sort the fingerprints that the leaves of table 0, below page pages, hold,
 * rotated for table.
 */
static Tuplesortstate *
sort_leaves(Relation index, int blocks, int table, BlockNumber pages)
{
	Tuplesortstate *sort = simhash_pair_sort_begin(maintenance_work_mem,
												   TUPLESORT_NONE);
	BlockNumber block;
	int			i;

	for (block = HAMMING_ROOT(0); block < pages; block++)
	{
		Buffer		buffer;
		Page		page;

		CHECK_FOR_INTERRUPTS();
		buffer = hamming_read(index, block, BUFFER_LOCK_SHARE, NULL);
		page = BufferGetPage(buffer);
		if (hamming_special(page)->table == 0 &&
			hamming_special(page)->level == 0)
			for (i = 0; i < hamming_page_count(page); i++)
				hamming_sort_put(sort,
								 hamming_table_key(blocks, table,
												   hamming_page_bits(page)[i],
												   0));
		UnlockReleaseBuffer(buffer);
	}
	return sort;
}

/* Collecting the rows */

typedef struct BuildState
{
	Tuplesortstate *fingerprints;	/* sorted for table 0 */
	Tuplesortstate *nulls;
} BuildState;

static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		bool alive, void *callback_state)
{
	BuildState *state = callback_state;
	HammingKey	key = {0, hamming_tid(tid)};

	if (isnull[0])
		hamming_sort_put(state->nulls, key);
	else
	{
		key.bits = DatumGetSimhash(values[0]);
		hamming_sort_put(state->fingerprints, key);
	}
}

static void
make_metapage(Page page, int blocks)
{
	HammingMeta *meta = (HammingMeta *) PageGetContents(page);

	hamming_page_init(page, HAMMING_PAGE_META, 0, 0, hamming_least_key,
					  hamming_least_key);
	meta->magic = HAMMING_MAGIC;
	meta->version = HAMMING_VERSION;
	meta->width = HAMMING_BITS;
	meta->blocks = blocks;
	((PageHeader) page)->pd_lower += sizeof(HammingMeta);
}

static void
write_root(Relation index, ForkNumber fork, int table)
{
	PGAlignedBlock page;

	hamming_page_init((Page) page.data, HAMMING_PAGE_TREE, table, 0,
					  hamming_least_key, hamming_greatest_key);
	write_page(hamming_extend(index, fork), (Page) page.data);
}

/* Write the metapage and the roots, in their order, of an index without rows. */
static void
write_fixed_pages(Relation index, ForkNumber fork, int blocks)
{
	PGAlignedBlock page;
	int			table;

	make_metapage((Page) page.data, blocks);
	write_page(hamming_extend(index, fork), (Page) page.data);
	write_root(index, fork, HAMMING_NULLS);
	for (table = 0; table < blocks; table++)
		write_root(index, fork, table);
}

/*
 * Return into how many blocks an index of so many rows cuts fingerprints,
 * unless the user has said it: doc/indexing.md has the measurements.  An empty
 * table does not tell how many rows will come.
 */
static int
choose_blocks(Relation index, double rows)
{
	HammingOptions *options = (HammingOptions *) index->rd_options;

	if (options != NULL && options->blocks > 0)
		return options->blocks;
	if (rows > 0 && rows < 3000000)
		return 6;
	return rows < 100000000 ? 4 : 3;
}

/*
 * ambuild.  The two sorts that the heap is read into share
 * maintenance_work_mem.  The one of rows without a fingerprint gets an eighth,
 * as these are mostly few.
 *
 * On entry and on return the caller holds no buffer lock.  One page at a time
 * is locked, but log_newpage_range() locks up to 32 together: no other process
 * waits for a page of this index while it holds another.
 */
IndexBuildResult *
hamming_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	BuildState	state;
	BlockNumber pages;
	int			blocks;
	int			nulls_memory = maintenance_work_mem / 8;
	int			table;

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	report_phase(PHASE_SCAN);
	state.nulls = simhash_pair_sort_begin(nulls_memory, TUPLESORT_NONE);
	state.fingerprints =
		simhash_pair_sort_begin(maintenance_work_mem - nulls_memory,
								TUPLESORT_NONE);
	result->heap_tuples = table_index_build_scan(heap, index, info, true, true,
												 add_row, &state, NULL);
	blocks = choose_blocks(index, result->heap_tuples);
	write_fixed_pages(index, MAIN_FORKNUM, blocks);
	result->index_tuples = write_table(index, 0, state.fingerprints);
	pages = RelationGetNumberOfBlocks(index);
	for (table = 1; table < blocks; table++)
		write_table(index, table, sort_leaves(index, blocks, table, pages));
	result->index_tuples += write_table(index, HAMMING_NULLS, state.nulls);

	if (RelationNeedsWAL(index))
		log_newpage_range(index, MAIN_FORKNUM, 0,
						  RelationGetNumberOfBlocks(index), true);
	return result;
}

/* ambuildempty: write and log the initial fork.  Locks: as hamming_build(). */
void
hamming_build_empty(Relation index)
{
	write_fixed_pages(index, INIT_FORKNUM, choose_blocks(index, 0));
	log_newpage_range(index, INIT_FORKNUM, 0,
					  RelationGetNumberOfBlocksInFork(index, INIT_FORKNUM),
					  true);
}
