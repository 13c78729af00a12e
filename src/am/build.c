/*
 * build.c
 *	  CREATE INDEX.
 *
 * The heap is read once, and its rows are sorted for table 0.  Each other block
 * table is sorted from the fingerprints of table 0: from the memory in which
 * the rows were sorted, or, where they did not fit, from a list in a file.
 *
 * Nobody else reads or writes the index: before CREATE INDEX has committed, or
 * CREATE INDEX CONCURRENTLY has marked the index as ready, no session inserts
 * into it.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "pgstat.h"

#include "am/build.h"

static void
report_phase(int64 phase)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, phase);
}

/* Collecting the rows */

static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		bool alive, void *callback_state)
{
	HammingBuild *build = callback_state;
	uint64	   *words = hamming_sorter_add(isnull[0] ? build->nulls
										   : build->rows);

	fingerprint_to_words(isnull[0] ? 0 : DatumGetSimhash(values[0]), words);
	words[FINGERPRINT_WORDS] = hamming_tid(tid);
	build->tuples.index_tuples++;
}

/*
 * Sort the rows of the heap, or those that the scan of a parallel build gives
 * this process.
 *
 * The two sorts share the memory.  That of rows without a fingerprint gets an
 * eighth, as these are mostly few.
 */
static void
sort_rows(HammingBuild *build)
{
	int			nulls_memory = build->memory / 8;

	report_phase(HAMMING_PHASE_SCAN);
	build->memory -= nulls_memory;
	build->nulls = hamming_sorter_begin(HAMMING_KEY_WORDS, nulls_memory,
										build->files, HAMMING_NULL_ROWS,
										build->number);
	build->rows = hamming_sorter_begin(HAMMING_KEY_WORDS, build->memory,
									   build->files, HAMMING_ROWS,
									   build->number);
	build->tuples.heap_tuples =
		table_index_build_scan(build->heap, build->index, build->info, true,
							   build->number == 0, add_row, build, build->scan);
	report_phase(HAMMING_PHASE_SORT(0));
	hamming_sorter_finish(build->rows);
	hamming_sorter_finish(build->nulls);
	if (build->files != NULL)
	{
		/*
		 * All rows are in the files now, where the other processes read them.
		 * The memory of the two sorts goes to the sorts of fingerprints.
		 */
		build->row_runs = build->rows->run_count;
		build->null_runs = build->nulls->run_count;
		hamming_sorter_end(build->rows);
		hamming_sorter_end(build->nulls);
	}
}

/* Fingerprints */

/* A list of fingerprints that is being written. */
typedef struct ListWriter
{
	BufFile    *file;
	int64		count;			/* on the list */
	Fingerprint last;			/* the last of them */
} ListWriter;

/* List the fingerprints of sorted rows, each once. */
static void
list_fingerprints(ListWriter *writer, const uint64 *words, Size count)
{
	uint64		list[HAMMING_READ_AT_ONCE * FINGERPRINT_WORDS];
	int			listed = 0;
	Size		i;

	for (i = 0; i < count; i++)
	{
		Fingerprint fingerprint = fingerprint_from_words(words + i *
														 HAMMING_KEY_WORDS);

		if (writer->count > 0 && fingerprint == writer->last)
			continue;
		fingerprint_to_words(fingerprint, list + listed);
		listed += FINGERPRINT_WORDS;
		writer->last = fingerprint;
		writer->count++;
		if (listed == lengthof(list))
		{
			CHECK_FOR_INTERRUPTS();
			BufFileWrite(writer->file, list, sizeof(list));
			listed = 0;
		}
	}
	BufFileWrite(writer->file, list, listed * sizeof(uint64));
}

/* Keep of the sorted rows in memory each fingerprint once. */
static void
keep_fingerprints(HammingSorter *rows)
{
	uint64	   *to = rows->words;
	Fingerprint last = 0;
	Size		i;

	for (i = 0; i < rows->count; i++)
	{
		const uint64 *words = rows->words + i * HAMMING_KEY_WORDS;
		Fingerprint fingerprint = fingerprint_from_words(words);

		CHECK_FOR_INTERRUPTS();
		if (i > 0 && fingerprint == last)
			continue;
		fingerprint_to_words(fingerprint, to);
		to += FINGERPRINT_WORDS;
		last = fingerprint;
	}
	rows->count = (to - rows->words) / FINGERPRINT_WORDS;
	rows->width = FINGERPRINT_WORDS;
}

/* Rotate the fingerprints in memory from the order of the table before. */
static void
rotate_fingerprints(HammingBuild *build, int table)
{
	HammingSorter *sorter = build->fingerprints;
	int			bits = hamming_block_width(build->blocks, table - 1);
	Size		i;

	for (i = 0; i < sorter->count; i++)
	{
		uint64	   *words = sorter->words + i * FINGERPRINT_WORDS;
		Fingerprint fingerprint = fingerprint_from_words(words);

		CHECK_FOR_INTERRUPTS();
		fingerprint_to_words(hamming_rotate(fingerprint, bits), words);
	}
}

