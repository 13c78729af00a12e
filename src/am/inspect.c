/*
 * inspect.c
 *	  hamming_index_stats() and hamming_index_check().
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/guc.h"

#include "am/handler.h"
#include "am/test_stop.h"
#include "type/compat.h"

PG_FUNCTION_INFO_V1(hamming_index_stats);
PG_FUNCTION_INFO_V1(hamming_index_check);

/*
 * hamming_index_stats(index regclass)
 *
 * The index is locked by AccessShareLock, and one page at a time in share
 * mode.  Errors: as hamming_open_named(); XX002 where a page cannot be used.
 */
Datum
hamming_index_stats(PG_FUNCTION_ARGS)
{
	Relation	index = hamming_open_named(PG_GETARG_OID(0), AccessShareLock);
	HammingStats stats;
	TupleDesc	description;
	Datum		values[10];
	bool		isnull[10] = {false};
	HeapTuple	result;

	if (get_call_result_type(fcinfo, NULL, &description) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	hamming_find_routines(index)->read_stats(index, &stats);
	if (stats.rows + stats.nulls == 0)
		hamming_tell_of_shards(index);
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
 * hamming_index_check(index regclass)
 *
 * The index is locked by AccessShareLock, and unlocked.  Then the table and
 * the index are locked by ShareLock, and one page at a time in share mode.
 * Errors: as hamming_open_named(), also where the table or the index is dropped
 * between the locks; as hamming_check().
 */
Datum
hamming_index_check(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
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
	index = hamming_open_named(oid, AccessShareLock);
	heap_oid = index->rd_index->indrelid;
	relation_close(index, AccessShareLock);
	test_stop("index check");
	heap = try_table_open(heap_oid, ShareLock);
	index = hamming_open_named(oid, ShareLock);
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

	if (RelationGetNumberOfBlocks(heap) == 0)
		hamming_tell_of_shards(index);
	hamming_find_routines(index)->check(heap, index);

	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(user, security);
	relation_close(index, ShareLock);
	table_close(heap, ShareLock);
	PG_RETURN_VOID();
}
