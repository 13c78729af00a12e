/*
 * node.c
 *	  The executor node HammingJoin.
 *
 * The node reads and keeps all rows of both children; but of a partial path it
 * may read the outer rows in batches, so that the process that begins first is
 * not left with most pairs.  Then it pairs rows by keys and fingerprints
 * (near/pairs.c), and checks all other clauses of the join:
 *
 *		inner, left, full	each pair of rows that passes is a row; then come
 *							the rows that no pair had
 *		semi, anti			for each outer row, pairs are looked at until one
 *							passes; then come the outer rows that have one, or
 *							none, in the order of the child; but with a column
 *							of its partner a row comes when that is found
 *
 * Where the plan has workers for the search, one call finds all pairs with
 * them.  They have ended before a row is returned, so that any statement may
 * have such a join.  This process checks the clauses, pair by pair.
 *
 * A recheck after a concurrent update (EvalPlanQual) runs the same node in an
 * executor state of its own, as for the joins of PostgreSQL.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "join/join.h"
#include "near/progress.h"
#include "type/hamming.h"

/* Return the last column of the input in the expression, from 1 on; or 0. */
static int
last_column(const JoinInput *input, const void *expression)
{
	int			before = input->first_column -
	FirstLowInvalidHeapAttributeNumber;
	int			last = input->slot->tts_tupleDescriptor->natts;
	Bitmapset  *columns = NULL;

	pull_varattnos(unconstify(void *, expression), INDEX_VAR, &columns);
	while (last > 0 && !bms_is_member(before + last, columns))
		last--;
	return last;
}

/* Return what else than the distance makes two rows partners. */
static List *
partner_clauses(const CustomScan *scan)
{
	return list_concat_copy(list_nth(scan->custom_exprs, JOIN_KEYS),
							list_nth(scan->custom_exprs, JOIN_FILTER));
}

/* Prepare the keys of an input: operand 0 or 1, side, of the equalities. */
static void
begin_keys(HammingJoinState *state, JoinInput *input, List *equalities,
		   int side)
{
	ListCell   *lc;

	foreach(lc, equalities)
	{
		OpExpr	   *equality = lfirst_node(OpExpr, lc);
		JoinKey    *key = palloc(sizeof(JoinKey));
		Expr	   *value = list_nth(equality->args, side);
		Oid			hashes[2];

		if (!get_op_hash_functions(equality->opno, &hashes[0], &hashes[1]))
			elog(ERROR, "could not find hash functions for operator %u",
				 equality->opno);
		fmgr_info(hashes[side], &key->hash);
		key->collation = equality->inputcollid;
		key->value = ExecInitExpr(value, &state->custom.ss.ps);
		input->keys = lappend(input->keys, key);
		input->key_columns = Max(input->key_columns,
								 last_column(input, value));
	}
}

static void
begin_input(HammingJoinState *state, JoinInput *input, PlanState *child,
			JoinExpression fingerprint, EState *estate)
{
	CustomScan *scan = (CustomScan *) state->custom.ss.ps.plan;
	Expr	   *key = list_nth(scan->custom_exprs, fingerprint);
	MemoryContext old;

	input->child = child;
	input->slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(child),
										 &TTSOpsMinimalTuple);
	input->fingerprint = ExecInitExpr(key, &state->custom.ss.ps);
	input->key_columns = last_column(input, key);
	if (IsA(key, Var))
		input->fingerprint_column = input->key_columns;
	begin_keys(state, input, list_nth(scan->custom_exprs, JOIN_KEYS),
			   fingerprint == JOIN_OUTER_FINGERPRINT ? 0 : 1);
	input->filter_columns = last_column(input, partner_clauses(scan));
	input->columns = Max(last_column(input, scan->scan.plan.targetlist),
						 last_column(input, list_nth(scan->custom_exprs,
													 JOIN_RESULT_FILTER)));
	input->columns = Max(input->columns, input->filter_columns);
	input->tuples.context = AllocSetContextCreate(state->context,
												  "HammingJoin tuples",
												  ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(state->context);
	/* of an inner join nobody asks which rows have a partner */
	hamming_side_begin(&input->side, state->word_count,
					   state->type != JOIN_INNER, input->keys != NIL);
	MemoryContextSwitchTo(old);
}

