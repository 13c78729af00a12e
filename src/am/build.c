/*
 * build.c
 *	  CREATE INDEX: its processes, and what each of them does.
 *
 * The heap is read once, by all processes of the build together.  Each sorts
 * the rows that it got by fingerprint and TID.  Then each takes one tree after
 * the other that no process has taken, and writes it from the rows of all
 * processes.  Tree 0 and that of NULLs are these rows, merged.  For another
 * block tree the fingerprints of the rows, or their words, are rotated, and
 * sorted again.
 *
 * A process that is alone leaves the rows in memory, if they fit in the part
 * that is not kept for sorting them again.  Otherwise all rows go to files: of
 * shared memory there may be little.
 *
 * Nobody else reads or writes the index: before CREATE INDEX has committed, or
 * CREATE INDEX CONCURRENTLY has marked the index as ready, no session inserts
 * into it.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "storage/barrier.h"
#include "storage/spin.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "am/sort.h"
#include "type/compat.h"
#include "type/workers.h"

/* What the processes of a build share: in shared memory, if they are many. */
typedef struct BuildShared
{
	Oid			heap;
	Oid			index;
	bool		concurrent;
	int			memory;			/* kilobytes that a worker may use */
	HammingSharedRuns rows;		/* of all processes */
	Barrier		barrier;		/* phase 0: the table is read; 1: the leader
								 * begins the trees; 2: they are written */
	slock_t		mutex;			/* of the next two in phase 0 */
	IndexBuildResult result;	/* rows read, and rows of the index */
	bool		broken_hot_chain;	/* has one been found? */
	int			blocks;			/* set in phase 1 */
	pg_atomic_uint32 begun;		/* block trees that a process has begun to
								 * write */
} BuildShared;

/* A process of a build: the only one, the leader, or a worker. */
typedef struct Build
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	int			memory;			/* kilobytes that this process may use */
	int			rows_memory;	/* of these, for rows */
	BuildShared *shared;
	TableScanDesc scan;			/* of all processes; NULL if this is alone */
	HammingLayout layout;		/* of the index; blocks from phase 1 on */
	HammingSorter *rows;		/* (fingerprint, TID) */
	double		added;			/* to rows, by this process */

	/* of a leader, or NULL */
	ParallelContext *context;
	Snapshot	snapshot;
} Build;

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
	Build	   *build = callback_state;
	HammingKey	key = hamming_greatest_key;

	if (isnull[0])
		key.tid = NULL_TID + hamming_tid(tid);
	else
		key = hamming_row_key(index, values[0], false, tid);
	hamming_sorter_add_key(build->rows, key);
	build->added++;
}

