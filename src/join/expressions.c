/*
 * expressions.c
 *	  What a HammingJoin computes of its rows.
 *
 * PostgreSQL lets a custom scan take its columns from one tuple.  Here that
 * tuple would have to be made of two for each pair of rows.  So the expressions
 * are changed: they take their columns from the slots of the two sides, as the
 * expressions of PostgreSQL's own joins do.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

#include "join/node.h"

typedef struct RetargetContext
{
	int			outer_columns;
	bool		uses_outer;
	bool		uses_inner;
	List	   *subplans;		/* each new one, and the one it was made of */
} RetargetContext;

/*
 * Have an expression take its columns from the slots of the two sides, where
 * it had them from a tuple of both.
 */
static Node *
retarget(Node *node, RetargetContext *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == INDEX_VAR)
	{
		Var		   *var = copyObject((Var *) node);

		if (var->varattno <= context->outer_columns)
		{
			context->uses_outer = true;
			var->varno = OUTER_VAR;
		}
		else
		{
			context->uses_inner = true;
			var->varno = INNER_VAR;
			var->varattno -= context->outer_columns;
		}
		return (Node *) var;
	}
	if (IsA(node, SubPlan))
	{
		Node	   *result = expression_tree_mutator(node, retarget, context);

		context->subplans = lappend(context->subplans,
									list_make2(result, node));
		return result;
	}
	return expression_tree_mutator(node, retarget, context);
}

/*
 * EXPLAIN shows a parameter of a subplan as the expression that the SubPlan
 * passes, and looks its columns up in the scan tuple.  So it gets the SubPlan
 * as it was, after ExecInitExpr() has compiled the other one.
 */
static void
restore_subplans(PlanState *ps, List *subplans)
{
	ListCell   *lc;
	ListCell   *pair;

	foreach(lc, ps->subPlan)
	{
		SubPlanState *subplan = lfirst(lc);

		foreach(pair, subplans)
		{
			if (linitial((List *) lfirst(pair)) == subplan->subplan)
				subplan->subplan = lsecond((List *) lfirst(pair));
		}
	}
}

/* Prepare an expression that is no list. */
ExprState *
hamming_begin_expression(HammingJoinState *state, JoinExpression expression)
{
	CustomScan *scan = (CustomScan *) state->custom.ss.ps.plan;
	RetargetContext context = {
		.outer_columns = list_nth_int(scan->custom_private, JOIN_OUTER_COLUMNS)
	};
	Node	   *node = list_nth(scan->custom_exprs, expression);
	ExprState  *result;

	node = retarget(node, &context);
	result = ExecInitExpr((Expr *) node, &state->custom.ss.ps);
	restore_subplans(&state->custom.ss.ps, context.subplans);
	return result;
}

/*
 * Prepare what is computed of a pair of rows: two kinds of clauses, and the
 * result.
 */
void
hamming_begin_result(HammingJoinState *state)
{
	PlanState  *ps = &state->custom.ss.ps;
	CustomScan *scan = (CustomScan *) ps->plan;
	RetargetContext context = {
		.outer_columns = list_nth_int(scan->custom_private, JOIN_OUTER_COLUMNS)
	};
	Node	   *filter = list_nth(scan->custom_exprs, JOIN_FILTER);
	Node	   *result_filter = list_nth(scan->custom_exprs,
										 JOIN_RESULT_FILTER);
	Node	   *target = (Node *) scan->scan.plan.targetlist;

	target = retarget(target, &context);
	state->outer.keeps_partners = state->type == JOIN_SEMI &&
		context.uses_inner;
	filter = retarget(filter, &context);
	result_filter = retarget(result_filter, &context);
	state->filter = ExecInitQual((List *) filter, ps);
	state->result_filter = ExecInitQual((List *) result_filter, ps);
	ps->ps_ProjInfo = ExecBuildProjectionInfo((List *) target,
											  ps->ps_ExprContext,
											  ps->ps_ResultTupleSlot, ps,
											  NULL);
	restore_subplans(ps, context.subplans);
	state->outer.keeps_tuples = context.uses_outer;
	state->inner.keeps_tuples = context.uses_inner;
}