/*
 * Add the parameters in an expression that may change from scan to scan.
 * Return true for an expression with a subplan, which may have any.
 */
static bool
add_parameters(Node *node, Bitmapset **parameters)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*parameters = bms_add_member(*parameters, ((Param *) node)->paramid);
	return IsA(node, SubPlan) ||
		expression_tree_walker(node, add_parameters, parameters);
}

static void
begin_hamming_join(CustomScanState *node, EState *estate, int eflags)
{
	HammingJoinState *state = (HammingJoinState *) node;
	PlanState  *ps = &node->ss.ps;
	CustomScan *scan = (CustomScan *) ps->plan;
	List	   *distance = list_truncate(list_copy(scan->custom_exprs),
										 JOIN_FILTER);
	ListCell   *lc;

	state->context = AllocSetContextCreate(estate->es_query_cxt, "HammingJoin",
										   ALLOCSET_DEFAULT_SIZES);
	state->work = palloc0(sizeof(JoinWork));
	state->type = list_nth_int(scan->custom_private, JOIN_TYPE);
	state->word_count = list_nth_int(scan->custom_private, JOIN_BITS) / 64;
	if (add_parameters((Node *) distance, &state->parameters))
		state->parameters = scan->scan.plan.allParam;
	state->outer.keeps_all = IS_OUTER_JOIN(state->type);
	state->inner.keeps_all = state->type == JOIN_FULL;
	state->is_self = list_length(scan->custom_plans) == 1;
	/* a recheck brings one row to each side, maybe of two versions */
	state->is_of_same_rows = !state->is_self &&
		list_nth_int(scan->custom_private, JOIN_OF_SAME_ROWS) &&
		estate->es_epq_active == NULL;
	/* rows are kept, so that a rescan need not read a child again */
	eflags &= ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	foreach(lc, scan->custom_plans)
		node->custom_ps = lappend(node->custom_ps,
								  ExecInitNode(lfirst(lc), estate, eflags));
	begin_input(state, &state->outer, linitial(node->custom_ps),
				JOIN_OUTER_FINGERPRINT, estate);
	state->inner.first_column = state->outer.slot->tts_tupleDescriptor->natts;
	begin_input(state, &state->inner, llast(node->custom_ps),
				JOIN_INNER_FINGERPRINT, estate);
	state->shows_partners = state->type == JOIN_SEMI &&
		last_column(&state->inner, scan->scan.plan.targetlist) > 0;
	state->radius = ExecInitExpr(list_nth(scan->custom_exprs, JOIN_RADIUS), ps);
	state->filter = ExecInitQual(partner_clauses(scan), ps);
	state->result_filter = ExecInitQual(list_nth(scan->custom_exprs,
												 JOIN_RESULT_FILTER), ps);
	/* the scan tuple is never handed out: who gets it might move its columns */
	if (ps->ps_ProjInfo == NULL)
		ExecAssignProjectionInfo(ps, NULL);
	ps->ps_ExprContext->ecxt_scantuple =
		ExecStoreAllNullTuple(node->ss.ss_ScanTupleSlot);
	state->progress = AllocSetContextCreate(state->context,
											"HammingJoin progress",
											ALLOCSET_SMALL_SIZES);
	state->team_workers = list_nth_int(scan->custom_private, JOIN_WORKERS);
	state->memory = simhash_team_memory(state->team_workers);
	state->batch = list_nth_int(scan->custom_private, JOIN_BATCH);
	state->batch_pairs = list_nth_int(scan->custom_private, JOIN_BATCH_PAIRS);
	state->inner.read_end = PG_UINT64_MAX;
	state->known_radius = -1;
}

