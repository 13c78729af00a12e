/*
 * team.c
 *	  A process and its parallel workers, which do one step after the other
 *	  together, in memory that they share.
 *
 * The rule: the leader opens a step, takes units until none is left, closes the
 * step, and waits until nobody is in it.  A worker enters a step that is open,
 * takes units until none is left, and leaves.
 *
 * So when the leader goes on, each unit is done, as somebody took it and has
 * left since, and no step runs while another one does.  A worker that comes
 * late, or never, delays nobody.  Workers never wait for each other.
 */
#include "postgres.h"

#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/wait_event.h"

#include "near/progress.h"
#include "near/team.h"
#include "type/workers.h"

/*
 * A worker is worth starting for work that costs WORTH_SETUP times
 * parallel_setup_cost.  A search of 10 ms, in 200,000 rows, took as long with a
 * worker as without one.
 */
#define WORTH_SETUP 5

/* PostgreSQL shares 200 kB with a few workers, and 16 kB more with each. */
#define ROOM_FOR_WORKERS (4 * 1024 * 1024)

struct TeamShared
{
	slock_t		mutex;			/* protects work, and all up to is_over */
	uint64		number;			/* of the current step, from 1 on */
	bool		is_open;		/* may processes enter the step? */
	int			entered;		/* processes that are in the step */
	bool		is_over;		/* does no step come any more? */
	TeamStep	step;			/* changes only while no process is in it */
	pg_atomic_uint64 next;		/* the next unit of the step */
	ConditionVariable changed;
	SharedFileSet files;
	NearWork	work;			/* of processes with a finished file */
	dsm_handle	memory;			/* the segment of memory */
};

/*
 * What a worker takes off the work, as a part of what one process does.  The
 * pairs within 8 of 10 million random rows took 52 s with no worker, 15 s with
 * 3, 8.5 s with 7, and 5.5 s with 15, on 16 processors.
 */
#define GAIN 0.75

/*
 * To bring a row to shared memory, times parallel_tuple_cost.  Each process
 * touches 24 bytes a row there for the first time, which takes longer than to
 * copy them.
 */
#define SHARE_ROW 0.1

/*
 * The work costs cost for one process, in PostgreSQL's unit.  Return what it
 * costs with workers, 0 or more, if rows come to shared memory.
 */
double
simhash_team_cost(double cost, double rows, int workers)
{
	if (workers == 0)
		return cost;
	return parallel_setup_cost + rows * SHARE_ROW * parallel_tuple_cost +
		cost / (1 + GAIN * workers);
}

/*
 * Return how many workers pay for such work, 0 ..
 * max_parallel_workers_per_gather.  Workers have no workers of their own.
 */
int
simhash_team_workers(double cost, double rows)
{
	double		worth = cost / WORTH_SETUP / Max(parallel_setup_cost, 1e-9);
	int			workers = (int) Min(worth, max_parallel_workers_per_gather);

	if (IsParallelWorker() || !IsUnderPostmaster ||
		simhash_team_cost(cost, rows, workers) >= cost)
		return 0;
	return workers;
}

/*
 * Return how many bytes a search with workers may take: as PostgreSQL gives it
 * to a hash table that processes share.  A worker that does not come leaves its
 * part to the others.
 */
Size
simhash_team_memory(int workers)
{
	Size		limit = get_hash_memory_limit();

	return Min(limit, SIZE_MAX / (workers + 1)) * (workers + 1);
}

/*
 * Return a new segment of shared memory, or NULL if there is no room for it.
 * What dsm_create() leaves behind where it fails goes with an owner of its own.
 */
static dsm_segment *
create_segment(Size size)
{
	dsm_segment *volatile segment = NULL;
	MemoryContext old = CurrentMemoryContext;
	ResourceOwner caller = CurrentResourceOwner;
	ResourceOwner owner = ResourceOwnerCreate(caller, "simhash segment");

	CurrentResourceOwner = owner;
	PG_TRY();
	{
		segment = dsm_create(size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
		if (segment != NULL)
			dsm_pin_mapping(segment);
	}
	PG_CATCH();
	{
		int			code = geterrcode();

		CurrentResourceOwner = caller;
		if (code != ERRCODE_DISK_FULL && code != ERRCODE_OUT_OF_MEMORY)
			PG_RE_THROW();
		MemoryContextSwitchTo(old);
		FlushErrorState();
	}
	PG_END_TRY();
	CurrentResourceOwner = caller;
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_BEFORE_LOCKS, false, false);
	ResourceOwnerDelete(owner);
	if (segment != NULL)
		dsm_unpin_mapping(segment);
	return segment;
}

