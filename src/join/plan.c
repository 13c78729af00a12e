/*
 * plan.c
 *	  The path of a HammingJoin to a plan.
 *
 * The scan tuple has the columns of the outer child, and then those of the
 * inner one.  From PostgreSQL 16 on a column says which outer joins may have
 * made it NULL.  So a column of the nullable side differs below the join and
 * above it, and PostgreSQL insists that the scan tuple has it as above.  The
 * clauses of the join itself have it as below: their columns are exchanged.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

#include "join/plan.h"
#include "type/compat.h"
#include "type/same_row.h"

const CustomScanMethods hamming_join_scan_methods = {
	.CustomName = "HammingJoin",
	.CreateCustomScanState = hamming_create_join
};

/* Are both the same column, or the same placeholder, maybe of two levels? */
static bool
is_same_column(Node *a, Node *b)
{
	if (IsA(a, Var) && IsA(b, Var))
		return ((Var *) a)->varno == ((Var *) b)->varno &&
			((Var *) a)->varattno == ((Var *) b)->varattno &&
			((Var *) a)->varlevelsup == ((Var *) b)->varlevelsup;
	if (IsA(a, PlaceHolderVar) && IsA(b, PlaceHolderVar))
		return ((PlaceHolderVar *) a)->phid == ((PlaceHolderVar *) b)->phid &&
			((PlaceHolderVar *) a)->phlevelsup ==
			((PlaceHolderVar *) b)->phlevelsup;
	return false;
}

static Node *
find_column(List *expressions, Node *column)
{
	ListCell   *lc;

	foreach(lc, expressions)
	{
		if (is_same_column(lfirst(lc), column))
			return lfirst(lc);
	}
	return NULL;
}

/*
 * Return the columns of the result of a join, and then those in placeholders
 * that the join computes.
 */
List *
hamming_result_columns(const JoinSides *sides)
{
	int			flags = PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
	PVC_INCLUDE_PLACEHOLDERS;
	List	   *result = list_copy(sides->joinrel->reltarget->exprs);
	ListCell   *lc;

	foreach(lc, sides->joinrel->reltarget->exprs)
	{
		PlaceHolderVar *column = lfirst(lc);

		if (IsA(column, PlaceHolderVar) &&
			find_column(sides->outer->reltarget->exprs, lfirst(lc)) == NULL &&
			find_column(sides->inner->reltarget->exprs, lfirst(lc)) == NULL)
			result = list_concat(result,
								 pull_var_clause((Node *) column->phexpr,
												 flags));
	}
	return result;
}

/*
 * Can a HammingJoin be planned that has these columns in its result?  Not where
 * it has rows to be changed of a table with partitions: PostgreSQL lets no scan
 * tuple have what identifies these, ROWID_VAR.  And not where the levels of a
 * column in a placeholder differ from those in the result: the scan tuple has
 * place for one of the two.
 */
bool
hamming_can_plan_join(List *result_columns)
{
	ListCell   *lc;

	foreach(lc, result_columns)
	{
		Node	   *column = lfirst(lc);
		Node	   *same = find_column(result_columns, column);

		if ((same != NULL && !equal(same, column)) ||
			(IsA(column, Var) && ((Var *) column)->varno == ROWID_VAR))
			return false;
	}
	return true;
}

/*
 * ReparameterizeCustomPathByChild.  The path gets its parameters from rows of
 * partition, and no more from those of the partitioned table: return what the
 * path carries with the columns of partition in place of the table's.  Those of
 * the join itself stay, as the table is none of its sides.
 */
List *
hamming_join_for_partition(PlannerInfo *root, List *path_private,
						   RelOptInfo *partition)
{
	List	   *result = list_truncate(list_copy(path_private), PATH_NUMBERS);

	result = (List *) attrs_of_partition(root, (Node *) result, partition);
	return lappend(result, list_nth(path_private, PATH_NUMBERS));
}

static Node *
exchange_columns(Node *node, List *scan_columns)
{
	Node	   *column;

	if (node == NULL)
		return NULL;
	column = find_column(scan_columns, node);
	if (column != NULL)
		return copyObject(column);
	return expression_tree_mutator(node, exchange_columns, scan_columns);
}

