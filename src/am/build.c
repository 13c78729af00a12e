/*
 * build.c
 *	  CREATE INDEX: its processes, and what each of them does.
 *
 * The heap is read once, by all processes of the build together.  Each sorts
 * the rows that it got by fingerprint and TID.  Then each takes one tree after
 * the other that no process has taken, and writes it from the rows of all
 * processes.  Tree 0 and that of NULLs are these rows, merged.  For another
 * block tree the fingerprints of the rows are rotated, and sorted again.
 *
 * A process that is alone leaves the rows in memory, if they fit there.
 * Otherwise all rows go to files: of shared memory there may be little.
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
#include "am/test_stop.h"
#include "type/compat.h"
#include "type/workers.h"

#define hamming_parallel_build_main WIDE(hamming_parallel_build_main)

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
	pg_atomic_uint32 next_tree; /* that no process has begun to write */
} BuildShared;

/* A process of a build: the only one, the leader, or a worker. */
typedef struct Build
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	int			memory;			/* kilobytes that this process may use */
	BuildShared *shared;
	TableScanDesc scan;			/* of all processes; NULL if this is alone */
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
	HammingKey	key = {FINGERPRINT_ALL_BITS, NULL_TID + hamming_tid(tid)};

	if (!isnull[0])
		key = hamming_key(DatumGetSimhash(values[0]), hamming_tid(tid));
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
	HammingWriter *writer = hamming_writer_begin(build->index, tree);
	HammingWriter *nulls = NULL;
	HammingKey	key;

	report_phase(HAMMING_PHASE_WRITE(tree));
	if (tree == 0)
		nulls = hamming_writer_begin(build->index, HAMMING_NULLS);
	while (hamming_sorter_next_key(sorter, &key))
		if (key.tid < NULL_TID)
			hamming_writer_add(writer, key);
		else
			hamming_writer_add(nulls, hamming_key(0, key.tid - NULL_TID));
	hamming_writer_end(writer);
	if (tree == 0)
		hamming_writer_end(nulls);
}

/*
 * Add the fingerprints that are read of rows, but NULLs, to sorter, each once,
 * rotated by shift.  If sorter is rows, each has been read when another one is
 * put in the same memory.
 */
static void
add_fingerprints(HammingSorter *sorter, HammingSorter *rows, int shift)
{
	HammingKey	last = hamming_greatest_key;	/* no row has it */
	HammingKey	key;

	while (hamming_sorter_next_key(rows, &key) && key.tid < NULL_TID)
	{
		CHECK_FOR_INTERRUPTS();
		if (last.tid >= NULL_TID || key.rotated != last.rotated)
		{
			HammingBits rotated = hamming_rotate(key.rotated, shift);

			hamming_sorter_add_key(sorter, hamming_key(rotated, 0));
		}
		last = key;
	}
}

/* Write a block tree, 1 or up. */
static void
write_fingerprints(Build *build, int tree)
{
	HammingSorter *rows = build->rows;
	HammingSorter *sorter = rows;
	int			blocks = build->shared->blocks;
	int			runs = list_length(rows->runs);
	int			i;

	report_phase(HAMMING_PHASE_SORT(tree));
	if (runs == 0)
	{
		/* in place, from the order of the tree before */
		hamming_sorter_rewind(rows, 0, 0);
		rows->width = FINGERPRINT_WORDS;
		rows->count = 0;
		add_fingerprints(rows, rows, hamming_block_width(blocks, tree - 1));
	}
	else
		sorter = hamming_sorter_begin(FINGERPRINT_WORDS, build->memory);
	/* they need not be merged: sorter sorts them anew */
	for (i = 0; i < runs; i++)
	{
		hamming_sorter_rewind(rows, i, 1);
		add_fingerprints(sorter, rows, hamming_block_start(blocks, tree));
	}
	hamming_sorter_finish(sorter);
	write_tree(build, sorter, tree);
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
static void
build_together(Build *build)
{
	BuildShared *shared = build->shared;
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
			write_tree(build, build->rows, 0);
		else
			write_fingerprints(build, tree);
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
	pg_atomic_init_u32(&shared->next_tree, 0);
	return shared;
}

/* The scan of the table lies behind shared. */
static ParallelTableScanDesc
scan_of(BuildShared *shared)
{
	return (ParallelTableScanDesc) ((char *) shared +
									MAXALIGN(sizeof(BuildShared)));
}

/* Let this process build with the others. */
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
 * ambuild.
 *
 * One page at a time is locked, but log_newpage_range() locks up to 32
 * together: no other process waits for a page of this index while it holds
 * another.
 */
IndexBuildResult *
hamming_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	Build		build = {.heap = heap,.index = index,.info = info};

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
	write_fixed_pages(index, INIT_FORKNUM, choose_blocks(index, 0));
}
