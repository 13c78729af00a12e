/*
 * distances.c
 *	  simhash_distances(...): the distances in a sample of a column.
 */
#include "postgres.h"

#include "access/table.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "dedup/sample.h"
#include "type/catalog.h"

PG_FUNCTION_INFO_V1(simhash_distances);

/*
 * Return how many bits a fingerprint of the column has, whose type must be one
 * of fingerprints, or a domain over it.
 */
static int
column_bits(Relation relation, const char *column, Oid function)
{
	AttrNumber	number = get_attnum(RelationGetRelid(relation), column);
	Oid			type;
	int			bits;

	if (number == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, RelationGetRelationName(relation))));
	type = get_atttype(RelationGetRelid(relation), number);
	bits = simhash_bits(function, getBaseType(type));
	if (bits == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" is of type %s, "
						"not simhash64 or simhash128",
						column, RelationGetRelationName(relation),
						format_type_be(type))));
	return bits;
}

/* Return a query for a column.  Nothing in it depends on the search path. */
static const char *
column_query(Relation relation, const char *column)
{
	const char *schema = get_namespace_name(RelationGetNamespace(relation));
	const char *name = RelationGetRelationName(relation);
	const char *table = quote_qualified_identifier(schema, name);

	column = quote_identifier(column);
	return psprintf("SELECT %s FROM %s WHERE %s IS NOT NULL", column, table,
					column);
}

/* simhash_distances(rel regclass, column_name name, sample int) */
Datum
simhash_distances(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	const char *column = NameStr(*PG_GETARG_NAME(1));
	int			wanted = PG_GETARG_INT32(2);
	Relation	relation;
	const char *query;

	/* the executor frees its own description of the rows, and no other */
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	if (wanted < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("sample must be at least 1, not %d", wanted)));
	/* raises 42809 for a relation without rows */
	relation = try_table_open(oid, AccessShareLock);
	if (relation == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						errmsg("relation with OID %u does not exist", oid)));
	query = column_query(relation, column);
	if (column_bits(relation, column, fcinfo->flinfo->fn_oid) == 64)
		simhash_count_distances(query, wanted, fcinfo);
	else
		simhash_count_distances_128(query, wanted, fcinfo);
	table_close(relation, AccessShareLock);
	return (Datum) 0;
}
