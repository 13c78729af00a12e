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

#include "am/sort.h"
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
	/* whatever the name of the access method in pg_am */
	if (index->rd_rel->relkind != RELKIND_INDEX ||
		index->rd_indam->amcostestimate != hamming_cost_estimate)
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

/* Count the keys of a tree with TIDs, and their fingerprints. */
static int64
count_rows(Relation index, HammingKeys *keys, int tree, int64 *fingerprints)
{
	HammingKey	last = hamming_least_key;	/* no row has it */
	HammingKey	key;
	int64		rows = 0;

	*fingerprints = 0;
	hamming_keys_begin(keys, index, tree);
	for (; hamming_keys_next(keys, &key); last = key, rows++)
		if (last.tid == 0 || hamming_compare_words(&last, &key) != 0)
			++* fingerprints;
	return rows;
}

/*
 * Return how many rows share the value of a block, on average of these values.
 * *largest gets the most rows that share one.
 */
static double
measure_blocks(Relation index, HammingKeys *keys, int64 *largest)
{
	HammingLayout layout = hamming_layout(index);
	int64		rows = 0;		/* of all trees */
	int64		values = 0;
	int			tree;

	*largest = 0;
	for (tree = 0; tree < HAMMING_TREES; tree = hamming_next_tree(layout, tree))
	{
		HammingSorter *sorter = hamming_sorter_begin(1, false,
													 maintenance_work_mem);
		int			width = hamming_block_width(layout.blocks,
												HAMMING_TREE_BLOCK(tree));
		uint64		last = 0;
		int64		equal = 0;	/* rows that have it; 0 at first */
		HammingKey	key;

		hamming_keys_begin(keys, index, 0);
		for (; hamming_keys_next(keys, &key); rows++)
		{
			key = hamming_tree_key(layout, 0, tree, key);
			key.words[0] &= hamming_leading_bits(width);
			hamming_sorter_add_key(sorter, key);
		}
		hamming_sorter_finish(sorter);
		for (; hamming_sorter_next_key(sorter, &key); last = key.words[0])
		{
			equal = key.words[0] == last ? equal + 1 : 1;
			values += equal == 1;
			*largest = Max(*largest, equal);
		}
		hamming_sorter_end(sorter);
	}
	return (double) rows / Max(values, 1);
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
	BlockNumber pages = RelationGetNumberOfBlocks(index);
	HammingKeys *keys = palloc(sizeof(HammingKeys));
	int64		unused;
	int64		nulls = count_rows(index, keys, HAMMING_NULLS, &unused);
	int64		fingerprints;
	int64		rows = count_rows(index, keys, 0, &fingerprints);
	int64		largest;
	TupleDesc	description;
	Datum		values[10];
	bool		isnull[10] = {false};

	if (get_call_result_type(fcinfo, NULL, &description) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[0] = Int64GetDatum(rows + nulls);
	values[1] = Int64GetDatum(nulls);
	values[2] = Int64GetDatum(fingerprints);
	values[3] = Int32GetDatum(hamming_layout(index).blocks);
	values[4] = Int32GetDatum(hamming_height(index, 0));
	values[5] = Int64GetDatum(pages);
	values[6] = Int64GetDatum(hamming_count_free(index, pages, false, NULL));
	values[7] = Int64GetDatum((int64) pages * BLCKSZ);
	values[8] = Float8GetDatum(measure_blocks(index, keys, &largest));
	values[9] = Int64GetDatum(largest);
	relation_close(index, AccessShareLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(description, values,
													  isnull)));
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
