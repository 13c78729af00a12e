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
	PATH_COLUMNS				/* what the result of the join has */
} JoinPathItem;

extern bool hamming_can_plan_join(RelOptInfo *joinrel, RelOptInfo *outerrel,
								  RelOptInfo *innerrel, JoinType jointype);
extern Plan *hamming_plan_join(PlannerInfo *root, RelOptInfo *rel,
							   struct CustomPath *path, List *target,
							   List *clauses, List *children);

#endif							/* SIMHASH_PLAN_H */
