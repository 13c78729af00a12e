/*
 * validate.c
 *	  Is an operator class fit for the access method?
 */
#include "postgres.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "am/handler.h"
#include "type/simhash.h"

/* Return what is wrong with an operator; NULL if nothing is. */
static const char *
operator_fault(Form_pg_amop member, Oid fingerprint)
{
	bool		orders = member->amopstrategy == SIMHASH_DISTANCE_STRATEGY;

	if (member->amopstrategy != SIMHASH_NEAR_STRATEGY &&
		member->amopstrategy != SIMHASH_BALL_STRATEGY &&
		member->amopstrategy != SIMHASH_EQUAL_STRATEGY && !orders)
		return "an invalid strategy number";
	if (member->amoppurpose != (orders ? AMOP_ORDER : AMOP_SEARCH))
		return "a purpose other than that of its strategy";
	if (orders && member->amopsortfamily != INTEGER_BTREE_FAM_OID)
		return "an order other than that of integers";
	if (member->amoplefttype != fingerprint)
		return "a left argument of another type";
	if ((member->amoprighttype != fingerprint) !=
		(member->amopstrategy == SIMHASH_BALL_STRATEGY))
		return "a right argument of the wrong type";
	if (!check_amop_signature(member->amopopr, orders ? INT4OID : BOOLOID,
							  member->amoplefttype, member->amoprighttype))
		return "the wrong result type";
	return NULL;
}

/*
 * amvalidate: report each fault as INFO, and return whether there is none.
 * The type must be as long as a fingerprint.  The family must have the operator
 * <@, by which planner.c searches.
 */
bool
hamming_validate(Oid opclass)
{
	HeapTuple	tuple;
	Form_pg_opclass form;
	CatCList   *operators;
	char	   *name;
	bool		valid = true;
	bool		searches = false;
	int			length;
	int			i;

	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	form = (Form_pg_opclass) GETSTRUCT(tuple);
	name = NameStr(form->opcname);
	length = get_typlen(form->opcintype);
	if (hamming_routines_of_length(length) == NULL)
	{
		ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					   errmsg("operator class \"%s\" of access method %s is "
							  "for type %s of length %d, which no fingerprint "
							  "has",
							  name, "hamming",
							  format_type_be(form->opcintype), length)));
		valid = false;
	}
	operators = SearchSysCacheList1(AMOPSTRATEGY,
									ObjectIdGetDatum(form->opcfamily));

	for (i = 0; i < operators->n_members; i++)
	{
		HeapTuple	entry = &operators->members[i]->tuple;
		Form_pg_amop member = (Form_pg_amop) GETSTRUCT(entry);
		const char *fault = operator_fault(member, form->opcintype);

		if (member->amopstrategy == SIMHASH_BALL_STRATEGY)
			searches = true;
		if (fault != NULL)
		{
			ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
						   errmsg("operator class \"%s\" of access method %s "
								  "contains operator %s with %s",
								  name, "hamming",
								  format_operator(member->amopopr), fault)));
			valid = false;
		}
	}
	if (!searches)
	{
		ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					   errmsg("operator class \"%s\" of access method %s is "
							  "missing the operator with strategy %d",
							  name, "hamming", SIMHASH_BALL_STRATEGY)));
		valid = false;
	}

	ReleaseCatCacheList(operators);
	ReleaseSysCache(tuple);
	return valid;
}
