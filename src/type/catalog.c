/*
 * catalog.c
 *	  Objects of the extension, looked up by name.
 *
 * The extension can live in any schema, and move to another one.  So each
 * look-up is in the schema of a function of the extension, and the search
 * path has no part in it.  A look-up that finds nothing returns InvalidOid.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
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
 * simhash64 nor simhash128 in the schema of function.  Error: 42883 if function
 * has been dropped, as it may be while it runs.
 */
int
simhash_bits(Oid function, Oid type)
{
	Oid			schema = get_func_namespace(function);

	if (!OidIsValid(schema))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
						errmsg("function with OID %u does not exist",
							   function)));
	if (type == simhash_find_type(schema, "simhash64"))
		return 64;
	if (type == simhash_find_type(schema, "simhash128"))
		return 128;
	return 0;
}

/* Set to, of size bytes, to a column of a function; "" for NULL. */
static void
read_text(HeapTuple function, AttrNumber column, char *to, size_t size)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(PROCOID, function, column, &isnull);

	to[0] = '\0';
	if (!isnull)
		text_to_cstring_buffer(DatumGetTextPP(value), to, size);
}

/*
 * Is the name of a library that of this one, in whatever directory?  Is the
 * first argument of its function a fingerprint or a ball, and no domain?
 */
static bool
is_ours(const char *library, Form_pg_proc function)
{
	const char *slash = strrchr(library, '/');

	return strcmp(slash == NULL ? library : slash + 1, "simhash") == 0 &&
		function->pronargs > 0 &&
		get_typtype(function->proargtypes.values[0]) == TYPTYPE_BASE;
}

/*
 * Return the name in C of a function of this library that takes fingerprints or
 * balls, or "".  Other libraries may have functions of the same name, and
 * anybody may have SQL functions of any name.  The name stays until the next
 * call.  The planner asks for each pair of relations that it joins.
 */
const char *
simhash_c_name(Oid function)
{
	static char name[NAMEDATALEN];
	char		library[MAXPGPATH];
	HeapTuple	tuple;
	Form_pg_proc form;

	name[0] = '\0';
	/* most functions of most clauses are core's */
	if (function < FirstNormalObjectId)
		return name;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return name;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	if (form->prolang == ClanguageId)
	{
		read_text(tuple, Anum_pg_proc_probin, library, MAXPGPATH);
		if (is_ours(library, form))
			read_text(tuple, Anum_pg_proc_prosrc, name, NAMEDATALEN);
	}
	ReleaseSysCache(tuple);
	return name;
}
