/*
 * weights_json.c
 *	  simhash_weights from JSON, and to JSON.
 */
#include "postgres.h"

#include "common/jsonapi.h"
#include "common/shortest_dec.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "text/fingerprint.h"
#include "text/server_text.h"
#include "text/weights.h"

#define DEFAULT_WEIGHT 1.0
#define NAMED_BYTES 64			/* of a wrong key or value, in an error */

/*
 * PostgreSQL's json_lex() splits the input.  The escapes in keys are decoded
 * here, as the lexer fails for an escaped character that the server's encoding
 * lacks.  simhash_weights_write() has to write such escapes: the micro sign of
 * LATIN1 normalises to a Greek letter, which LATIN1 lacks.  pg_parse_json()
 * would not pass on keys without decoded escapes.
 */
typedef struct Parser
{
	JsonLexContext *lex;		/* reads the input, in UTF-8 */
	JsonTokenType token;		/* the last one; JSON_TOKEN_INVALID after an
								 * error */
	const char *start;			/* where the last token begins */
	Node	   *escontext;		/* takes soft errors */

	uint8	   *key;			/* the last one, decoded, with room for any */
	size_t		key_length;
	double		default_weight; /* the default weight, of the key "" */
	bool		has_default;	/* has there been a key ""? */

	TokenWeight *tokens;		/* of all other keys */
	size_t		count;
	size_t		capacity;
} Parser;

/* Append the JSON escape of cp: two escapes where cp is above U+FFFF. */
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

/*
 * Return the first NAMED_BYTES bytes at most of bytes[0 .. length), for an
 * error.  JSON escapes show characters that the server's encoding lacks.
 */
char *
simhash_excerpt(const uint8 *bytes, size_t length)
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

/* Error: 22P02, as what should stand at the pointer at.  Return false. */
static bool
expected_at(Parser *p, const char *what, const char *at)
{
	const char *end = p->lex->input + p->lex->input_length;

	ereturn(p->escontext, false,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s", "simhash_weights"),
			 at < end
			 ? errdetail("Expected %s, but found \"%s\".", what,
						 simhash_excerpt((const uint8 *) at, end - at))
			 : errdetail("Expected %s, but the input ended.", what),
			 at == p->lex->input
			 ? errhint("Write {\"word\": weight, ...}. For the stop words of a "
					   "language, pass to_tsvector('english', text).")
			 : 0));
}

static bool
expected(Parser *p, const char *what)
{
	return expected_at(p, what, p->start);
}

/*
 * Read the next token, and return p->token.  Where the lexer stops at an error
 * differs between versions of PostgreSQL.
 */
static JsonTokenType
next_token(Parser *p)
{
	p->start = p->lex->token_terminator;
	p->start += strspn(p->start, " \t\n\r");
	p->token = json_lex(p->lex) == JSON_SUCCESS ? p->lex->token_type
		: JSON_TOKEN_INVALID;
	return p->token;
}

/* The last token is no key.  Error: 22P02, which says why.  Return false. */
static bool
wrong_key(Parser *p)
{
	const char *at = p->start;
	size_t		digits;

	if (p->token != JSON_TOKEN_INVALID || *at != '"')
		return expected(p, "a key in quotation marks");
	/* the terminating zero is a control character, too */
	for (at++; (uint8) *at >= ' '; at++)
	{
		if (*at != '\\')
			continue;
		if (*++at == '\0')
			break;
		if (strchr("\"\\/bfnrtu", *at) == NULL)
			return expected_at(p, "an escape", at);
		digits = strspn(at + 1, "0123456789abcdefABCDEF");
		if (*at == 'u' && digits < 4 && at[1 + digits] != '\0')
			return expected_at(p, "four hexadecimal digits", at + 1);
	}
	return expected_at(p, "the end of a key", at);
}

static uint32
read_hex4(const char *digits)
{
	uint8		bytes[2];

	hex_decode(digits, 4, (char *) bytes);
	return bytes[0] << 8 | bytes[1];
}

/*
 * Append to p->key the code point of the escape, or of the two, whose digits
 * begin at the pointer at.  The lexer has checked the digits.  Return the end,
 * or NULL on error.
 */
static const char *
read_unicode_escape(Parser *p, const char *at)
{
	uint32		cp = read_hex4(at);

	if (cp == 0 || is_utf16_surrogate_second(cp))
	{
		expected_at(p, "a character other than \\u0000 or half of one", at);
		return NULL;
	}
	at += 4;
	if (is_utf16_surrogate_first(cp))
	{
		uint32		low = 0;

		if (at[0] == '\\' && at[1] == 'u')
		{
			at += 2;
			low = read_hex4(at);
		}
		if (!is_utf16_surrogate_second(low))
		{
			expected_at(p, "the second half of a surrogate pair", at);
			return NULL;
		}
		at += 4;
		cp = surrogate_pair_to_codepoint(cp, low);
	}
	p->key_length += utf8_encode(cp, p->key + p->key_length);
	return at;
}

