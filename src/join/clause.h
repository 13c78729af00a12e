/*
 * clause.h
 *	  The clauses of a join that a HammingJoin serves: a distance, and equality.
 */
#ifndef SIMHASH_CLAUSE_H
#define SIMHASH_CLAUSE_H

#include "nodes/pathnodes.h"

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

extern bool hamming_read_clause(Node *node, HammingClause *clause);
extern bool hamming_find_clause(PlannerInfo *root, RelOptInfo *joinrel,
								RelOptInfo *outerrel, RelOptInfo *innerrel,
								JoinType jointype, List *restrictlist,
								HammingClause *best);
extern List *hamming_find_keys(PlannerInfo *root, RelOptInfo *joinrel,
							   RelOptInfo *outerrel, RelOptInfo *innerrel,
							   JoinType jointype, List *restrictlist);
extern List *hamming_orient_keys(List *keys, const RelOptInfo *outerrel,
								 const RelOptInfo *innerrel);

#endif							/* SIMHASH_CLAUSE_H */
