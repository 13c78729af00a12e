/*
 * idf.c
 *	  simhash_idf(): inverse document frequencies as weights.
 */
#include "postgres.h"

#include <math.h>

#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "text/arguments.h"
#include "text/server_text.h"
#include "text/weights.h"
#include "type/secret.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_idf_transition);
PG_FUNCTION_INFO_V1(simhash_idf_combine);
PG_FUNCTION_INFO_V1(simhash_idf_serialize);
PG_FUNCTION_INFO_V1(simhash_idf_deserialize);
PG_FUNCTION_INFO_V1(simhash_idf_final);

#define DEFAULT_MIN_DF 2

typedef struct DocumentToken
{
	uint64		hash;
	int64		documents;		/* number of texts with this token */
	int64		last;			/* number of the last text that has it, from 1
								 * on */
	const uint8 *bytes;
	uint32		length;
	char		status;
} DocumentToken;

/* Two tokens with one hash are one token, as they are for a fingerprint. */
#define SH_PREFIX document
#define SH_ELEMENT_TYPE DocumentToken
#define SH_KEY_TYPE uint64
#define SH_KEY hash
#define SH_HASH_KEY(tb, key) \
	((uint32) seeded_hash(simhash_secret(), &(key), sizeof(key)))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct IdfState
{
	MemoryContext context;		/* of the aggregate, for all that follows */
	document_hash *tokens;
	int64		documents;		/* texts that are not null */
	int32		min_df;			/* the same for each text; 0: no text yet */
} IdfState;

static IdfState *
create_idf_state(MemoryContext context)
{
	IdfState   *state = MemoryContextAllocZero(context, sizeof(IdfState));

	state->context = context;
	state->tokens = document_create(context, 1024, NULL);
	return state;
}

/*
 * Return the token with the hash, until the next call.  If there is none, make
 * one of bytes[0 .. length), which is in no text yet.
 */
static DocumentToken *
find_token(IdfState *state, const uint8 *bytes, size_t length, uint64 hash)
{
	uint8	   *copy;
	bool		found;
	DocumentToken *token = document_insert(state->tokens, hash, &found);

	if (!found)
	{
		copy = MemoryContextAllocHuge(state->context, Max(length, 1));
		token->bytes = memcpy(copy, bytes, length);
		token->length = length;
		token->documents = token->last = 0;
	}
	return token;
}

/* A FeatureSink: count a token of the last text of target->arg, an IdfState. */
static void
count_token(const FeatureTarget *target, const uint8 *bytes, size_t length,
			const uint64 *hash, int64 weight)
{
	IdfState   *state = target->arg;
	DocumentToken *token = find_token(state, bytes, length, hash[0]);

	if (token->last != state->documents)
	{
		token->last = state->documents;
		token->documents++;
	}
}

/* Error: 22023 unless min_df is what it was, and 1 or more. */
static void
set_min_df(IdfState *state, int32 min_df)
{
	if (min_df < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("min_df must be at least 1, not %d", min_df)));
	if (state->min_df != 0 && state->min_df != min_df)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("min_df must be the same in all rows, not %d and %d",
						state->min_df, min_df)));
	state->min_df = min_df;
}

static IdfState *
get_idf_state(FunctionCallInfo fcinfo)
{
	MemoryContext context = simhash_aggregate_context(fcinfo);

	if (PG_ARGISNULL(0))
		return create_idf_state(context);
	return (IdfState *) PG_GETARG_POINTER(0);
}

/*
 * (state internal, body text[, min_df int]): a null body counts for nothing,
 * whatever its min_df
 */
Datum
simhash_idf_transition(PG_FUNCTION_ARGS)
{
	IdfState   *state = get_idf_state(fcinfo);
	FeatureTarget target = {.halves = 1,.sink = count_token,.arg = state};
	int32		min_df = DEFAULT_MIN_DF;
	text	   *body;

	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(state);
	if (PG_NARGS() > 2 && !PG_ARGISNULL(2))
		min_df = PG_GETARG_INT32(2);
	set_min_df(state, min_df);
	state->documents++;
	body = PG_GETARG_TEXT_PP(1);
	simhash_make_features(body, &simhash_single_words, &target);
	PG_FREE_IF_COPY(body, 1);
	PG_RETURN_POINTER(state);
}

