/*
 * construct.c
 *	  The constructors simhash(...).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "construct.h"
#include "fingerprint.h"
#include "simhash.h"

PG_FUNCTION_INFO_V1(simhash_text);
PG_FUNCTION_INFO_V1(simhash_tokens);

/* Bytes between two checks for a cancel request. */
#define PIECE_BYTES 65536

/* As the algorithms want it: NULL to begin with, 0 bytes to free. */
void *
resize_array(void *array, size_t bytes)
{
	if (array == NULL)
		return MemoryContextAllocHuge(CurrentMemoryContext, bytes);
	if (bytes > 0)
		return repalloc_huge(array, bytes);
	pfree(array);
	return NULL;
}

/*
 * Length of the longest prefix of text that has at most limit bytes and does
 * not part the bytes of a character.  SQL_ASCII holds UTF-8 as far as we are
 * concerned, and possibly bytes that are none.
 */
static int
clip_text(const char *text, int length, int limit)
{
	const uint8 *bytes = (const uint8 *) text;
	int from;

	if (length <= limit)
		return length;
	if (GetDatabaseEncoding() != PG_SQL_ASCII)
		return pg_mbcliplen(text, length, limit);
	/* only a character that begins less than UTF8_MAX before can be parted */
	for (from = limit - UTF8_MAX + 1; from < limit; from++)
	{
		uint32 cp;

		if (from + (int) utf8_decode(bytes + from, bytes + length, &cp) > limit)
			return from;
	}
	return limit;
}

/*
 * The same text in UTF-8: the argument itself where that is what it is.
 * Error: 22P05 for a character that has no equivalent.
 */
static const char *
text_to_utf8(const char *text, int length, int *utf8_length)
{
	const char *utf8 = text;

	*utf8_length = length;
	if (GetDatabaseEncoding() != PG_SQL_ASCII)
		utf8 = pg_server_to_any(text, length, PG_UTF8);
	if (utf8 != text)
		*utf8_length = strlen(utf8);
	return utf8;
}

/* Feed a text in the server's encoding, one piece at a time. */
static void
feed_text(Tokenizer *tokenizer, const char *text, int length)
{
	do
	{
		int clipped = clip_text(text, length, PIECE_BYTES);
		int utf8_length;
		const char *utf8 = text_to_utf8(text, clipped, &utf8_length);

		CHECK_FOR_INTERRUPTS();
		tokens_feed(tokenizer, (const uint8 *) utf8, utf8_length,
					clipped == length);
		if (utf8 != text)
			pfree(unconstify(char *, utf8));
		text += clipped;
		length -= clipped;
	} while (length > 0);
}

/* Error: 22023 for a shingle of none, too few or too many tokens. */
static uint32
shingle_size(const char *name, int32 size)
{
	if (size < 1 || size > SHINGLE_MAX)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s must be between 1 and %d, not %d", name,
							   SHINGLE_MAX, size)));
	return size;
}

/*
 * Make the features of the SQL arguments (body text, words int, chars int),
 * of which the first is not null.  Error: 22023 if both words and chars are
 * given, or either is out of range.
 */
void
feed_arguments(FunctionCallInfo fcinfo, bool keep_bytes, FeatureSink sink,
			   void *arg)
{
	text *body = PG_GETARG_TEXT_PP(0);
	bool chars = !PG_ARGISNULL(2);
	uint32 size = 1;
	Tokenizer tokenizer;

	if (chars && !PG_ARGISNULL(1))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("words and chars exclude each other"),
						errdetail("words is %d, chars is %d.",
								  PG_GETARG_INT32(1), PG_GETARG_INT32(2))));
	if (chars)
		size = shingle_size("chars", PG_GETARG_INT32(2));
	else if (!PG_ARGISNULL(1))
		size = shingle_size("words", PG_GETARG_INT32(1));

	tokens_init(&tokenizer, size, chars, resize_array, keep_bytes, sink, arg);
	feed_text(&tokenizer, VARDATA_ANY(body), VARSIZE_ANY_EXHDR(body));
	PG_FREE_IF_COPY(body, 0);
}

static void
count_feature(void *votes, const uint8 *bytes, size_t length, uint64 hash)
{
	(void) bytes;
	(void) length;
	votes_add(votes, hash);
}

/* NULL where nothing has voted. */
static Datum
elected(FunctionCallInfo fcinfo, Votes *votes)
{
	uint64 fingerprint;

	if (!votes_fingerprint(votes, &fingerprint))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(fingerprint);
}

/* simhash(body text, words int, chars int) */
Datum
simhash_text(PG_FUNCTION_ARGS)
{
	Votes votes;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	votes_init(&votes);
	feed_arguments(fcinfo, false, count_feature, &votes);
	return elected(fcinfo, &votes);
}

/* Hash of a caller's token, as it is, in UTF-8. */
static uint64
hash_token(Datum datum)
{
	text *token = DatumGetTextPP(datum);
	int length;
	const char *utf8 = text_to_utf8(VARDATA_ANY(token),
									VARSIZE_ANY_EXHDR(token), &length);
	uint64 hash = XXH3_64bits(utf8, length);

	if (utf8 != VARDATA_ANY(token))
		pfree(unconstify(char *, utf8));
	return hash;
}

/* Error: 2202E for an array of more than one dimension. */
static void
check_dimension(const char *name, ArrayType *array)
{
	if (ARR_NDIM(array) > 1)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("%s must be a one-dimensional array, not one "
							   "of %d dimensions",
							   name, ARR_NDIM(array))));
}

/*
 * The weight of a token, in units of 2^-16.
 * Errors: 22004 for NULL, 22023 for a value outside 0 .. 2^31.
 */
static int64
token_weight(Datum datum, bool isnull)
{
	int64 weight;

	if (isnull)
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("weight must not be null")));
	if (!weight_from_double(DatumGetFloat8(datum), &weight))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("weight must be between 0 and 2147483648, not %s",
					DatumGetCString(DirectFunctionCall1(float8out, datum)))));
	return weight;
}

/* simhash(tokens text[], weights float8[]) */
Datum
simhash_tokens(PG_FUNCTION_ARGS)
{
	ArrayType *tokens;
	Datum *token;
	bool *token_isnull;
	int count;
	Datum *weight = NULL;
	bool *weight_isnull;
	Votes votes;
	int i;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	tokens = PG_GETARG_ARRAYTYPE_P(0);
	check_dimension("tokens", tokens);
	deconstruct_array(tokens, TEXTOID, -1, false, TYPALIGN_INT, &token,
					  &token_isnull, &count);
	if (!PG_ARGISNULL(1))
	{
		ArrayType *weights = PG_GETARG_ARRAYTYPE_P(1);
		int weight_count;

		check_dimension("weights", weights);
		deconstruct_array(weights, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
						  TYPALIGN_DOUBLE, &weight, &weight_isnull,
						  &weight_count);
		if (weight_count != count)
			ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
							errmsg("%d tokens do not match %d weights", count,
								   weight_count)));
	}

	votes_init(&votes);
	for (i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (token_isnull[i])
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
							errmsg("token must not be null")));
		if (!votes_add_weighted(&votes, hash_token(token[i]),
								weight
									? token_weight(weight[i], weight_isnull[i])
									: WEIGHT_UNIT))
			ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
							errmsg("total weight out of range")));
	}
	return elected(fcinfo, &votes);
}
