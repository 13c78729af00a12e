/*
 * planner.c
 *	  Planner support: how "fp <-> q <= 3" comes to use an index, here and on
 *	  other servers; what it costs to compare two texts.
 *
 * The planner looks for an index only where the indexed column is a direct
 * argument of the clause, and in (fp <-> q) <= 3 it is not.  So:
 *
 *	a <-> b			becomes	(a <-># b)::hamming_distance
 *	(a <-># b) <= k	becomes	simhash_within(a, b, k)
 *	simhash_within	asks the index for	a <@ hamming_ball(b, k)
 *
 * doc/algorithm.md proves that no step changes a result.  Every type, function
 * and operator is looked up in the schema of the function that is being
 * simplified.  Where one is missing, the clause stays as it is.  The steps are
 * the same for each width of a fingerprint: its type is that of the function's
 * arguments.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "type/catalog.h"
#include "type/selectivity.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_distance_support);
PG_FUNCTION_INFO_V1(hamming_bound_below);
PG_FUNCTION_INFO_V1(simhash_collation_support);

/*
 * a <-> b becomes (a <-># b)::hamming_distance.
 *
 * Operator classes order by <->#.  Above a sort key of a domain type the
 * planner puts a relabelling to the base type, which would hide the operator
 * from the index.  The planner removes its relabelling together with ours.
 */
static Node *
simplify_distance(FuncExpr *call)
{
	Oid			schema = get_func_namespace(call->funcid);
	Oid			fingerprint = exprType(linitial(call->args));
	Oid			opno = simhash_find_operator(schema, "<->#", fingerprint,
											 fingerprint);
	Expr	   *distance;

	/* after its operator, the function may be dropped, too */
	if (!OidIsValid(get_opcode(opno)))
		return NULL;
	distance = make_operator(opno, INT4OID, linitial(call->args),
							 lsecond(call->args));
	return (Node *) makeRelabelType(distance, call->funcresulttype, -1,
									InvalidOid, COERCE_IMPLICIT_CAST);
}

Datum
simhash_distance_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *result = NULL;

	if (IsA(request, SupportRequestSimplify))
		result = simplify_distance(((SupportRequestSimplify *) request)->fcall);
	PG_RETURN_POINTER(result);
}

/*
 * Return the two arguments of a distance that is written as an operator, <-> or
 * <->#, or as a function, under any relabellings; NIL if node is no distance.
 */
static List *
distance_arguments(Node *node, Oid schema)
{
	Oid			function;
	Oid			types[2];
	List	   *args;

	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	args = called_function(node, &function);
	if (list_length(args) != 2)
		return NIL;
	types[0] = types[1] = exprType(linitial(args));
	if (function == simhash_find_function(schema, "simhash_distance", 2,
										  types) ||
		function == simhash_find_function(schema, "simhash_distance_int", 2,
										  types))
		return args;
	return NIL;
}

static Expr *
bigint_bound(Expr *bound, Oid type)
{
	if (type == INT8OID)
		return bound;
	return make_call(type == INT2OID ? F_INT8_INT2 : F_INT8_INT4, INT8OID,
					 list_make1(bound));
}

/*
 * The bound k for which "distance <= k" says "distance < bound": bound - 1
 * without overflow, and -1, which no distance is within, for any bound <= 0.
 */
Datum
hamming_bound_below(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(Max(PG_GETARG_INT64(0), 0) - 1);
}

/*
 * Make a call of simhash_within that compares the distance of the two elements
 * of distance with bound, a bigint; return NULL where a function is missing.
 * With w(k) for "distance <= k":
 *
 *		<= k is w(k)			> k is NOT w(k)
 *		<  k is w(k - 1)		>= k is NOT w(k - 1)
 *
 * where hamming_bound_below() computes k - 1.  Both functions are strict: NULL
 * stays NULL.  Both are leakproof: an index serves the clause under a row
 * security policy.
 */
static Node *
compare_distance(PlannerInfo *root, Oid schema, StrategyNumber strategy,
				 List *distance, Expr *bound)
{
	Oid			fingerprint = exprType(linitial(distance));
	Oid			types[] = {fingerprint, fingerprint, INT8OID};
	Oid			within = simhash_find_function(schema, "simhash_within", 3,
											   types);
	Oid			below = simhash_find_function(schema, "hamming_bound_below", 1,
											  types + 2);
	Expr	   *result;

	if (!OidIsValid(within) || !OidIsValid(below))
		return NULL;
	if (strategy == BTLessStrategyNumber ||
		strategy == BTGreaterEqualStrategyNumber)
		bound = make_call(below, INT8OID, list_make1(bound));
	bound = (Expr *) eval_const_expressions(root, (Node *) bound);
	result = make_call(within, BOOLOID, list_make3(linitial(distance),
												   lsecond(distance), bound));
	if (strategy == BTGreaterStrategyNumber ||
		strategy == BTGreaterEqualStrategyNumber)
		result = makeBoolExpr(NOT_EXPR, list_make1(result), -1);
	return (Node *) result;
}

