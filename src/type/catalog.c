/*
 * catalog.c
 *	  Objects of the extension, looked up by name.
 *
 * The extension can live in any schema, and move to another one.  So each
 * look-up is in the schema of a function of the extension, and the search
 * path has no part in it.  A look-up that finds nothing returns InvalidOid.
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "type/catalog.h"

Oid
simhash_find_type(Oid schema, const char *name)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name),
						   ObjectIdGetDatum(schema));
}

/* The function takes the arguments types[0 .. count). */
Oid
simhash_find_function(Oid schema, const char *name, int count,
					  const Oid *types)
{
	return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
						   CStringGetDatum(name),
						   PointerGetDatum(buildoidvector(types, count)),
						   ObjectIdGetDatum(schema));
}

Oid
simhash_find_operator(Oid schema, const char *name, Oid left, Oid right)
{
	return GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid,
						   CStringGetDatum(name), ObjectIdGetDatum(left),
						   ObjectIdGetDatum(right), ObjectIdGetDatum(schema));
}

/*
 * Return how many bits a fingerprint of the type has; 0 if type is neither
 * simhash64 nor simhash128 in the schema of function.
 */
int
simhash_bits(Oid function, Oid type)
{
	Oid			schema = get_func_namespace(function);

	if (type == simhash_find_type(schema, "simhash64"))
		return 64;
	if (type == simhash_find_type(schema, "simhash128"))
		return 128;
	return 0;
}
