/*
 * parallel.c
 *	  The processes of a parallel CREATE INDEX, and what they share.
 *
 * A leader and its workers read the table together.  Each leaves the rows that
 * it got, sorted, in files that all of them read.  Then each writes a part of
 * each table: a range of its rotated fingerprints.  The leader chooses the
 * ranges by a sample of what is in the files, and puts the leaves of all parts
 * under inner pages.
 *
 * Little is in shared memory, as there may be little of it: what the processes
 * tell each other.  Rows go through files, which mostly stay in memory.
 */
#include "postgres.h"

#include <math.h>

#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "storage/condition_variable.h"
#include "storage/indexfsm.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "am/build.h"
#include "type/compat.h"

/*
 * The most processes of a build.  Each reads all fingerprints for each table,
 * so that more would gain little.
 */
#define MAX_PROCESSES 32

#define SAMPLE_SIZE 1024

/* Keys of what is in shared memory. */
#define KEY_BUILD 1
#define KEY_SCAN 2
#define KEY_WAL_USAGE 3
#define KEY_BUFFER_USAGE 4
#define KEY_QUERY 5

/* What a process tells the leader, and by it all others. */
typedef struct ProcessResult
{
	IndexBuildResult tuples;	/* that it has read, and found to be indexed */
	bool		broken_hot_chain;	/* has it found one? */
	int			rows;			/* its runs of rows */
	int			nulls;			/* and of rows without a fingerprint */
	BlockNumber spare;			/* pages that it has added and not filled are */
	BlockNumber spare_end;		/* from here to before there */
} ProcessResult;

struct HammingShared
{
	/* set before the workers start */
	Oid			heap;
	Oid			index;
	bool		concurrent;
	int			memory;			/* kilobytes that a worker may use */
	SharedFileSet files;

	slock_t		mutex;			/* of the next two, and of what came before
								 * one of them has changed */
	int			arrived;		/* how often processes have come to where they
								 * wait for each other */
	int			passed;			/* how often the leader has let them go on */
	ConditionVariable changed;	/* one of the two has changed */
	ProcessResult results[MAX_PROCESSES];

	/* set by the leader while all others wait */
	int			processes;
	int			blocks;
	bool		split[HAMMING_TABLES];	/* is the table written in parts? */
	HammingBits bounds[HAMMING_TABLES][MAX_PROCESSES];	/* where they begin */
};

/* What only the leader has. */
struct HammingParallel
{
	ParallelContext *context;
	Snapshot	snapshot;
	WalUsage   *wal_usage;
	BufferUsage *buffer_usage;
};

/* Beginning and ending */

static void
reserve_memory(ParallelContext *context, Relation heap, Snapshot snapshot)
{
	shm_toc_estimator *estimator = &context->estimator;

	shm_toc_estimate_chunk(estimator, sizeof(HammingShared));
	shm_toc_estimate_chunk(estimator,
						   table_parallelscan_estimate(heap, snapshot));
	shm_toc_estimate_chunk(estimator,
						   mul_size(sizeof(WalUsage), context->nworkers));
	shm_toc_estimate_chunk(estimator,
						   mul_size(sizeof(BufferUsage), context->nworkers));
	shm_toc_estimate_keys(estimator, 4);
	if (debug_query_string != NULL)
	{
		shm_toc_estimate_chunk(estimator, strlen(debug_query_string) + 1);
		shm_toc_estimate_keys(estimator, 1);
	}
}

static void *
allocate(ParallelContext *context, int key, Size size)
{
	void	   *result = shm_toc_allocate(context->toc, size);

	shm_toc_insert(context->toc, key, result);
	return result;
}

/* Make what the workers find in shared memory. */
static void
share_build(HammingBuild *build)
{
	HammingParallel *parallel = build->parallel;
	ParallelContext *context = parallel->context;
	HammingShared *shared = allocate(context, KEY_BUILD, sizeof(HammingShared));
	ParallelTableScanDesc scan;

	memset(shared, 0, sizeof(HammingShared));
	shared->heap = RelationGetRelid(build->heap);
	shared->index = RelationGetRelid(build->index);
	shared->concurrent = build->info->ii_Concurrent;
	shared->memory = maintenance_work_mem / (context->nworkers + 1);
	SharedFileSetInit(&shared->files, context->seg);
	SpinLockInit(&shared->mutex);
	ConditionVariableInit(&shared->changed);
	scan = allocate(context, KEY_SCAN,
					table_parallelscan_estimate(build->heap,
												parallel->snapshot));
	table_parallelscan_initialize(build->heap, scan, parallel->snapshot);
	parallel->wal_usage = allocate(context, KEY_WAL_USAGE,
								   mul_size(sizeof(WalUsage),
											context->nworkers));
	parallel->buffer_usage = allocate(context, KEY_BUFFER_USAGE,
									  mul_size(sizeof(BufferUsage),
											   context->nworkers));
	if (debug_query_string != NULL)
		strcpy(allocate(context, KEY_QUERY, strlen(debug_query_string) + 1),
			   debug_query_string);
	build->shared = shared;
}

