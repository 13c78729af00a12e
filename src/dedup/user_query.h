/*
 * user_query.h
 *	  A query that a user gives as a text, and its rows.
 */
#ifndef SIMHASH_USER_QUERY_H
#define SIMHASH_USER_QUERY_H

#include "access/tupdesc.h"
#include "fmgr.h"

/* What a SQL function takes: a query that returns columns. */
typedef struct UserQuery
{
	const char *columns;		/* their names, for messages */
	int			count;			/* of columns, up to USER_COLUMNS */
	int			ids;			/* 1: an id, and then a fingerprint come
								 * first; 2: there are two ids */

	/*
	 * Called before the first row; or NULL.  bits is how many a fingerprint
	 * has, if there is one.
	 */
	void		(*begin) (TupleDesc description, int bits, void *arg);

	/*
	 * Called for each row that has no NULL.  values, which are valid until it
	 * returns, have ids as bigint.
	 */
	void		(*receive) (const Datum *values, void *arg);
} UserQuery;

#define USER_COLUMNS 3

extern void simhash_read_user_query(FunctionCallInfo fcinfo,
									const UserQuery *query, void *arg);

#endif							/* SIMHASH_USER_QUERY_H */
