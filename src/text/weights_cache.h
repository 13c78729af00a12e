/*
 * weights_cache.h
 *	  Tables of weights that are made once, not once for each row.
 */
#ifndef SIMHASH_WEIGHTS_CACHE_H
#define SIMHASH_WEIGHTS_CACHE_H

#include "fmgr.h"

#include "text/weights_table.h"
#include "text/weights_value.h"
#include "type/compat.h"

/*
 * fn_extra points to this struct, or to one that begins with it: the digests of
 * the last values that were stored out of line, by their TOAST pointers.
 * During a query, a TOAST pointer stands for one value: it could stand for
 * another one only after the counter of OIDs has wrapped.  KNOWN_POINTERS are
 * compared for each row, each about 16 bytes.
 */
#define KNOWN_POINTERS 8

typedef struct KnownPointers
{
	struct varatt_external pointer[KNOWN_POINTERS];
	WeightsDigest digest[KNOWN_POINTERS];
	uint32		count;			/* added so far; each replaces the oldest */
} KnownPointers;

extern const WeightTable *simhash_cached_weights(FunctionCallInfo fcinfo,
												 int argument);
extern const WeightTable *simhash_cached_stops(FunctionCallInfo fcinfo,
											   int argument);

#endif							/* SIMHASH_WEIGHTS_CACHE_H */
