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
#include "catalog/dependency.h"
#include "catalog/pg_am.h"
#include "catalog/pg_language.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "type/catalog.h"
#include "type/compat.h"

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

/*
 * Return the file of this library, as the extension's functions name it: it may
 * be another one than $libdir/simhash, and no process can load both.
 */
char *
simhash_library(void)
{
	Oid			handler = GetSysCacheOid1(AMNAME, Anum_pg_am_amhandler,
										  CStringGetDatum("hamming"));
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(handler));
	Datum		file;
	char	   *name;
	bool		isnull;

	/* the extension may have been dropped */
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
						errmsg("access method \"hamming\" does not exist")));
	file = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_probin, &isnull);
	name = TextDatumGetCString(file);
	ReleaseSysCache(tuple);
	return name;
}

/* What is known of a function: see simhash_c_name(). */
typedef struct KnownFunction
{
	Oid			function;		/* the hash key */
	char		c_name[NAMEDATALEN];	/* empty if the function is not ours */
} KnownFunction;

static HTAB *known_functions;	/* NULL before the first look-up */
static bool is_stale = true;	/* may a function have changed since? */

/* A SyscacheCallbackFunction. */
static void
forget_functions(Datum arg, SysCacheIdentifier cache, uint32 hash)
{
	is_stale = true;
}

/* Have PostgreSQL say when functions change.  The library calls this once. */
void
simhash_catalog_init(void)
{
	CacheRegisterSyscacheCallback(PROCOID, forget_functions, (Datum) 0);
}

/*
 * Set c_name, of NAMEDATALEN bytes, to the name in C of a function that belongs
 * to the extension, or to "".
 */
static void
read_c_name(Oid function, char *c_name)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			extension;
	Datum		source;
	bool		isnull;

	c_name[0] = '\0';
	if (!HeapTupleIsValid(tuple))
		return;
	source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
		text_to_cstring_buffer(DatumGetTextPP(source), c_name, NAMEDATALEN);
	ReleaseSysCache(tuple);
	if (c_name[0] == '\0')
		return;
	extension = getExtensionOfObject(ProcedureRelationId, function);
	if (!OidIsValid(extension) ||
		extension != get_extension_oid("simhash", true))
		c_name[0] = '\0';
}

/*
 * Return the name in C of a function that belongs to the extension, or "".
 * Other libraries may have functions of the same name, and anybody may have SQL
 * functions of any name.  The name stays until the next call.
 *
 * The planner asks for each pair of relations that it joins.  So the answer is
 * kept until any function changes; ALTER EXTENSION simhash ADD or DROP FUNCTION
 * changes none, and is seen later.
 */
const char *
simhash_c_name(Oid function)
{
	HASHCTL		control = {.keysize = sizeof(Oid),
	.entrysize = sizeof(KnownFunction)};
	KnownFunction *known;
	KnownFunction read;

	/* most functions of most clauses are core's */
	if (function < FirstNormalObjectId)
		return "";
	if (is_stale)
	{
		if (known_functions != NULL)
			hash_destroy(known_functions);
		known_functions = NULL;
		known_functions = hash_create("simhash functions", 16, &control,
									  HASH_ELEM | HASH_BLOBS);
		is_stale = false;
	}
	known = hash_search(known_functions, &function, HASH_FIND, NULL);
	if (known == NULL)
	{
		read_c_name(function, read.c_name);
		known = hash_search(known_functions, &function, HASH_ENTER, NULL);
		strcpy(known->c_name, read.c_name);
	}
	return known->c_name;
}
