/*
 * parts.c
 *	  simhash_parts(fp, max_distance, parts): the parts of a fingerprint, which
 *	  are the shares that it belongs to, ascending, each once.
 */
#include "postgres.h"

#include "funcapi.h"
#include "lib/qunique.h"

#include "dedup/dedup.h"
#include "near/cut.h"

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

/* simhash_parts(fp, max_distance int, parts int), fp of that many words */
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
