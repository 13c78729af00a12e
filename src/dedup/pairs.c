/*
 * pairs.c
 *	  simhash_pairs(...): the near-duplicates among the rows of a query, or a
 *	  part of these; simhash_parts(...): the parts of a fingerprint.
 */
#include "postgres.h"

#include <float.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "lib/qunique.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#include "dedup/dedup.h"
#include "near/pairs.h"
#include "near/progress.h"

PG_FUNCTION_INFO_V1(simhash_pairs);

/* Return parts.  Error: 22023 if parts is less than 1. */
static int
check_parts(int parts)
{
	if (parts < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parts must be at least 1, not %d", parts)));
	return parts;
}

typedef struct PairCall
{
	MemoryContext context;		/* of the call */
	int			max_distance;
	int			part;			/* 0 .. parts - 1 */
	int			parts;			/* 1 for all pairs */
	bool		needs_all;		/* are all pairs wanted? */

	NearSide	rows;			/* their payloads are ids */
	NearOptions options;
	Shares		shares;
	NearPairs  *pairs;			/* NULL while rows are added */
	NearPair	pair;			/* the current two fingerprints */
	uint32		a;				/* of these, the next two rows: see */
	uint32		b;				/* find_rows() */
} PairCall;

/*
 * Begin without rows.  If the caller wants all pairs, a team may find all
 * before the first one is returned.  Error: 22023 for a max_distance out of
 * range.
 */
static void
begin_rows(TupleDesc description, int bits, void *arg)
{
	PairCall   *call = arg;
	MemoryContext old = MemoryContextSwitchTo(call->context);
	NearOptions *options = &call->options;

	options->radius = simhash_check_range("max_distance", call->max_distance, 0,
										  bits);
	if (call->parts == 1 && call->needs_all)
		options->workers = simhash_team_workers(DBL_MAX, 0);
	options->memory = simhash_team_memory(options->workers);
	if (call->parts > 1)
	{
		hamming_shares_begin(&call->shares, bits / 64, options->radius,
							 call->parts);
		call->shares.number = call->part;
		options->share = &call->shares;
	}
	hamming_side_begin(&call->rows, bits / 64, false, false);
	MemoryContextSwitchTo(old);
}

/* Add a row, unless its fingerprint is not in the share. */
static void
receive_row(const Datum *values, void *arg)
{
	PairCall   *call = arg;
	NearRow		row = {.payload = DatumGetInt64(values[0])};

	simhash_datum_words(values[1], row.words, call->rows.list.word_count);
	if (call->options.share == NULL ||
		is_in_share(call->options.share, row.words))
		hamming_side_add_within(&call->rows, &row, call->options.memory);
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
	NearSide   *rows = &call->rows;
	NearOptions *options = &call->options;
	Cost		cost;

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
	cost = hamming_near_cost(rows->list.word_count, rows->count, rows->count,
							 options->radius) / 2;
	options->workers = Min(options->workers, simhash_team_workers(cost, 0));
	call->pairs = hamming_pairs_begin(rows, rows, options);
	return call;
}

/*
 * Set values to the ids of two rows, the lesser one first, and to their
 * distance.  Each pair of rows comes once, in no particular order.  Rows with
 * the same id are no pair.  Return false after the last pair.
 */
static bool
next_pair(PairCall *call, Datum *values)
{
	NearPair   *pair = &call->pair;
	int64		x;
	int64		y;

	do
	{
		CHECK_FOR_INTERRUPTS();
		while (!find_rows(pair, &call->a, &call->b))
		{
			if (!hamming_pairs_next(call->pairs, pair))
				return false;
			call->a = pair->x;
			call->b = pair->y;
		}
		x = pair->x_side->payloads[call->a];
		y = pair->y_side->payloads[call->b++];
	} while (x == y);
	values[0] = Int64GetDatum(Min(x, y));
	values[1] = Int64GetDatum(Max(x, y));
	values[2] = Int32GetDatum(pair->distance);
	return true;
}

/* A callback of the expression, which may end before the rows do. */
static void
end_call(Datum arg)
{
	PairCall   *call = (PairCall *) DatumGetPointer(arg);

	hamming_pairs_end(call->pairs);
	hamming_side_end(&call->rows);
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
	if (next_pair(call, values))
		SRF_RETURN_NEXT(context,
						HeapTupleGetDatum(heap_form_tuple(context->tuple_desc,
														  values, nulls)));
	UnregisterExprContextCallback(result->econtext, end_call,
								  PointerGetDatum(call));
	end_call(PointerGetDatum(call));
	SRF_RETURN_DONE(context);
}

/*
 * Return the shares of a call.  The rows of a query mostly ask for the same,
 * and the divisions of hamming_shares_begin() take as long as all the rest.
 */
static const Shares *
shares_of_call(int words, int radius, int count)
{
	static Shares last;			/* count is 0 before the first call */

	if (last.segments.word_count != words || last.radius != radius ||
		last.count != count)
		hamming_shares_begin(&last, words, radius, count);
	return &last;
}

/*
 * simhash_parts(fp, max_distance int, parts int), fp of that many words: the
 * shares that it belongs to, ascending, each once
 */
static Datum
parts_of(FunctionCallInfo fcinfo, int words)
{
	FuncCallContext *context;
	int		   *parts;

	if (SRF_IS_FIRSTCALL())
	{
		uint64		fingerprint[HAMMING_MAX_WORDS];
		int			radius = simhash_check_range("max_distance",
												 PG_GETARG_INT32(1), 0,
												 64 * words);
		int			count = check_parts(PG_GETARG_INT32(2));
		const Shares *shares = shares_of_call(words, radius, count);
		int			block;

		simhash_datum_words(PG_GETARG_DATUM(0), fingerprint, words);
		context = SRF_FIRSTCALL_INIT();
		parts = MemoryContextAlloc(context->multi_call_memory_ctx,
								   shares->segments.count * sizeof(int));
		for (block = 0; block < shares->segments.count; block++)
			parts[block] = hamming_share_of(shares, fingerprint, block);
		/* as unsigned numbers, since none is negative */
		qsort(parts, block, sizeof(int), oid_cmp);
		context->max_calls = qunique(parts, block, sizeof(int), oid_cmp);
		context->user_fctx = parts;
	}
	context = SRF_PERCALL_SETUP();
	parts = context->user_fctx;
	if (context->call_cntr < context->max_calls)
	{
		/* the macro counts before it uses the result */
		int			part = parts[context->call_cntr];

		SRF_RETURN_NEXT(context, Int32GetDatum(part));
	}
	SRF_RETURN_DONE(context);
}

SIMHASH_SQL_WIDTHS(simhash_parts, parts_of(fcinfo, words))
