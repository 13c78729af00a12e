/*
 * named.c
 *	  A hamming index that a user names, to look into it.
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/acl.h"

#include "am/handler.h"
#include "type/compat.h"

/* Return what to name instead of a relation that is not a hamming index. */
static int
hint_what_to_name(Relation relation)
{
	switch (relation->rd_rel->relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_MATVIEW:
			return errhint("Name an index of the table.");
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_PARTITIONED_INDEX:
			return errhint("Name the index of a partition: "
						   "pg_partition_tree() of the index lists them.");
		case RELKIND_FOREIGN_TABLE:
			return errhint("Ask the server that has the table.");
		default:
			return 0;
	}
}

/*
 * Check that a relation is a hamming index that the user may look into.
 * Errors: 42809 for anything but a hamming index, 42501 for anybody but its
 * owner, 0A000 for a temporary index of another session, 55000 for an index
 * that is not valid.
 */
static void
check_is_ours(Relation index)
{
	if (index->rd_rel->relkind != RELKIND_INDEX ||
		!hamming_is_cost_function(index->rd_indam->amcostestimate))
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is not a hamming index",
							   RelationGetRelationName(index)),
						hint_what_to_name(index)));
	if (!object_ownercheck(RelationRelationId, RelationGetRelid(index),
						   GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX,
					   RelationGetRelationName(index));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary indexes of other sessions")));
	if (!index->rd_index->indisvalid)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("index \"%s\" is not valid",
							   RelationGetRelationName(index))));
}

/* Errors: 42P01 where there is no such relation, and as check_is_ours(). */
Relation
hamming_open_named(Oid oid, LOCKMODE mode)
{
	Relation	index = try_relation_open(oid, mode);

	if (index == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						errmsg("relation with OID %u does not exist", oid)));
	check_is_ours(index);
	return index;
}

/*
 * The index has no rows.  Where Citus distributes its table, the rows are in
 * shards, with indexes of other names, and often on other servers: tell so.
 */
void
hamming_tell_of_shards(Relation index)
{
	if (OidIsValid(get_extension_oid("citus", true)))
		ereport(NOTICE,
				(errmsg("index \"%s\" has no rows here",
						RelationGetRelationName(index)),
				 errhint("If Citus distributes its table, the rows are in "
						 "shards: ask them by run_command_on_shards().")));
}
