/*
 * build.h
 *	  What the files of CREATE INDEX share.
 */
#ifndef SIMHASH_AM_BUILD_H
#define SIMHASH_AM_BUILD_H

#include "access/relscan.h"
#include "storage/buffile.h"
#include "storage/dsm.h"
#include "storage/fileset.h"
#include "storage/shm_toc.h"

#include "am/am.h"

/*
 * What is sorted are elements of FINGERPRINT_WORDS, rotated fingerprints, or of
 * HAMMING_KEY_WORDS, keys.  Elements are in the order of their words.
 */

/*
 * Does element a come before b?  Both have width words.  Without a branch, as
 * no branch could be predicted.
 */
static pg_attribute_always_inline bool
hamming_element_before(const uint64 *a, const uint64 *b, int width)
{
	bool		before = a[width - 1] < b[width - 1];
	int			i;

	for (i = width - 2; i >= 0; i--)
		before = (a[i] < b[i]) | ((a[i] == b[i]) & before);
	return before;
}

/* radix.c */
typedef struct HammingScratch
{
	uint64	   *words;
	Size		room;			/* for elements */
} HammingScratch;

extern void hamming_radix_sort(uint64 *words, Size count, int width,
							   const HammingScratch *scratch);

/* sort.c */

/* What a temporary file holds. */
typedef enum HammingFile
{
	HAMMING_ROWS,				/* sorted rows */
	HAMMING_NULL_ROWS,			/* the same, without a fingerprint */
	HAMMING_LIST,				/* fingerprints, sorted, each once */
	HAMMING_LEAVES				/* leaves of a part of a table, in order */
} HammingFile;

/* Elements in a file, sorted. */
typedef struct HammingRun
{
	BufFile    *file;
	int			width;			/* words of an element */
	int64		count;			/* of elements */
} HammingRun;

typedef struct HammingRuns
{
	HammingRun *runs;
	int			count;
} HammingRuns;

/* What is being collected, to be sorted. */
typedef struct HammingSorter
{
	int			width;			/* words of an element */
	uint64	   *words;			/* elements in memory */
	Size		count;
	Size		room;			/* for elements */
	Size		most;			/* that room may become */
	HammingScratch scratch;
	FileSet    *files;			/* where all processes find the runs; NULL if
								 * they are for this one only */
	HammingFile kind;			/* of the runs there */
	int			owner;			/* number of this process */
	int			run_count;		/* runs that have been written */
	HammingRuns runs;			/* open, without files only */
} HammingSorter;

typedef struct HammingReader HammingReader;

/* The most elements of files that hamming_reader_next() returns at once. */
#define HAMMING_READ_AT_ONCE 512

extern BufFile *hamming_file_create(FileSet *files, HammingFile kind, int owner,
									int number);
extern void hamming_file_export(BufFile *file);
extern HammingRun hamming_file_open(FileSet *files, HammingFile kind, int owner,
									int number);
extern void hamming_file_delete(FileSet *files, HammingFile kind, int owner,
								int number);
extern void hamming_runs_add(HammingRuns *runs, HammingRun run);
extern void hamming_runs_close(HammingRuns *runs);
extern HammingBits hamming_run_get(const HammingRun *run, int64 number);
extern HammingSorter *hamming_sorter_begin(int width, int kilobytes,
										   FileSet *files, HammingFile kind,
										   int owner);
extern void hamming_sorter_make_room(HammingSorter *sorter, Size wanted);
extern void hamming_sorter_finish(HammingSorter *sorter);
extern void hamming_sorter_restart(HammingSorter *sorter);
extern HammingReader *hamming_sorter_read(HammingSorter *sorter);
extern void hamming_sorter_end(HammingSorter *sorter);
extern HammingReader *hamming_reader_begin(int width, const HammingRuns *runs,
										   HammingBits first,
										   HammingBits last);
extern const uint64 *hamming_reader_next(HammingReader *reader, Size *count);
extern void hamming_reader_end(HammingReader *reader);

/* Return the words of a new element, which the caller sets. */
static inline uint64 *
hamming_sorter_add(HammingSorter *sorter)
{
	if (sorter->count == sorter->room)
		hamming_sorter_make_room(sorter, 1);
	return sorter->words + sorter->width * sorter->count++;
}

/* write.c */

/*
 * Where the pages of an index come from that is being built.  Pages are logged
 * in the order in which they are filled, many together.
 */
typedef struct HammingPages
{
	Relation	index;
	bool		parallel;		/* do other processes add pages, too? */
	BlockNumber logged;			/* pages from here up to next are not logged */
	BlockNumber next;			/* the next page to fill */
	BlockNumber end;			/* of those that this process has added */
} HammingPages;

typedef struct HammingWriter HammingWriter;

extern void hamming_pages_log(HammingPages *pages);
extern void hamming_write_page(Buffer buffer, Page page);
extern HammingWriter *hamming_writer_begin(HammingPages *pages, int table,
										   HammingBits first,
										   HammingBits last,
										   BufFile *leaves);
extern void hamming_writer_add(HammingWriter *writer, const uint64 *words,
							   Size count, int width);
extern void hamming_writer_add_leaves(HammingWriter *writer,
									  HammingRun leaves);
extern void hamming_writer_end(HammingWriter *writer);

/* parallel.c */

/* The part of a table that a process writes: rotated fingerprints. */
typedef struct HammingPart
{
	HammingBits first;
	HammingBits last;			/* below first if there is nothing to write */
	bool		whole;			/* all of the table, with its inner pages? */
} HammingPart;

typedef struct HammingShared HammingShared;
typedef struct HammingParallel HammingParallel;

/* A process of a build: the only one, the leader, or a worker. */
typedef struct HammingBuild
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	int			number;			/* 0: the leader, or the only one */
	int			memory;			/* kilobytes that this process may use */
	HammingPages pages;
	IndexBuildResult tuples;	/* read and indexed by this process */
	IndexBuildResult total;		/* by all of them; known to the leader */
	int			blocks;
	HammingPart parts[HAMMING_TABLES];
	HammingSorter *rows;		/* (fingerprint, TID), for table 0 */
	HammingSorter *nulls;		/* (0, TID) */
	HammingSorter *fingerprints;	/* for the other tables, rotated */
	HammingRuns lists;			/* of all fingerprints; none if all of them
								 * are in memory */

	/* of a parallel build only, else NULL or 0 */
	HammingShared *shared;
	HammingParallel *parallel;	/* in the leader */
	FileSet    *files;
	TableScanDesc scan;
	int			row_runs;		/* of this process, in files */
	int			null_runs;
	int			passed;			/* how often hamming_parallel_go_on() was
								 * called */
} HammingBuild;

extern void hamming_parallel_begin(HammingBuild *build);
extern bool hamming_parallel_gather(HammingBuild *build);
extern void hamming_parallel_go_on(HammingBuild *build);
extern HammingRuns hamming_parallel_open(HammingBuild *build, HammingFile kind);
extern void hamming_parallel_delete(HammingBuild *build, HammingFile kind);
extern void hamming_parallel_split(HammingBuild *build, HammingFile kind,
								   int first, int last);
extern void hamming_parallel_join(HammingBuild *build);
extern void hamming_parallel_free_pages(HammingBuild *build);
extern PGDLLEXPORT void hamming_parallel_build_main(dsm_segment *segment,
													shm_toc *toc);
extern void hamming_parallel_end(HammingBuild *build);

/* build.c */
extern void hamming_build_together(HammingBuild *build);

#endif							/* SIMHASH_AM_BUILD_H */