/*
 * Return the columns of the children, as the result of the join has them where
 * it has them.  result_columns are of the time when the path was made: the
 * target of its relation may have been replaced by expressions since.  A
 * self-join has one child, whose columns stand for those of both sides.
 */
static List *
make_columns(List *result_columns, const CustomPath *path, List *children)
{
	List	   *columns = NIL;
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, children)
	{
		Plan	   *plan = lfirst(lc);

		columns = list_concat(columns, get_tlist_exprs(plan->targetlist, true));
	}
	if (list_length(children) == 1)
	{
		const Path *rows = linitial(path->custom_paths);
		Relids		outer = rows->parent->relids;
		Relids		inner = bms_difference(path->path.parent->relids, outer);

		columns = list_concat_copy(columns, (List *)
								   simhash_exchange_table((Node *) columns,
														  outer, inner));
	}
	foreach(lc, columns)
	{
		Node	   *above = find_column(result_columns, lfirst(lc));

		result = lappend(result, above == NULL ? lfirst(lc) : above);
	}
	return result;
}

static Index
security_level(const RestrictInfo *rinfo)
{
	return rinfo->leakproof ? 0 : rinfo->security_level;
}

static bool
comes_before(PlannerInfo *root, RestrictInfo *a, RestrictInfo *b)
{
	QualCost	a_cost;
	QualCost	b_cost;

	if (security_level(a) != security_level(b))
		return security_level(a) < security_level(b);
	cost_qual_eval_node(&a_cost, (Node *) a, root);
	cost_qual_eval_node(&b_cost, (Node *) b, root);
	return a_cost.per_tuple < b_cost.per_tuple;
}

/*
 * Return the clauses in the order in which a row is checked: what is cheap
 * first, and nothing that could leak a row before what hides rows.
 */
List *
hamming_order_clauses(PlannerInfo *root, List *clauses)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst(lc);
		int			place = list_length(result);

		while (place > 0 &&
			   comes_before(root, rinfo, list_nth(result, place - 1)))
			place--;
		result = list_insert_nth(result, place, rinfo);
	}
	return result;
}

/*
 * PlanCustomPath.  The path has its clauses itself: clauses, which PostgreSQL
 * 17 and later fill, is not needed.
 */
Plan *
hamming_plan_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
				  List *target, List *clauses, List *children)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *numbers = list_nth(path->custom_private, PATH_NUMBERS);
	List	   *others = list_nth(path->custom_private, PATH_CLAUSES);
	List	   *columns = make_columns(list_nth(path->custom_private,
												PATH_COLUMNS),
									   path, children);
	List	   *expressions = list_truncate(list_copy(path->custom_private),
											JOIN_FILTER);
	List	   *filter = NIL;
	List	   *result_filter = NIL;
	ListCell   *lc;

	/*
	 * Clauses that need no row are among them up to PostgreSQL 15.3, which
	 * checks these apart only for joins of its own.  From 15.4 on and in 16,
	 * no hook is called for a join that has one.
	 */
	foreach(lc, hamming_order_clauses(root, others))
	{
		RestrictInfo *rinfo = lfirst(lc);

		if (CHECKS_PSEUDOCONSTANTS && rinfo->pseudoconstant)
			continue;
		if (IS_OUTER_JOIN(list_nth_int(numbers, JOIN_TYPE)) &&
			RINFO_IS_PUSHED_DOWN(rinfo, rel->relids))
			result_filter = lappend(result_filter, rinfo->clause);
		else
			filter = lappend(filter, rinfo->clause);
	}
	foreach(lc, columns)
	{
		AttrNumber	number = foreach_current_index(lc) + 1;
		TargetEntry *entry = makeTargetEntry(copyObject(lfirst(lc)), number,
											 NULL, false);

		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist, entry);
	}
	expressions = lappend(lappend(expressions, filter), result_filter);
	scan->scan.plan.targetlist = target;
	scan->flags = path->flags;
	scan->custom_plans = children;
	scan->custom_exprs = (List *) exchange_columns((Node *) expressions,
												   columns);
	scan->custom_private = numbers;
	scan->methods = &hamming_join_scan_methods;
	return (Plan *) scan;
}
