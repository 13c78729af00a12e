/*
 * compat.h
 *	  The oldest PostgreSQL that simhash builds with, and what newer ones
 *	  have that older ones lack.  Include it after PostgreSQL's headers.
 */
#ifndef SIMHASH_COMPAT_H
#define SIMHASH_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "simhash needs PostgreSQL 15 or later"
#endif

/* The macros for variable-length types moved there in PostgreSQL 16. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* Parts of commands/explain.h moved there in PostgreSQL 18. */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

/* Soft input errors arrived in PostgreSQL 16. */
#if PG_VERSION_NUM < 160000
#define ereturn(escontext, dummy, ...) \
	do \
	{ \
		(void) (escontext); \
		ereport(ERROR, __VA_ARGS__); \
		return dummy; \
	} while (0)
#endif

/* PostgreSQL 16 has renamed what says which file a relation is in. */
#if PG_VERSION_NUM < 160000
#define rd_locator rd_node
#endif

/* Before PostgreSQL 16 each module declared _PG_init() itself. */
#if PG_VERSION_NUM < 160000
extern PGDLLEXPORT void _PG_init(void);
#endif

/* Before PostgreSQL 16 there was no choice: a datum was always copied. */
#if PG_VERSION_NUM < 160000
#define tuplesort_getdatum(state, forward, copy, value, isnull, abbreviated) \
	tuplesort_getdatum(state, forward, value, isnull, abbreviated)
#endif

/* Before PostgreSQL 16 the caller had to check the number of bytes read. */
#if PG_VERSION_NUM < 160000
#define BufFileReadExact(file, to, size) \
	do \
	{ \
		if (BufFileRead(file, to, size) != (size)) \
			ereport(ERROR, \
					(errcode_for_file_access(), \
					 errmsg("could not read from a temporary file: %m"))); \
	} while (0)
#endif

/* PostgreSQL 16 has one function in place of one for each catalog. */
#if PG_VERSION_NUM < 160000
#define object_ownercheck(class, object, role) pg_class_ownercheck(object, role)
#endif

/* Before PostgreSQL 16 a partition and its table were given by their relids. */
#if PG_VERSION_NUM >= 160000
#define attrs_of_partition(root, node, partition) \
	adjust_appendrel_attrs_multilevel(root, node, partition, \
									  (partition)->top_parent)
#else
#define attrs_of_partition(root, node, partition) \
	adjust_appendrel_attrs_multilevel(root, node, (partition)->relids, \
									  (partition)->top_parent_relids)
#endif

/* From PostgreSQL 17 on, expressions of an index have their own search path. */
#if PG_VERSION_NUM < 170000
#define RestrictSearchPath() ((void) 0)
#endif

/* From PostgreSQL 17 on, estimate_array_length() reads statistics of root. */
#if PG_VERSION_NUM < 170000
#define estimate_array_length(root, array) estimate_array_length(array)
#endif

/* Before PostgreSQL 17 the caller could not lend the memory of a JSON lexer. */
#if PG_VERSION_NUM < 170000
#define makeJsonLexContextCstringLen(lex, json, length, encoding, escapes) \
	makeJsonLexContextCstringLen(json, length, encoding, escapes)
#endif

/* PostgreSQL 17 has removed old_snapshot_threshold. */
#if PG_VERSION_NUM >= 170000
#define TestForOldSnapshot(snapshot, relation, page) ((void) 0)
#endif

/*
 * From PostgreSQL 17 on an access method says that it builds in parallel, and
 * PostgreSQL how many workers a build gets.  Before, the build asks for itself.
 */
#if PG_VERSION_NUM >= 170000
#define BUILDS_IN_PARALLEL .amcanbuildparallel = true,
#define index_build_workers(heap, index, info) ((info)->ii_ParallelWorkers)
#else
#define BUILDS_IN_PARALLEL
#define index_build_workers(heap, index, info) \
	plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index))
#endif

/* PostgreSQL 17 has it under this name. */
#if PG_VERSION_NUM < 170000
#define AmAutoVacuumWorkerProcess() IsAutoVacuumWorkerProcess()
#endif

/* PostgreSQL 18 says whether the delay is that of an ANALYZE. */
#if PG_VERSION_NUM < 180000
#define vacuum_delay_point(analyze) vacuum_delay_point()
#endif

/*
 * Up to PostgreSQL 18 the description of an access method is allocated, as
 * PostgreSQL frees it.  From 19 on it is static, as PostgreSQL keeps it.
 */
#if PG_VERSION_NUM < 190000
#define PG_RETURN_AM_ROUTINE(routine) \
	do \
	{ \
		IndexAmRoutine *allocated = palloc(sizeof(IndexAmRoutine)); \
		*allocated = *(routine); \
		PG_RETURN_POINTER(allocated); \
	} while (0)
#else
#define PG_RETURN_AM_ROUTINE(routine) PG_RETURN_POINTER(routine)
#endif