/*
 * Set p->key to the last token, without escapes.  Return false on error.  There
 * is room: no escape is shorter than the UTF-8 of its character.
 */
static bool
decode_key(Parser *p)
{
	static const char names[] = "bfnrt";	/* of escapes like \n */
	static const char characters[] = "\b\f\n\r\t";
	const char *at;
	const char *end;

	if (p->token != JSON_TOKEN_STRING)
		return wrong_key(p);
	/* between the quotation marks */
	at = p->lex->token_start + 1;
	end = p->lex->token_terminator - 1;
	p->key_length = 0;
	while (at < end)
	{
		CHECK_FOR_INTERRUPTS();
		if (*at != '\\')
			p->key[p->key_length++] = *at++;
		else if (at[1] != 'u')
		{
			const char *name = strchr(names, at[1]);

			p->key[p->key_length++] = name ? characters[name - names] : at[1];
			at += 2;
		}
		else
		{
			at = read_unicode_escape(p, at + 2);
			if (at == NULL)
				return false;
		}
	}
	return true;
}

/* Set *weight to the last token.  Return false on error. */
static bool
read_weight(Parser *p, double *weight)
{
	const JsonLexContext *lex = p->lex;
	const uint8 *number = (const uint8 *) lex->token_start;
	int64		units;

	if (p->token != JSON_TOKEN_NUMBER)
		return expected(p, psprintf("a number as weight of key \"%s\"",
									simhash_excerpt(p->key, p->key_length)));
	/* the lexer lets no letter or digit follow, so strtod() stops in time */
	*weight = strtod(lex->token_start, NULL);
	if (!simhash_weight_from_double(*weight, &units))
		ereturn(p->escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weight must be between 0 and 2147483648, not %s, for "
						"key \"%s\"",
						simhash_excerpt(number, lex->token_terminator -
										lex->token_start),
						simhash_excerpt(p->key, p->key_length))));
	return true;
}

/* What the tokeniser has made of a key. */
typedef struct KeyTokens
{
	TokenWeight first;			/* a copy of the first one */
	uint64		count;			/* number of tokens */
} KeyTokens;

/* A FeatureSink; target->arg is a KeyTokens. */
static void
take_key_token(const FeatureTarget *target, const uint8 *bytes, size_t length,
			   const uint64 *hash, int64 weight)
{
	KeyTokens  *tokens = target->arg;

	if (tokens->count++ > 0)
		return;
	tokens->first.token = simhash_copy_bytes(bytes, length);
	tokens->first.length = length;
}

/*
 * Add weight: as the default if p->key is empty, and else as that of the one
 * token that p->key normalises to.  Return false on error.
 */
static bool
add_weight(Parser *p, double weight)
{
	KeyTokens	tokens = {0};
	FeatureTarget target = {.halves = 1,.sink = take_key_token,.arg = &tokens};

	if (p->key_length == 0)
	{
		if (p->has_default)
			ereturn(p->escontext, false,
					(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
					 errmsg("key \"\" is given twice"),
					 errdetail("This key is the weight of all other words.")));
		p->default_weight = weight;
		p->has_default = true;
		return true;
	}

	simhash_read_text((const char *) p->key, p->key_length, true,
					  &simhash_single_words, &target);
	if (tokens.count != 1)
		ereturn(p->escontext, false,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("key \"%s\" is not a single word",
						simhash_excerpt(p->key, p->key_length)),
				 tokens.count == 0
				 ? errdetail("It contains no word.")
				 : errdetail("It contains %llu words.",
							 (unsigned long long) tokens.count)));
	if (p->count == p->capacity)
	{
		p->capacity *= 2;
		p->tokens = repalloc_huge(p->tokens, p->capacity * sizeof(TokenWeight));
	}
	tokens.first.weight = weight;
	p->tokens[p->count++] = tokens.first;
	return true;
}

/* Read a key and its weight; the last token is where the key should be. */
static bool
read_member(Parser *p)
{
	double		weight = 0;

	if (!decode_key(p))
		return false;
	if (next_token(p) != JSON_TOKEN_COLON)
		return expected(p, psprintf("\":\" after key \"%s\"",
									simhash_excerpt(p->key, p->key_length)));
	next_token(p);
	return read_weight(p, &weight) && add_weight(p, weight);
}