/*
 * Return arg as an integer, and store the integer's type in *integer_type.  A
 * hamming_distance is a domain over integer, and needs a relabelling.
 */
static Expr *
integer_argument(Expr *arg, Oid *integer_type)
{
	*integer_type = exprType((Node *) arg);
	if (*integer_type == INT2OID || *integer_type == INT4OID ||
		*integer_type == INT8OID)
		return arg;
	*integer_type = INT4OID;
	return (Expr *) applyRelabelType((Node *) arg, INT4OID, -1, InvalidOid,
									 COERCE_IMPLICIT_CAST, -1, false);
}

/*
 * Simplify a comparison of a hamming_distance with an integer or with another
 * hamming_distance.  Where neither side is a distance of two fingerprints, as
 * where a column holds distances, the comparison becomes core's comparison of
 * integers: a btree index of such a column serves that one.
 */
static Node *
simplify_comparison(SupportRequestSimplify *request, StrategyNumber strategy)
{
	Oid			schema = get_func_namespace(request->fcall->funcid);
	Oid			left_type;
	Oid			right_type;
	Expr	   *left = integer_argument(linitial(request->fcall->args),
										&left_type);
	Expr	   *right = integer_argument(lsecond(request->fcall->args),
										 &right_type);
	List	   *distance;
	Oid			opno;

	distance = distance_arguments((Node *) left, schema);
	if (distance != NIL)
		return compare_distance(request->root, schema, strategy, distance,
								bigint_bound(right, right_type));
	distance = distance_arguments((Node *) right, schema);
	/* "k < distance" is "distance > k" */
	if (distance != NIL)
		return compare_distance(request->root, schema,
								BTGreaterStrategyNumber + BTLessStrategyNumber -
								strategy, distance,
								bigint_bound(left, left_type));

	opno = get_opfamily_member(INTEGER_BTREE_FAM_OID, left_type, right_type,
							   strategy);
	return (Node *) make_operator(opno, BOOLOID, left, right);
}

static Datum
comparison_support(FunctionCallInfo fcinfo, StrategyNumber strategy)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *result = NULL;

	if (IsA(request, SupportRequestSimplify))
		result = simplify_comparison((SupportRequestSimplify *) request,
									 strategy);
	PG_RETURN_POINTER(result);
}

#define COMPARISON_SUPPORT(name, strategy) \
	SIMHASH_SQL(name, comparison_support(fcinfo, strategy))

COMPARISON_SUPPORT(hamming_distance_lt_support, BTLessStrategyNumber)
COMPARISON_SUPPORT(hamming_distance_le_support, BTLessEqualStrategyNumber)
COMPARISON_SUPPORT(hamming_distance_gt_support, BTGreaterStrategyNumber)
COMPARISON_SUPPORT(hamming_distance_ge_support, BTGreaterEqualStrategyNumber)

/*
 * Return the clause simhash_within(a, b, k), where a or b is the indexed
 * column, as the condition "column <@ hamming_ball(the other, k)"; NIL where
 * the index cannot serve the clause.  The condition is exact: both say that the
 * distance is at most k.
 */
static List *
index_condition(SupportRequestIndexCondition *request, int words)
{
	FuncExpr   *clause = (FuncExpr *) request->node;
	Oid			schema = get_func_namespace(request->funcid);
	Oid			types[2] = {InvalidOid, INT8OID};
	Oid			make_ball;
	Oid			ball;
	Oid			opno;
	Expr	   *column;
	Expr	   *centre;
	Expr	   *radius;
	Node	   *known_ball;

	if (!IsA(clause, FuncExpr) || request->indexarg > 1)
		return NIL;
	column = list_nth(clause->args, request->indexarg);
	centre = list_nth(clause->args, 1 - request->indexarg);
	radius = lthird(clause->args);
	types[0] = exprType((Node *) column);
	make_ball = simhash_find_function(schema, words > 1 ? "hamming_ball_128"
									  : "hamming_ball", 2, types);
	if (!OidIsValid(make_ball) ||
		!is_pseudo_constant_for_index(request->root, (Node *) centre,
									  request->index) ||
		!is_pseudo_constant_for_index(request->root, (Node *) radius,
									  request->index))
		return NIL;
	ball = get_func_rettype(make_ball);
	opno = get_opfamily_member(request->opfamily, types[0], ball,
							   SIMHASH_BALL_STRATEGY);
	if (!OidIsValid(opno))
		return NIL;

	request->lossy = false;
	known_ball = (Node *) make_call(make_ball, ball,
									list_make2(centre, radius));
	known_ball = eval_const_expressions(request->root, known_ball);
	return list_make1(make_operator(opno, BOOLOID, column,
									(Expr *) known_ball));
}

