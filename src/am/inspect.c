/*
 * inspect.c
 *	  hamming_index_stats() and hamming_index_check(), of an index that a user
 *	  names.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"

#include "am/am.h"
#include "am/test_stop.h"
#include "type/compat.h"

PG_FUNCTION_INFO_V1(hamming_index_stats);
PG_FUNCTION_INFO_V1(hamming_index_check);

/* Return what to name instead of a relation that is not a hamming index. */
static int
hint_what_to_name(Relation relation)
{
	switch (relation->rd_rel->relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_MATVIEW:
			return errhint("Pass the name of an index of this table.");
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_PARTITIONED_INDEX:
			return errhint("Pass the index of a partition. "
						   "pg_partition_tree() lists the partitions of an "
						   "index.");
		case RELKIND_FOREIGN_TABLE:
			return errhint("Call the function on the server that stores the "
						   "table.");
		default:
			return 0;
	}
}

/*
 * Open a hamming index that the user may look into, as its owner or as a member
 * of role, unless that is InvalidOid.  Errors: 42P01 where there is no such
 * relation, 42809 for anything but a hamming index, 42501 for any other user,
 * 0A000 for a temporary index of another session, or on a standby for an
 * unlogged one, 55000 for an index that is not valid.
 */
static Relation
open_named(Oid oid, LOCKMODE mode, Oid role)
{
	Relation	index = try_relation_open(oid, mode);
	Oid			user = GetUserId();

	if (index == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						errmsg("relation with OID %u does not exist", oid)));
	if (index->rd_rel->relkind != RELKIND_INDEX ||
		!hamming_is_cost_function(index->rd_indam->amcostestimate))
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is not a hamming index",
							   RelationGetRelationName(index)),
						hint_what_to_name(index)));
	if (!object_ownercheck(RelationRelationId, oid, user) &&
		!(OidIsValid(role) && has_privs_of_role(user, role)))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX,
					   RelationGetRelationName(index));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary indexes of other sessions")));
	if (RecoveryInProgress() && !RelationIsPermanent(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("unlogged index \"%s\" is empty during recovery",
						RelationGetRelationName(index))));
	if (!index->rd_index->indisvalid)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("index \"%s\" is not valid",
							   RelationGetRelationName(index))));
	return index;
}

/*
 * hamming_index_stats(index regclass)
 *
 * Members of pg_stat_scan_tables may call it, too, as the functions of
 * pgstattuple.  Errors: as open_named(); XX002 where a page cannot be used.
 */
Datum
hamming_index_stats(PG_FUNCTION_ARGS)
{
	Relation	index = open_named(PG_GETARG_OID(0), AccessShareLock,
								   ROLE_PG_STAT_SCAN_TABLES);
	HammingStats stats;
	TupleDesc	description;
	Datum		values[10];
	bool		isnull[10] = {false};
	HeapTuple	result;

	if (get_call_result_type(fcinfo, NULL, &description) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	hamming_read_stats(index, &stats);
	values[0] = Int64GetDatum(stats.rows + stats.nulls);
	values[1] = Int64GetDatum(stats.nulls);
	values[2] = Int64GetDatum(stats.fingerprints);
	values[3] = Int32GetDatum(stats.blocks);
	values[4] = Int32GetDatum(stats.height);
	values[5] = Int64GetDatum(stats.pages);
	values[6] = Int64GetDatum(stats.free_pages);
	values[7] = Int64GetDatum((int64) stats.pages * BLCKSZ);
	values[8] = Float8GetDatum(stats.average_block);
	values[9] = Int64GetDatum(stats.largest_block);
	relation_close(index, AccessShareLock);
	result = heap_form_tuple(description, values, isnull);
	PG_RETURN_DATUM(HeapTupleGetDatum(result));
}

/*
 * Check an index and that it agrees with its table.  Errors: 42P01 also where
 * one of them is dropped between the locks; 55000 on a standby.
 */
static void
check_with_heap(Oid oid)
{
	Relation	index;
	Relation	heap;
	Oid			heap_oid;
	Oid			user;
	int			security;
	int			level;

	/*
	 * Whether the user may do this is found out before others are locked out.
	 * Then the table is locked before its index, as by all commands.
	 */
	index = open_named(oid, AccessShareLock, InvalidOid);
	heap_oid = index->rd_index->indrelid;
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot compare index \"%s\" with its table during "
						"recovery",
						RelationGetRelationName(index)),
				 errhint("Use hamming_index_check(index, heap => false).")));
	relation_close(index, AccessShareLock);
	test_stop("index check");
	heap = try_table_open(heap_oid, ShareLock);
	index = open_named(oid, ShareLock, InvalidOid);
	/* between the locks both may be dropped, and their OIDs used again */
	if (heap == NULL || index->rd_index->indrelid != heap_oid)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						errmsg("could not open the table of index \"%s\"",
							   RelationGetRelationName(index))));

	/* expressions of the index are evaluated with its owner's rights */
	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(heap->rd_rel->relowner,
						   security | SECURITY_RESTRICTED_OPERATION);
	level = NewGUCNestLevel();
	RestrictSearchPath();

	hamming_check(heap, index);

	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(user, security);
	relation_close(index, ShareLock);
	table_close(heap, ShareLock);
}

/* hamming_index_check(index regclass, heap boolean) */
Datum
hamming_index_check(PG_FUNCTION_ARGS)
{
	Relation	index;

	if (PG_GETARG_BOOL(1))
		check_with_heap(PG_GETARG_OID(0));
	else
	{
		index = open_named(PG_GETARG_OID(0), AccessShareLock, InvalidOid);
		hamming_check(NULL, index);
		relation_close(index, AccessShareLock);
	}
	PG_RETURN_VOID();
}