/*
 * Make a team of this process alone, with size bytes of memory that all its
 * workers will see.  Return NULL if there is no room for it.
 */
Team *
simhash_team_make(Size size)
{
	dsm_segment *segment = create_segment(sizeof(TeamShared));
	dsm_segment *room;
	Team	   *team;
	TeamShared *shared;

	if (segment == NULL)
		return NULL;
	team = palloc0(sizeof(Team));
	team->segment = segment;
	team->shared = shared = dsm_segment_address(segment);
	memset(shared, 0, sizeof(TeamShared));
	SpinLockInit(&shared->mutex);
	pg_atomic_init_u64(&shared->next, 0);
	ConditionVariableInit(&shared->changed);
	SharedFileSetInit(&shared->files, segment);
	team->files = &shared->files;
	team->size = size;
	team->memory_segment = create_segment(size);
	/* has it room for what PostgreSQL shares with its workers, too? */
	room = team->memory_segment == NULL ? NULL
		: create_segment(ROOM_FOR_WORKERS);
	if (room == NULL)
	{
		simhash_team_end(team);
		return NULL;
	}
	dsm_detach(room);
	shared->memory = dsm_segment_handle(team->memory_segment);
	team->memory = dsm_segment_address(team->memory_segment);
	return team;
}

/*
 * Launch up to workers workers, which begin in the function named entry.  There
 * must be none, but may have been some that were dismissed.  Until
 * simhash_team_dismiss() this process is in parallel mode, where no transaction
 * may write.
 */
void
simhash_team_launch(Team *team, const char *entry, int workers)
{
	dsm_handle *handle = simhash_workers_prepare(&team->context, entry, workers,
												 sizeof(dsm_handle));

	*handle = dsm_segment_handle(team->segment);
	team->shared->is_over = false;
	LaunchParallelWorkers(team->context);
	simhash_progress_workers(workers, team->context->nworkers_launched);
}

/* Take units of the step until there is none. */
static void
take_units(Team *team, const TeamStep *step)
{
	for (;;)
	{
		uint64		unit = pg_atomic_fetch_add_u64(&team->shared->next, 1);

		if (unit >= step->units)
			break;
		CHECK_FOR_INTERRUPTS();
		team->work(team->arg, step, (uint32) unit);
	}
}

/* Close the step; return false while a process is in it. */
static bool
end_step(TeamShared *shared)
{
	bool		is_last;

	SpinLockAcquire(&shared->mutex);
	shared->is_open = false;
	is_last = shared->entered == 0;
	SpinLockRelease(&shared->mutex);
	return is_last;
}

/*
 * In the leader: have all units of the step done.  On return each is done, and
 * what was done is seen by this process.
 */
void
simhash_team_do(Team *team, const TeamStep *step)
{
	TeamShared *shared = team->shared;

	shared->step = *step;
	pg_atomic_write_u64(&shared->next, 0);
	SpinLockAcquire(&shared->mutex);
	shared->number++;
	shared->is_open = true;
	SpinLockRelease(&shared->mutex);
	if (step->units > 1 && team->context != NULL)
		ConditionVariableBroadcast(&shared->changed);
	take_units(team, step);
	ConditionVariablePrepareToSleep(&shared->changed);
	while (!end_step(shared))
		ConditionVariableSleep(&shared->changed, PG_WAIT_EXTENSION);
	ConditionVariableCancelSleep();
}

/* In the leader: let the workers end, and leave parallel mode. */
void
simhash_team_dismiss(Team *team)
{
	TeamShared *shared = team->shared;

	if (team->context == NULL)
		return;
	SpinLockAcquire(&shared->mutex);
	shared->is_over = true;
	SpinLockRelease(&shared->mutex);
	ConditionVariableBroadcast(&shared->changed);
	simhash_workers_end(team->context);
	team->context = NULL;
}

/* Give back the memory, if that was not done. */
static void
free_memory(Team *team)
{
	if (team->memory_segment != NULL)
		dsm_detach(team->memory_segment);
	team->memory_segment = NULL;
	team->memory = NULL;
}

/* Let the workers end, if there are any, and free all. */
void
simhash_team_end(Team *team)
{
	simhash_team_dismiss(team);
	free_memory(team);
	dsm_detach(team->segment);
	if (team->toc != NULL)
		simhash_worker_end(team->toc);
	pfree(team);
}

