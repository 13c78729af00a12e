/*
 * compat.h
 *	  The oldest PostgreSQL that simhash builds with, and what newer ones
 *	  have that older ones lack.  Include it after PostgreSQL's headers.
 *
 * Each version from 16 on has a block: what has changed, and after #else what
 * stands for that in older versions.
 */
#ifndef SIMHASH_COMPAT_H
#define SIMHASH_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "simhash needs PostgreSQL 15 or later"
#endif

#if PG_VERSION_NUM >= 160000

/* The macros for variable-length types have moved there. */
#include "varatt.h"

/* A partition and its table are given by their relations, not by relids. */
#define attrs_of_partition(root, node, partition) \
	adjust_appendrel_attrs_multilevel(root, node, partition, \
									  (partition)->top_parent)

/*
 * A column says which outer joins may make it NULL.  Return a copy of node as
 * it is below all of them.
 */
#define below_outer_joins(root, node) \
	remove_nulling_relids(node, (root)->outer_join_rels, NULL)

#else

#define attrs_of_partition(root, node, partition) \
	adjust_appendrel_attrs_multilevel(root, node, (partition)->relids, \
									  (partition)->top_parent_relids)
#define below_outer_joins(root, node) (node)

/* There are no soft input errors. */
#define ereturn(escontext, dummy, ...) \
	do \
	{ \
		(void) (escontext); \
		ereport(ERROR, __VA_ARGS__); \
		return dummy; \
	} while (0)

/* What says which file a relation is in has another name. */
#define rd_locator rd_node

/* Each module declares _PG_init() itself. */
extern PGDLLEXPORT void _PG_init(void);

/* There is no choice: a datum is always copied. */
#define tuplesort_getdatum(state, forward, copy, value, isnull, abbreviated) \
	tuplesort_getdatum(state, forward, value, isnull, abbreviated)

/* The caller has to check the number of bytes read. */
#define BufFileReadExact(file, to, size) \
	do \
	{ \
		if (BufFileRead(file, to, size) != (size)) \
			ereport(ERROR, \
					(errcode_for_file_access(), \
					 errmsg("could not read from a temporary file: %m"))); \
	} while (0)

/* There is a function for each catalog in place of one. */
#define object_ownercheck(class, object, role) pg_class_ownercheck(object, role)

#endif							/* PostgreSQL 16 */

#if PG_VERSION_NUM >= 170000

/* There is no old_snapshot_threshold. */
#define TestForOldSnapshot(snapshot, relation, page) ((void) 0)

/*
 * An access method says that it builds in parallel, and PostgreSQL how many
 * workers a build gets.  Before, the build asks for itself.
 */
#define BUILDS_IN_PARALLEL .amcanbuildparallel = true,
#define index_build_workers(heap, index, info) ((info)->ii_ParallelWorkers)

/*
 * A custom path of a join says which clauses it has, and PostgreSQL checks
 * those that need no row before the join.  Before, from 15.4 on, it asks nobody
 * for a path of a join that has such a clause.
 */
#define CHECKS_PSEUDOCONSTANTS true
#define set_join_clauses(path, clauses) \
	((path)->custom_restrictinfo = (clauses))

/* Not by its name: a header that declares it may come after this one. */
#define expected_array_length estimate_array_length

#else

#define BUILDS_IN_PARALLEL
#define index_build_workers(heap, index, info) \
	plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index))
#define CHECKS_PSEUDOCONSTANTS false
#define set_join_clauses(path, clauses) ((void) 0)

/* Expressions of an index have no search path of their own. */
#define RestrictSearchPath() ((void) 0)

/* There are no statistics to read. */
#define expected_array_length(root, array) estimate_array_length(array)

/* The caller cannot lend the memory of a JSON lexer. */
#define makeJsonLexContextCstringLen(lex, json, length, encoding, escapes) \
	makeJsonLexContextCstringLen(json, length, encoding, escapes)

/* There is another name. */
#define AmAutoVacuumWorkerProcess() IsAutoVacuumWorkerProcess()

#endif							/* PostgreSQL 17 */

#if PG_VERSION_NUM >= 180000

/* Parts of commands/explain.h have moved there. */
#include "commands/explain_format.h"
#include "commands/explain_state.h"

/*
 * A path counts what is disabled in it.  A path of a scan that PostgreSQL makes
 * counts 1 at most.
 */
#define disable_path(path) ((path)->disabled_nodes = 2)
#define set_disabled_nodes(path, outer, inner) \
	((path)->disabled_nodes = (outer)->disabled_nodes + (inner)->disabled_nodes)

/* EXPLAIN ANALYZE counts searches. */
#define count_index_search(scan) \
	do \
	{ \
		if ((scan)->instrument != NULL) \
			(scan)->instrument->nsearches++; \
	} while (0)

#define SIMHASH_MODULE_MAGIC \
	PG_MODULE_MAGIC_EXT(.name = "simhash", .version = "1.0.0")

#else

#define disable_path(path) ((void) 0)
#define set_disabled_nodes(path, outer, inner) ((void) 0)
#define count_index_search(scan) ((void) 0)
#define SIMHASH_MODULE_MAGIC PG_MODULE_MAGIC

#define pg_noreturn pg_attribute_noreturn()

/* Nobody asks whether the delay is that of an ANALYZE. */
#define vacuum_delay_point(analyze) vacuum_delay_point()

#endif							/* PostgreSQL 18 */

#if PG_VERSION_NUM >= 190000

/*
 * The description of an access method is static, as PostgreSQL keeps it.
 * Before, it is allocated, as PostgreSQL frees it.
 */
#define PG_RETURN_AM_ROUTINE(routine) PG_RETURN_POINTER(routine)

/* What is joined may be groups of rows, aggregated in part before the join. */
#define is_grouped_rel(rel) IS_GROUPED_REL(rel)

/* Do the conditions on a relation say which row is meant, by a unique index? */
#define is_one_row(root, rel) \
	relation_has_unique_index_for(root, rel, NIL, NULL)

#else

#define PG_RETURN_AM_ROUTINE(routine) \
	do \
	{ \
		IndexAmRoutine *allocated = palloc(sizeof(IndexAmRoutine)); \
		*allocated = *(routine); \
		PG_RETURN_POINTER(allocated); \
	} while (0)
#define is_grouped_rel(rel) false
#define is_one_row(root, rel) \
	relation_has_unique_index_for(root, rel, NIL, NIL, NIL)

/* A parallel scan has no options. */
#define table_beginscan_parallel(relation, scan, flags) \
	table_beginscan_parallel(relation, scan)

/* What a node of a plan did has no type of its own. */
#define NodeInstrumentation Instrumentation

/* Nor has the number of a cache, but a tag. */
typedef int SysCacheIdentifier;

#endif							/* PostgreSQL 19 */

#endif							/* SIMHASH_COMPAT_H */
