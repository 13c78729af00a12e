/*
 * within.c
 *	  Planner support of simhash_within(): how many rows it lets through, and
 *	  the condition that an index serves.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "type/catalog.h"
#include "type/selectivity.h"
#include "type/simhash.h"

/*
 * What the planner asks with a SupportRequestIndexCondition, node: the clause
 * simhash_within(a, b, k), where a or b is the indexed column, as the condition
 * "column <@ hamming_ball(the other, k)"; NIL where the index cannot serve the
 * clause.  The condition is exact: both say that the distance is at most k.
 */
static List *
index_condition(Node *node, int words)
{
	SupportRequestIndexCondition *request = (void *) node;
	FuncExpr   *clause = (FuncExpr *) request->node;
	Oid			schema = get_func_namespace(request->funcid);
	bool		is_wide = words > 1;
	Oid			fingerprint = simhash_find_type(schema, is_wide ? "simhash128"
												: "simhash64");
	Oid			ball = simhash_find_type(schema, is_wide ? "hamming_ball128"
										 : "hamming_ball");
	Oid			types[] = {fingerprint, INT8OID};
	Oid			make_ball = simhash_find_function(schema, is_wide
												  ? "hamming_ball_128"
												  : "hamming_ball", 2, types);
	Oid			opno = get_opfamily_member(request->opfamily, fingerprint, ball,
										   SIMHASH_BALL_STRATEGY);
	Expr	   *column;
	Expr	   *centre;
	Expr	   *radius;
	Node	   *known_ball;

	if (!IsA(clause, FuncExpr) || request->indexarg > 1 ||
		!OidIsValid(make_ball) || !OidIsValid(opno))
		return NIL;
	column = list_nth(clause->args, request->indexarg);
	centre = list_nth(clause->args, 1 - request->indexarg);
	radius = lthird(clause->args);
	if (!is_pseudo_constant_for_index(request->root, (Node *) centre,
									  request->index) ||
		!is_pseudo_constant_for_index(request->root, (Node *) radius,
									  request->index))
		return NIL;

	request->lossy = false;
	known_ball = (Node *) make_call(make_ball, ball,
									list_make2(centre, radius));
	known_ball = eval_const_expressions(request->root, known_ball);
	return list_make1(make_operator(opno, BOOLOID, column,
									(Expr *) known_ball));
}

static Datum
support_within(FunctionCallInfo fcinfo, int words)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *result = NULL;

	if (IsA(request, SupportRequestSelectivity))
	{
		hamming_within_selectivity((SupportRequestSelectivity *) request,
								   words);
		result = request;
	}
	else if (IsA(request, SupportRequestIndexCondition))
		result = (Node *) index_condition(request, words);
	PG_RETURN_POINTER(result);
}

SIMHASH_SQL_WIDTHS(simhash_within_support, support_within(fcinfo, words))
