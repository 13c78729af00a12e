/*
 * handler.c
 *	  What PostgreSQL is told of the access method, and its options; whether an
 *	  operator class is fit for it; the routines of each width.
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

/* Define the options of an index, when the library is loaded. */
void
hamming_define_options(void)
{
	option_kind = add_reloption_kind();
	add_int_reloption(option_kind, "fillfactor",
					  "Percent of an index page that a build fills",
					  HAMMING_DEFAULT_FILLFACTOR, HAMMING_MIN_FILLFACTOR, 100,
					  AccessExclusiveLock);
	add_int_reloption(option_kind, "blocks",
					  "Number of blocks that an index cuts fingerprints into",
					  0, HAMMING_MIN_BLOCKS, HAMMING_MAX_BLOCKS,
					  AccessExclusiveLock);
}

/* amoptions: the options of an index, as HammingOptions. */
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

/* ambuildphasename: the name of a phase; NULL if there is no such phase. */
static char *
name_phase(int64 phase)
{
	int64		tree = (phase - HAMMING_PHASE_SORT(0)) / 2;
	bool		sorts = phase == HAMMING_PHASE_SORT(tree);

	if (phase == PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE)
		return "initializing";
	if (phase == HAMMING_PHASE_SCAN)
		return "scanning table";
	if (phase < HAMMING_PHASE_SCAN || tree >= HAMMING_MAX_BLOCKS)
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

/* Return the functions for fingerprints of a length in bytes, or NULL. */
static const HammingRoutines *
routines_of_length(int bytes)
{
	return bytes == 8 ? &hamming_routines
		: bytes == 16 ? &hamming_routines_128 : NULL;
}

/* The same.  Error: 0A000 if no fingerprint has the length. */
static const HammingRoutines *
find_routines(int bytes)
{
	const HammingRoutines *routines = routines_of_length(bytes);

	if (routines == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method %s has no fingerprints of length %d",
						"hamming", bytes)));
	return routines;
}

const HammingRoutines *
hamming_find_routines(Relation index)
{
	return find_routines(TupleDescAttr(RelationGetDescr(index), 0)->attlen);
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

/*
 * Report a fault of the operators of a class as INFO, and return whether there
 * is none.  A class for further columns must have the operator of equality.
 */
static bool
validate_operators(Form_pg_opclass opclass, bool fingerprints)
{
	Datum		family = ObjectIdGetDatum(opclass->opcfamily);
	CatCList   *operators = SearchSysCacheList1(AMOPSTRATEGY, family);
	const char *name = NameStr(opclass->opcname);
	bool		valid = true;
	bool		has_equality = false;
	int			i;

	for (i = 0; i < operators->n_members; i++)
	{
		HeapTuple	entry = &operators->members[i]->tuple;
		Form_pg_amop member = (Form_pg_amop) GETSTRUCT(entry);
		const char *fault = operator_fault(member, opclass->opcintype,
										   fingerprints);

		if (member->amopstrategy == SIMHASH_EQUAL_STRATEGY)
			has_equality = true;
		if (fault == NULL)
			continue;
		ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					   errmsg("operator class \"%s\" of access method %s "
							  "contains operator %s with %s",
							  name, "hamming",
							  format_operator(member->amopopr), fault)));
		valid = false;
	}
	ReleaseCatCacheList(operators);
	if (fingerprints || has_equality)
		return valid;
	ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				   errmsg("operator class \"%s\" of access method %s is "
						  "missing the operator with strategy %d or %d",
						  name, "hamming", SIMHASH_BALL_STRATEGY,
						  SIMHASH_EQUAL_STRATEGY)));
	return false;
}

/*
 * amvalidate: report each fault as INFO, and return whether there is none.
 * The type of a class for the first column must be as long as a fingerprint.
 */
