/*
 * plan.h
 *	  The path of a HammingJoin, and the plan that is made of it.
 */
#ifndef SIMHASH_PLAN_H
#define SIMHASH_PLAN_H

#include "nodes/pathnodes.h"

/* Places in the list that the path of a HammingJoin carries. */
typedef enum JoinPathItem
{
	PATH_TYPE,					/* an Integer, a JoinType */
	PATH_OUTER_FINGERPRINT,
	PATH_INNER_FINGERPRINT,
	PATH_RADIUS,
	PATH_CLAUSES,				/* all other clauses, RestrictInfos */
	PATH_COLUMNS				/* hamming_result_columns() */
} JoinPathItem;

extern List *hamming_result_columns(RelOptInfo *joinrel, RelOptInfo *outerrel,
									RelOptInfo *innerrel);
extern bool hamming_can_plan_join(List *result_columns);
extern Plan *hamming_plan_join(PlannerInfo *root, RelOptInfo *rel,
							   struct CustomPath *path, List *target,
							   List *clauses, List *children);

#endif							/* SIMHASH_PLAN_H */