static bool
read_object(Parser *p)
{
	if (next_token(p) != JSON_TOKEN_OBJECT_START)
		return expected(p, "\"{\"");
	if (next_token(p) != JSON_TOKEN_OBJECT_END)
	{
		for (;;)
		{
			CHECK_FOR_INTERRUPTS();
			if (!read_member(p))
				return false;
			if (next_token(p) != JSON_TOKEN_COMMA)
				break;
			next_token(p);
		}
		if (p->token != JSON_TOKEN_OBJECT_END)
			return expected(p, "\",\" or \"}\"");
	}
	if (next_token(p) != JSON_TOKEN_END)
		return expected(p, "nothing more");
	return true;
}

/* Append a token and its weight to an object that is open in buf. */
static void
write_entry(StringInfo buf, const uint8 *token, size_t length, double weight)
{
	char		number[DOUBLE_SHORTEST_DECIMAL_LEN];

	if (buf->len > 1)
		appendStringInfoString(buf, ", ");
	appendStringInfoChar(buf, '"');
	/* a token has only letters, marks and digits: JSON escapes none of them */
	simhash_append_utf8(buf, token, length, write_escape);
	double_to_shortest_decimal_buf(weight, number);
	appendStringInfo(buf, "\": %s", number);
}

/*
 * value may be packed, but not compressed.  Error: 54000 if the text form of
 * value takes more than 1 GB: then nobody could read or dump value.
 *
 * A token of n bytes takes n + 12 of a value.  In the text form, n become 4 n
 * at most (MAX_CONVERSION_GROWTH; an escape has 6 bytes for 2 or 3, and 12 for
 * 4), beside 30: so only a large value may be too long.  Where a single token
 * is, PostgreSQL raises its own 54000.
 */
void
simhash_weights_check_length(const struct varlena *value)
{
	WeightsReader reader = simhash_weights_read(value);
	StringInfoData buf;
	size_t		length = 64;	/* or less for all but the tokens */
	uint32		i;

	if (VARSIZE_ANY(value) <= MaxAllocSize / 4)
		return;
	initStringInfo(&buf);
	for (i = 0; i < reader.header.count; i++)
	{
		TokenWeight token = simhash_weights_next(&reader);

		CHECK_FOR_INTERRUPTS();
		resetStringInfo(&buf);
		write_entry(&buf, token.token, token.length, token.weight);
		length += buf.len + strlen(", ");
	}
	pfree(buf.data);
	if (!AllocSizeIsValid(length))
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("simhash_weights of %u tokens would take %zu "
							   "bytes as text, which is too much",
							   reader.header.count, length)));
}

/*
 * json is in the server's encoding.  Return NULL for an error that escontext
 * takes: 22P02, or 22023 for a weight out of range.  Error: 54000.
 */
struct varlena *
simhash_weights_parse(const char *json, Node *escontext)
{
	int			length;
	const char *utf8 = simhash_text_to_utf8(json, strlen(json), &length);
	const TokenWeight *duplicate;
	struct varlena *value;
	Parser		p = {0};

	p.escontext = escontext;
	p.default_weight = DEFAULT_WEIGHT;
	p.capacity = 64;
	p.lex = makeJsonLexContextCstringLen(NULL, unconstify(char *, utf8), length,
										 PG_UTF8, false);
	p.key = palloc(length + 1);
	p.tokens = palloc(p.capacity * sizeof(TokenWeight));
	if (!read_object(&p))
		return NULL;
	value = simhash_weights_pack(p.tokens, p.count, p.default_weight,
								 &duplicate);
	if (value == NULL)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("key \"%s\" is given twice",
						simhash_excerpt(duplicate->token, duplicate->length)),
				 errdetail("Keys are normalised like texts, so that different "
						   "spellings may be the same word.")));
	simhash_weights_check_length(value);
	return value;
}

/*
 * value may be packed, but not compressed.  Append value to buf as JSON.  A
 * default weight of DEFAULT_WEIGHT is left out.
 */
void
simhash_weights_write(StringInfo buf, const struct varlena *value)
{
	WeightsReader reader = simhash_weights_read(value);
	uint32		i;

	appendStringInfoChar(buf, '{');
	if (reader.header.default_weight != DEFAULT_WEIGHT)
		write_entry(buf, NULL, 0, reader.header.default_weight);
	for (i = 0; i < reader.header.count; i++)
	{
		TokenWeight token = simhash_weights_next(&reader);

		CHECK_FOR_INTERRUPTS();
		write_entry(buf, token.token, token.length, token.weight);
	}
	appendStringInfoChar(buf, '}');
}
