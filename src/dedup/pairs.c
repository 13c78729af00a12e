/*
 * pairs.c
 *	  simhash_pairs(...): the near-duplicates among the rows of a query.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#include "dedup/dedup.h"
#include "dedup/user_query.h"
#include "near/progress.h"

PG_FUNCTION_INFO_V1(simhash_pairs);

typedef struct PairCall
{
	MemoryContext context;		/* of the call */
	int			max_distance;
	int			part;			/* 0 .. parts - 1 */
	int			parts;			/* 1 for all pairs */
	bool		needs_all;		/* are all pairs wanted? */
	const PairMethods *methods; /* for the width of the fingerprints */
	PairRows   *rows;
} PairCall;

static void
begin_rows(TupleDesc description, int bits, void *arg)
{
	PairCall   *call = arg;
	MemoryContext old = MemoryContextSwitchTo(call->context);

	call->methods = bits == 64 ? &simhash_pair_methods
		: &simhash_pair_methods_128;
	call->rows = call->methods->begin(call->max_distance, call->part,
									  call->parts, call->needs_all);
	MemoryContextSwitchTo(old);
}

static void
receive_row(const Datum *values, void *arg)
{
	PairCall   *call = arg;

	call->methods->add(call->rows, DatumGetInt64(values[0]), values[1]);
}

static const UserQuery rows_query = {
	.columns = "id, fingerprint",.count = 2,.ids = 1,
	.begin = begin_rows,.receive = receive_row
};

/*
 * May a LIMIT of the main plan end a call in the SELECT list before it has read
 * all pairs?  Plans of subqueries are not looked at, as there may be several.
 */
static bool
is_limited(const PlannedStmt *statement)
{
	const Plan *plan = statement->planTree;
	bool		limited = false;

	while (plan != NULL && !IsA(plan, ProjectSet))
	{
		limited = IsA(plan, Limit) ||
			(limited && (IsA(plan, SubqueryScan) || IsA(plan, Result)));
		plan = IsA(plan, SubqueryScan)
			? ((const SubqueryScan *) plan)->subplan : outerPlan(plan);
	}
	return plan != NULL && limited;
}

static PairCall *
begin_call(FunctionCallInfo fcinfo)
{
	PairCall   *call = palloc0(sizeof(PairCall));
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	/* FROM wants all pairs */
	call->needs_all =
		(result->allowedModes & SFRM_Materialize_Preferred) != 0 ||
		!is_limited(result->econtext->ecxt_estate->es_plannedstmt);
	call->context = CurrentMemoryContext;
	call->max_distance = PG_GETARG_INT32(1);
	call->parts = PG_NARGS() > 2 ? check_parts(PG_GETARG_INT32(3)) : 1;
	if (PG_NARGS() > 2)
		call->part = simhash_check_range("part", PG_GETARG_INT32(2), 0,
										 call->parts - 1);
	simhash_progress_begin("simhash_pairs");
	simhash_read_user_query(fcinfo, &rows_query, call);
	simhash_progress_phase("finding pairs");
	return call;
}

/* A callback of the expression, which may end before the rows do. */
static void
end_call(Datum arg)
{
	PairCall   *call = (PairCall *) DatumGetPointer(arg);

	call->methods->end(call->rows);
}

/* simhash_pairs(query text, max_distance int[, part int, parts int]) */
Datum
simhash_pairs(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	FuncCallContext *context;
	PairCall   *call;
	Datum		values[3];
	bool		nulls[3] = {false, false, false};

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;

		context = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(context->multi_call_memory_ctx);
		/* as the executor does: the function may have been dropped by now */
		context->tuple_desc =
			BlessTupleDesc(CreateTupleDescCopy(result->expectedDesc));
		call = begin_call(fcinfo);
		RegisterExprContextCallback(result->econtext, end_call,
									PointerGetDatum(call));
		context->user_fctx = call;
		MemoryContextSwitchTo(old);
	}
	context = SRF_PERCALL_SETUP();
	call = context->user_fctx;
	if (call->methods->next(call->rows, values))
		SRF_RETURN_NEXT(context,
						HeapTupleGetDatum(heap_form_tuple(context->tuple_desc,
														  values, nulls)));
	UnregisterExprContextCallback(result->econtext, end_call,
								  PointerGetDatum(call));
	end_call(PointerGetDatum(call));
	SRF_RETURN_DONE(context);
}
