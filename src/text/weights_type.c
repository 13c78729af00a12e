/*
 * weights_type.c
 *	  The type simhash_weights: a JSON object of numbers.
 */
#include "postgres.h"

#include "common/shortest_dec.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "type/compat.h"
#include "text/encoding.h"
#include "text/read_text.h"
#include "type/simhash.h"
#include "text/weights_value.h"

PG_FUNCTION_INFO_V1(simhash_weights_in);
PG_FUNCTION_INFO_V1(simhash_weights_out);
PG_FUNCTION_INFO_V1(simhash_weights_recv);
PG_FUNCTION_INFO_V1(simhash_weights_send);
PG_FUNCTION_INFO_V1(simhash_weights_to_json);
PG_FUNCTION_INFO_V1(simhash_weights_lt);
PG_FUNCTION_INFO_V1(simhash_weights_le);
PG_FUNCTION_INFO_V1(simhash_weights_eq);
PG_FUNCTION_INFO_V1(simhash_weights_ne);
PG_FUNCTION_INFO_V1(simhash_weights_ge);
PG_FUNCTION_INFO_V1(simhash_weights_gt);
PG_FUNCTION_INFO_V1(simhash_weights_cmp);
PG_FUNCTION_INFO_V1(simhash_weights_hash);
PG_FUNCTION_INFO_V1(simhash_weights_hash_extended);

#define DEFAULT_REST 1.0
#define BINARY_VERSION 1
#define NAMED_BYTES 64			/* of a wrong key or value, that an error
								 * shows */

/*
 * The tokens read so far.  The JSON is parsed here, not by PostgreSQL's
 * parser: that unites equal keys without a word, and refuses an escape for a
 * character that the server's encoding lacks.
 */
typedef struct Parser
{
	const uint8 *at;			/* what is to be read, in UTF-8 */
	const uint8 *end;
	Node	   *escontext;		/* takes soft errors */

	uint8	   *key;			/* the last one, without escapes; has room for
								 * any */
	size_t		key_length;
	double		rest;
	bool		has_rest;

	TokenWeight *tokens;
	size_t		count;
	size_t		capacity;
} Parser;

/* A code point as JSON shows it. */
static void
write_escape(StringInfo buf, uint32 cp)
{
	if (cp >= 0x10000)
	{
		appendStringInfo(buf, "\\u%04x", 0xD7C0 + (cp >> 10));
		cp = 0xDC00 | (cp & 0x3FF);
	}
	appendStringInfo(buf, "\\u%04x", cp);
}

/* The beginning of UTF-8, in the server's encoding, for an error. */
static char *
excerpt(const uint8 *bytes, size_t length)
{
	StringInfoData buf;
	size_t		shown = Min(length, NAMED_BYTES);

	/* not within a character */
	while (shown < length && shown > 0 && (bytes[shown] & 0xC0) == 0x80)
		shown--;
	initStringInfo(&buf);
	simhash_append_utf8(&buf, bytes, shown, write_escape);
	if (shown < length)
		appendStringInfoString(&buf, "...");
	return buf.data;
}

/* Error: 22P02, says what should be where the parser is. */
static bool
expected(Parser *p, const char *what)
{
	ereturn(p->escontext, false,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s", "simhash_weights"),
			 p->at < p->end
			 ? errdetail("Expected %s, but found \"%s\".", what,
						 excerpt(p->at, p->end - p->at))
			 : errdetail("Expected %s, but the input ended.", what)));
}

static void
skip_space(Parser *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' ||
							  *p->at == '\n' || *p->at == '\r'))
		p->at++;
}

/* Is this character next, after white space?  If so, skip it. */
static bool
accept(Parser *p, uint8 c)
{
	skip_space(p);
	if (p->at == p->end || *p->at != c)
		return false;
	p->at++;
	return true;
}

