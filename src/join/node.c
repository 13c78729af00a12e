/*
 * node.c
 *	  The executor node HammingJoin.
 *
 * The node reads all rows of both children, and keeps them (input.c).  Then it
 * pairs those whose fingerprints are within the radius (passes.c), and checks
 * all other clauses of the join:
 *
 *		inner, left, full	each pair of rows that passes is a row; then come
 *							the rows that no pair had
 *		semi, anti			for each outer row, pairs are looked at until one
 *							passes; then come the outer rows that have one, or
 *							none, in the order of the child
 *
 * A recheck after a concurrent update (EvalPlanQual) runs the same node in an
 * executor state of its own, where each child returns the row to be checked, as
 * for the joins of PostgreSQL.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "join/node.h"
#include "type/hamming.h"

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
			if (linitial((List *) lfirst(pair)) == subplan->subplan)
			subplan->subplan = lsecond((List *) lfirst(pair));
	}
}

static ExprState *
begin_expression(HammingJoinState *state, JoinExpression expression)
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

/* What is computed of a pair of rows: two kinds of clauses, and the result. */
static void
begin_result(HammingJoinState *state)
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

static void
begin_input(HammingJoinState *state, JoinInput *input, Plan *plan,
			JoinExpression fingerprint, EState *estate, int eflags)
{
	TupleDesc	description;

	/* rows are kept, so that a rescan need not read a child again */
	eflags &= ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	input->child = ExecInitNode(plan, estate, eflags);
	state->custom.custom_ps = lappend(state->custom.custom_ps, input->child);
	description = ExecGetResultType(input->child);
	input->slot = ExecInitExtraTupleSlot(estate, description,
										 &TTSOpsMinimalTuple);
	input->null_slot = ExecInitNullTupleSlot(estate, description,
											 &TTSOpsMinimalTuple);
	input->fingerprint = begin_expression(state, fingerprint);
}

