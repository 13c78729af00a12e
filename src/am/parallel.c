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
#include "access/xact.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "tcop/tcopprot.h"
#include "utils/snapmgr.h"

#include "am/build.h"
#include "am/test_stop.h"
#include "type/compat.h"

/* Keys of what is in shared memory. */
#define KEY_BUILD 1
#define KEY_SCAN 2
#define KEY_QUERY 3

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
	pg_atomic_init_u32(&shared->next_table, 0);
	return shared;
}

/* Allocate size bytes of shared memory that workers find by key. */
static void *
allocate(ParallelContext *context, int key, Size size)
{
	void	   *result = shm_toc_allocate(context->toc, size);

	shm_toc_insert(context->toc, key, result);
	return result;
}

/* Make shared memory for the workers, and start them. */
static void
start_workers(HammingBuild *build)
{
	ParallelContext *context = build->context;
	shm_toc_estimator *estimator = &context->estimator;
	const char *query = debug_query_string == NULL ? "" : debug_query_string;
	Size		scan_size = table_parallelscan_estimate(build->heap,
														build->snapshot);
	Size		size = add_size(sizeof(HammingShared),
								mul_size(sizeof(HammingUsage),
										 context->nworkers));
	HammingShared *shared;

	shm_toc_estimate_chunk(estimator, size);
	shm_toc_estimate_chunk(estimator, scan_size);
	shm_toc_estimate_chunk(estimator, strlen(query) + 1);
	shm_toc_estimate_keys(estimator, 3);
	InitializeParallelDSM(context);
	if (context->seg == NULL)
		return;
	shared = init_shared(build, allocate(context, KEY_BUILD, size));
	shared->memory = maintenance_work_mem / (context->nworkers + 1);
	SharedFileSetInit(&shared->rows.files, context->seg);
	table_parallelscan_initialize(build->heap,
								  allocate(context, KEY_SCAN, scan_size),
								  build->snapshot);
	strcpy(allocate(context, KEY_QUERY, strlen(query) + 1), query);
	LaunchParallelWorkers(context);
}

/* Let this process build with the others. */
static void
join_build(HammingBuild *build, shm_toc *toc, int memory)
{
	build->shared = shm_toc_lookup(toc, KEY_BUILD, false);
	build->memory = memory;
	build->scan = table_beginscan_parallel(build->heap,
										   shm_toc_lookup(toc, KEY_SCAN, false),
										   SO_NONE);
}

/*
 * In the leader: wait for the workers to end, if there are any, add up the
 * buffers and the WAL that they have used, and undo begin_processes().
 */
static void
end_processes(HammingBuild *build)
{
	ParallelContext *context = build->context;
	int			i;

	if (context == NULL)
		return;
	WaitForParallelWorkersToFinish(context);
	for (i = 0; i < context->nworkers_launched; i++)
		InstrAccumParallelQuery(&build->shared->usage[i].buffers,
								&build->shared->usage[i].wal);
	if (IsMVCCSnapshot(build->snapshot))
		UnregisterSnapshot(build->snapshot);
	DestroyParallelContext(context);
	ExitParallelMode();
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

	build->memory = maintenance_work_mem;
	build->shared = init_shared(build, palloc(sizeof(HammingShared)));
	if (workers == 0)
		return;
	EnterParallelMode();
	build->context =
		CreateParallelContext("$libdir/simhash",
							  CppAsString2(hamming_parallel_build_main),
							  workers);
	build->snapshot = build->info->ii_Concurrent
		? RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	start_workers(build);
	if (build->context->nworkers_launched == 0)
		end_processes(build);
	else
	{
		test_stop("build: workers");
		join_build(build, build->context->toc, maintenance_work_mem /
				   (build->context->nworkers_launched + 1));
	}
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
	HammingShared *shared = shm_toc_lookup(toc, KEY_BUILD, false);
	HammingUsage *usage = &shared->usage[ParallelWorkerNumber];
	HammingBuild build = {0};

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, false);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);

	/* the leader's locks, which do not conflict within a parallel group */
	build.heap = table_open(shared->heap, shared->concurrent
							? ShareUpdateExclusiveLock : ShareLock);
	build.index = index_open(shared->index, shared->concurrent
							 ? RowExclusiveLock : AccessExclusiveLock);
	build.info = BuildIndexInfo(build.index);
	build.info->ii_Concurrent = shared->concurrent;
	SharedFileSetAttach(&shared->rows.files, segment);
	InstrStartParallelQuery();
	join_build(&build, toc, shared->memory);
	hamming_build_together(&build);
	InstrEndParallelQuery(&usage->buffers, &usage->wal);
	index_close(build.index, NoLock);
	table_close(build.heap, NoLock);
}
