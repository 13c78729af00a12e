/*
 * handler.h
 *	  What handler.c and inspect.c, which serve indexes of all widths, share
 *	  with the files that are compiled once for each width.
 */
#ifndef SIMHASH_AM_HANDLER_H
#define SIMHASH_AM_HANDLER_H

#include "access/amapi.h"
#include "commands/progress.h"
#include "utils/rel.h"

#include "type/width.h"

/* WITH (fillfactor = ..., blocks = ...) */
typedef struct HammingOptions
{
	int32		vl_len_;		/* varlena header, for PostgreSQL only */
	int			fillfactor;		/* percent of a page that a build fills */
	int			blocks;			/* that a build cuts fingerprints into; 0 to
								 * choose by the number of rows */
} HammingOptions;

#define HAMMING_DEFAULT_FILLFACTOR 88
#define HAMMING_MIN_FILLFACTOR 10

/*
 * Phases of pg_stat_progress_create_index; PostgreSQL has reserved phase 1.
 * tree is that of a block; the tree of NULLs comes with tree 0.
 */
#define HAMMING_PHASE_SCAN (PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE + 1)
#define HAMMING_PHASE_SORT(tree) (HAMMING_PHASE_SCAN + 1 + 2 * (tree))
#define HAMMING_PHASE_WRITE(tree) (HAMMING_PHASE_SORT(tree) + 1)

/* What hamming_index_stats() returns, and reads of pages. */
typedef struct HammingStats
{
	int64		rows;			/* with a fingerprint */
	int64		nulls;			/* and without */
	int64		fingerprints;
	int			blocks;
	int			height;			/* levels of tree 0 */
	BlockNumber pages;
	int64		free_pages;
	double		average_block;	/* rows that share the value of a block, on
								 * average of these values */
	int64		largest_block;	/* the most rows that share one */
} HammingStats;

/* The functions of the access method for indexes of one width. */
typedef struct HammingRoutines
{
	int			width;			/* bits of a fingerprint */
	ambuild_function build;
	ambuildempty_function build_empty;
	aminsert_function insert;
	ambulkdelete_function vacuum;
	amvacuumcleanup_function cleanup;
	amcostestimate_function cost_estimate;
	ambeginscan_function begin_scan;
	amrescan_function rescan;
	amgettuple_function get_tuple;
	amgetbitmap_function get_bitmap;
	amendscan_function end_scan;
	void		(*read_stats) (Relation index, HammingStats *stats);
	void		(*check) (Relation heap, Relation index);
} HammingRoutines;

/* scan.c: those of the width that is compiled, and those of each width */
#define hamming_routines WIDE(hamming_routines)

extern const HammingRoutines hamming_routines;
extern const HammingRoutines hamming_routines_128;

/* handler.c */
extern void hamming_define_options(void);
extern bool hamming_is_cost_function(amcostestimate_function function);
extern const HammingRoutines *hamming_routines_of_length(int bytes);
extern const HammingRoutines *hamming_find_routines(Relation index);

#endif							/* SIMHASH_AM_HANDLER_H */