/* Let this process of the build read and write with the others. */
static void
join_build(HammingBuild *build, shm_toc *toc, int memory)
{
	build->memory = memory;
	build->files = &build->shared->files.fs;
	build->pages.parallel = true;
	build->scan =
		table_beginscan_parallel(build->heap,
								 shm_toc_lookup(toc, KEY_SCAN, false),
								 SO_NONE);
}

/*
 * Start the workers of a build, if PostgreSQL grants some.  Where there is no
 * shared memory for them, or none of them starts, the leader is left alone, as
 * in a build that is not parallel.
 */
void
hamming_parallel_begin(HammingBuild *build)
{
	int			workers = index_build_workers(build->heap, build->index,
											  build->info);
	HammingParallel *parallel;
	ParallelContext *context;

	if (workers == 0)
		return;
	EnterParallelMode();
	context = CreateParallelContext("$libdir/simhash",
									CppAsString2(hamming_parallel_build_main),
									Min(workers, MAX_PROCESSES - 1));
	build->parallel = parallel = palloc0(sizeof(HammingParallel));
	parallel->context = context;
	parallel->snapshot = build->info->ii_Concurrent
		? RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	reserve_memory(context, build->heap, parallel->snapshot);
	InitializeParallelDSM(context);
	if (context->seg != NULL)
	{
		share_build(build);
		LaunchParallelWorkers(context);
	}
	if (context->nworkers_launched == 0)
	{
		hamming_parallel_end(build);
		return;
	}
	build->shared->processes = context->nworkers_launched + 1;
	join_build(build, context->toc,
			   maintenance_work_mem / build->shared->processes);
}

/*
 * In the leader: wait for the workers to end, add up the buffers and the WAL
 * that they have used, and undo hamming_parallel_begin().  Does nothing where
 * that function has not asked for workers.
 */
void
hamming_parallel_end(HammingBuild *build)
{
	HammingParallel *parallel = build->parallel;
	int			i;

	if (parallel == NULL)
		return;
	WaitForParallelWorkersToFinish(parallel->context);
	for (i = 0; i < parallel->context->nworkers_launched; i++)
		InstrAccumParallelQuery(&parallel->buffer_usage[i],
								&parallel->wal_usage[i]);
	if (IsMVCCSnapshot(parallel->snapshot))
		UnregisterSnapshot(parallel->snapshot);
	DestroyParallelContext(parallel->context);
	ExitParallelMode();
	build->parallel = NULL;
	build->shared = NULL;
	build->files = NULL;
}

/* What a worker does: PostgreSQL finds it by its name. */
void
hamming_parallel_build_main(dsm_segment *segment, shm_toc *toc)
{
	HammingShared *shared = shm_toc_lookup(toc, KEY_BUILD, false);
	HammingBuild build = {.shared = shared,.number = ParallelWorkerNumber + 1};
	WalUsage   *wal_usage = shm_toc_lookup(toc, KEY_WAL_USAGE, false);
	BufferUsage *buffer_usage = shm_toc_lookup(toc, KEY_BUFFER_USAGE, false);

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);

	/* the leader's locks, which do not conflict within a parallel group */
	build.heap = table_open(shared->heap, shared->concurrent
							? ShareUpdateExclusiveLock : ShareLock);
	build.index = index_open(shared->index, shared->concurrent
							 ? RowExclusiveLock : AccessExclusiveLock);
	build.info = BuildIndexInfo(build.index);
	build.info->ii_Concurrent = shared->concurrent;
	build.pages.index = build.index;
	SharedFileSetAttach(&shared->files, segment);
	InstrStartParallelQuery();
	join_build(&build, toc, shared->memory);
	hamming_build_together(&build);
	InstrEndParallelQuery(&buffer_usage[ParallelWorkerNumber],
						  &wal_usage[ParallelWorkerNumber]);
	index_close(build.index, NoLock);
	table_close(build.heap, NoLock);
}

/* Waiting for each other */

