/*
 * workers.c
 *	  Parallel workers: how they begin and end, and what they have used.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/instrument.h"
#include "pgstat.h"
#include "tcop/tcopprot.h"

#include "type/catalog.h"
#include "type/workers.h"

/* What workers find by these keys. */
enum
{
	KEY_SHARED, KEY_QUERY, KEY_USAGE, KEY_COUNT
};

/* What a worker has used, for the leader to add up. */
typedef struct WorkerUsage
{
	BufferUsage buffers;
	WalUsage	wal;
} WorkerUsage;

/*
 * Enter parallel mode, and set *context to up to workers workers, which begin
 * in the function named entry.  Return size bytes that they will share.  The
 * caller sets these, calls LaunchParallelWorkers(), and in the end
 * simhash_workers_end().  Where there is no shared memory left, context->seg is
 * NULL, the bytes are of this process alone, and no worker will be launched.
 */
void *
simhash_workers_prepare(ParallelContext **context, const char *entry,
						int workers, Size size)
{
	const char *query = debug_query_string == NULL ? "" : debug_query_string;
	Size		sizes[KEY_COUNT] = {
		size, strlen(query) + 1, mul_size(workers, sizeof(WorkerUsage))
	};
	void	   *chunks[KEY_COUNT];
	int			i;

	EnterParallelMode();
	*context = CreateParallelContext(simhash_library(), entry, workers);
	for (i = 0; i < KEY_COUNT; i++)
		shm_toc_estimate_chunk(&(*context)->estimator, sizes[i]);
	shm_toc_estimate_keys(&(*context)->estimator, KEY_COUNT);
	InitializeParallelDSM(*context);
	for (i = 0; i < KEY_COUNT; i++)
	{
		chunks[i] = shm_toc_allocate((*context)->toc, sizes[i]);
		shm_toc_insert((*context)->toc, i, chunks[i]);
	}
	strcpy(chunks[KEY_QUERY], query);
	return chunks[KEY_SHARED];
}

/* Wait for the workers, count what they have used, leave parallel mode. */
void
simhash_workers_end(ParallelContext *context)
{
	WorkerUsage *usage = shm_toc_lookup(context->toc, KEY_USAGE, false);
	int			i;

	WaitForParallelWorkersToFinish(context);
	for (i = 0; i < context->nworkers_launched; i++)
		InstrAccumParallelQuery(&usage[i].buffers, &usage[i].wal);
	DestroyParallelContext(context);
	ExitParallelMode();
}

/*
 * In a worker: show the leader's query, and begin to count what this process
 * uses.  Return what all share.
 */
void *
simhash_worker_begin(shm_toc *toc)
{
	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, false);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	InstrStartParallelQuery();
	return shm_toc_lookup(toc, KEY_SHARED, false);
}

/* In a worker, last of all: tell the leader what this process has used. */
void
simhash_worker_end(shm_toc *toc)
{
	WorkerUsage *usage = shm_toc_lookup(toc, KEY_USAGE, false);

	usage += ParallelWorkerNumber;
	InstrEndParallelQuery(&usage->buffers, &usage->wal);
}
