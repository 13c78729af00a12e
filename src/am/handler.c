/*
 * handler.c
 *	  What PostgreSQL is told of the access method, and its options; whether an
 *	  operator class is fit for it, and how many words its fingerprints have.
 */
#include "postgres.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "access/relscan.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "commands/vacuum.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "am/am.h"

PG_FUNCTION_INFO_V1(hamming_handler);

static relopt_kind option_kind;

void
hamming_define_options(void)
{
	option_kind = add_reloption_kind();
	add_int_reloption(option_kind, "fillfactor",
					  "Percent of an index page that a build fills",
					  HAMMING_DEFAULT_FILLFACTOR, HAMMING_MIN_FILLFACTOR, 100,
					  AccessExclusiveLock);
	add_int_reloption(option_kind, "blocks",
					  "Number of blocks that an index cuts 64 bits into",
					  0, HAMMING_MIN_BLOCKS, HAMMING_MAX_BLOCKS,
					  AccessExclusiveLock);
}

/* amoptions */
static bytea *
read_options(Datum options, bool validate)
{
	static const relopt_parse_elt known[] = {
		{.optname = "fillfactor",
			.opttype = RELOPT_TYPE_INT,
		.offset = offsetof(HammingOptions, fillfactor)},
		{.optname = "blocks",
			.opttype = RELOPT_TYPE_INT,
		.offset = offsetof(HammingOptions, blocks)}
	};

	return (bytea *) build_reloptions(options, validate, option_kind,
									  sizeof(HammingOptions), known,
									  lengthof(known));
}

/* ambuildphasename */
static char *
name_phase(int64 phase)
{
	int64		tree = (phase - HAMMING_PHASE_SORT(0)) / 2;
	bool		sorts = phase == HAMMING_PHASE_SORT(tree);

	if (phase == PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE)
		return "initializing";
	if (phase == HAMMING_PHASE_SCAN)
		return "scanning table";
	if (phase < HAMMING_PHASE_SCAN ||
		tree >= HAMMING_MAX_WORDS * HAMMING_MAX_BLOCKS)
		return NULL;
	return psprintf("%s block tree " INT64_FORMAT,
					sorts ? "sorting" : "writing", tree + 1);
}

/*
 * amproperty: the first column can be ordered by distance, and no other one.
 * PostgreSQL knows all else.
 */
static bool
read_property(Oid index, int column, IndexAMProperty property, const char *name,
			  bool *result, bool *isnull)
{
	if (column == 0 || property != AMPROP_DISTANCE_ORDERABLE)
		return false;
	*isnull = false;
	*result = column == 1;
	return true;
}

/* Return how many words a fingerprint has that takes bytes; 0 if none does. */
static int
words_of_length(int bytes)
{
	return bytes > 0 && bytes % 8 == 0 && bytes / 8 <= HAMMING_MAX_WORDS
		? bytes / 8 : 0;
}

/*
 * Return how many words the fingerprints of a type have.  Error: 0A000 if none
 * are as long.
 */
int
hamming_words_of(Oid type)
{
	int			length = get_typlen(type);

	if (words_of_length(length) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method %s has no fingerprints of length %d",
						"hamming", length)));
	return words_of_length(length);
}

/*
 * Is an operator family one of fingerprints?  It is if it has the operator <@,
 * by which planner.c searches.  All others are for further columns.
 */
static bool
has_fingerprints(Oid family)
{
	CatCList   *operators = SearchSysCacheList1(AMOPSTRATEGY,
												ObjectIdGetDatum(family));
	bool		found = false;
	int			i;

	for (i = 0; i < operators->n_members; i++)
	{
		HeapTuple	entry = &operators->members[i]->tuple;

		if (((Form_pg_amop) GETSTRUCT(entry))->amopstrategy ==
			SIMHASH_BALL_STRATEGY)
			found = true;
	}
	ReleaseCatCacheList(operators);
	return found;
}

/*
 * Return what is wrong with an operator of a class for a type; NULL if nothing
 * is.  fingerprints: is the class for the first column of an index?
 */
static const char *
operator_fault(Form_pg_amop member, Oid type, bool fingerprints)
{
	int			strategy = member->amopstrategy;
	bool		orders = strategy == SIMHASH_DISTANCE_STRATEGY;

	if (strategy != SIMHASH_EQUAL_STRATEGY &&
		!(fingerprints && (strategy == SIMHASH_NEAR_STRATEGY ||
						   strategy == SIMHASH_BALL_STRATEGY || orders)))
		return "an invalid strategy number";
	if (member->amoppurpose != (orders ? AMOP_ORDER : AMOP_SEARCH))
		return "a purpose other than that of its strategy";
	if (orders && member->amopsortfamily != INTEGER_BTREE_FAM_OID)
		return "an order other than that of integers";
	if (member->amoplefttype != type)
		return "a left argument of another type";
	if ((member->amoprighttype != type) != (strategy == SIMHASH_BALL_STRATEGY))
		return "a right argument of the wrong type";
	if (!check_amop_signature(member->amopopr, orders ? INT4OID : BOOLOID,
							  member->amoplefttype, member->amoprighttype))
		return "the wrong result type";
	return NULL;
}

