/*
 * pairs.c
 *	  simhash_pairs(...): the near-duplicates among the rows of a query.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "utils/builtins.h"

#include "dedup/arguments.h"
#include "dedup/pair_rows.h"
#include "dedup/user_query.h"
#include "near/progress.h"

PG_FUNCTION_INFO_V1(simhash_pairs);

/* A call of simhash_pairs(). */
typedef struct PairCall
{
	Oid			function;		/* which is called */
	MemoryContext context;		/* of the call */
	int			max_distance;
	int			part;			/* 0 .. parts - 1 */
	int			parts;			/* 1 for all pairs */
	const PairMethods *methods; /* for the width of the fingerprints */
	PairRows   *pairs;
	bool		begins_alone;	/* see NearOptions */
	uint64		rows;			/* of the query, so far */
	Oid			id;				/* the type of the ids: see user_id() */
} PairCall;

/* Check the columns of the query, and begin its pairs. */
static void
check_columns(TupleDesc description, void *arg)
{
	PairCall   *call = arg;
	MemoryContext old;
	int			bits;

	bits = simhash_check_fingerprint_columns(description, call->function,
											 &call->id);
	call->methods = bits == 64 ? &simhash_pair_methods
		: &simhash_pair_methods_128;
	old = MemoryContextSwitchTo(call->context);
	call->pairs = call->methods->begin(call->max_distance, call->part,
									   call->parts, call->begins_alone);
	MemoryContextSwitchTo(old);
}

/* Add a row, unless its id or its fingerprint is null. */
static void
receive_pair_row(TupleTableSlot *slot, void *arg)
{
	PairCall   *call = arg;
	bool		isnull[2];
	Datum		id = slot_getattr(slot, 1, &isnull[0]);
	Datum		fingerprint = slot_getattr(slot, 2, &isnull[1]);

	simhash_progress_rows(++call->rows);
	if (!isnull[0] && !isnull[1])
		call->methods->add(call->pairs, user_id(id, call->id), fingerprint);
}

/* Get the arguments, and run the query. */
static PairCall *
begin_call(FunctionCallInfo fcinfo)
{
	PairCall   *call = palloc0(sizeof(PairCall));
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	/* FROM wants all pairs; in the SELECT list LIMIT may stop them */
	call->begins_alone =
		(result->allowedModes & SFRM_Materialize_Preferred) == 0;
	call->function = fcinfo->flinfo->fn_oid;
	call->context = CurrentMemoryContext;
	call->max_distance = PG_GETARG_INT32(1);
	call->parts = PG_NARGS() > 2 ? check_parts(PG_GETARG_INT32(3)) : 1;
	if (PG_NARGS() > 2)
		call->part = check_part(PG_GETARG_INT32(2), call->parts);
	simhash_progress_begin("simhash_pairs");
	simhash_progress_phase("reading rows");
	simhash_read_user_query(TextDatumGetCString(PG_GETARG_DATUM(0)),
							"id, fingerprint", 2, check_columns,
							receive_pair_row, call);
	simhash_progress_phase("finding pairs");
	return call;
}

/* A callback of the expression, which may end before the rows do. */
static void
end_call(Datum arg)
{
	PairCall   *call = (PairCall *) DatumGetPointer(arg);

	call->methods->end(call->pairs);
}

/* simhash_pairs(query text, max_distance int[, part int, parts int]) */
Datum
simhash_pairs(PG_FUNCTION_ARGS)
{
	ExprContext *expression = ((ReturnSetInfo *) fcinfo->resultinfo)->econtext;
	FuncCallContext *context;
	PairCall   *call;
	int64		a;
	int64		b;
	int			distance;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;

		context = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(context->multi_call_memory_ctx);
		context->tuple_desc = describe_rows(fcinfo);
		call = begin_call(fcinfo);
		RegisterExprContextCallback(expression, end_call,
									PointerGetDatum(call));
		context->user_fctx = call;
		MemoryContextSwitchTo(old);
	}
	context = SRF_PERCALL_SETUP();
	call = context->user_fctx;
	if (call->methods->next(call->pairs, &a, &b, &distance))
	{
		Datum		values[3];
		bool		nulls[3] = {false, false, false};
		HeapTuple	row;

		values[0] = Int64GetDatum(a);
		values[1] = Int64GetDatum(b);
		values[2] = Int32GetDatum(distance);
		row = heap_form_tuple(context->tuple_desc, values, nulls);
		SRF_RETURN_NEXT(context, HeapTupleGetDatum(row));
	}
	UnregisterExprContextCallback(expression, end_call, PointerGetDatum(call));
	end_call(PointerGetDatum(call));
	SRF_RETURN_DONE(context);
}