/* Add those fingerprints of a list, rotated, that are in this part. */
static void
add_fingerprints(HammingSorter *sorter, HammingRun *list, int bits,
				 HammingPart part)
{
	HammingRuns runs = {list, 1};
	HammingReader *reader = hamming_reader_begin(FINGERPRINT_WORDS, &runs, 0,
												 FINGERPRINT_ALL_BITS);
	const uint64 *words;
	Size		count;
	Size		i;

	while ((words = hamming_reader_next(reader, &count)) != NULL)
	{
		uint64	   *to;

		/* without a branch, as none could be predicted */
		hamming_sorter_make_room(sorter, count);
		to = sorter->words + sorter->count * FINGERPRINT_WORDS;
		for (i = 0; i < count; i++, words += FINGERPRINT_WORDS)
		{
			HammingBits rotated = hamming_rotate(fingerprint_from_words(words),
												 bits);

			fingerprint_to_words(rotated, to);
			to += FINGERPRINT_WORDS *
				((part.first <= rotated) & (rotated <= part.last));
		}
		sorter->count = (to - sorter->words) / FINGERPRINT_WORDS;
	}
	hamming_reader_end(reader);
}

/* Sort the fingerprints of a part of a table, 1 or higher. */
static void
sort_fingerprints(HammingBuild *build, int table)
{
	HammingSorter *sorter = build->fingerprints;
	int			bits = hamming_block_start(build->blocks, table);
	int			i;

	report_phase(HAMMING_PHASE_SORT(table));
	if (build->lists.count == 0)
		rotate_fingerprints(build, table);
	else
	{
		hamming_sorter_restart(sorter);
		for (i = 0; i < build->lists.count; i++)
			add_fingerprints(sorter, &build->lists.runs[i], bits,
							 build->parts[table]);
	}
	hamming_sorter_finish(sorter);
}

/* Tables */

/* Write this process's part of a table, and list its fingerprints, or not. */
static void
write_part(HammingBuild *build, int table, HammingReader *reader, int width,
		   ListWriter *list)
{
	HammingPart part = build->parts[table];
	BufFile    *leaves = NULL;
	HammingWriter *writer;
	const uint64 *words;
	Size		count;

	if (!part.whole)
		leaves = hamming_file_create(build->files, HAMMING_LEAVES,
									 build->number, table);
	writer = hamming_writer_begin(&build->pages, table, part.first, part.last,
								  leaves);
	report_phase(HAMMING_PHASE_WRITE(Min(table, HAMMING_MAX_BLOCKS)));
	while ((words = hamming_reader_next(reader, &count)) != NULL)
	{
		hamming_writer_add(writer, words, count, width);
		if (list != NULL)
			list_fingerprints(list, words, count);
	}
	hamming_writer_end(writer);
	hamming_reader_end(reader);
	if (leaves != NULL)
		hamming_file_export(leaves);
}

/* Write table 0 from the rows that are in memory, or in files of our own. */
static void
write_own_rows(HammingBuild *build)
{
	HammingSorter *rows = build->rows;
	HammingReader *reader = hamming_sorter_read(rows);
	ListWriter	list = {NULL};
	HammingRun	run = {.width = FINGERPRINT_WORDS};

	if (rows->run_count == 0)
	{
		write_part(build, 0, reader, HAMMING_KEY_WORDS, NULL);
		keep_fingerprints(rows);
		build->fingerprints = rows;
		return;
	}
	list.file = hamming_file_create(NULL, HAMMING_LIST, 0, 0);
	write_part(build, 0, reader, HAMMING_KEY_WORDS, &list);
	run.file = list.file;
	run.count = list.count;
	hamming_runs_add(&build->lists, run);
	hamming_sorter_end(rows);
}

/* Write a part of table 0 from the rows of all processes. */
static void
write_shared_rows(HammingBuild *build)
{
	HammingPart part = build->parts[0];
	HammingRuns runs = hamming_parallel_open(build, HAMMING_ROWS);
	ListWriter	list = {NULL};

	list.file = hamming_file_create(build->files, HAMMING_LIST, build->number,
									0);
	if (part.first <= part.last)
		write_part(build, 0,
				   hamming_reader_begin(HAMMING_KEY_WORDS, &runs, part.first,
										part.last),
				   HAMMING_KEY_WORDS, &list);
	hamming_file_export(list.file);
	hamming_runs_close(&runs);
}

