/*
 * aggregate.h
 *	  What the states of our aggregates have in common.
 */
#ifndef AGGREGATE_H
#define AGGREGATE_H

#include "fmgr.h"
#include "lib/stringinfo.h"

extern MemoryContext aggregate_context(FunctionCallInfo fcinfo);
extern void read_state(FunctionCallInfo fcinfo, StringInfo buf);

#endif /* AGGREGATE_H */