/* Prepare to note which rows have a partner. */
static void
begin_matched(HammingJoinState *state, JoinInput *input)
{
	Size		size = input->rows / 8 + 1;

	if (input->matched == NULL)
		input->matched = MemoryContextAllocHuge(state->context, size);
	memset(input->matched, 0, size);
	input->row = 0;
	input->offset = 0;
}

/* Go on with the next outer rows, if more follow. */
static void
end_batch(HammingJoinState *state)
{
	state->phase = state->has_more ? JOIN_READING : JOIN_DONE;
	state->is_read = !state->has_more;
}

/* Read both sides, unless that was done, and begin to pair rows. */
static void
begin_pairs(HammingJoinState *state)
{
	NearOptions options = {.workers = state->team_workers};
	Size		used;
	MemoryContext old = MemoryContextSwitchTo(state->progress);

	if (!IsParallelWorker())
		simhash_progress_begin("HammingJoin");
	MemoryContextSwitchTo(old);
	simhash_progress_phase("reading rows");
	if (!state->is_read)
		hamming_inputs_read(state);
	if (state->is_empty)
	{
		MemoryContextReset(state->progress);
		end_batch(state);
		return;
	}
	simhash_progress_phase("finding pairs");
	if (state->type != JOIN_INNER)
		begin_matched(state, &state->outer);
	if (state->type == JOIN_FULL)
		begin_matched(state, &state->inner);
	options.radius = state->known_radius;
	options.are_same_rows = state->is_of_same_rows;
	/* bitmaps and buffers are small, but where there is little memory */
	used = Min(hamming_join_memory(state), state->memory / 2);
	options.memory = state->memory - used;
	if (looks_for_one(state->type))
	{
		options.settled_rows = state->outer.matched;
		options.any_pair_settles = state->filter == NULL;
	}
	old = MemoryContextSwitchTo(state->context);
	if (state->known_radius >= 0 && state->outer.side.count > 0 &&
		(state->is_self || state->inner.side.count > 0))
		state->pairs = hamming_pairs_begin(&state->outer.side,
										   state->is_self ? &state->outer.side
										   : &state->inner.side, &options);
	MemoryContextSwitchTo(old);
	memset(&state->pair, 0, sizeof(NearPair));
	state->a = state->b = state->y_end = 0;
	state->phase = JOIN_PAIRING;
}

static uint64
disk_of(const JoinInput *input)
{
	uint64		side = input->side.file == NULL ? 0
	: input->side.count * near_row_bytes(input->side.list.word_count);

	return side + (input->tuples.has_file ? input->tuples.size : 0);
}

/*
 * ShutdownCustomScan, and at other times, too: add what the passes have done so
 * far to what EXPLAIN ANALYZE shows.
 */
void
hamming_join_count_work(CustomScanState *node)
{
	HammingJoinState *state = (HammingJoinState *) node;
	NearPairs  *pairs = state->pairs;
	JoinWork   *work = state->work;
	uint64		disk = disk_of(&state->outer) + disk_of(&state->inner);

	if (pairs != NULL)
	{
		NearWork	done = hamming_pairs_take_work(pairs);

		disk += done.partition_bytes + done.found_bytes;
		work->most_memory = Max(work->most_memory, done.most_memory +
								done.team_memory + hamming_join_memory(state));
		work->passes += done.passes;
		work->compared += done.compared;
		work->launched = Max(work->launched, done.launched);
	}
	work->most_disk = Max(work->most_disk, disk);
}

static void
end_pairs(HammingJoinState *state)
{
	hamming_join_count_work(&state->custom);
	MemoryContextReset(state->progress);
	if (state->pairs != NULL)
		hamming_pairs_end(state->pairs);
	state->pairs = NULL;
}

