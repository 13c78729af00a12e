/*
 * self.c
 *	  Joins of a table with itself.
 *
 * Where both sides are the same rows of one table, one of the other clauses
 * often excludes a row and itself, as a.id < b.id does: so a row is no partner
 * of its own.  Then a HammingJoin reads the rows once, if it can, and checks
 * the other clauses for each pair both ways round.  Else it leaves out a row
 * and itself where it can tell (near/pairs.c).
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "join/plan.h"
#include "type/compat.h"

Node *
hamming_exchange_table(Node *node, Relids from, Relids to)
{
	node = copyObject(node);
	ChangeVarNodes(node, bms_singleton_member(from), bms_singleton_member(to),
				   0);
	return node;
}

/* Is b of the rows of inner what a is of those of outer? */
static bool
is_same(void *a, void *b, const RelOptInfo *outer, const RelOptInfo *inner)
{
	return equal(hamming_exchange_table(a, outer->relids, inner->relids), b);
}

/* Does rel stand for the rows of a table itself, and not for groups of them? */
bool
hamming_is_whole_table(PlannerInfo *root, const RelOptInfo *rel)
{
	const RangeTblEntry *rte;

	if (!IS_SIMPLE_REL(rel) || rel->rtekind != RTE_RELATION ||
		is_grouped_rel(rel))
		return false;
	rte = planner_rt_fetch(rel->relid, root);
	return (rte->relkind == RELKIND_RELATION ||
			rte->relkind == RELKIND_MATVIEW) &&
		!rte->inh && rte->tablesample == NULL;
}

/* The same, and only for its columns? */
static bool
is_plain_table(PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->reltarget->exprs)
	{
		if (!IsA(lfirst(lc), Var))
			return false;
	}
	return hamming_is_whole_table(root, rel) &&
		!contain_volatile_functions((Node *) rel->baserestrictinfo);
}

/*
 * Is any clause of the join itself false for a row and itself, or NULL?  It
 * compares the same expression of both sides by < or >, or by what negates an
 * equality.
 */
static bool
excludes_same_row(const JoinSides *sides)
{
	RelOptInfo *outer = sides->outer;
	RelOptInfo *inner = sides->inner;
	ListCell   *lc;

	foreach(lc, sides->clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		OpExpr	   *clause = (OpExpr *) rinfo->clause;
		TypeCacheEntry *type;

		if (!IsA(clause, OpExpr) || list_length(clause->args) != 2 ||
			(IS_OUTER_JOIN(sides->type) &&
			 RINFO_IS_PUSHED_DOWN(rinfo, sides->joinrel->relids)) ||
			contain_volatile_functions((Node *) clause) ||
			(!is_same(linitial(clause->args), lsecond(clause->args), outer,
					  inner) &&
			 !is_same(lsecond(clause->args), linitial(clause->args), outer,
					  inner)))
			continue;
		type = lookup_type_cache(exprType(linitial(clause->args)),
								 TYPECACHE_LT_OPR | TYPECACHE_GT_OPR |
								 TYPECACHE_EQ_OPR);
		if (clause->opno == type->lt_opr || clause->opno == type->gt_opr ||
			(OidIsValid(type->eq_opr) &&
			 clause->opno == get_negator(type->eq_opr)))
			return true;
	}
	return false;
}

/*
 * Are both sides the same rows, with the same fingerprints and keys, the
 * equalities of hamming_find_keys(), and is no row its own partner?  A
 * condition that needs no row gates one side alone.
 */
bool
hamming_are_same_rows(const JoinSides *sides, const HammingClause *clause,
					  List *keys)
{
	PlannerInfo *root = sides->root;
	RelOptInfo *outer = sides->outer;
	RelOptInfo *inner = sides->inner;
	ListCell   *lc;

	if (root->hasPseudoConstantQuals ||
		!is_plain_table(root, outer) || !is_plain_table(root, inner) ||
		planner_rt_fetch(outer->relid, root)->relid !=
		planner_rt_fetch(inner->relid, root)->relid ||
		!is_same(get_actual_clauses(outer->baserestrictinfo),
				 get_actual_clauses(inner->baserestrictinfo), outer, inner) ||
		!is_same(clause->outer, clause->inner, outer, inner) ||
		!excludes_same_row(sides))
		return false;
	foreach(lc, keys)
	{
		OpExpr	   *key = lfirst(lc);

		if (!is_same(linitial(key->args), lsecond(key->args), outer, inner))
			return false;
	}
	return true;
}

/*
 * hamming_are_same_rows() is true.  Return a path for the rows, with the
 * columns that either side needs.  Return NULL for rows to be locked or
 * changed: a recheck brings one of them to each side.
 */
Path *
hamming_self_path(const JoinSides *sides)
{
	PlannerInfo *root = sides->root;
	RelOptInfo *outer = sides->outer;
	RelOptInfo *inner = sides->inner;
	PathTarget *target;
	Node	   *columns;
	Path	   *scan = outer->cheapest_total_path;

	if ((scan->pathtype != T_SeqScan && scan->pathtype != T_IndexScan &&
		 scan->pathtype != T_BitmapHeapScan) || root->rowMarks != NIL)
		return NULL;
	target = copy_pathtarget(outer->reltarget);
	columns = hamming_exchange_table((Node *) inner->reltarget->exprs,
									 inner->relids, outer->relids);
	add_new_columns_to_pathtarget(target, (List *) columns);
	set_pathtarget_cost_width(root, target);
	return (Path *) create_projection_path(root, outer, scan, target);
}
