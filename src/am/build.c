/*
 * build.c
 *	  What each process of CREATE INDEX does.
 *
 * The heap is read once, by all processes of the build together.  Each sorts
 * the rows that it got by fingerprint and TID.  Then each takes one tree after
 * the other that no process has taken, and writes it from the rows of all
 * processes.  Tree 0 and that of NULLs are these rows, merged.  For another
 * block tree the fingerprints of the rows are rotated, and sorted again.
 *
 * A process that is alone leaves the rows in memory, if they fit there.  After
 * tree 0 it keeps their fingerprints only, and sorts them there for one tree
 * after the other.  Otherwise all rows go to files.
 *
 * Nobody else reads or writes the index: before CREATE INDEX has committed, or
 * CREATE INDEX CONCURRENTLY has marked the index as ready, no session inserts
 * into it.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/wait_event.h"

#include "am/build.h"
#include "am/write.h"
#include "type/compat.h"

/*
 * A row without a fingerprint is sorted as the greatest fingerprint, with a TID
 * from here on, behind all others.
 */
#define NULL_TID HAMMING_BEYOND_TIDS

static void
report_phase(int64 phase)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, phase);
}

static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		bool alive, void *callback_state)
{
	HammingBuild *build = callback_state;
	HammingKey	key = {FINGERPRINT_ALL_BITS, NULL_TID + hamming_tid(tid)};

	if (!isnull[0])
		key = hamming_key(DatumGetSimhash(values[0]), hamming_tid(tid));
	hamming_sorter_add_key(build->rows, key);
	build->added++;
}

/* Read and sort this process's share of the heap. */
static void
sort_rows(HammingBuild *build)
{
	HammingShared *shared = build->shared;
	double		read;

	report_phase(HAMMING_PHASE_SCAN);
	read = table_index_build_scan(build->heap, build->index, build->info, true,
								  !IsParallelWorker(), add_row, build,
								  build->scan);
	report_phase(HAMMING_PHASE_SORT(0));
	hamming_sorter_finish(build->rows);
	SpinLockAcquire(&shared->mutex);
	shared->result.heap_tuples += read;
	shared->result.index_tuples += build->added;
	shared->broken_hot_chain |= build->info->ii_BrokenHotChain;
	SpinLockRelease(&shared->mutex);
}

/* Write all elements of a reader: NULLs to nulls.  End the reader. */
static pg_attribute_always_inline void
write_elements(HammingReader *reader, int width, HammingWriter *writer,
			   HammingWriter *nulls)
{
	const uint64 *words;
	Size		count;

	while ((words = hamming_reader_next(reader, &count)) != NULL)
		for (; count > 0; count--, words += width)
		{
			HammingBits bits = fingerprint_from_words(words);
			uint64		tid = width == FINGERPRINT_WORDS
			? 0 : words[FINGERPRINT_WORDS];

			if (tid < NULL_TID)
				hamming_writer_add(writer, hamming_key(bits, tid));
			else
				hamming_writer_add(nulls, hamming_key(0, tid - NULL_TID));
		}
	hamming_reader_end(reader);
}

/* Write tree 0 and that of NULLs. */
static void
write_rows(HammingBuild *build)
{
	HammingWriter *rows = hamming_writer_begin(build->index, 0);
	HammingWriter *nulls = hamming_writer_begin(build->index, HAMMING_NULLS);

	report_phase(HAMMING_PHASE_WRITE(0));
	write_elements(hamming_sorter_read(build->rows), HAMMING_KEY_WORDS, rows,
				   nulls);
	hamming_writer_end(rows);
	hamming_writer_end(nulls);
}

/*
 * Add the fingerprints of sorted elements, but NULLs, to a sorter, each once,
 * rotated by bits.  The elements may be those that the sorter has had in the
 * same memory, as each has been read when another one is put there.
 */
static void
add_fingerprints(HammingSorter *sorter, const uint64 *words, Size count,
				 int width, int bits)
{
	Fingerprint last = 0;
	Size		i;

	for (i = 0; i < count; i++, words += width)
	{
		Fingerprint fingerprint = fingerprint_from_words(words);

		CHECK_FOR_INTERRUPTS();
		if (width == HAMMING_KEY_WORDS && words[FINGERPRINT_WORDS] >= NULL_TID)
			break;
		if (i > 0 && fingerprint == last)
			continue;
		fingerprint_to_words(hamming_rotate(fingerprint, bits),
							 hamming_sorter_add(sorter));
		last = fingerprint;
	}
}