/* Write this process's part of each table but the first. */
static void
write_other_tables(HammingBuild *build)
{
	int			table;

	if (build->fingerprints == NULL)
		build->fingerprints = hamming_sorter_begin(FINGERPRINT_WORDS,
												   build->memory, NULL,
												   HAMMING_LIST, 0);
	for (table = 1; table < build->blocks; table++)
		if (build->parts[table].first <= build->parts[table].last)
		{
			sort_fingerprints(build, table);
			write_part(build, table, hamming_sorter_read(build->fingerprints),
					   FINGERPRINT_WORDS, NULL);
		}
	hamming_sorter_end(build->fingerprints);
	hamming_runs_close(&build->lists);
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
	hamming_write_page(hamming_extend(index, fork), (Page) page.data);
}

/* Write the metapage and the roots, in order, of an index without rows. */
static void
write_fixed_pages(Relation index, ForkNumber fork, int blocks)
{
	PGAlignedBlock page;
	int			table;

	make_metapage((Page) page.data, blocks);
	hamming_write_page(hamming_extend(index, fork), (Page) page.data);
	write_root(index, fork, HAMMING_NULLS);
	for (table = 0; table < blocks; table++)
		write_root(index, fork, table);
}

/*
 * Return the number of blocks for an index of rows rows: that of the option
 * blocks, or else the number that doc/indexing.md has found best.
 */
static int
choose_blocks(Relation index, double rows)
{
	HammingOptions *options = (HammingOptions *) index->rd_options;

	if (options != NULL && options->blocks > 0)
		return options->blocks;
	return HAMMING_BITS / (rows < 200000000 ? 16 : 21);
}

/*
 * The leader's part, when all rows have been sorted: now their number is known.
 */
static void
begin_tables(HammingBuild *build)
{
	build->blocks = choose_blocks(build->index, build->total.index_tuples);
	write_fixed_pages(build->index, MAIN_FORKNUM, build->blocks);
	build->pages.logged = HAMMING_FIXED_PAGES(build->blocks);
	build->pages.next = build->pages.end = build->pages.logged;
}

/*
 * End the build, in the leader: put the leaves that were written in parts under
 * inner pages, write the table of NULLs, and log the pages that are not logged.
 */
static void
finish_tables(HammingBuild *build)
{
	HammingRuns runs = {NULL};
	HammingReader *reader;

	hamming_parallel_join(build);
	report_phase(HAMMING_PHASE_SORT(HAMMING_MAX_BLOCKS));
	if (build->files == NULL)
		reader = hamming_sorter_read(build->nulls);
	else
	{
		runs = hamming_parallel_open(build, HAMMING_NULL_ROWS);
		reader = hamming_reader_begin(HAMMING_KEY_WORDS, &runs, 0,
									  FINGERPRINT_ALL_BITS);
	}
	write_part(build, HAMMING_NULLS, reader, HAMMING_KEY_WORDS, NULL);
	hamming_runs_close(&runs);
	hamming_pages_log(&build->pages);
	hamming_parallel_free_pages(build);
	if (RelationNeedsWAL(build->index))
		log_newpage_range(build->index, MAIN_FORKNUM, 0,
						  HAMMING_FIXED_PAGES(build->blocks), true);
}

/*
 * What each process of a build does: the only one, the leader, or a worker.
 * Where they wait for each other, the leader does what it alone can do, and
 * then all go on.
 */
void
hamming_build_together(HammingBuild *build)
{
	sort_rows(build);
	if (hamming_parallel_gather(build))
	{
		begin_tables(build);
		hamming_parallel_split(build, HAMMING_ROWS, 0, 0);
	}
	hamming_parallel_go_on(build);
	if (build->files == NULL)
		write_own_rows(build);
	else
		write_shared_rows(build);
	if (hamming_parallel_gather(build))
	{
		hamming_parallel_delete(build, HAMMING_ROWS);
		hamming_parallel_split(build, HAMMING_LIST, 1, build->blocks - 1);
	}
	hamming_parallel_go_on(build);
	if (build->files != NULL)
		build->lists = hamming_parallel_open(build, HAMMING_LIST);
	write_other_tables(build);
	hamming_pages_log(&build->pages);
	if (hamming_parallel_gather(build))
		finish_tables(build);
}

/*
 * ambuild.
 *
 * On entry and on return the caller holds no buffer lock.  One page at a time
 * is locked, but log_newpage_range() locks up to 32 together: no other process
 * waits for a page of this index while it holds another.
 */
IndexBuildResult *
hamming_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	HammingBuild build = {.heap = heap,.index = index,.info = info};

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	build.memory = maintenance_work_mem;
	build.pages.index = index;
	hamming_parallel_begin(&build);
	hamming_build_together(&build);
	hamming_parallel_end(&build);
	*result = build.total;
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