static dsm_segment *
attach_segment(dsm_handle handle)
{
	dsm_segment *segment = dsm_attach(handle);

	if (segment == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not map dynamic shared memory segment")));
	return segment;
}

/* In a worker: join the team.  The caller sets what does the work. */
Team *
simhash_team_attach(shm_toc *toc)
{
	Team	   *team = palloc0(sizeof(Team));

	team->toc = toc;
	team->segment = attach_segment(*(dsm_handle *) simhash_worker_begin(toc));
	team->shared = dsm_segment_address(team->segment);
	team->files = &team->shared->files;
	SharedFileSetAttach(team->files, team->segment);
	team->memory_segment = attach_segment(team->shared->memory);
	team->memory = dsm_segment_address(team->memory_segment);
	return team;
}

/*
 * Enter the current step if it is open, and not the last one that this process
 * was in.  Set *is_over where no step comes any more.
 */
static bool
enter_step(TeamShared *shared, uint64 *last, bool *is_over)
{
	bool		enters;

	SpinLockAcquire(&shared->mutex);
	*is_over = shared->is_over;
	enters = shared->is_open && shared->number != *last;
	*last = shared->number;
	if (enters)
		shared->entered++;
	SpinLockRelease(&shared->mutex);
	return enters;
}

static void
leave_step(TeamShared *shared)
{
	bool		is_last;

	SpinLockAcquire(&shared->mutex);
	is_last = --shared->entered == 0;
	SpinLockRelease(&shared->mutex);
	if (is_last)
		ConditionVariableBroadcast(&shared->changed);
}

/* In a worker: do units of steps until the leader says that none comes. */
void
simhash_team_serve(Team *team)
{
	TeamShared *shared = team->shared;
	uint64		last = 0;
	bool		is_over = false;

	while (!is_over)
	{
		ConditionVariablePrepareToSleep(&shared->changed);
		while (!enter_step(shared, &last, &is_over) && !is_over)
			ConditionVariableSleep(&shared->changed, PG_WAIT_EXTENSION);
		ConditionVariableCancelSleep();
		if (!is_over)
		{
			TeamStep	step = shared->step;

			take_units(team, &step);
			leave_step(shared);
		}
	}
}

/* Write to the file of this process, which is made for the first data. */
void
simhash_team_file_write(TeamFile *file, const void *data, Size size)
{
	if (file->file == NULL)
		file->file = BufFileCreateFileSet(&file->team->files->fs,
										  psprintf("%d",
												   ParallelWorkerNumber + 1));
	BufFileWrite(file->file, unconstify(void *, data), size);
	file->written += size;
}

/*
 * Let the leader read the file of this process, if there is one, and know what
 * the process has done.
 */
void
simhash_team_file_finish(TeamFile *file, uint64 passes, uint64 compared,
						 Size memory)
{
	TeamShared *shared = file->team->shared;

	if (file->file != NULL)
		BufFileExportFileSet(file->file);
	simhash_team_file_close(file);
	SpinLockAcquire(&shared->mutex);
	shared->work.passes += passes;
	shared->work.compared += compared;
	shared->work.found_bytes += file->written;
	shared->work.team_memory += memory;
	SpinLockRelease(&shared->mutex);
}

/*
 * In the leader, which has finished its file: let the workers end, and free the
 * memory.  Prepare to read the files of all processes, and add what they have
 * done to *work.
 */
void
simhash_team_take_over(TeamFile *file, NearWork *work)
{
	Team	   *team = file->team;
	const NearWork *all = &team->shared->work;

	file->end = team->context->nworkers_launched + 1;
	work->launched = Max(work->launched, team->context->nworkers_launched);
	simhash_team_dismiss(team);
	free_memory(team);
	work->passes += all->passes;
	work->compared += all->compared;
	work->found_bytes = Max(work->found_bytes, all->found_bytes);
	work->team_memory = Max(work->team_memory, all->team_memory);
}

/*
 * In the leader, which has taken over: read what was written first of one file
 * after the other, size bytes.  Return false if there is nothing left.
 */
bool
simhash_team_file_read(TeamFile *file, void *data, Size size)
{
	MemoryContext old = CurrentMemoryContext;
	bool		found = false;

	/* the caller may be in a context of one row */
	MemoryContextSwitchTo(GetMemoryChunkContext(file->team));
	while (!found && (file->file != NULL || file->next < file->end))
	{
		if (file->file == NULL)
			file->file = BufFileOpenFileSet(&file->team->files->fs,
											psprintf("%d", file->next++),
											O_RDONLY, true);
		found = file->file != NULL && BufFileRead(file->file, data, size) > 0;
		if (!found)
			simhash_team_file_close(file);
	}
	MemoryContextSwitchTo(old);
	return found;
}

void
simhash_team_file_close(TeamFile *file)
{
	if (file->file != NULL)
		BufFileClose(file->file);
	file->file = NULL;
}