static Datum
within_support(FunctionCallInfo fcinfo, int words)
{
	void	   *request = PG_GETARG_POINTER(0);
	void	   *result = NULL;

	if (IsA(request, SupportRequestSelectivity))
	{
		hamming_within_selectivity(request, words);
		result = request;
	}
	else if (IsA(request, SupportRequestIndexCondition))
		result = index_condition(request, words);
	PG_RETURN_POINTER(result);
}

SIMHASH_SQL_WIDTHS(simhash_within_support, within_support(fcinfo, words))

/* The bytes of a text for which the functions of two texts have their COST. */
#define USUAL_WIDTH 500

/* Return how many bytes relid, which is locked, has out of line. */
static double
toast_bytes(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	Oid			toast = rel->rd_rel->reltoastrelid;
	BlockNumber pages = 0;

	table_close(rel, NoLock);
	if (OidIsValid(toast))
	{
		rel = table_open(toast, AccessShareLock);
		pages = RelationGetNumberOfBlocks(rel);
		table_close(rel, AccessShareLock);
	}
	return (double) pages * BLCKSZ;
}

/*
 * Return the bytes of a text, on average.  Statistics have the width that is
 * stored: of a text that is compressed, less than the text; of one out of line,
 * that of a TOAST pointer.  So all that a table has out of line is added, even
 * where other columns share it.  Partitioned tables and subqueries, where
 * nobody knows what is out of line, have texts of USUAL_WIDTH.  Before the
 * planner knows its tables, all texts have that.
 */
static double
text_width(const PlannerInfo *root, const Node *arg)
{
	const Var  *var;
	const RangeTblEntry *table;
	const RelOptInfo *rel;
	int32		width;

	while (IsA(arg, RelabelType))
		arg = (const Node *) ((const RelabelType *) arg)->arg;
	if (IsA(arg, Const))
		return ((const Const *) arg)->constisnull ? 0 :
			toast_raw_datum_size(((const Const *) arg)->constvalue);
	var = (const Var *) arg;
	if (root == NULL || !IsA(arg, Var) || var->varlevelsup > 0 ||
		var->varno <= 0 || var->varno >= root->simple_rel_array_size)
		return USUAL_WIDTH;
	table = root->simple_rte_array[var->varno];
	rel = root->simple_rel_array[var->varno];
	if (rel == NULL || table->rtekind != RTE_RELATION || table->inh)
		return USUAL_WIDTH;
	width = get_attavgwidth(table->relid, var->varattno);
	if (width <= 0)
		return USUAL_WIDTH;
	return width + toast_bytes(table->relid) / Max(rel->tuples, 1);
}

/*
 * Set the cost of a call of a function of two texts: of short ones, a little;
 * else in proportion to their bytes.  Return NULL for any other call.
 */
static Node *
set_cost(SupportRequestCost *request)
{
	FuncExpr   *call = (FuncExpr *) request->node;
	HeapTuple	function;
	double		width;

	if (call == NULL || !IsA(call, FuncExpr) || list_length(call->args) < 2 ||
		exprType(lsecond(call->args)) != TEXTOID)
		return NULL;
	width = Max(text_width(request->root, linitial(call->args)) +
				text_width(request->root, lsecond(call->args)),
				USUAL_WIDTH / 10);
	function = SearchSysCache1(PROCOID, ObjectIdGetDatum(call->funcid));
	if (!HeapTupleIsValid(function))
		return NULL;
	request->startup = 0;
	request->per_tuple = ((Form_pg_proc) GETSTRUCT(function))->procost *
		cpu_operator_cost * width / (2 * USUAL_WIDTH);
	ReleaseSysCache(function);
	return (Node *) request;
}

/*
 * The support function of what takes texts.  A fingerprint and a similarity do
 * not depend on a collation, and so the call needs none.  postgres_fdw sends a
 * call to another server only if its collation is that of a column there, or if
 * the call has none.  And what takes two texts costs more where these are long.
 */
Datum
simhash_collation_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	FuncExpr   *call;

	if (IsA(request, SupportRequestCost))
		PG_RETURN_POINTER(set_cost((SupportRequestCost *) request));
	if (!IsA(request, SupportRequestSimplify))
		PG_RETURN_POINTER(NULL);
	call = ((SupportRequestSimplify *) request)->fcall;
	if (!OidIsValid(call->inputcollid))
		PG_RETURN_POINTER(NULL);
	PG_RETURN_POINTER(makeFuncExpr(call->funcid, call->funcresulttype,
								   call->args, InvalidOid, InvalidOid,
								   call->funcformat));
}
