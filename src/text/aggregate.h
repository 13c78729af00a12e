/*
 * aggregate.h
 *	  What aggregate.c and idf.c share: access to the state of an aggregate.
 */
#ifndef SIMHASH_AGGREGATE_H
#define SIMHASH_AGGREGATE_H

#include "fmgr.h"
#include "lib/stringinfo.h"

extern MemoryContext simhash_aggregate_context(FunctionCallInfo fcinfo);
extern void simhash_read_state(FunctionCallInfo fcinfo, StringInfo buf);

#endif							/* SIMHASH_AGGREGATE_H */
