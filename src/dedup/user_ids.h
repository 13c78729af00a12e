/*
 * user_ids.h
 *	  The ids in the rows of a query that a user gives as a text.
 */
#ifndef SIMHASH_USER_IDS_H
#define SIMHASH_USER_IDS_H

#include "access/tupdesc.h"
#include "catalog/pg_type.h"

extern Oid	simhash_check_id_column(TupleDesc description, int column,
									const char *hint);

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

#endif							/* SIMHASH_USER_IDS_H */
