/*
 * parallel.c
 *	  CREATE INDEX: its processes, and what they share.
 *
 * Little is in shared memory, as there may be little of it.  Rows go through
 * files, which mostly stay in memory.  What each process does is in build.c.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/snapmgr.h"

#include "am/build.h"
#include "am/test_stop.h"
#include "type/compat.h"
#include "type/workers.h"

/* Set what the processes of a build share, but memory and rows.files. */
static HammingShared *
init_shared(HammingBuild *build, HammingShared *shared)
{
	memset(shared, 0, sizeof(HammingShared));
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
scan_of(HammingShared *shared)
{
	return (ParallelTableScanDesc) ((char *) shared +
									MAXALIGN(sizeof(HammingShared)));
}

/* Let this process build with the others. */
static void
join_build(HammingBuild *build, HammingShared *shared, int memory)
{
	build->shared = shared;
	build->memory = memory;
	build->scan = table_beginscan_parallel(build->heap, scan_of(shared),
										   SO_NONE);
}

static void
end_processes(HammingBuild *build)
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
begin_processes(HammingBuild *build)
{
	int			workers = index_build_workers(build->heap, build->index,
											  build->info);
	HammingShared *shared;
	Size		size;

	build->memory = maintenance_work_mem;
	build->shared = init_shared(build, palloc(sizeof(HammingShared)));
	if (workers == 0)
		return;
	build->snapshot = build->info->ii_Concurrent
		? RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	size = table_parallelscan_estimate(build->heap, build->snapshot);
	size = add_size(MAXALIGN(sizeof(HammingShared)), size);
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
	HammingBuild build = {.heap = heap,.index = index,.info = info};

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	begin_processes(&build);
	hamming_build_together(&build);
	*result = build.shared->result;
	info->ii_BrokenHotChain |= build.shared->broken_hot_chain;
	end_processes(&build);
	return result;
}

/* What a worker does: PostgreSQL finds this function by its name. */
void
hamming_parallel_build_main(dsm_segment *segment, shm_toc *toc)
{
	HammingShared *shared = simhash_worker_begin(toc);
	HammingBuild build = {0};

	/* the leader's locks, which do not conflict within a parallel group */
	build.heap = table_open(shared->heap, shared->concurrent
							? ShareUpdateExclusiveLock : ShareLock);
	build.index = index_open(shared->index, shared->concurrent
							 ? RowExclusiveLock : AccessExclusiveLock);
	build.info = BuildIndexInfo(build.index);
	build.info->ii_Concurrent = shared->concurrent;
	SharedFileSetAttach(&shared->rows.files, segment);
	join_build(&build, shared, shared->memory);
	hamming_build_together(&build);
	index_close(build.index, NoLock);
	table_close(build.heap, NoLock);
	simhash_worker_end(toc);
}
