/*
 * user_query.h
 *	  The rows of a query that a user gives as a text.
 */
#ifndef SIMHASH_USER_QUERY_H
#define SIMHASH_USER_QUERY_H

#include "access/tupdesc.h"
#include "executor/tuptable.h"

extern void simhash_read_user_query(const char *query,
									void (*check) (TupleDesc, void *),
									void (*receive) (TupleTableSlot *, void *),
									void *arg);

#endif							/* SIMHASH_USER_QUERY_H */
