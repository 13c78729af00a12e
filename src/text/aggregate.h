/*
 * aggregate.h
 *	  What aggregate.c and idf.c share: access to the state of an aggregate.
 */
#ifndef AGGREGATE_H
#define AGGREGATE_H

#include "fmgr.h"
#include "lib/stringinfo.h"

extern MemoryContext simhash_aggregate_context(FunctionCallInfo fcinfo);
extern void simhash_read_state(FunctionCallInfo fcinfo, StringInfo buf);

#endif							/* AGGREGATE_H */
