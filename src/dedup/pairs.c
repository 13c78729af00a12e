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
#include "dedup/result_rows.h"
#include "dedup/user_ids.h"
#include "dedup/user_query.h"
#include "type/catalog.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_pairs);
PG_FUNCTION_INFO_V1(simhash_pairs_between);

/* What receives the rows of a query, and adds them to a side. */
typedef struct PairReceiver
{
	JoinSide   *side;
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

/* Add a row to the side, unless its id or its fingerprint is null. */
static void
receive_pair_row(TupleTableSlot *slot, void *arg)
{
	PairReceiver *r = arg;
	bool		isnull[2];
	Datum		id = slot_getattr(slot, 1, &isnull[0]);
	Datum		fingerprint = slot_getattr(slot, 2, &isnull[1]);

	if (!isnull[0] && !isnull[1])
		simhash_join_side_add(r->side, user_id(id, r->id), 0,
							  DatumGetSimhash(fingerprint));
}

/* Run query for the SQL function with the OID function; return its rows. */
static JoinSide *
read_side(Datum query, Oid function)
{
	PairReceiver r = {0};

	r.side = simhash_join_side_begin();
	r.fingerprint = simhash_type(function);
	simhash_read_user_query(TextDatumGetCString(query), check_columns,
							receive_pair_row, &r);
	return r.side;
}

/* The arguments are one or two queries, and then max_distance. */
static PairRows *
begin_pairs(FunctionCallInfo fcinfo, int queries)
{
	Oid			function = fcinfo->flinfo->fn_oid;
	int			radius = check_max_distance(PG_GETARG_INT32(queries));
	JoinSide   *x = read_side(PG_GETARG_DATUM(0), function);
	JoinSide   *y = queries == 1 ? x : read_side(PG_GETARG_DATUM(1), function);

	return simhash_pair_rows_begin(x, y, radius);
}

static Datum
return_pairs(FunctionCallInfo fcinfo, int queries)
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
		context->user_fctx = begin_pairs(fcinfo, queries);
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
	return return_pairs(fcinfo, 1);
}

/* simhash_pairs(new_query text, corpus_query text, max_distance int) */
Datum
simhash_pairs_between(PG_FUNCTION_ARGS)
{
	return return_pairs(fcinfo, 2);
}
