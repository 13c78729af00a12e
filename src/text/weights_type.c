/*
 * weights_type.c
 *	  The type simhash_weights: a JSON object of numbers.
 */
#include "postgres.h"

#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "text/weights_value.h"
#include "type/compat.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_weights_recv);
PG_FUNCTION_INFO_V1(simhash_weights_send);

#define BINARY_VERSION 1		/* of what send writes and recv reads */

static StringInfoData
json_form(FunctionCallInfo fcinfo)
{
	StringInfoData json;

	initStringInfo(&json);
	simhash_weights_write(&json, PG_GETARG_VARLENA_PP(0));
	return json;
}

static text *
json_text(FunctionCallInfo fcinfo)
{
	StringInfoData json = json_form(fcinfo);

	return cstring_to_text_with_len(json.data, json.len);
}

SIMHASH_SQL(simhash_weights_in,
			PointerGetDatum(simhash_weights_parse(PG_GETARG_CSTRING(0),
												  fcinfo->context)))
SIMHASH_SQL(simhash_weights_out, CStringGetDatum(json_form(fcinfo).data))
SIMHASH_SQL(simhash_weights_to_json, PointerGetDatum(json_text(fcinfo)))

/* A version number in one byte, and then the text form, as jsonb does it. */
Datum
simhash_weights_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			version = pq_getmsgint(buf, 1);
	const char *json;
	int			length;

	if (version != BINARY_VERSION)
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("unsupported simhash_weights version number %d",
							   version)));
	json = pq_getmsgtext(buf, buf->len - buf->cursor, &length);
	PG_RETURN_POINTER(simhash_weights_parse(json, NULL));
}

Datum
simhash_weights_send(PG_FUNCTION_ARGS)
{
	StringInfoData json = json_form(fcinfo);
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint8(&buf, BINARY_VERSION);
	pq_sendtext(&buf, json.data, json.len);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

static WeightsDigest
digest_argument(FunctionCallInfo fcinfo, int argument)
{
	return simhash_weights_digest(PG_GETARG_RAW_VARLENA_P(argument));
}

/*
 * An order without a meaning, for B-trees, sorting and grouping.  Equal values
 * have equal bytes, so equal digests; that different ones have different
 * digests is SHA-256's promise.
 */
static int
compare_weights(FunctionCallInfo fcinfo)
{
	WeightsDigest a = digest_argument(fcinfo, 0);
	WeightsDigest b = digest_argument(fcinfo, 1);

	if (a.high != b.high)
		return a.high < b.high ? -1 : 1;
	return a.low < b.low ? -1 : a.low > b.low;
}

#define COMPARISON(name, op) \
	SIMHASH_SQL(name, BoolGetDatum(compare_weights(fcinfo) op 0))

COMPARISON(simhash_weights_lt, <)
COMPARISON(simhash_weights_le, <=)
COMPARISON(simhash_weights_eq, ==)
COMPARISON(simhash_weights_ne, !=)
COMPARISON(simhash_weights_ge, >=)
COMPARISON(simhash_weights_gt, >)

SIMHASH_SQL(simhash_weights_cmp, Int32GetDatum(compare_weights(fcinfo)))
SIMHASH_SQL(simhash_weights_hash,
			Int32GetDatum((int32) digest_argument(fcinfo, 0).low))
SIMHASH_SQL(simhash_weights_hash_extended,
			Int64GetDatum(digest_argument(fcinfo, 0).low + PG_GETARG_INT64(1)))