/* Write a block tree, 1 or up. */
static void
write_fingerprints(HammingBuild *build, int tree)
{
	HammingSorter *rows = build->rows;
	HammingSorter *sorter = rows;
	HammingWriter *writer;
	int			blocks = build->shared->blocks;
	int			bits = hamming_block_start(blocks, tree);
	const uint64 *words = rows->words;
	int			width = rows->width;
	Size		count = rows->count;
	int			i;

	report_phase(HAMMING_PHASE_SORT(tree));
	if (rows->runs == NIL)
	{
		/* from the order of the tree before, in place */
		rows->width = FINGERPRINT_WORDS;
		rows->count = 0;
		add_fingerprints(rows, words, count, width,
						 hamming_block_width(blocks, tree - 1));
	}
	else
		sorter = hamming_sorter_begin(FINGERPRINT_WORDS, build->memory);
	for (i = 0; i < list_length(rows->runs); i++)
	{
		HammingReader *reader = hamming_sorter_read_runs(rows, i, 1);

		while ((words = hamming_reader_next(reader, &count)) != NULL)
			add_fingerprints(sorter, words, count, width, bits);
		hamming_reader_end(reader);
	}
	hamming_sorter_finish(sorter);
	report_phase(HAMMING_PHASE_WRITE(tree));
	writer = hamming_writer_begin(build->index, tree);
	write_elements(hamming_sorter_read(sorter), FINGERPRINT_WORDS, writer,
				   NULL);
	hamming_writer_end(writer);
	if (sorter != rows)
		hamming_sorter_end(sorter);
}

/* Write the metapage and the roots, in order, of an index without rows. */
static void
write_fixed_pages(Relation index, ForkNumber fork, int blocks)
{
	PGAlignedBlock block;
	Page		page = (Page) block.data;
	HammingMeta *meta = (HammingMeta *) PageGetContents(page);
	int			tree;

	hamming_page_init(page, HAMMING_PAGE_META, 0);
	meta->magic = HAMMING_MAGIC;
	meta->version = HAMMING_VERSION;
	meta->width = HAMMING_BITS;
	meta->blocks = blocks;
	((PageHeader) page)->pd_lower += sizeof(HammingMeta);
	hamming_write_page(index, fork, hamming_extend(index, fork), page);
	for (tree = -1; tree < blocks; tree++)
	{
		hamming_tree_page_init(page, tree < 0 ? HAMMING_NULLS : tree, 0,
							   hamming_least_key, hamming_greatest_key);
		hamming_write_page(index, fork, hamming_extend(index, fork), page);
	}
}

static int
choose_blocks(Relation index, double rows)
{
	HammingOptions *options = (HammingOptions *) index->rd_options;

	if (options != NULL && options->blocks > 0)
		return options->blocks;
	return hamming_default_blocks(rows);
}

/*
 * What each process of a build does: the only one, the leader, or a worker.  A
 * worker that attaches in phase 1 or 2 reads no rows, and takes the trees that
 * no process has taken.
 */
void
hamming_build_together(HammingBuild *build)
{
	HammingShared *shared = build->shared;
	int			phase = IsParallelWorker()
	? BarrierAttach(&shared->barrier) : 0;
	int			tree;

	build->rows = hamming_sorter_begin(HAMMING_KEY_WORDS, build->memory);
	if (build->scan != NULL)
		build->rows->shared = &shared->rows;
	if (phase == 0)
	{
		sort_rows(build);
		BarrierArriveAndWait(&shared->barrier,
							 WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	}
	else
		table_endscan(build->scan);
	if (!IsParallelWorker())
	{
		/* now the number of rows is known */
		shared->blocks = choose_blocks(build->index,
									   shared->result.index_tuples);
		write_fixed_pages(build->index, MAIN_FORKNUM, shared->blocks);
	}
	if (phase <= 1)
		BarrierArriveAndWait(&shared->barrier,
							 WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	if (build->rows->shared != NULL)
		hamming_sorter_open_shared(build->rows);
	while ((tree = pg_atomic_fetch_add_u32(&shared->next_tree, 1)) <
		   shared->blocks)
		if (tree == 0)
			write_rows(build);
		else
			write_fingerprints(build, tree);
	hamming_sorter_end(build->rows);
}

/* ambuildempty: write and log the initial fork.  Locks: as hamming_build(). */
void
hamming_build_empty(Relation index)
{
	write_fixed_pages(index, INIT_FORKNUM, choose_blocks(index, 0));
}
