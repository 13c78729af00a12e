/*
 * components.c
 *	  simhash_components(...): the groups of ids that pairs make.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "utils/builtins.h"

#include "dedup/id_groups.h"
#include "dedup/user_query.h"
#include "near/progress.h"

PG_FUNCTION_INFO_V1(simhash_components);

/* What receives the rows of a query, and adds them to the groups. */
typedef struct IdPairReceiver
{
	IdGroups   *groups;
	Oid			types[2];		/* of the ids: see user_id() */
	uint64		rows;			/* so far */
} IdPairReceiver;

/* Check the columns of a query, and note their types. */
static void
check_columns(TupleDesc description, void *arg)
{
	IdPairReceiver *r = arg;
	int			i;

	for (i = 0; i < 2; i++)
		r->types[i] = simhash_check_id_column(description, i, NULL);
}

/* Add a pair, unless one of its ids is null. */
static void
receive_id_pair(TupleTableSlot *slot, void *arg)
{
	IdPairReceiver *r = arg;
	bool		isnull[2];
	Datum		a = slot_getattr(slot, 1, &isnull[0]);
	Datum		b = slot_getattr(slot, 2, &isnull[1]);

	simhash_progress_rows(++r->rows);
	if (!isnull[0] && !isnull[1])
		simhash_id_groups_add(r->groups, user_id(a, r->types[0]),
							  user_id(b, r->types[1]));
}

/* Run query; return the groups that its rows make. */
static IdGroups *
group_pairs(Datum query, ClusterMethod method)
{
	IdPairReceiver r = {0};

	simhash_progress_begin("simhash_components");
	simhash_progress_phase("reading rows");
	r.groups = simhash_id_groups_begin(method);
	simhash_read_user_query(TextDatumGetCString(query), "a, b", 2,
							check_columns, receive_id_pair, &r);
	simhash_progress_phase("grouping ids");
	simhash_id_groups_finish(r.groups);
	return r.groups;
}

/* simhash_components(query text, method text) */
Datum
simhash_components(PG_FUNCTION_ARGS)
{
	FuncCallContext *context;
	IdGroups   *groups;
	uint32		i;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;

		context = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(context->multi_call_memory_ctx);
		context->tuple_desc = describe_rows(fcinfo);
		context->user_fctx = group_pairs(PG_GETARG_DATUM(0),
										 check_method(PG_GETARG_DATUM(1)));
		MemoryContextSwitchTo(old);
	}
	context = SRF_PERCALL_SETUP();
	groups = context->user_fctx;
	i = (uint32) context->call_cntr;
	if (i < groups->list.count)
	{
		uint32		least = groups->list.numbers[i];
		Datum		values[2];
		bool		nulls[2] = {false, false};
		HeapTuple	row;

		values[0] = Int64GetDatum(simhash_id_groups_id(groups, i));
		values[1] = Int64GetDatum(simhash_id_groups_id(groups, least));
		row = heap_form_tuple(context->tuple_desc, values, nulls);
		SRF_RETURN_NEXT(context, HeapTupleGetDatum(row));
	}
	SRF_RETURN_DONE(context);
}
