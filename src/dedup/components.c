/*
 * components.c
 *	  simhash_components(...): the groups of ids that pairs make.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "dedup/dedup.h"
#include "dedup/user_query.h"
#include "near/progress.h"
#include "type/compat.h"

PG_FUNCTION_INFO_V1(simhash_components);

static void
receive_pair(const Datum *values, void *groups)
{
	simhash_id_groups_add(groups, DatumGetInt64(values[0]),
						  DatumGetInt64(values[1]));
}

static const UserQuery pairs_query = {
	.columns = "a, b",.count = 2,.ids = 2,.receive = receive_pair
};

static void
return_groups(const FingerprintList *ids, ReturnSetInfo *result)
{
	uint32		i;

	for (i = 0; i < ids->count; i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false, false};

		CHECK_FOR_INTERRUPTS();
		values[0] = Int64GetDatum(ids->fps[i]);
		values[1] = Int64GetDatum(ids->fps[ids->numbers[i]]);
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
	}
}

/* simhash_components(query text, method text) */
Datum
simhash_components(PG_FUNCTION_ARGS)
{
	MemoryContext call = AllocSetContextCreate(CurrentMemoryContext,
											   "simhash_components",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	IdGroups   *groups;

	/* the executor frees its own description of the rows, and no other */
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	old = MemoryContextSwitchTo(call);
	groups = simhash_id_groups_begin(check_method(PG_GETARG_DATUM(1)));
	simhash_progress_begin("simhash_components");
	simhash_read_user_query(fcinfo, &pairs_query, groups);
	simhash_progress_phase("grouping ids");
	simhash_id_groups_finish(groups);
	return_groups(&groups->list, (ReturnSetInfo *) fcinfo->resultinfo);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(call);
	return (Datum) 0;
}
