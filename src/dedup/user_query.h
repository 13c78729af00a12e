/*
 * user_query.h
 *	  The rows of a query that a user gives as a text.
 */
#ifndef QUERY_H
#define QUERY_H

#include "access/tupdesc.h"
#include "executor/tuptable.h"

extern void query_read(const char *query, void (*check)(TupleDesc, void *),
					   void (*receive)(TupleTableSlot *, void *), void *arg);

#endif /* QUERY_H */