static bool
has_come_to(HammingShared *shared, const int *counter, int value)
{
	bool		result;

	SpinLockAcquire(&shared->mutex);
	result = *counter >= value;
	SpinLockRelease(&shared->mutex);
	return result;
}

/* Count up one of the counters for which others wait. */
static void
count_up(HammingShared *shared, int *counter)
{
	SpinLockAcquire(&shared->mutex);
	(*counter)++;
	SpinLockRelease(&shared->mutex);
	ConditionVariableBroadcast(&shared->changed);
}

/* Wait until a counter has come to a value. */
static void
wait_for(HammingShared *shared, const int *counter, int value)
{
	while (!has_come_to(shared, counter, value))
		ConditionVariableSleep(&shared->changed,
							   WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	ConditionVariableCancelSleep();
}

static void
tell_result(HammingBuild *build)
{
	ProcessResult *result = &build->shared->results[build->number];

	result->tuples = build->tuples;
	result->broken_hot_chain = build->info->ii_BrokenHotChain;
	result->rows = build->row_runs;
	result->nulls = build->null_runs;
	result->spare = build->pages.next;
	result->spare_end = build->pages.end;
}

/* Let the leader know what all processes have found. */
static void
take_results(HammingBuild *build)
{
	int			i;

	build->total = build->tuples;
	for (i = 1; build->shared != NULL && i < build->shared->processes; i++)
	{
		ProcessResult *result = &build->shared->results[i];

		build->total.heap_tuples += result->tuples.heap_tuples;
		build->total.index_tuples += result->tuples.index_tuples;
		build->info->ii_BrokenHotChain |= result->broken_hot_chain;
	}
}

/*
 * This process has come to where the leader waits for all others.  Returns true
 * in the leader, when all have come.
 */
bool
hamming_parallel_gather(HammingBuild *build)
{
	HammingShared *shared = build->shared;

	if (shared != NULL)
	{
		tell_result(build);
		count_up(shared, &shared->arrived);
	}
	if (build->number > 0)
		return false;
	if (shared != NULL)
	{
		WaitForParallelWorkersToAttach(build->parallel->context);
		wait_for(shared, &shared->arrived,
				 shared->processes * (shared->passed + 1));
	}
	take_results(build);
	return true;
}

/* Return a process's part of a table. */
static HammingPart
find_part(const HammingShared *shared, int table, int number)
{
	static const HammingPart all = {0, FINGERPRINT_ALL_BITS, true};
	static const HammingPart none = {1, 0, false};
	HammingPart part = all;

	if (shared == NULL || !shared->split[table])
		return number == 0 ? all : none;
	part.whole = false;
	part.first = shared->bounds[table][number];
	if (number + 1 < shared->processes)
		part.last = shared->bounds[table][number + 1] - 1;
	return part;
}

/* The leader lets all go on.  The others wait for it, and learn what to do. */
void
hamming_parallel_go_on(HammingBuild *build)
{
	HammingShared *shared = build->shared;
	int			table;

	if (shared != NULL)
	{
		build->passed++;
		if (build->number == 0)
		{
			shared->blocks = build->blocks;
			count_up(shared, &shared->passed);
		}
		else
			wait_for(shared, &shared->passed, build->passed);
		build->blocks = shared->blocks;
	}
	for (table = 0; table < HAMMING_TABLES; table++)
		build->parts[table] = find_part(shared, table, build->number);
}

/* Files of all processes */

/* Return how many files a process has of a kind, but of leaves. */
static int
count_files(const ProcessResult *result, HammingFile kind)
{
	if (kind == HAMMING_ROWS)
		return result->rows;
	return kind == HAMMING_NULL_ROWS ? result->nulls : 1;
}

/* Open the files of a kind that all processes have, but those of leaves. */
HammingRuns
hamming_parallel_open(HammingBuild *build, HammingFile kind)
{
	HammingRuns runs = {NULL};
	int			owner;
	int			i;

	for (owner = 0; owner < build->shared->processes; owner++)
		for (i = 0; i < count_files(&build->shared->results[owner], kind); i++)
			hamming_runs_add(&runs, hamming_file_open(build->files, kind, owner,
													  i));
	return runs;
}

/* The leader, while no process has them open: delete the same files. */
void
hamming_parallel_delete(HammingBuild *build, HammingFile kind)
{
	int			owner;
	int			i;

	for (owner = 0; build->shared != NULL && owner < build->shared->processes;
		 owner++)
		for (i = 0; i < count_files(&build->shared->results[owner], kind); i++)
			hamming_file_delete(build->files, kind, owner, i);
}

static int64
count_elements(const HammingRuns *runs)
{
	int64		count = 0;
	int			i;

	for (i = 0; i < runs->count; i++)
		count += runs->runs[i].count;
	return count;
}

/*
 * Return about SAMPLE_SIZE fingerprints out of runs, at equal distances in each
 * run, and set *size to their number.
 */
static Fingerprint *
take_sample(const HammingRuns *runs, int *size)
{
	Fingerprint *sample = palloc((SAMPLE_SIZE + runs->count) *
								 sizeof(Fingerprint));
	double		share = (double) SAMPLE_SIZE / count_elements(runs);
	int			i;
	int			j;

	*size = 0;
	for (i = 0; i < runs->count; i++)
	{
		const HammingRun *run = &runs->runs[i];
		int			wanted = ceil(run->count * share);

		CHECK_FOR_INTERRUPTS();
		for (j = 0; j < wanted; j++)
			sample[(*size)++] = hamming_run_get(run, (int64) ((j + 0.5) *
															  run->count /
															  wanted));
	}
	return sample;
}

/*
 * Choose the bounds of a table's parts by a sample of its fingerprints, rotated
 * by bits.  Where two bounds are the same, a part is empty.  None is 0 but the
 * first one.
 */
static void
choose_bounds(HammingShared *shared, int table, const Fingerprint *sample,
			  int size, int bits)
{
	uint64	   *rotated = palloc(size * sizeof(Fingerprint));
	HammingScratch none = {NULL, 0};
	int			i;

	for (i = 0; i < size; i++)
		fingerprint_to_words(hamming_rotate(sample[i], bits),
							 rotated + i * FINGERPRINT_WORDS);
	hamming_radix_sort(rotated, size, FINGERPRINT_WORDS, &none);
	shared->split[table] = true;
	shared->bounds[table][0] = 0;
	for (i = 1; i < shared->processes; i++)
	{
		int			place = (int64) size * i / shared->processes;
		HammingBits bound = fingerprint_from_words(rotated + place *
												   FINGERPRINT_WORDS);

		shared->bounds[table][i] = Max(bound, 1);
	}
	pfree(rotated);
}

/*
 * The leader, while all others wait: choose the parts of the tables first ..
 * last, whose fingerprints are in files of a kind.  What is small is left to
 * the leader: a table of parts has two leaves at least, so that the leader can
 * put them under a root.
 */
void
hamming_parallel_split(HammingBuild *build, HammingFile kind, int first,
					   int last)
{
	HammingShared *shared = build->shared;
	HammingRuns runs;
	int			table;

	if (shared == NULL)
		return;
	runs = hamming_parallel_open(build, kind);
	if (count_elements(&runs) >= 2 * shared->processes * HAMMING_LEAF_CAPACITY)
	{
		int			size;
		Fingerprint *sample = take_sample(&runs, &size);

		for (table = first; table <= last; table++)
			choose_bounds(shared, table, sample, size,
						  hamming_block_start(build->blocks, table));
		pfree(sample);
	}
	hamming_runs_close(&runs);
}

/* The leader, at the end: put the leaves of all parts under inner pages. */
void
hamming_parallel_join(HammingBuild *build)
{
	HammingShared *shared = build->shared;
	int			table;
	int			number;

	for (table = 0; shared != NULL && table < build->blocks; table++)
	{
		HammingWriter *writer;

		if (!shared->split[table])
			continue;
		writer = hamming_writer_begin(&build->pages, table, 0,
									  FINGERPRINT_ALL_BITS, NULL);
		for (number = 0; number < shared->processes; number++)
		{
			HammingPart part = find_part(shared, table, number);
			HammingRun	leaves;

			if (part.first > part.last)
				continue;
			leaves = hamming_file_open(build->files, HAMMING_LEAVES, number,
									   table);
			hamming_writer_add_leaves(writer, leaves);
			BufFileClose(leaves.file);
		}
		hamming_writer_end(writer);
	}
}

/*
 * The leader, at the end: let insertions use the pages that have been added and
 * not filled.
 */
void
hamming_parallel_free_pages(HammingBuild *build)
{
	int			i;

	if (build->shared == NULL)
		return;
	tell_result(build);
	for (i = 0; i < build->shared->processes; i++)
	{
		ProcessResult *result = &build->shared->results[i];
		BlockNumber block;

		for (block = result->spare; block < result->spare_end; block++)
			RecordFreeIndexPage(build->index, block);
	}
	IndexFreeSpaceMapVacuum(build->index);
}