/* Four hexadecimal digits at p->at; -1 if there are none. */
static int32
read_hex4(const Parser *p)
{
	int32		value = 0;
	int			i;

	if (p->end - p->at < 4)
		return -1;
	for (i = 0; i < 4; i++)
	{
		uint8		c = p->at[i];

		if (c >= '0' && c <= '9')
			value = value << 4 | (c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			value = value << 4 | ((c | 0x20) - 'a' + 10);
		else
			return -1;
	}
	return value;
}

/* What follows \u: up to two escapes for one code point. */
static bool
read_unicode_escape(Parser *p)
{
	int32		cp = read_hex4(p);

	if (cp < 0)
		return expected(p, "four hexadecimal digits");
	if (cp == 0 || (cp >= 0xDC00 && cp <= 0xDFFF))
		return expected(p, "a character other than \\u0000 or half of one");
	p->at += 4;
	if (cp >= 0xD800 && cp <= 0xDBFF)
	{
		int32		low = -1;

		if (p->end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u')
		{
			p->at += 2;
			low = read_hex4(p);
		}
		if (low < 0xDC00 || low > 0xDFFF)
			return expected(p, "the second half of a surrogate pair");
		p->at += 4;
		cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
	}
	p->key_length += utf8_encode(cp, p->key + p->key_length);
	return true;
}

/* A JSON string, into p->key; p->at is after the quotation mark. */
static bool
read_key(Parser *p)
{
	static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";

	p->key_length = 0;
	for (;;)
	{
		const char *escape;

		if (p->at == p->end || *p->at < ' ')
			return expected(p, "the end of a key");
		if (*p->at == '"')
			break;
		if (*p->at != '\\')
		{
			p->key[p->key_length++] = *p->at++;
			continue;
		}
		if (++p->at == p->end)
			return expected(p, "the rest of an escape");
		if (*p->at == 'u')
		{
			p->at++;
			if (!read_unicode_escape(p))
				return false;
			continue;
		}
		for (escape = escapes; *escape && *escape != *p->at; escape += 2)
			;
		if (!*escape)
			return expected(p, "an escape");
		p->key[p->key_length++] = escape[1];
		p->at++;
	}
	p->at++;
	return true;
}

static const uint8 *
skip_digits(const uint8 *at, const uint8 *end)
{
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at;
}

/* The end of the JSON number at p->at; NULL if there is none. */
static const uint8 *
number_end(const Parser *p)
{
	const uint8 *at = p->at;
	const uint8 *digits;

	if (at < p->end && *at == '-')
		at++;
	digits = at;
	at = skip_digits(at, p->end);
	if (at == digits || (*digits == '0' && at - digits > 1))
		return NULL;
	if (at < p->end && *at == '.')
	{
		digits = ++at;
		at = skip_digits(at, p->end);
		if (at == digits)
			return NULL;
	}
	if (at < p->end && (*at | 0x20) == 'e')
	{
		at++;
		if (at < p->end && (*at == '+' || *at == '-'))
			at++;
		digits = at;
		at = skip_digits(at, p->end);
		if (at == digits)
			return NULL;
	}
	return at;
}

/* A JSON number that can be a weight. */
static bool
read_weight(Parser *p, double *weight)
{
	const uint8 *end = number_end(p);
	int64		units;

	/* strtod() would read hexadecimal digits, too */
	if (end == NULL || (end < p->end && (*end | 0x20) == 'x'))
		return expected(p, psprintf("a number as weight of key \"%s\"",
									excerpt(p->key, p->key_length)));
	/* the input ends with a byte that is no part of a number */
	*weight = strtod((const char *) p->at, NULL);
	if (!simhash_weight_from_double(*weight, &units))
		ereturn(p->escontext, false,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("weight must be between 0 and 2147483648, not %s, for "
						"key \"%s\"",
						excerpt(p->at, end - p->at),
						excerpt(p->key, p->key_length))));
	p->at = end;
	return true;
}

/* The tokens that a key is made of. */
typedef struct KeyTokens
{
	uint8	   *bytes;			/* of the first */
	size_t		length;
	uint64		count;
} KeyTokens;

static void
take_key_token(void *arg, const uint8 *bytes, size_t length, uint64 hash,
			   int64 weight)
{
	KeyTokens  *tokens = arg;

	if (tokens->count++ > 0)
		return;
	tokens->bytes = simhash_copy_bytes(bytes, length);
	tokens->length = length;
}

/* Add the weight of the last key. */
static bool
add_weight(Parser *p, double weight)
{
	KeyTokens	tokens = {0};
	FeatureTarget target = {.sink = take_key_token,.arg = &tokens};
	Tokenizer	tokenizer;
	TokenWeight *added;

	if (p->key_length == 0)
	{
		if (p->has_rest)
			ereturn(p->escontext, false,
					(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
					 errmsg("key \"\" is given twice"),
					 errdetail("It is the default weight.")));
		p->rest = weight;
		p->has_rest = true;
		return true;
	}

	simhash_begin_text(&tokenizer, 1, false, NULL, target);
	simhash_tokens_feed(&tokenizer, p->key, p->key_length, true);
	if (tokens.count != 1)
		ereturn(p->escontext, false,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("key \"%s\" is not one token",
						excerpt(p->key, p->key_length)),
				 tokens.count == 0
				 ? errdetail("It normalises to nothing.")
				 : errdetail("It normalises to %llu tokens.",
							 (unsigned long long) tokens.count)));
	if (p->count == p->capacity)
	{
		p->capacity *= 2;
		p->tokens = repalloc_huge(p->tokens, p->capacity * sizeof(TokenWeight));
	}
	added = &p->tokens[p->count++];
	added->token = tokens.bytes;
	added->length = tokens.length;
	added->weight = weight;
	return true;
}

/* The whole input. */
static bool
read_object(Parser *p)
{
	if (!accept(p, '{'))
		return expected(p, "\"{\"");
	if (!accept(p, '}'))
	{
		do
		{
			double		weight = 0;

			CHECK_FOR_INTERRUPTS();
			if (!accept(p, '"'))
				return expected(p, "a key in quotation marks");
			if (!read_key(p))
				return false;
			if (!accept(p, ':'))
				return expected(p, psprintf("\":\" after key \"%s\"",
											excerpt(p->key, p->key_length)));
			skip_space(p);
			if (!read_weight(p, &weight) || !add_weight(p, weight))
				return false;
		} while (accept(p, ','));
		if (!accept(p, '}'))
			return expected(p, "\",\" or \"}\"");
	}
	skip_space(p);
	if (p->at < p->end)
		return expected(p, "nothing more");
	return true;
}