static void
begin_hamming_join(CustomScanState *node, EState *estate, int eflags)
{
	HammingJoinState *state = (HammingJoinState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;

	state->type = list_nth_int(scan->custom_private, JOIN_TYPE);
	state->outer.is_outer = true;
	state->outer.keeps_all = state->type == JOIN_LEFT ||
		state->type == JOIN_ANTI || state->type == JOIN_FULL;
	state->inner.keeps_all = state->type == JOIN_FULL;
	begin_input(state, &state->outer, linitial(scan->custom_plans),
				JOIN_OUTER_FINGERPRINT, estate, eflags);
	begin_input(state, &state->inner, lsecond(scan->custom_plans),
				JOIN_INNER_FINGERPRINT, estate, eflags);
	state->radius = begin_expression(state, JOIN_RADIUS);
	begin_result(state);
	state->context = AllocSetContextCreate(estate->es_query_cxt, "HammingJoin",
										   ALLOCSET_DEFAULT_SIZES);
	state->outer.tuples.context = state->inner.tuples.context = state->context;
	state->memory = get_hash_memory_limit();
}

/* Return the radius, or -1 if no pair matches, as where it is NULL. */
static int
evaluate_radius(HammingJoinState *state)
{
	ExprContext *context = state->custom.ss.ps.ps_ExprContext;
	bool		isnull;
	Datum		radius;

	ResetExprContext(context);
	radius = ExecEvalExprSwitchContext(state->radius, context, &isnull);
	return isnull ? -1 : hamming_radius(DatumGetInt64(radius));
}

/* Prepare to note which rows have a partner. */
static void
begin_matched(HammingJoinState *state, JoinInput *input)
{
	Size		size = input->rows / 8 + 1;

	if (input->matched == NULL)
		input->matched = MemoryContextAllocHuge(state->context, size);
	memset(input->matched, 0, size);
	if (input->keeps_partners && input->partners == NULL)
		input->partners = MemoryContextAllocHuge(state->context,
												 (input->rows + 1) *
												 sizeof(uint64));
	input->row = 0;
	input->offset = 0;
}

/* Is a pair of rows looked at only to learn whether the outer one has any? */
static bool
looks_for_one(const HammingJoinState *state)
{
	return state->type == JOIN_SEMI || state->type == JOIN_ANTI;
}

/* Does a row come to the result only with a partner? */
static bool
needs_partners(const HammingJoinState *state)
{
	return state->type == JOIN_INNER || state->type == JOIN_SEMI;
}

/* Make a filter of what was read for a side that is to be read, or NULL. */
static JoinFilter *
make_filter(HammingJoinState *state, const JoinInput *first,
			const JoinInput *second)
{
	const FingerprintList *list;
	MemoryContext old;
	JoinFilter *filter;

	if (first->entries.side == NULL || state->known_radius < 0 ||
		second->child->plan->plan_rows < 2.0 * first->entries.count)
		return NULL;
	list = &first->entries.side->list;
	old = MemoryContextSwitchTo(state->context);
	filter = hamming_filter_make(list->fps, list->count, state->known_radius,
								 state->memory / JOIN_FILTER_SHARE);
	MemoryContextSwitchTo(old);
	return filter;
}

/*
 * Read both sides, that of which the planner expects fewer rows first.  Return
 * false if they tell that the result is empty.  A side that the result does not
 * need is not read.
 */
static bool
read_inputs(HammingJoinState *state)
{
	JoinInput  *outer = &state->outer;
	JoinInput  *inner = &state->inner;
	bool		matches;
	bool		outer_first;
	JoinInput  *first;
	JoinInput  *second;
	JoinFilter *filter;

	state->known_radius = evaluate_radius(state);
	matches = state->known_radius >= 0;
	if (!matches && needs_partners(state))
		return false;
	outer_first = !matches ||
		outer->child->plan->plan_rows < inner->child->plan->plan_rows;
	first = outer_first ? outer : inner;
	second = outer_first ? inner : outer;
	hamming_input_read(state, first, NULL);
	if (first->entries.count == 0 && needs_partners(state))
		return false;
	if (outer_first && (outer->rows == 0 || !matches) &&
		state->type != JOIN_FULL)
		return outer->rows > 0;
	filter = make_filter(state, first, second);
	hamming_input_read(state, second, filter);
	if (filter != NULL)
		pfree(filter);
	return true;
}

/* Read both sides, unless that was done, and begin to pair rows. */
static void
begin_pairs(HammingJoinState *state)
{
	MemoryContext old;

	state->phase = JOIN_DONE;
	if (!state->is_read)
		state->is_empty = !read_inputs(state);
	state->is_read = true;
	if (state->is_empty)
		return;
	if (state->type != JOIN_INNER)
		begin_matched(state, &state->outer);
	if (state->type == JOIN_FULL)
		begin_matched(state, &state->inner);
	old = MemoryContextSwitchTo(state->context);
	if (state->known_radius >= 0)
		state->passes =
			hamming_passes_begin(&state->outer.entries, &state->inner.entries,
								 state->known_radius,
								 state->memory / JOIN_SIDE_ROW_BYTES,
								 looks_for_one(state) ? state->outer.matched
								 : NULL);
	MemoryContextSwitchTo(old);
	state->a = state->a_end = 0;
	state->b = state->b_end = 0;
	state->phase = JOIN_PAIRING;
}

/* Add what the passes have done so far to what EXPLAIN ANALYZE shows. */
void
hamming_join_count_work(HammingJoinState *state)
{
	JoinPasses *passes = state->passes;
	uint64		disk = hamming_input_disk(&state->outer) +
	hamming_input_disk(&state->inner);

	if (passes != NULL)
	{
		disk += passes->written;
		state->pass_count += passes->passes;
		state->compared += passes->compared;
		if (passes->pairs != NULL)
			state->compared += passes->pairs->compared;
		passes->passes = passes->compared = 0;
		if (passes->pairs != NULL)
			passes->pairs->compared = 0;
	}
	state->most_disk = Max(state->most_disk, disk);
}

static void
end_pairs(HammingJoinState *state)
{
	hamming_join_count_work(state);
	if (state->passes != NULL)
		hamming_passes_end(state->passes);
	state->passes = NULL;
}

/* Get the next two fingerprints, and the places of their rows. */
static bool
next_fingerprints(HammingJoinState *state, uint32 *x)
{
	JoinPasses *passes = state->passes;
	MemoryContext old = MemoryContextSwitchTo(state->context);
	uint32		y;
	bool		found = passes != NULL && hamming_passes_next(passes, x, &y);

	MemoryContextSwitchTo(old);
	if (!found)
		return false;
	state->a = passes->x_side->starts[*x];
	state->a_end = passes->x_side->starts[*x + 1];
	state->b_from = passes->y_side->starts[y];
	state->b_end = passes->y_side->starts[y + 1];
	state->b = state->b_from;
	state->has_outer = false;
	return true;
}

/*
 * Do rows a and b pass the other clauses of the join?  On return both rows are
 * in the slots.
 */
static bool
passes_filter(HammingJoinState *state, uint32 a, uint32 b)
{
	ExprContext *context = state->custom.ss.ps.ps_ExprContext;

	CHECK_FOR_INTERRUPTS();
	ResetExprContext(context);
	if (!state->has_outer)
		hamming_input_fetch(state, &state->outer,
							state->passes->x_side->ids[a]);
	state->has_outer = true;
	hamming_input_fetch(state, &state->inner, state->passes->y_side->ids[b]);
	context->ecxt_outertuple = state->outer.slot;
	context->ecxt_innertuple = state->inner.slot;
	if (ExecQual(state->filter, context))
		return true;
	InstrCountFiltered2(&state->custom, 1);
	return false;
}

/*
 * Return the first partner of row a among the rows of the current inner
 * fingerprint, or b_end if there is none.
 */
static uint32
find_partner(HammingJoinState *state, uint32 a)
{
	uint32		b = state->b_from;

	if (state->filter == NULL)
		return b;
	state->has_outer = false;
	while (b < state->b_end && !passes_filter(state, a, b))
		b++;
	return b;
}

/* Find out, for each outer row, whether it has a partner. */
static void
match_rows(HammingJoinState *state)
{
	uint32		x;

	while (next_fingerprints(state, &x))
	{
		bool		settled = true;
		uint32		a;

		for (a = state->a; a < state->a_end; a++)
		{
			uint32		number = state->passes->x_side->numbers[a];
			uint32		b;

			CHECK_FOR_INTERRUPTS();
			if (hamming_input_is_matched(&state->outer, number))
				continue;
			b = find_partner(state, a);
			if (b == state->b_end)
			{
				settled = false;
				continue;
			}
			hamming_input_match(&state->outer, number);
			if (state->outer.partners != NULL)
				state->outer.partners[number] = state->passes->y_side->ids[b];
		}
		state->passes->settled[x] = settled;
	}
}

/* Get the next two rows that pass all clauses of the join. */
static bool
next_rows(HammingJoinState *state)
{
	for (;;)
	{
		uint32		x;

		while (state->a < state->a_end && state->b < state->b_end)
		{
			uint32		b = state->b++;

			if (passes_filter(state, state->a, b))
			{
				JoinPasses *passes = state->passes;

				hamming_input_match(&state->outer,
									passes->x_side->numbers[state->a]);
				hamming_input_match(&state->inner, passes->y_side->numbers[b]);
				return true;
			}
		}
		if (state->a + 1 < state->a_end)
		{
			state->a++;
			state->b = state->b_from;
			state->has_outer = false;
		}
		else if (!next_fingerprints(state, &x))
			return false;
	}
}

/*
 * Project the two rows; return NULL if the clauses that apply to the result of
 * the join leave them out.
 */
static TupleTableSlot *
project_rows(HammingJoinState *state, TupleTableSlot *outer,
			 TupleTableSlot *inner)
{
	PlanState  *ps = &state->custom.ss.ps;
	ExprContext *context = ps->ps_ExprContext;

	ResetExprContext(context);
	context->ecxt_outertuple = outer;
	context->ecxt_innertuple = inner;
	if (ExecQual(state->result_filter, context))
		return ExecProject(ps->ps_ProjInfo);
	InstrCountFiltered1(ps, 1);
	return NULL;
}

/*
 * Return the inner row that goes with the current row of JOIN_OUTER_ROWS: none,
 * but for a semi join that is asked for a partner.  So are those of UPDATE,
 * DELETE and FOR UPDATE: a recheck takes the partner's row by its ctid.
 */
static TupleTableSlot *
partner_of_row(HammingJoinState *state)
{
	JoinInput  *outer = &state->outer;

	if (outer->partners == NULL)
		return state->inner.null_slot;
	hamming_input_fetch(state, &state->inner, outer->partners[outer->row - 1]);
	return state->inner.slot;
}

/* Get the next row of the current phase; or NULL, and go on. */
static TupleTableSlot *
next_result(HammingJoinState *state)
{
	JoinInput  *outer = &state->outer;
	JoinInput  *inner = &state->inner;

	switch (state->phase)
	{
		case JOIN_READING:
			begin_pairs(state);
			return NULL;
		case JOIN_PAIRING:
			if (looks_for_one(state))
				match_rows(state);
			else if (next_rows(state))
				return project_rows(state, outer->slot, inner->slot);
			end_pairs(state);
			state->phase = state->type == JOIN_INNER ? JOIN_DONE
				: JOIN_OUTER_ROWS;
			return NULL;
		case JOIN_OUTER_ROWS:
			if (hamming_input_next_row(state, outer, state->type == JOIN_SEMI))
				return project_rows(state, outer->slot, partner_of_row(state));
			state->phase = state->type == JOIN_FULL ? JOIN_INNER_ROWS
				: JOIN_DONE;
			return NULL;
		case JOIN_INNER_ROWS:
			if (hamming_input_next_row(state, inner, false))
				return project_rows(state, outer->null_slot, inner->slot);
			state->phase = JOIN_DONE;
			return NULL;
		case JOIN_DONE:
			break;
	}
	return NULL;
}

static TupleTableSlot *
exec_hamming_join(CustomScanState *node)
{
	HammingJoinState *state = (HammingJoinState *) node;

	while (state->phase != JOIN_DONE)
	{
		TupleTableSlot *result = next_result(state);

		if (result != NULL)
			return result;
		CHECK_FOR_INTERRUPTS();
	}
	return NULL;
}

static void
free_rows(HammingJoinState *state)
{
	end_pairs(state);
	hamming_input_end(&state->outer);
	hamming_input_end(&state->inner);
	state->is_read = false;
}

/*
 * Where no parameter has changed, the rows that were read serve again, for the
 * same radius.  Else all is read anew.
 */
static void
rescan_hamming_join(CustomScanState *node)
{
	HammingJoinState *state = (HammingJoinState *) node;
	ListCell   *lc;

	end_pairs(state);
	state->phase = JOIN_READING;
	if (node->ss.ps.chgParam == NULL)
		return;
	free_rows(state);
	foreach(lc, node->custom_ps)
	{
		PlanState  *child = lfirst(lc);

		UpdateChangedParamSet(child, node->ss.ps.chgParam);
		/* else the first ExecProcNode() does it */
		if (child->chgParam == NULL)
			ExecReScan(child);
	}
}

static void
end_hamming_join(CustomScanState *node)
{
	HammingJoinState *state = (HammingJoinState *) node;
	ListCell   *lc;

	free_rows(state);
	foreach(lc, node->custom_ps)
		ExecEndNode(lfirst(lc));
	MemoryContextDelete(state->context);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "HammingJoin",
	.BeginCustomScan = begin_hamming_join,
	.ExecCustomScan = exec_hamming_join,
	.EndCustomScan = end_hamming_join,
	.ReScanCustomScan = rescan_hamming_join,
	.ExplainCustomScan = hamming_join_explain
};

static Node *
create_state(CustomScan *scan)
{
	HammingJoinState *state = palloc0(sizeof(HammingJoinState));

	NodeSetTag(state, T_CustomScanState);
	state->custom.methods = &exec_methods;
	return (Node *) state;
}

const CustomScanMethods hamming_join_scan_methods = {
	.CustomName = "HammingJoin",
	.CreateCustomScanState = create_state
};
