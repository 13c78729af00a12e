/*
 * aggregate.h
 *	  What the aggregates share: where their states are.
 */
#ifndef SIMHASH_AGGREGATE_H
#define SIMHASH_AGGREGATE_H

#include "fmgr.h"

extern MemoryContext simhash_aggregate_context(FunctionCallInfo fcinfo);

#endif							/* SIMHASH_AGGREGATE_H */
