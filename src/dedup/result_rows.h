/*
 * result_rows.h
 *	  The description of the rows that a SQL function returns one at a time.
 */
#ifndef SIMHASH_RESULT_ROWS_H
#define SIMHASH_RESULT_ROWS_H

#include "funcapi.h"

/* The function of fcinfo must return rows.  The result is for row types. */
static inline TupleDesc
describe_rows(FunctionCallInfo fcinfo)
{
	TupleDesc	description;

	if (get_call_result_type(fcinfo, NULL, &description) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "function must return rows");
	return BlessTupleDesc(description);
}

#endif							/* SIMHASH_RESULT_ROWS_H */
