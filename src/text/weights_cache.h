/*
 * weights_cache.h
 *	  Tables of weights that are made once, not once for each row.
 */
#ifndef SIMHASH_WEIGHTS_CACHE_H
#define SIMHASH_WEIGHTS_CACHE_H

#include "fmgr.h"

#include "text/weights_table.h"

extern const WeightTable *simhash_cached_weights(FunctionCallInfo fcinfo,
												 int argument);
extern const WeightTable *simhash_cached_stops(FunctionCallInfo fcinfo,
											   int argument);

#endif							/* SIMHASH_WEIGHTS_CACHE_H */
