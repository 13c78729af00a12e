/*
 * workers.h
 *	  Parallel workers: how they begin and end, and what they have used.
 */
#ifndef SIMHASH_WORKERS_H
#define SIMHASH_WORKERS_H

#include "access/parallel.h"

extern void *simhash_workers_prepare(ParallelContext **context,
									 const char *entry, int workers,
									 Size size);
extern void simhash_workers_end(ParallelContext *context);
extern void *simhash_worker_begin(shm_toc *toc);
extern void simhash_worker_end(shm_toc *toc);

#endif							/* SIMHASH_WORKERS_H */
