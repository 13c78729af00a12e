/*
 * plan.h
 *	  The clauses that a HammingJoin serves, its path, and the plan that is made
 *	  of it.
 */
#ifndef SIMHASH_PLAN_H
#define SIMHASH_PLAN_H

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

/* Two sides that the planner joins. */
typedef struct JoinSides
{
	PlannerInfo *root;
	RelOptInfo *joinrel;
	RelOptInfo *outer;
	RelOptInfo *inner;
	JoinType	type;
	List	   *clauses;		/* all of the join, RestrictInfos */
} JoinSides;

/* "The distance of outer and inner is at most radius." */
typedef struct HammingClause
{
	RestrictInfo *rinfo;
	int			bits;			/* of a fingerprint */
	Expr	   *outer;			/* a fingerprint of the outer side */
	Expr	   *inner;			/* a fingerprint of the inner side */
	Expr	   *radius;			/* a bigint, which depends on neither side */
	int			likely_radius;	/* 0 or more: what the planner expects */
} HammingClause;

/* Places in the list that the path of a HammingJoin carries. */
typedef enum JoinPathItem
{
	PATH_TYPE,					/* an Integer, a JoinType */
	PATH_OUTER_FINGERPRINT,
	PATH_INNER_FINGERPRINT,
	PATH_RADIUS,
	PATH_KEYS,					/* hamming_orient_keys() */
	PATH_CLAUSES,				/* all other clauses, RestrictInfos */
	PATH_COLUMNS,				/* hamming_result_columns() */
	PATH_BITS,					/* an Integer, of a fingerprint */
	PATH_BATCH,					/* an Integer: see JOIN_BATCH */
	PATH_BATCH_PAIRS,			/* an Integer: see JOIN_BATCH_PAIRS */
	PATH_WORKERS,				/* an Integer: see JOIN_WORKERS */
	PATH_BEGINS_ALONE,			/* an Integer: see JOIN_BEGINS_ALONE */
	PATH_FILES					/* an Integer: see JOIN_FILES */
} JoinPathItem;

/*
 * Places in the lists that the plan of a HammingJoin carries.  The expressions
 * up to JOIN_KEYS come from the path, in its order.
 */
typedef enum JoinExpression
{
	JOIN_OUTER_FINGERPRINT,
	JOIN_INNER_FINGERPRINT,
	JOIN_RADIUS,
	JOIN_KEYS,					/* a list of equalities, outer = inner */
	JOIN_FILTER,				/* a list: what else makes two rows partners */
	JOIN_RESULT_FILTER			/* a list: what applies to the result */
} JoinExpression;

/* The same for numbers, but for the first one in the order of the path, too. */
typedef enum JoinProperty
{
	JOIN_TYPE,					/* a JoinType */
	JOIN_BITS,					/* of a fingerprint */
	JOIN_BATCH,					/* outer rows that a process of a parallel
								 * plan reads at a time; 0: all */
	JOIN_BATCH_PAIRS,			/* that these are expected to have */
	JOIN_WORKERS,				/* that the node is to launch for its search */
	JOIN_BEGINS_ALONE,			/* 1: but not at once, as few rows may be
								 * wanted */
	JOIN_FILES					/* 1: memory is not expected to have room for
								 * the tuples of a whole join */
} JoinProperty;

/* clause.c */
extern bool hamming_read_clause(Node *node, HammingClause *clause);
extern bool hamming_find_clause(const JoinSides *sides, HammingClause *best);
extern List *hamming_find_keys(const JoinSides *sides);
extern List *hamming_orient_keys(const JoinSides *sides, List *keys);

/* plan.c */
extern const CustomScanMethods hamming_join_scan_methods;

extern List *hamming_order_clauses(PlannerInfo *root, List *clauses);
extern List *hamming_result_columns(const JoinSides *sides);
extern bool hamming_can_plan_join(List *result_columns);
extern List *hamming_join_for_partition(PlannerInfo *root, List *path_private,
										RelOptInfo *partition);
extern Plan *hamming_plan_join(PlannerInfo *root, RelOptInfo *rel,
							   struct CustomPath *path, List *target,
							   List *clauses, List *children);

/* self.c */
extern bool hamming_is_table(PlannerInfo *root, const RelOptInfo *rel);
extern Path *hamming_self_path(const JoinSides *sides,
							   const HammingClause *clause, List *keys);
extern Node *hamming_exchange_table(Node *node, Relids from, Relids to);

#endif							/* SIMHASH_PLAN_H */
