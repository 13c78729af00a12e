/*
 * cost.h
 *	  What a HammingJoin costs.
 */
#ifndef SIMHASH_COST_H
#define SIMHASH_COST_H

#include "nodes/pathnodes.h"

#include "type/width.h"

#define hamming_cost_join WIDE(hamming_cost_join)

extern void hamming_cost_join(PlannerInfo *root, CustomPath *path,
							  JoinType type, const Path *outer,
							  const Path *inner, int radius, double pairs,
							  List *filter);

#endif							/* SIMHASH_COST_H */
