/*
 * user_ids.c
 *	  Which columns of a user's query may be ids?
 */
#include "postgres.h"

#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "dedup/user_ids.h"

/* Return a hint for a column of type, which ids cannot have. */
static const char *
id_hint(Oid type)
{
	if (TypeCategory(type) == TYPCATEGORY_NUMERIC)
		return "Cast it to bigint.";
	return "Number the rows by row_number() OVER (ORDER BY key), and join the "
		"keys to the numbers.";
}

/*
 * Return the type of the ids in a column, which is counted from 0: of a domain
 * its base type.  Raise 42804 if that is none of ids, with hint unless hint is
 * NULL.
 */
Oid
simhash_check_id_column(TupleDesc description, int column, const char *hint)
{
	static const char *const names[] = {"first", "second"};
	Oid			type = TupleDescAttr(description, column)->atttypid;
	Oid			base = getBaseType(type);

	if (base != INT8OID && base != INT4OID && base != INT2OID)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("%s column of query must be of type bigint, "
							   "integer or smallint, not %s",
							   names[column], format_type_be(type)),
						errhint("%s", hint != NULL ? hint : id_hint(base))));
	return base;
}
