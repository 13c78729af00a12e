/*
 * build.h
 *	  What the processes of CREATE INDEX share.
 */
#ifndef SIMHASH_AM_BUILD_H
#define SIMHASH_AM_BUILD_H

#include "access/parallel.h"
#include "access/relscan.h"
#include "storage/barrier.h"
#include "storage/spin.h"

#include "am/sort.h"

/*
 * What the processes of a build share, in shared memory if there are workers.
 */
typedef struct HammingShared
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
} HammingShared;

/* A process of a build: the only one, the leader, or a worker. */
typedef struct HammingBuild
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	int			memory;			/* kilobytes that this process may use */
	HammingShared *shared;
	TableScanDesc scan;			/* of all processes; NULL if this is alone */
	HammingSorter *rows;		/* (fingerprint, TID) */
	double		added;			/* to rows, by this process */

	/* of a leader, or NULL */
	ParallelContext *context;
	Snapshot	snapshot;
} HammingBuild;

/* parallel.c */
extern PGDLLEXPORT void hamming_parallel_build_main(dsm_segment *segment,
													shm_toc *toc);

/* build.c */
extern void hamming_build_together(HammingBuild *build);

#endif							/* SIMHASH_AM_BUILD_H */