/* From PostgreSQL 19 on, a parallel scan has options. */
#if PG_VERSION_NUM < 190000
#define table_beginscan_parallel(relation, scan, flags) \
	table_beginscan_parallel(relation, scan)
#endif

/* PostgreSQL 19 has a type of its own for what a node of a plan did. */
#if PG_VERSION_NUM < 190000
#define NodeInstrumentation Instrumentation
#endif

/*
 * From PostgreSQL 18 on a path counts what is disabled in it.  A path of a scan
 * that PostgreSQL makes counts 1 at most.
 */
#if PG_VERSION_NUM >= 180000
#define disable_path(path) ((path)->disabled_nodes = 2)
#define set_disabled_nodes(path, outer, inner) \
	((path)->disabled_nodes = (outer)->disabled_nodes + (inner)->disabled_nodes)
#else
#define disable_path(path) ((void) 0)
#define set_disabled_nodes(path, outer, inner) ((void) 0)
#endif

/*
 * From PostgreSQL 19 on a relation says which methods may join it.  Before,
 * settings alone do.
 */
#if PG_VERSION_NUM >= 190000
#define HASH_JOINS PGS_HASHJOIN
#define NESTED_LOOPS \
	(PGS_NESTLOOP_PLAIN | PGS_NESTLOOP_MATERIALIZE | PGS_NESTLOOP_MEMOIZE)
#define get_join_methods(rel) ((rel)->pgs_mask)
#define set_join_methods(rel, methods) ((rel)->pgs_mask = (methods))
#else
#define HASH_JOINS UINT64CONST(1)
#define NESTED_LOOPS UINT64CONST(2)
#define get_join_methods(rel) \
	((enable_hashjoin ? HASH_JOINS : 0) | \
	 (enable_nestloop ? NESTED_LOOPS : 0))
#define set_join_methods(rel, methods) \
	(enable_hashjoin = ((methods) & HASH_JOINS) != 0, \
	 enable_nestloop = ((methods) & NESTED_LOOPS) != 0)
#endif

/*
 * From PostgreSQL 19 on, what is joined may be groups of rows, aggregated in
 * part before the join.
 */
#if PG_VERSION_NUM >= 190000
#define is_grouped_rel(rel) IS_GROUPED_REL(rel)
#else
#define is_grouped_rel(rel) false
#endif

/*
 * From PostgreSQL 16 on a column says which outer joins may make it NULL.
 * Return a copy of node as it is below all of them.
 */
#if PG_VERSION_NUM >= 160000
#define below_outer_joins(root, node) \
	remove_nulling_relids(node, (root)->outer_join_rels, NULL)
#else
#define below_outer_joins(root, node) (node)
#endif

/* PostgreSQL 19 has another hook for when the indexes of a table are known. */
#if PG_VERSION_NUM >= 190000
#define rel_hook_type build_simple_rel_hook_type
#define rel_hook build_simple_rel_hook
#define REL_HOOK_PARAMETERS \
	PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define call_rel_hook(hook) hook(root, rel, rte)
#else
#define rel_hook_type get_relation_info_hook_type
#define rel_hook get_relation_info_hook
#define REL_HOOK_PARAMETERS \
	PlannerInfo *root, Oid relation, bool inherits, RelOptInfo *rel
#define call_rel_hook(hook) hook(root, relation, inherits, rel)
#endif

/*
 * From PostgreSQL 17 on a custom path of a join says which clauses it has, and
 * PostgreSQL checks those that need no row before the join.  Before, from 15.4
 * on, it asks nobody for a path of a join that has such a clause.
 */
#if PG_VERSION_NUM >= 170000
#define CHECKS_PSEUDOCONSTANTS true
#define set_join_clauses(path, clauses) \
	((path)->custom_restrictinfo = (clauses))
#else
#define CHECKS_PSEUDOCONSTANTS false
#define set_join_clauses(path, clauses) ((void) 0)
#endif

/*
 * PostgreSQL 18 has pg_noreturn, which stands before a declaration, in place of
 * pg_attribute_noreturn().
 */
#ifndef pg_noreturn
#define pg_noreturn pg_attribute_noreturn()
#endif

/* EXPLAIN ANALYZE counts searches from PostgreSQL 18 on. */
#if PG_VERSION_NUM >= 180000
#define count_index_search(scan) \
	do \
	{ \
		if ((scan)->instrument != NULL) \
			(scan)->instrument->nsearches++; \
	} while (0)
#else
#define count_index_search(scan) ((void) 0)
#endif

#ifdef PG_MODULE_MAGIC_EXT
#define SIMHASH_MODULE_MAGIC \
	PG_MODULE_MAGIC_EXT(.name = "simhash", .version = "1.0.0")
#else
#define SIMHASH_MODULE_MAGIC PG_MODULE_MAGIC
#endif

#endif							/* SIMHASH_COMPAT_H */
