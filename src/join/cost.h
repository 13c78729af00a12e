/*
 * cost.h
 *	  What a HammingJoin costs.
 */
#ifndef SIMHASH_COST_H
#define SIMHASH_COST_H

#include "nodes/pathnodes.h"

extern void hamming_cost_join(PlannerInfo *root, CustomPath *path,
							  Path *outer, Path *inner, int radius,
							  Selectivity matches, List *clauses);

#endif							/* SIMHASH_COST_H */
