/*
 * pairs.c
 *	  simhash_pairs(...): the near-duplicates among the rows of queries.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "dedup/max_distance.h"
#include "dedup/pair_rows.h"
#include "dedup/parts.h"
#include "dedup/result_rows.h"
#include "dedup/user_ids.h"
#include "dedup/user_query.h"
#include "type/catalog.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_pairs);
PG_FUNCTION_INFO_V1(simhash_pairs_between);
PG_FUNCTION_INFO_V1(simhash_pairs_of_part);

/* What receives the rows of a query, and adds them to a side. */
typedef struct PairReceiver
{
	JoinSide   *side;
	const JoinPart *part;		/* NULL to receive all rows */
	Oid			fingerprint;	/* the type simhash64 */
	Oid			id;				/* the type of the ids: see user_id() */
} PairReceiver;

/* Check the columns of a query, and note the type of its ids. */
static void
check_columns(TupleDesc description, void *arg)
{
	PairReceiver *r = arg;
	Oid			types[2];
	int			i;

	if (description->natts != 2)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("query must return two columns, an id and a "
							   "simhash64, not %d",
							   description->natts)));
	for (i = 0; i < 2; i++)
		types[i] = TupleDescAttr(description, i)->atttypid;
	r->id = simhash_check_id_column(description, 0,
									types[0] == r->fingerprint ?
									"Return the id before the fingerprint." :
									NULL);
	if (getBaseType(types[1]) != r->fingerprint)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("second column of query must be of type "
							   "simhash64, not %s",
							   format_type_be(types[1])),
						errhint("Make the fingerprint of a text with "
								"simhash(), or cast to simhash64 what is a "
								"fingerprint.")));
}

/*
 * Add a row to the side, unless its id or its fingerprint is null, or the
 * fingerprint is not in the part.
 */
static void
receive_pair_row(TupleTableSlot *slot, void *arg)
{
	PairReceiver *r = arg;
	bool		isnull[2];
	Datum		id = slot_getattr(slot, 1, &isnull[0]);
	Datum		fingerprint = slot_getattr(slot, 2, &isnull[1]);

	if (!isnull[0] && !isnull[1] &&
		(r->part == NULL || is_in_part(r->part, DatumGetSimhash(fingerprint))))
		simhash_join_side_add(r->side, user_id(id, r->id), 0,
							  DatumGetSimhash(fingerprint));
}

/*
 * Run query for the SQL function with the OID function.  Return its rows, or
 * those of the part where part is not NULL.
 */
static JoinSide *
read_side(Datum query, Oid function, const JoinPart *part)
{
	PairReceiver r = {0};

	r.side = simhash_join_side_begin();
	r.part = part;
	r.fingerprint = simhash_type(function);
	simhash_read_user_query(TextDatumGetCString(query), check_columns,
							receive_pair_row, &r);
	return r.side;
}

/* Begin the pairs that a SQL function returns, by its arguments. */
typedef PairRows *(*BeginPairs) (FunctionCallInfo fcinfo);

/* query, max_distance */
static PairRows *
begin_pairs(FunctionCallInfo fcinfo)
{
	int			radius = check_max_distance(PG_GETARG_INT32(1));
	JoinSide   *side = read_side(PG_GETARG_DATUM(0), fcinfo->flinfo->fn_oid,
								 NULL);

	return simhash_pair_rows_begin(side, side, radius);
}

/* new_query, corpus_query, max_distance */
static PairRows *
begin_pairs_between(FunctionCallInfo fcinfo)
{
	Oid			function = fcinfo->flinfo->fn_oid;
	int			radius = check_max_distance(PG_GETARG_INT32(2));
	JoinSide   *x = read_side(PG_GETARG_DATUM(0), function, NULL);
	JoinSide   *y = read_side(PG_GETARG_DATUM(1), function, NULL);

	return simhash_pair_rows_begin(x, y, radius);
}

/* query, max_distance, part, parts */
static PairRows *
begin_pairs_of_part(FunctionCallInfo fcinfo)
{
	int			radius = check_max_distance(PG_GETARG_INT32(1));
	int			count = check_parts(PG_GETARG_INT32(3));
	JoinPart   *part = palloc(sizeof(JoinPart));
	JoinSide   *side;

	part->number = check_part(PG_GETARG_INT32(2), count);
	hamming_parts_begin(&part->parts, radius, count);
	side = read_side(PG_GETARG_DATUM(0), fcinfo->flinfo->fn_oid, part);
	return simhash_pair_rows_begin_part(side, part);
}

static Datum
return_pairs(FunctionCallInfo fcinfo, BeginPairs begin)
{
	FuncCallContext *context;
	int64		a;
	int64		b;
	int			distance;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;

		context = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(context->multi_call_memory_ctx);
		context->tuple_desc = describe_rows(fcinfo);
		context->user_fctx = begin(fcinfo);
		MemoryContextSwitchTo(old);
	}
	context = SRF_PERCALL_SETUP();
	if (simhash_pair_rows_next(context->user_fctx, &a, &b, &distance))
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
	SRF_RETURN_DONE(context);
}

/* simhash_pairs(query text, max_distance int) */
Datum
simhash_pairs(PG_FUNCTION_ARGS)
{
	return return_pairs(fcinfo, begin_pairs);
}

/* simhash_pairs(new_query text, corpus_query text, max_distance int) */
Datum
simhash_pairs_between(PG_FUNCTION_ARGS)
{
	return return_pairs(fcinfo, begin_pairs_between);
}

/* simhash_pairs(query text, max_distance int, part int, parts int) */
Datum
simhash_pairs_of_part(PG_FUNCTION_ARGS)
{
	return return_pairs(fcinfo, begin_pairs_of_part);
}
