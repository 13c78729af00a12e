/*
 * user_query.h
 *	  A query that a user gives as a text: its rows, the ids in them, and the
 *	  rows that a SQL function makes of them.
 */
#ifndef SIMHASH_USER_QUERY_H
#define SIMHASH_USER_QUERY_H

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "funcapi.h"

extern void simhash_read_user_query(const char *query, const char *columns,
									int count,
									void (*check) (TupleDesc, void *),
									void (*receive) (TupleTableSlot *, void *),
									void *arg);
extern Oid	simhash_check_id_column(TupleDesc description, int column,
									const char *hint);
extern int	simhash_check_fingerprint_columns(TupleDesc description,
											  Oid function, Oid *id);

/* type must be what simhash_check_id_column() has returned. */
static inline int64
user_id(Datum value, Oid type)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/*
 * The function of fcinfo must return rows.  Describe them as the executor does,
 * as the function may have been dropped since the statement began.
 */
static inline TupleDesc
describe_rows(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	return BlessTupleDesc(CreateTupleDescCopy(result->expectedDesc));
}

#endif							/* SIMHASH_USER_QUERY_H */
