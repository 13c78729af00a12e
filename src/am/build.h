/*
 * build.h
 *	  What the files of CREATE INDEX share.
 */
#ifndef SIMHASH_AM_BUILD_H
#define SIMHASH_AM_BUILD_H

#include "access/parallel.h"
#include "access/relscan.h"
#include "access/xlogrecord.h"
#include "executor/instrument.h"
#include "nodes/pg_list.h"
#include "port/atomics.h"
#include "storage/barrier.h"
#include "storage/buffile.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"

#include "am/am.h"

/* sort.c */

/* Where processes leave sorted elements for each other. */
typedef struct HammingSharedRuns
{
	SharedFileSet files;		/* "0", "1", ... */
	pg_atomic_uint32 count;		/* of files */
} HammingSharedRuns;

/*
 * Sorts elements: rotated fingerprints, of FINGERPRINT_WORDS words of 64 bits,
 * or keys, of HAMMING_KEY_WORDS.  Elements are in the order of their words.
 */
typedef struct HammingSorter
{
	int			width;			/* words of an element */
	uint64	   *words;			/* elements in memory */
	Size		count;
	Size		room;			/* for elements */
	Size		most;			/* that room may become */
	uint64	   *scratch;		/* while memory is sorted */
	Size		scratch_room;	/* for elements */
	HammingSharedRuns *shared;	/* where all elements go; NULL if they are for
								 * this process only */
	List	   *runs;			/* open files, each sorted; NIL if all
								 * elements are in memory */
} HammingSorter;

typedef struct HammingReader HammingReader;

extern HammingSorter *hamming_sorter_begin(int width, int kilobytes);
extern void hamming_sorter_make_room(HammingSorter *sorter);
extern void hamming_sorter_finish(HammingSorter *sorter);
extern void hamming_sorter_open_shared(HammingSorter *sorter);
extern void hamming_sorter_end(HammingSorter *sorter);
extern HammingReader *hamming_sorter_read(HammingSorter *sorter);
extern HammingReader *hamming_sorter_read_runs(HammingSorter *sorter, int first,
											   int count);
extern const uint64 *hamming_reader_next(HammingReader *reader, Size *count);
extern void hamming_reader_end(HammingReader *reader);

/* Return the words of a new element, which the caller sets. */
static inline uint64 *
hamming_sorter_add(HammingSorter *sorter)
{
	if (sorter->count == sorter->room)
		hamming_sorter_make_room(sorter);
	return sorter->words + sorter->width * sorter->count++;
}

/* Sorted keys, read back in order. */
typedef struct HammingKeySort
{
	HammingSorter *sorter;
	HammingReader *reader;
	const uint64 *words;		/* the next elements */
	Size		count;
} HammingKeySort;

extern HammingKeySort hamming_sort_begin(int width, int memory);
extern void hamming_sort_add(HammingKeySort *sort, HammingKey key);
extern void hamming_sort_finish(HammingKeySort *sort);
extern bool hamming_sort_next(HammingKeySort *sort, HammingKey *key);
extern void hamming_sort_end(HammingKeySort *sort);

/* write.c */

/*
 * Pages that are added together, and logged in one record.  One at a time, two
 * processes wait for each other so long that they take 0.83 of the time of one,
 * at 10 million rows, and not 0.61.
 */
#define HAMMING_PAGES_TOGETHER XLR_MAX_BLOCK_ID

/* A table that is being written, leaves first. */
typedef struct HammingWriter
{
	Relation	index;
	int			table;
	HammingKey	low;			/* of the leaf that is being filled */
	HammingKey	keys[HAMMING_LEAF_CAPACITY + 1];	/* of that leaf and the
													 * next one, sorted */
	int			count;			/* of keys */
	int			least;			/* keys that a leaf takes at least */
	int			most;			/* and at most */
	int			height;			/* levels that have a page; 1 as long as
								 * leaves are in no inner page */
	PGAlignedBlock leaves[HAMMING_PAGES_TOGETHER];	/* yet to be written */
	int			filled;			/* of these */
	PGAlignedBlock inner[HAMMING_MAX_HEIGHT];	/* by level, from 1 on: being
												 * filled */
} HammingWriter;

extern void hamming_write_page(Relation index, ForkNumber fork, Buffer buffer,
							   Page page);
extern HammingWriter *hamming_writer_begin(Relation index, int table);
extern void hamming_writer_cut(HammingWriter *writer);
extern void hamming_writer_end(HammingWriter *writer);

/* Write a key, which is not below those before, if it is another one. */
static inline void
hamming_writer_add(HammingWriter *writer, HammingKey key)
{
	if (writer->count > 0 &&
		hamming_key_compare(key, writer->keys[writer->count - 1]) == 0)
		return;
	writer->keys[writer->count++] = key;
	if (writer->count > writer->most)
		hamming_writer_cut(writer);
}

/* parallel.c */

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
								 * begins the tables; 2: they are written */
	slock_t		mutex;			/* of the next two in phase 0 */
	IndexBuildResult result;	/* rows read, and rows of the index */
	bool		broken_hot_chain;	/* has one been found? */
	int			blocks;			/* set in phase 1 */
	pg_atomic_uint32 next_table;	/* that no process has begun to write */
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

extern PGDLLEXPORT void hamming_parallel_build_main(dsm_segment *segment,
													shm_toc *toc);

/* build.c */
extern void hamming_build_together(HammingBuild *build);

#endif							/* SIMHASH_AM_BUILD_H */