/* Report a fault of a class as INFO.  Return false. */
static bool
report_fault(Form_pg_opclass opclass, const char *fault)
{
	ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				   errmsg("operator class \"%s\" of access method %s %s",
						  NameStr(opclass->opcname), "hamming", fault)));
	return false;
}

/*
 * amvalidate: report each fault as INFO, and return whether there is none.  The
 * type of a class for the first column must be as long as a fingerprint.  A
 * class for further columns must have the operator of equality.
 */
static bool
validate(Oid oid)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(oid));
	Form_pg_opclass opclass;
	CatCList   *operators;
	bool		fingerprints;
	bool		has_equality = false;
	bool		valid = true;
	int			length;
	int			i;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", oid);
	opclass = (Form_pg_opclass) GETSTRUCT(tuple);
	length = get_typlen(opclass->opcintype);
	fingerprints = has_fingerprints(opclass->opcfamily);
	if (fingerprints && words_of_length(length) == 0)
		valid = report_fault(opclass,
							 psprintf("is for type %s of length %d, which no "
									  "fingerprint has",
									  format_type_be(opclass->opcintype),
									  length));
	operators = SearchSysCacheList1(AMOPSTRATEGY,
									ObjectIdGetDatum(opclass->opcfamily));
	for (i = 0; i < operators->n_members; i++)
	{
		HeapTuple	entry = &operators->members[i]->tuple;
		Form_pg_amop member = (Form_pg_amop) GETSTRUCT(entry);
		const char *fault = operator_fault(member, opclass->opcintype,
										   fingerprints);

		has_equality |= member->amopstrategy == SIMHASH_EQUAL_STRATEGY;
		if (fault != NULL)
			valid = report_fault(opclass,
								 psprintf("contains operator %s with %s",
										  format_operator(member->amopopr),
										  fault));
	}
	if (!fingerprints && !has_equality)
		valid = report_fault(opclass,
							 psprintf("is missing the operator with strategy "
									  "%d or %d", SIMHASH_BALL_STRATEGY,
									  SIMHASH_EQUAL_STRATEGY));
	ReleaseCatCacheList(operators);
	ReleaseSysCache(tuple);
	return valid;
}

/*
 * Error: 0A000 unless the first column of an index is a fingerprint, of a
 * length that there is, and no other one.
 */
void
hamming_check_columns(Relation index)
{
	TupleDesc	columns = RelationGetDescr(index);
	int			i;

	for (i = 0; i < columns->natts; i++)
		if (has_fingerprints(index->rd_opfamily[i]) != (i == 0))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg(i == 0
							? "the first column of a %s index must be a "
							"fingerprint, and \"%s\" is of type %s"
							: "only the first column of a %s index may be a "
							"fingerprint, and \"%s\" is of type %s", "hamming",
							NameStr(TupleDescAttr(columns, i)->attname),
							format_type_be(index->rd_opcintype[i]))));
	(void) hamming_words_of(TupleDescAttr(columns, 0)->atttypid);
}

static const IndexAmRoutine routine = {
	.type = T_IndexAmRoutine,

	/* operators, by strategy number */
	.amstrategies = SIMHASH_DISTANCE_STRATEGY,
	.amcanorderbyop = true,

	/* the executor compares the columns that follow the fingerprint */
	.amcanmulticol = true,

	/* no condition is needed, as NULLs are in the index, too */
	.amoptionalkey = true,
	.amsearchnulls = true,
	.amusemaintenanceworkmem = true,
	.ampredlocks = true,
	.amkeytype = InvalidOid,
	.amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL |
	VACUUM_OPTION_PARALLEL_CLEANUP,

	BUILDS_IN_PARALLEL

	.ambuild = hamming_build,
	.ambuildempty = hamming_build_empty,
	.aminsert = hamming_insert,
	.ambulkdelete = hamming_vacuum,
	.amvacuumcleanup = hamming_cleanup,
	.amcostestimate = hamming_cost_estimate,
	.amoptions = read_options,
	.amproperty = read_property,
	.ambuildphasename = name_phase,
	.amvalidate = validate,
	.ambeginscan = hamming_begin_scan,
	.amrescan = hamming_rescan,
	.amgettuple = hamming_get_tuple,
	.amgetbitmap = hamming_get_bitmap,
	.amendscan = hamming_end_scan,
};

Datum
hamming_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_AM_ROUTINE(&routine);
}
