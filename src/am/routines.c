/*
 * routines.c
 *	  What handler.c and inspect.c call, of one width.
 */
#include "postgres.h"

#include "am/am.h"

const HammingRoutines hamming_routines = {
	.width = HAMMING_BITS,
	.build = hamming_build,
	.build_empty = hamming_build_empty,
	.insert = hamming_insert,
	.vacuum = hamming_vacuum,
	.cleanup = hamming_cleanup,
	.cost_estimate = hamming_cost_estimate,
	.begin_scan = hamming_begin_scan,
	.rescan = hamming_rescan,
	.get_tuple = hamming_get_tuple,
	.get_bitmap = hamming_get_bitmap,
	.end_scan = hamming_end_scan,
	.read_stats = hamming_read_stats,
	.check = hamming_check
};