/* Read and sort this process's share of the heap. */
static void
sort_rows(Build *build)
{
	BuildShared *shared = build->shared;
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

/*
 * Write the elements of a sorter that is finished to a tree, and of tree 0 the
 * NULLs to theirs.
 */
static void
write_tree(Build *build, HammingSorter *sorter, int tree)
{
	HammingWriter *writer = hamming_writer_begin(build->index,
												 build->layout, tree);
	HammingWriter *nulls = NULL;
	HammingKey *key;

	report_phase(HAMMING_PHASE_WRITE(hamming_tree_ordinal(build->layout,
														  tree)));
	if (tree == 0)
		nulls = hamming_writer_begin(build->index, build->layout,
									 HAMMING_NULLS);
	key = hamming_writer_next(writer);
	while (hamming_sorter_next_key(sorter, key))
		if (key->tid < NULL_TID)
			key = hamming_writer_add(writer);
		else
		{
			HammingKey	null = {.tid = key->tid - NULL_TID};

			*hamming_writer_next(nulls) = null;
			hamming_writer_add(nulls);
		}
	hamming_writer_end(writer);
	if (tree == 0)
		hamming_writer_end(nulls);
}

/*
 * Add to sorter the keys of a tree, 1 or up, of the rows that are read, but
 * NULLs.  A key that is that of the row before is left out.
 */
static pg_attribute_always_inline void
add_keys_of(Build *build, HammingSorter *sorter, int tree, HammingLayout layout)
{
	HammingKey	last = hamming_greatest_key;	/* no row has it */
	HammingKey	row;

	while (hamming_sorter_next_key(build->rows, &row) && row.tid < NULL_TID)
	{
		HammingKey	key;

		CHECK_FOR_INTERRUPTS();
		row.tid = 0;
		key = hamming_tree_key(layout, 0, tree, row);
		if (hamming_compare_words(&key, &last) != 0 || last.tid != 0)
			hamming_sorter_add_key(sorter, key);
		last = key;
	}
}

/* With fingerprints of one word a build takes 5 % longer without constants. */
static void
add_keys(Build *build, HammingSorter *sorter, int tree)
{
	HammingLayout one = {.words = 1,.blocks = build->layout.blocks};

	if (build->layout.words == 1)
		add_keys_of(build, sorter, tree, one);
	else
		add_keys_of(build, sorter, tree, build->layout);
}

/* Write a block tree, 1 or up. */
static void
write_derived_tree(Build *build, int tree)
{
	HammingSorter *rows = build->rows;
	int			runs = list_length(rows->runs);
	HammingSorter *sorter =
	hamming_sorter_begin(hamming_tree_width(build->layout, tree), false,
						 build->memory -
						 (runs == 0 ? build->rows_memory : 0));
	int			i;

	report_phase(HAMMING_PHASE_SORT(hamming_tree_ordinal(build->layout, tree)));
	/* runs need not be merged: sorter sorts them anew */
	for (i = 0; i < Max(runs, 1); i++)
	{
		hamming_sorter_rewind(rows, i, 1);
		add_keys(build, sorter, tree);
	}
	hamming_sorter_finish(sorter);
	write_tree(build, sorter, tree);
	hamming_sorter_end(sorter);
}

/* Write the root of a tree without rows. */
static void
write_root(Relation index, ForkNumber fork, int width, int tree)
{
	PGAlignedBlock block;
	Page		page = (Page) block.data;

	hamming_tree_page_init(page, width, tree, 0, hamming_least_key,
						   hamming_greatest_key);
	hamming_write_page(index, fork, hamming_extend(index, fork), page);
}

/* Write the metapage and the roots, in order, of an index without rows. */
static void
write_fixed_pages(Relation index, ForkNumber fork, HammingLayout layout)
{
	PGAlignedBlock block;
	Page		page = (Page) block.data;
	HammingMeta *meta = (HammingMeta *) PageGetContents(page);
	int			tree;

	hamming_page_init(page, HAMMING_PAGE_META, 1, 0);
	meta->magic = HAMMING_MAGIC;
	meta->version = HAMMING_VERSION(layout.words);
	meta->width = 64 * layout.words;
	meta->blocks = layout.blocks;
	((PageHeader) page)->pd_lower += sizeof(HammingMeta);
	hamming_write_page(index, fork, hamming_extend(index, fork), page);
	write_root(index, fork, 1, HAMMING_NULLS);
	for (tree = 0; tree < HAMMING_TREES; tree = hamming_next_tree(layout, tree))
		write_root(index, fork, hamming_tree_width(layout, tree), tree);
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
 * What each process of a build does.  A worker that attaches in phase 1 or 2
 * reads no rows, and takes the trees that no process has taken.
 */
static void
build_together(Build *build)
{
	BuildShared *shared = build->shared;
	int			phase = IsParallelWorker()
	? BarrierAttach(&shared->barrier) : 0;
	int			words = build->layout.words;
	int			trees;
	int			n;

	/*
	 * If this process is alone, the rows stay in memory while the
	 * fingerprints of another tree, which have no TIDs, are sorted.  There is
	 * room for equally many of both.
	 */
	build->rows_memory = build->scan != NULL ? build->memory
		: (int64) build->memory * (words + 1) / (2 * words + 1);
	build->rows = hamming_sorter_begin(words, true, build->rows_memory);
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
		build->layout.blocks = shared->blocks;
		write_fixed_pages(build->index, MAIN_FORKNUM, build->layout);
	}
	if (phase <= 1)
		BarrierArriveAndWait(&shared->barrier,
							 WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	build->layout.blocks = shared->blocks;
	if (build->rows->shared != NULL)
		hamming_sorter_open_shared(build->rows);
	trees = words * build->layout.blocks;
	while ((n = pg_atomic_fetch_add_u32(&shared->begun, 1)) < trees)
		if (n == 0)
			write_tree(build, build->rows, 0);
		else
			write_derived_tree(build, HAMMING_TREE(n / shared->blocks,
												   n % shared->blocks));
	hamming_sorter_end(build->rows);
}

/* Set what the processes of a build share, but memory and rows.files. */
static BuildShared *
init_shared(Build *build, BuildShared *shared)
{
	memset(shared, 0, sizeof(BuildShared));
	shared->heap = RelationGetRelid(build->heap);
	shared->index = RelationGetRelid(build->index);
	shared->concurrent = build->info->ii_Concurrent;
	pg_atomic_init_u32(&shared->rows.count, 0);
	/* this process is waited for before it has begun */
	BarrierInit(&shared->barrier, 0);
	BarrierAttach(&shared->barrier);
	SpinLockInit(&shared->mutex);
	pg_atomic_init_u32(&shared->begun, 0);
	return shared;
}

/* The scan of the table lies behind shared. */
static ParallelTableScanDesc
scan_of(BuildShared *shared)
{
	return (ParallelTableScanDesc) ((char *) shared +
									MAXALIGN(sizeof(BuildShared)));
}

static void
join_build(Build *build, BuildShared *shared, int memory)
{
	build->shared = shared;
	build->memory = memory;
	build->scan = table_beginscan_parallel(build->heap, scan_of(shared),
										   SO_NONE);
}

static void
end_processes(Build *build)
{
	if (build->context == NULL)
		return;
	simhash_workers_end(build->context);
	if (IsMVCCSnapshot(build->snapshot))
		UnregisterSnapshot(build->snapshot);
	build->context = NULL;
}

/*
 * Begin a build, which has workers if PostgreSQL grants some, there is shared
 * memory for them, and one of them starts.  The caller has set build->heap,
 * build->index and build->info.
 */
static void
begin_processes(Build *build)
{
	int			workers = index_build_workers(build->heap, build->index,
											  build->info);
	BuildShared *shared;
	Size		size;

	build->memory = maintenance_work_mem;
	build->shared = init_shared(build, palloc(sizeof(BuildShared)));
	if (workers == 0)
		return;
	build->snapshot = build->info->ii_Concurrent
		? RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	size = table_parallelscan_estimate(build->heap, build->snapshot);
	size = add_size(MAXALIGN(sizeof(BuildShared)), size);
	shared = simhash_workers_prepare(&build->context,
									 CppAsString2(hamming_parallel_build_main),
									 workers, size);
	init_shared(build, shared);
	shared->memory = maintenance_work_mem / (build->context->nworkers + 1);
	SharedFileSetInit(&shared->rows.files, build->context->seg);
	table_parallelscan_initialize(build->heap, scan_of(shared),
								  build->snapshot);
	LaunchParallelWorkers(build->context);
	if (build->context->nworkers_launched == 0)
		end_processes(build);
	else
	{
		test_stop("build: workers");
		join_build(build, shared, maintenance_work_mem /
				   (build->context->nworkers_launched + 1));
	}
}

/*
 * ambuild.  One page at a time is locked, but log_newpage_range() locks up to
 * 32 together: no other process waits for a page of this index while it holds
 * another.
 */
IndexBuildResult *
hamming_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	Build		build = {.heap = heap,.index = index,.info = info};

	hamming_check_columns(index);
	build.layout.words = hamming_words(index);
	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	begin_processes(&build);
	build_together(&build);
	*result = build.shared->result;
	info->ii_BrokenHotChain |= build.shared->broken_hot_chain;
	end_processes(&build);
	return result;
}

/* What a worker does: PostgreSQL finds this function by its name. */
extern PGDLLEXPORT void hamming_parallel_build_main(dsm_segment *segment,
													shm_toc *toc);
void
hamming_parallel_build_main(dsm_segment *segment, shm_toc *toc)
{
	BuildShared *shared = simhash_worker_begin(toc);
	Build		build = {0};

	/* the leader's locks, which do not conflict within a parallel group */
	build.heap = table_open(shared->heap, shared->concurrent
							? ShareUpdateExclusiveLock : ShareLock);
	build.index = index_open(shared->index, shared->concurrent
							 ? RowExclusiveLock : AccessExclusiveLock);
	build.info = BuildIndexInfo(build.index);
	build.info->ii_Concurrent = shared->concurrent;
	build.layout.words = hamming_words(build.index);
	SharedFileSetAttach(&shared->rows.files, segment);
	join_build(&build, shared, shared->memory);
	build_together(&build);
	index_close(build.index, NoLock);
	table_close(build.heap, NoLock);
	simhash_worker_end(toc);
}

/* ambuildempty: write and log the initial fork.  Locks: as hamming_build(). */
void
hamming_build_empty(Relation index)
{
	HammingLayout layout = {
		.words = hamming_words(index),.blocks = choose_blocks(index, 0)
	};

	write_fixed_pages(index, INIT_FORKNUM, layout);
}
