/*
 * aggregate.h
 *	  What the aggregates share: access to their states.
 */
#ifndef SIMHASH_AGGREGATE_H
#define SIMHASH_AGGREGATE_H

#include "fmgr.h"

extern MemoryContext simhash_aggregate_context(FunctionCallInfo fcinfo);
extern bytea *simhash_state_to_bytes(const void *state, size_t size);

#endif							/* SIMHASH_AGGREGATE_H */
