/*
 * plan.h
 *	  The path of a HammingJoin, and the plan that is made of it.
 */
#ifndef SIMHASH_PLAN_H
#define SIMHASH_PLAN_H

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "join/clause.h"

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
	PATH_BITS					/* an Integer, of a fingerprint */
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

typedef enum JoinProperty
{
	JOIN_TYPE,					/* a JoinType */
	JOIN_BITS					/* of a fingerprint */
} JoinProperty;

extern const CustomScanMethods hamming_join_scan_methods;

extern List *hamming_result_columns(RelOptInfo *joinrel, RelOptInfo *outerrel,
									RelOptInfo *innerrel);
extern bool hamming_can_plan_join(List *result_columns);
extern List *hamming_join_for_partition(PlannerInfo *root, List *path_private,
										RelOptInfo *partition);
extern Plan *hamming_plan_join(PlannerInfo *root, RelOptInfo *rel,
							   struct CustomPath *path, List *target,
							   List *clauses, List *children);

/* self.c */
extern Path *hamming_self_path(PlannerInfo *root, RelOptInfo *outer,
							   RelOptInfo *inner, const HammingClause *clause,
							   List *keys, List *restrictlist);
extern Node *hamming_exchange_table(Node *node, Relids from, Relids to);

#endif							/* SIMHASH_PLAN_H */