/*
 * Project the two rows in the slots; return NULL if the clauses that apply to
 * the result of the join leave them out.
 */
static TupleTableSlot *
project_rows(HammingJoinState *state)
{
	PlanState  *ps = &state->custom.ss.ps;
	JoinInput  *outer = &state->outer;
	JoinInput  *inner = &state->inner;

	ResetExprContext(ps->ps_ExprContext);
	hamming_input_load(state, outer, outer->slot, outer->columns);
	hamming_input_load(state, inner, inner->slot, inner->columns);
	if (ExecQual(state->result_filter, ps->ps_ExprContext))
		return ExecProject(ps->ps_ProjInfo);
	InstrCountFiltered1(ps, 1);
	return NULL;
}

/* Bring the next row of an input into the slot, and NULLs for the other. */
static bool
next_alone(JoinInput *input, JoinInput *other, bool matched)
{
	ExecStoreAllNullTuple(other->slot);
	other->loaded = 0;
	return hamming_input_next_row(input, matched);
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
			if (hamming_next_pair(state))
				return project_rows(state);
			end_pairs(state);
			if (state->type == JOIN_INNER || state->shows_partners)
				end_batch(state);
			else
				state->phase = JOIN_OUTER_ROWS;
			return NULL;
		case JOIN_OUTER_ROWS:
			if (next_alone(outer, inner, state->type == JOIN_SEMI))
				return project_rows(state);
			if (state->type == JOIN_FULL)
				state->phase = JOIN_INNER_ROWS;
			else
				end_batch(state);
			return NULL;
		case JOIN_INNER_ROWS:
			if (next_alone(inner, outer, false))
				return project_rows(state);
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
	TupleTableSlot *result = NULL;

	while (result == NULL && state->phase != JOIN_DONE)
	{
		CHECK_FOR_INTERRUPTS();
		result = next_result(state);
	}
	return result;
}

static void
free_rows(HammingJoinState *state)
{
	end_pairs(state);
	hamming_input_end(&state->outer);
	hamming_input_end(&state->inner);
	hamming_inputs_free_filter(state);
	state->outer.read = state->inner.read = 0;
	state->pairs_read = state->last_tried = 0;
	state->outer.is_at_end = state->inner.is_at_end = false;
	state->is_read = state->has_radius = false;
	state->known_radius = -1;
}

/*
 * The rows, their keys and the radius depend on parameters.  If none of these
 * has changed, the rows that were read serve again, if they are all there are.
 * Else read all rows anew.
 */
static void
rescan_hamming_join(CustomScanState *node)
{
	HammingJoinState *state = (HammingJoinState *) node;
	Bitmapset  *changed = node->ss.ps.chgParam;
	bool		is_same = state->batch == 0 &&
	!hamming_reads_outer_rows(state->outer.child) &&
	!bms_overlap(changed, state->parameters);
	ListCell   *lc;

	end_pairs(state);
	state->phase = JOIN_READING;
	foreach(lc, node->custom_ps)
	{
		PlanState  *child = lfirst(lc);

		UpdateChangedParamSet(child, changed);
		is_same &= child->chgParam == NULL;
	}
	if (is_same)
		return;
	free_rows(state);
	foreach(lc, node->custom_ps)
	{
		PlanState  *child = lfirst(lc);

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
	.EstimateDSMCustomScan = hamming_workers_size,
	.InitializeDSMCustomScan = hamming_workers_begin,
	.InitializeWorkerCustomScan = hamming_workers_attach,
	.ShutdownCustomScan = hamming_join_count_work,
	.ExplainCustomScan = hamming_join_explain
};

/* CreateCustomScanState */
Node *
hamming_create_join(CustomScan *scan)
{
	HammingJoinState *state = palloc0(sizeof(HammingJoinState));

	NodeSetTag(state, T_CustomScanState);
	state->custom.methods = &exec_methods;
	return (Node *) state;
}