/*
 * A value from its text form, which is 0-terminated.  Error, soft if there is
 * a context for it: 22P02.
 */
static struct varlena *
parse_weights(const char *text, Node *escontext)
{
	int			length;
	const char *utf8 = simhash_text_to_utf8(text, strlen(text), &length);
	const TokenWeight *twice;
	struct varlena *value;
	Parser		p = {.at = (const uint8 *) utf8,
		.end = (const uint8 *) utf8 + length,
		.escontext = escontext,
		.rest = DEFAULT_REST,
	.capacity = 64};

	/* no escape is shorter than what it stands for */
	p.key = palloc(length + 1);
	p.tokens = palloc(p.capacity * sizeof(TokenWeight));
	if (!read_object(&p))
		return NULL;
	value = simhash_weights_pack(p.tokens, p.count, p.rest, &twice);
	if (value == NULL)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("two keys are the token \"%s\"",
						excerpt(twice->token, twice->length)),
				 errdetail("Keys are normalised as text is.")));
	return value;
}

static void
write_entry(StringInfo buf, const uint8 *token, size_t length, double weight)
{
	char		number[DOUBLE_SHORTEST_DECIMAL_LEN];

	if (buf->len > 1)
		appendStringInfoString(buf, ", ");
	appendStringInfoChar(buf, '"');
	/* letters, marks and digits: nothing that JSON would want escaped */
	simhash_append_utf8(buf, token, length, write_escape);
	double_to_shortest_decimal_buf(weight, number);
	appendStringInfo(buf, "\": %s", number);
}

/* The text form; what is the default by default is left out. */
static void
write_weights(StringInfo buf, const struct varlena *value)
{
	WeightsReader reader = simhash_weights_read(value);
	uint32		i;

	appendStringInfoChar(buf, '{');
	if (reader.header.rest != DEFAULT_REST)
		write_entry(buf, NULL, 0, reader.header.rest);
	for (i = 0; i < reader.header.count; i++)
	{
		TokenWeight token = simhash_weights_next(&reader);

		CHECK_FOR_INTERRUPTS();
		write_entry(buf, token.token, token.length, token.weight);
	}
	appendStringInfoChar(buf, '}');
}

Datum
simhash_weights_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(parse_weights(PG_GETARG_CSTRING(0), fcinfo->context));
}

Datum
simhash_weights_out(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	initStringInfo(&buf);
	write_weights(&buf, PG_GETARG_VARLENA_PP(0));
	PG_RETURN_CSTRING(buf.data);
}

/* A version number in one byte, and then the text form, as jsonb does it. */
Datum
simhash_weights_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			version = pq_getmsgint(buf, 1);
	int			length;

	if (version != BINARY_VERSION)
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("unsupported simhash_weights version number %d",
							   version)));
	PG_RETURN_POINTER(parse_weights(
									pq_getmsgtext(buf, buf->len - buf->cursor, &length), NULL));
}

Datum
simhash_weights_send(PG_FUNCTION_ARGS)
{
	StringInfoData text;
	StringInfoData buf;

	initStringInfo(&text);
	write_weights(&text, PG_GETARG_VARLENA_PP(0));
	pq_begintypsend(&buf);
	pq_sendint8(&buf, BINARY_VERSION);
	pq_sendtext(&buf, text.data, text.len);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

Datum
simhash_weights_to_json(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	initStringInfo(&buf);
	write_weights(&buf, PG_GETARG_VARLENA_PP(0));
	PG_RETURN_TEXT_P(cstring_to_text_with_len(buf.data, buf.len));
}

/*
 * An order without a meaning, for sorting: by digest, so that values that
 * differ need not be fetched.
 */
static int
compare_weights(FunctionCallInfo fcinfo)
{
	WeightsDigest a = simhash_weights_digest(PG_GETARG_RAW_VARLENA_P(0));
	WeightsDigest b = simhash_weights_digest(PG_GETARG_RAW_VARLENA_P(1));

	if (a.high != b.high)
		return a.high < b.high ? -1 : 1;
	return a.low < b.low ? -1 : a.low > b.low;
}

Datum
simhash_weights_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_weights(fcinfo) < 0);
}

Datum
simhash_weights_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_weights(fcinfo) <= 0);
}

Datum
simhash_weights_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_weights(fcinfo) == 0);
}

Datum
simhash_weights_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_weights(fcinfo) != 0);
}

Datum
simhash_weights_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_weights(fcinfo) >= 0);
}

Datum
simhash_weights_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_weights(fcinfo) > 0);
}

Datum
simhash_weights_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare_weights(fcinfo));
}

Datum
simhash_weights_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(
					(int32) simhash_weights_digest(PG_GETARG_RAW_VARLENA_P(0)).low);
}

Datum
simhash_weights_hash_extended(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(simhash_weights_digest(PG_GETARG_RAW_VARLENA_P(0)).low +
					PG_GETARG_INT64(1));
}