Datum
simhash_idf_combine(PG_FUNCTION_ARGS)
{
	IdfState   *state = get_idf_state(fcinfo);
	IdfState   *other;
	document_iterator iterator;
	DocumentToken *token;

	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(state);
	other = (IdfState *) PG_GETARG_POINTER(1);
	if (other->min_df != 0)
		set_min_df(state, other->min_df);
	state->documents += other->documents;
	document_start_iterate(other->tokens, &iterator);
	while ((token = document_iterate(other->tokens, &iterator)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		find_token(state, token->bytes, token->length,
				   token->hash)->documents += token->documents;
	}
	PG_RETURN_POINTER(state);
}

/* Error: 54000 for a state of more bytes than a bytea may have. */
Datum
simhash_idf_serialize(PG_FUNCTION_ARGS)
{
	IdfState   *state = (IdfState *) PG_GETARG_POINTER(0);
	StringInfoData buf;
	document_iterator iterator;
	DocumentToken *token;

	(void) simhash_aggregate_context(fcinfo);
	pq_begintypsend(&buf);
	pq_sendint64(&buf, state->documents);
	pq_sendint32(&buf, state->min_df);
	pq_sendint32(&buf, state->tokens->members);
	document_start_iterate(state->tokens, &iterator);
	while ((token = document_iterate(state->tokens, &iterator)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (buf.len + sizeof(int64) + sizeof(int32) + token->length >=
			MaxAllocSize)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("too many distinct words for a parallel worker"),
					 errhint("Set max_parallel_workers_per_gather to 0.")));
		pq_sendint64(&buf, token->documents);
		pq_sendint32(&buf, token->length);
		pq_sendbytes(&buf, (const char *) token->bytes, token->length);
	}
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

Datum
simhash_idf_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *value = PG_GETARG_BYTEA_PP(0);
	IdfState   *state = create_idf_state(CurrentMemoryContext);
	StringInfoData buf;
	uint32		count;

	(void) simhash_aggregate_context(fcinfo);
	buf.data = VARDATA_ANY(value);
	buf.len = buf.maxlen = VARSIZE_ANY_EXHDR(value);
	buf.cursor = 0;
	state->documents = pq_getmsgint64(&buf);
	state->min_df = pq_getmsgint(&buf, 4);
	for (count = pq_getmsgint(&buf, 4); count > 0; count--)
	{
		int64		documents = pq_getmsgint64(&buf);
		uint32		length = pq_getmsgint(&buf, 4);
		const char *bytes = pq_getmsgbytes(&buf, length);

		CHECK_FOR_INTERRUPTS();
		find_token(state, (const uint8 *) bytes, length,
				   XXH3_64bits(bytes, length))->documents = documents;
	}
	pq_getmsgend(&buf);
	PG_RETURN_POINTER(state);
}

/*
 * all is the number of all documents, and documents the number of those that
 * have a token.  Return the weight of the token: Jones, "A statistical
 * interpretation of term specificity and its application in retrieval" (1972),
 * smoothed as if one more document had every token.
 */
static double
idf(int64 all, int64 documents)
{
	return log((1.0 + all) / (1.0 + documents)) + 1.0;
}

/*
 * The default weight is that of a token in no text.  Error: 54000 for a value,
 * or a text form, of more than 1 GB.
 */
Datum
simhash_idf_final(PG_FUNCTION_ARGS)
{
	IdfState   *state = NULL;
	struct varlena *value;
	const TokenWeight *duplicate;
	TokenWeight *tokens;
	size_t		count = 0;
	document_iterator iterator;
	DocumentToken *token;

	(void) simhash_aggregate_context(fcinfo);
	if (!PG_ARGISNULL(0))
		state = (IdfState *) PG_GETARG_POINTER(0);
	if (state == NULL || state->documents == 0)
		PG_RETURN_NULL();
	tokens = MemoryContextAllocHuge(CurrentMemoryContext,
									Max(state->tokens->members, 1) *
									sizeof(TokenWeight));
	document_start_iterate(state->tokens, &iterator);
	while ((token = document_iterate(state->tokens, &iterator)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (token->documents >= state->min_df)
		{
			tokens[count].token = token->bytes;
			tokens[count].length = token->length;
			tokens[count++].weight = idf(state->documents, token->documents);
		}
	}
	/* no token is there twice: they have different hashes */
	value = simhash_weights_pack(tokens, count, idf(state->documents, 0),
								 &duplicate);
	simhash_weights_check_length(value);
	PG_RETURN_POINTER(value);
}
