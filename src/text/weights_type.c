/*
 * weights_type.c
 *	  The type simhash_weights, a JSON object of numbers: how it is stored, and
 *	  its SQL functions.
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/sha2.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "text/weights.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_weights_recv);
PG_FUNCTION_INFO_V1(simhash_weights_send);

#define BINARY_VERSION 1		/* of what send writes and recv reads */

/* Bytes that a token takes besides its own. */
#define TOKEN_OVERHEAD (sizeof(double) + sizeof(uint32))

/* Bytes between two checks for a cancel request: 5 ms of SHA-256. */
#define DIGEST_PIECE 1048576

/* Compare two tokens by their bytes; a prefix comes first. */
static int
compare_tokens(const void *a, const void *b, void *arg)
{
	const TokenWeight *x = a;
	const TokenWeight *y = b;
	int			order = memcmp(x->token, y->token, Min(x->length, y->length));

	if (order != 0)
		return order;
	return x->length < y->length ? -1 : x->length > y->length;
}

/*
 * Return the digest of bytes[0 .. length): by SHA-256, as two values must not
 * pass for one even if somebody tries.
 */
static WeightsDigest
digest_bytes(const char *bytes, size_t length)
{
	uint8		hash[PG_SHA256_DIGEST_LENGTH];
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);
	bool		failed = pg_cryptohash_init(context) < 0;
	WeightsDigest digest;

	while (length > 0 && !failed)
	{
		size_t		piece = Min(length, DIGEST_PIECE);

		CHECK_FOR_INTERRUPTS();
		failed = pg_cryptohash_update(context, (const uint8 *) bytes, piece) <
			0;
		bytes += piece;
		length -= piece;
	}
	if (failed || pg_cryptohash_final(context, hash, sizeof(hash)) < 0)
		elog(ERROR, "could not compute %s hash: %s", "SHA-256",
			 pg_cryptohash_error(context));
	pg_cryptohash_free(context);
	memcpy(&digest, hash, sizeof(digest));
	return digest;
}

/*
 * Return the value of tokens[0 .. count), which are sorted here, and of the
 * weight of all others.  If two tokens are the same, return NULL, and set
 * *duplicate to one of them.
 */
struct varlena *
simhash_weights_pack(TokenWeight *tokens, size_t count, double default_weight,
					 const TokenWeight **duplicate)
{
	WeightsHeader header = {
		.default_weight = default_weight + 0.0,
		.count = count
	};
	size_t		size = VARHDRSZ + sizeof(header);
	struct varlena *value;
	uint8	   *to;
	size_t		i;

	/* of tokens in order, as those of a dump are, this makes one pass */
	qsort_interruptible(tokens, count, sizeof(TokenWeight), compare_tokens,
						NULL);
	for (i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i > 0 && compare_tokens(&tokens[i - 1], &tokens[i], NULL) == 0)
		{
			*duplicate = &tokens[i];
			return NULL;
		}
		size += TOKEN_OVERHEAD + tokens[i].length;
	}
	if (!AllocSizeIsValid(size))
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("simhash_weights of %zu tokens would take %zu "
							   "bytes, which is too much",
							   count, size)));

	value = palloc(size);
	SET_VARSIZE(value, size);
	to = (uint8 *) VARDATA(value) + sizeof(header);
	for (i = 0; i < count; i++)
	{
		double		weight = tokens[i].weight + 0.0;	/* no -0 */

		CHECK_FOR_INTERRUPTS();
		memcpy(to, &weight, sizeof(double));
		memcpy(to + sizeof(double), &tokens[i].length, sizeof(uint32));
		memcpy(to + TOKEN_OVERHEAD, tokens[i].token, tokens[i].length);
		to += TOKEN_OVERHEAD + tokens[i].length;
	}
	memcpy(VARDATA(value), &header, sizeof(header));
	header.digest = digest_bytes(VARDATA(value) + sizeof(header.digest),
								 size - VARHDRSZ - sizeof(header.digest));
	memcpy(VARDATA(value), &header, sizeof(header));
	return value;
}

/*
 * Return the digest of value, which may be compressed or out of line.  Only its
 * first bytes are fetched, but all of a value that LZ4 has compressed.
 */
WeightsDigest
simhash_weights_digest(struct varlena *value)
{
	struct varlena *slice = pg_detoast_datum_slice(value, 0,
												   sizeof(WeightsDigest));
	WeightsDigest digest;

	memcpy(&digest, VARDATA_ANY(slice), sizeof(digest));
	pfree(slice);
	return digest;
}

/*
 * value may be packed, but not compressed or out of line.  It must stay as long
 * as the reader and its tokens are used.
 */
WeightsReader
simhash_weights_read(const struct varlena *value)
{
	WeightsReader reader;

	memcpy(&reader.header, VARDATA_ANY(value), sizeof(reader.header));
	reader.next = (const uint8 *) VARDATA_ANY(value) + sizeof(reader.header);
	return reader;
}

/* Return the next token.  reader->header.count calls are allowed. */
TokenWeight
simhash_weights_next(WeightsReader *reader)
{
	TokenWeight result;

	memcpy(&result.weight, reader->next, sizeof(double));
	memcpy(&result.length, reader->next + sizeof(double), sizeof(uint32));
	result.token = reader->next + TOKEN_OVERHEAD;
	reader->next = result.token + result.length;
	return result;
}

static StringInfoData
json_form(FunctionCallInfo fcinfo)
{
	StringInfoData json;

	initStringInfo(&json);
	simhash_weights_write(&json, PG_GETARG_VARLENA_PP(0));
	return json;
}

SIMHASH_SQL(simhash_weights_in,
			PointerGetDatum(simhash_weights_parse(PG_GETARG_CSTRING(0),
												  fcinfo->context)))
SIMHASH_SQL(simhash_weights_out, CStringGetDatum(json_form(fcinfo).data))
SIMHASH_SQL(simhash_weights_to_json,
			CStringGetTextDatum(json_form(fcinfo).data))

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
