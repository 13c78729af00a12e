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

/* The parts of one fingerprint: the shares that it belongs to. */
typedef struct ShareList
{
	int			count;
	int			shares[HAMMING_BITS];	/* ascending, each once */
} ShareList;

/* Insert a share, unless it is there. */
static void
add_share(ShareList *list, int share)
{
	int			i = list->count;
	int			j;

	while (i > 0 && list->shares[i - 1] > share)
		i--;
	if (i > 0 && list->shares[i - 1] == share)
		return;
	for (j = list->count++; j > i; j--)
		list->shares[j] = list->shares[j - 1];
	list->shares[i] = share;
}

/*
 * Return the shares of a call.  The rows of a query mostly ask for the same,
 * and the divisions of hamming_shares_begin() take as long as all the rest.
 */
static const Shares *
shares_of_call(int radius, int count)
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
	ShareList  *list;

	if (SRF_IS_FIRSTCALL())
	{
		Fingerprint fingerprint = PG_GETARG_SIMHASH(0);
		int			radius = check_max_distance(PG_GETARG_INT32(1));
		int			count = check_parts(PG_GETARG_INT32(2));
		const Shares *shares = shares_of_call(radius, count);
		int			block;

		context = SRF_FIRSTCALL_INIT();
		list = MemoryContextAllocZero(context->multi_call_memory_ctx,
									  sizeof(ShareList));
		for (block = 0; block < shares->block_count; block++)
			add_share(list, hamming_share_of(shares, fingerprint, block));
		context->user_fctx = list;
	}
	context = SRF_PERCALL_SETUP();
	list = context->user_fctx;
	if (context->call_cntr < (uint64) list->count)
	{
		/* the macro counts before it uses the result */
		int			share = list->shares[context->call_cntr];

		SRF_RETURN_NEXT(context, Int32GetDatum(share));
	}
	SRF_RETURN_DONE(context);
}
