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
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"

#include "join/plan.h"
#include "type/compat.h"
#include "type/same_row.h"

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

/* Does any clause of the join itself exclude a row and itself? */
static bool
excludes_same_row(const JoinSides *sides)
{
	ListCell   *lc;

	foreach(lc, sides->clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if ((!IS_OUTER_JOIN(sides->type) ||
			 !RINFO_IS_PUSHED_DOWN(rinfo, sides->joinrel->relids)) &&
			simhash_excludes_same_row(rinfo->clause, sides->outer->relids,
									  sides->inner->relids))
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
		!simhash_is_same(get_actual_clauses(outer->baserestrictinfo),
						 get_actual_clauses(inner->baserestrictinfo),
						 outer->relids, inner->relids) ||
		!simhash_is_same(clause->outer, clause->inner, outer->relids,
						 inner->relids) ||
		!excludes_same_row(sides))
		return false;
	foreach(lc, keys)
	{
		OpExpr	   *key = lfirst(lc);

		if (!simhash_is_same(linitial(key->args), lsecond(key->args),
							 outer->relids, inner->relids))
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
	columns = simhash_exchange_table((Node *) inner->reltarget->exprs,
									 inner->relids, outer->relids);
	add_new_columns_to_pathtarget(target, (List *) columns);
	set_pathtarget_cost_width(root, target);
	return (Path *) create_projection_path(root, outer, scan, target);
}
