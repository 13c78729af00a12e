/*
 * same_row.c
 *	  Joins of a table with itself: which clauses exclude a row and itself.
 *
 * Each row is near itself.  Where a table is joined with itself, another clause
 * often excludes these pairs, as a.id < b.id does.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "type/compat.h"
#include "type/same_row.h"

/* Return a copy of node that has the columns of one table from another. */
Node *
simhash_exchange_table(Node *node, Relids from, Relids to)
{
	node = copyObject(node);
	ChangeVarNodes(node, bms_singleton_member(from), bms_singleton_member(to),
				   0);
	return node;
}

/* Is b of the rows of of_b what a is of those of of_a? */
bool
simhash_is_same(void *a, void *b, Relids of_a, Relids of_b)
{
	return equal(simhash_exchange_table(a, of_a, of_b), b);
}

/*
 * Is a clause between two relations of the same table false for a row and
 * itself, or NULL?  It compares the same expression of both by < or >, or by
 * what negates an equality.
 */
bool
simhash_excludes_same_row(Expr *expr, Relids one, Relids other)
{
	OpExpr	   *clause = (OpExpr *) expr;
	TypeCacheEntry *type;

	if (!IsA(clause, OpExpr) || list_length(clause->args) != 2 ||
		contain_volatile_functions((Node *) clause) ||
		(!simhash_is_same(linitial(clause->args), lsecond(clause->args), one,
						  other) &&
		 !simhash_is_same(lsecond(clause->args), linitial(clause->args), one,
						  other)))
		return false;
	type = lookup_type_cache(exprType(linitial(clause->args)),
							 TYPECACHE_LT_OPR | TYPECACHE_GT_OPR |
							 TYPECACHE_EQ_OPR);
	return clause->opno == type->lt_opr || clause->opno == type->gt_opr ||
		(OidIsValid(type->eq_opr) &&
		 clause->opno == get_negator(type->eq_opr));
}

/* Return the relation whose joininfo has the clauses of rel as written. */
static RelOptInfo *
top_parent(PlannerInfo *root, RelOptInfo *rel)
{
	if (rel->top_parent_relids == NULL)
		return rel;
	return find_base_rel(root, bms_singleton_member(rel->top_parent_relids));
}

/*
 * Are left and right the same column, or expression, of one table, which the
 * query joins with itself, and does a clause exclude a row and itself?  It must
 * need no other relation: what needs more comes later, and may be of an outer
 * join that keeps the pair.
 */
bool
simhash_excludes_own_pairs(PlannerInfo *root, VariableStatData *left,
						   VariableStatData *right)
{
	RelOptInfo *a = left->rel;
	RelOptInfo *b = right->rel;
	Relids		pair;
	ListCell   *lc;

	if (a == NULL || b == NULL || a->rtekind != RTE_RELATION ||
		b->rtekind != RTE_RELATION ||
		planner_rt_fetch(a->relid, root)->relid !=
		planner_rt_fetch(b->relid, root)->relid ||
		!simhash_is_same(below_outer_joins(root, left->var),
						 below_outer_joins(root, right->var), a->relids,
						 b->relids))
		return false;
	a = top_parent(root, a);
	b = top_parent(root, b);
	pair = bms_union(a->relids, b->relids);
	foreach(lc, a->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (bms_equal(rinfo->required_relids, pair) &&
			simhash_excludes_same_row(rinfo->clause, a->relids, b->relids))
			return true;
	}
	return false;
}
