/*
 * same_row.h
 *	  Joins of a table with itself: which clauses exclude a row and itself.
 */
#ifndef SIMHASH_SAME_ROW_H
#define SIMHASH_SAME_ROW_H

#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"

extern Node *simhash_exchange_table(Node *node, Relids from, Relids to);
extern bool simhash_is_same(void *a, void *b, Relids of_a, Relids of_b);
extern bool simhash_excludes_same_row(Expr *expr, Relids one, Relids other);
extern bool simhash_excludes_own_pairs(PlannerInfo *root,
									   VariableStatData *left,
									   VariableStatData *right);

#endif							/* SIMHASH_SAME_ROW_H */
