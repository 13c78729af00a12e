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

/* The function of fcinfo must return rows.  The result is for row types. */
static inline TupleDesc
describe_rows(FunctionCallInfo fcinfo)
{
	TupleDesc	description;

	if (get_call_result_type(fcinfo, NULL, &description) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "function must return rows");
	return BlessTupleDesc(description);
}

#endif							/* SIMHASH_USER_QUERY_H */
