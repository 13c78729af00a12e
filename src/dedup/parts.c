/*
 * parts.c
 *	  simhash_parts(fp, max_distance, parts): the parts of a fingerprint.
 */
#include "postgres.h"

#include "funcapi.h"

#include "dedup/arguments.h"
#include "near/share.h"
#include "type/simhash.h"

#define simhash_parts WIDE(simhash_parts)

PG_FUNCTION_INFO_V1(simhash_parts);

/* The parts of one fingerprint. */
typedef struct PartList
{
	int			count;
	int			parts[HAMMING_BITS];	/* ascending, each once */
} PartList;

/* Insert a part, unless it is there. */
static void
add_part(PartList *list, int part)
{
	int			i = list->count;
	int			j;

	while (i > 0 && list->parts[i - 1] > part)
		i--;
	if (i > 0 && list->parts[i - 1] == part)
		return;
	for (j = list->count++; j > i; j--)
		list->parts[j] = list->parts[j - 1];
	list->parts[i] = part;
}

/*
 * Return the parts of a call.  The rows of a query mostly ask for the same, and
 * the divisions of hamming_shares_begin() take as long as all the rest.
 */
static const Shares *
parts_of_call(int radius, int count)
{
	static Shares last;			/* count is 0 before the first call */

	if (last.radius != radius || last.count != count)
		hamming_shares_begin(&last, radius, count);
	return &last;
}

/*
 * simhash_parts(fp, max_distance int, parts int).  Errors: 22023 for
 * a max_distance or a number of parts out of range.
 */
Datum
simhash_parts(PG_FUNCTION_ARGS)
{
	FuncCallContext *context;
	PartList   *list;

	if (SRF_IS_FIRSTCALL())
	{
		Fingerprint fingerprint = PG_GETARG_SIMHASH(0);
		int			radius = check_max_distance(PG_GETARG_INT32(1));
		int			count = check_parts(PG_GETARG_INT32(2));
		const Shares *parts = parts_of_call(radius, count);
		int			block;

		context = SRF_FIRSTCALL_INIT();
		list = MemoryContextAllocZero(context->multi_call_memory_ctx,
									  sizeof(PartList));
		for (block = 0; block < parts->block_count; block++)
			add_part(list, hamming_share_of(parts, fingerprint, block));
		context->user_fctx = list;
	}
	context = SRF_PERCALL_SETUP();
	list = context->user_fctx;
	if (context->call_cntr < (uint64) list->count)
	{
		/* the macro counts before it uses the result */
		int			part = list->parts[context->call_cntr];

		SRF_RETURN_NEXT(context, Int32GetDatum(part));
	}
	SRF_RETURN_DONE(context);
}