static bool
validate(Oid oid)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(oid));
	Form_pg_opclass opclass;
	bool		fingerprints;
	bool		valid = true;
	int			length;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", oid);
	opclass = (Form_pg_opclass) GETSTRUCT(tuple);
	length = get_typlen(opclass->opcintype);
	fingerprints = has_fingerprints(opclass->opcfamily);
	if (fingerprints && routines_of_length(length) == NULL)
	{
		ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					   errmsg("operator class \"%s\" of access method %s is "
							  "for type %s of length %d, which no fingerprint "
							  "has",
							  NameStr(opclass->opcname), "hamming",
							  format_type_be(opclass->opcintype), length)));
		valid = false;
	}
	valid &= validate_operators(opclass, fingerprints);
	ReleaseSysCache(tuple);
	return valid;
}

/*
 * Error: 0A000 unless the first column of an index is a fingerprint, and no
 * other one.  Pages have the first column alone.  A search looks at it, and the
 * executor at the further columns of each row that was found.
 */
static void
check_columns(Relation index)
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
}

/*
 * PostgreSQL calls the functions below for indexes of both widths.  Function
 * call_name() calls amname() of those of the index's width, am_of().
 */

static const IndexAmRoutine *
am_of(Relation index)
{
	return &hamming_find_routines(index)->am;
}

static IndexBuildResult *
call_build(Relation heap, Relation index, IndexInfo *info)
{
	check_columns(index);
	return am_of(index)->ambuild(heap, index, info);
}

static void
call_build_empty(Relation index)
{
	am_of(index)->ambuildempty(index);
}

static bool
call_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			Relation heap, IndexUniqueCheck check_unique, bool unchanged,
			IndexInfo *info)
{
	return am_of(index)->aminsert(index, values, isnull, tid, heap,
								  check_unique, unchanged, info);
}

static IndexBulkDeleteResult *
call_vacuum(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			IndexBulkDeleteCallback callback, void *callback_state)
{
	return am_of(info->index)->ambulkdelete(info, stats, callback,
											callback_state);
}

static IndexBulkDeleteResult *
call_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	return am_of(info->index)->amvacuumcleanup(info, stats);
}

static void
call_cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count,
				   Cost *startup_cost, Cost *total_cost,
				   Selectivity *selectivity, double *correlation,
				   double *pages)
{
	int			length = get_typlen(path->indexinfo->opcintype[0]);

	find_routines(length)->am.amcostestimate(root, path, loop_count,
											 startup_cost, total_cost,
											 selectivity, correlation, pages);
}

static IndexScanDesc
call_begin_scan(Relation index, int keys, int order_bys)
{
	return am_of(index)->ambeginscan(index, keys, order_bys);
}

static void
call_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey order_bys,
			int norder_bys)
{
	am_of(scan->indexRelation)->amrescan(scan, keys, nkeys, order_bys,
										 norder_bys);
}

static bool
call_get_tuple(IndexScanDesc scan, ScanDirection direction)
{
	return am_of(scan->indexRelation)->amgettuple(scan, direction);
}

static int64
call_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	return am_of(scan->indexRelation)->amgetbitmap(scan, bitmap);
}

static void
call_end_scan(IndexScanDesc scan)
{
	am_of(scan->indexRelation)->amendscan(scan);
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

	.ambuild = call_build,
	.ambuildempty = call_build_empty,
	.aminsert = call_insert,
	.ambulkdelete = call_vacuum,
	.amvacuumcleanup = call_cleanup,
	.amcostestimate = call_cost_estimate,
	.amoptions = read_options,
	.amproperty = read_property,
	.ambuildphasename = name_phase,
	.amvalidate = validate,
	.ambeginscan = call_begin_scan,
	.amrescan = call_rescan,
	.amgettuple = call_get_tuple,
	.amgetbitmap = call_get_bitmap,
	.amendscan = call_end_scan,
};

/*
 * Is this our amcostestimate?  A name in pg_am would be wrong where the access
 * method was renamed, or where a second one has the same handler.
 */
bool
hamming_is_cost_function(amcostestimate_function function)
{
	return function == call_cost_estimate;
}

Datum
hamming_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_AM_ROUTINE(&routine);
}
