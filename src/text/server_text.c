/*
 * server_text.c
 *	  Text from the server to the tokeniser, and back to the server's encoding.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "text/server_text.h"
#include "text/tokens.h"

#define PIECE_BYTES 65536		/* that are converted at once: 0.4 ms */
#define OTHER_COLUMNS 1024		/* bytes of a row that shows a text, at most */

const FeatureOptions simhash_single_words = {1, false, NULL, NULL};

/* In the current memory context, and of more than 1 GB, too. */
void *
simhash_resize_array(void *array, size_t bytes)
{
	CHECK_FOR_INTERRUPTS();
	if (array == NULL)
		return MemoryContextAllocHuge(CurrentMemoryContext, bytes);
	if (bytes > 0)
		return repalloc_huge(array, bytes);
	pfree(array);
	return NULL;
}

uint8 *
simhash_copy_bytes(const uint8 *bytes, size_t length)
{
	return memcpy(simhash_resize_array(NULL, Max(length, 1)), bytes, length);
}

/*
 * Return the length of the longest prefix of bytes[0 .. length), in UTF-8, that
 * has at most PIECE_BYTES and ends between two characters.  Each byte that is
 * not part of valid UTF-8 is taken as a character.
 */
static size_t
clip_utf8(const uint8 *bytes, size_t length)
{
	size_t		from;

	if (length <= PIECE_BYTES)
		return length;
	/* a character across the limit begins less than UTF8_MAX bytes before */
	for (from = PIECE_BYTES - UTF8_MAX + 1; from < PIECE_BYTES; from++)
	{
		uint32		cp;

		if (from + utf8_decode(bytes + from, bytes + length, &cp) > PIECE_BYTES)
			return from;
	}
	return PIECE_BYTES;
}

/* Is the server's encoding UTF-8, or SQL_ASCII, which is taken as UTF-8? */
static inline bool
server_has_utf8(void)
{
	return GetDatabaseEncoding() == PG_UTF8 ||
		GetDatabaseEncoding() == PG_SQL_ASCII;
}

/*
 * Return body[0 .. length), in the server's encoding, as UTF-8 of *utf8_length
 * bytes: body itself if nothing had to be converted, or else a copy that the
 * caller frees.  Error: 22P05 for a character that Unicode lacks.
 */
const char *
simhash_text_to_utf8(const char *body, int length, int *utf8_length)
{
	const char *utf8 = body;

	*utf8_length = length;
	if (!server_has_utf8())
		utf8 = pg_server_to_any(body, length, PG_UTF8);
	if (utf8 != body)
		*utf8_length = strlen(utf8);
	return utf8;
}

/*
 * Hand the features of body[0 .. length) to target, and return how many
 * characters body has.  Unless is_utf8, body is in the server's encoding.
 * Error: 22P05 for a character that Unicode lacks.
 */
uint32
simhash_read_text(const char *body, size_t length, bool is_utf8,
				  const FeatureOptions *options, const FeatureTarget *target)
{
	Tokenizer	tokenizer;

	feature_begin(target, options->weights != NULL);
	simhash_tokens_init(&tokenizer, options, target);
	tokenizer.bytewise = GetDatabaseEncoding() == PG_SQL_ASCII;
	is_utf8 = is_utf8 || server_has_utf8();
	do
	{
		size_t		clipped = Min(length, PIECE_BYTES);
		const char *utf8 = body;
		int			utf8_length;

		CHECK_FOR_INTERRUPTS();
		if (is_utf8)
			utf8_length = clipped = clip_utf8((const uint8 *) body, length);
		else
		{
			if (length > clipped && pg_database_encoding_max_length() > 1)
				clipped = pg_mbcliplen(body, length, PIECE_BYTES);
			utf8 = simhash_text_to_utf8(body, clipped, &utf8_length);
		}
		simhash_tokens_feed(&tokenizer, (const uint8 *) utf8, utf8_length,
							clipped == length);
		if (utf8 != body)
			pfree(unconstify(char *, utf8));
		body += clipped;
		length -= clipped;
	} while (length > 0);
	return tokenizer.position;
}

/*
 * length must be at least 1, and function convert UTF-8 to the server's
 * encoding.  Append the first characters of bytes[0 .. length), valid UTF-8, to
 * buf in the server's encoding: those of about PIECE_BYTES, up to one that this
 * encoding lacks.  Return the number of their bytes: 0 if the encoding lacks
 * the first one.
 */
static size_t
append_converted(StringInfo buf, const uint8 *bytes, size_t length,
				 Oid function)
{
	size_t		end = clip_utf8(bytes, length);
	uint32		next = 0;
	size_t		next_length = 0;
	int			room;
	int			converted;

	/*
	 * EUC_JIS_2004 has some letters and their mark as one character; and two
	 * tone letters, but those are symbols, which no feature has.
	 */
	if (end < length)
		next_length = utf8_decode(bytes + end, bytes + length, &next);
	if (!(unicode_class(next) & UC_STARTS))
		end += next_length;
	room = end * MAX_CONVERSION_GROWTH + 1;
	enlargeStringInfo(buf, room);
	converted = pg_do_encoding_conversion_buf(function, PG_UTF8,
											  GetDatabaseEncoding(),
											  unconstify(uint8 *, bytes), end,
											  (uint8 *) buf->data + buf->len,
											  room, true);
	buf->len += strlen(buf->data + buf->len);
	return converted;
}

/*
 * Append bytes[0 .. length), valid UTF-8, to buf in the server's encoding.
 * write_missing(buf, cp) writes each character cp that this encoding lacks: the
 * normalisation of a text may have such characters.  If write_missing is NULL,
 * return false at the first of them.
 */
bool
simhash_append_utf8(StringInfo buf, const uint8 *bytes, size_t length,
					CodePointWriter write_missing)
{
	Oid			function = InvalidOid;

	if (server_has_utf8())
	{
		appendBinaryStringInfo(buf, (const char *) bytes, length);
		return true;
	}
	while (length > 0)
	{
		size_t		done = 1;
		uint32		cp = 0;

		CHECK_FOR_INTERRUPTS();
		/* ASCII is the same in all encodings; a function takes long to find */
		if (*bytes < 0x80)
			appendStringInfoCharMacro(buf, *bytes);
		else
		{
			if (!OidIsValid(function))
				function = FindDefaultConversionProc(PG_UTF8,
													 GetDatabaseEncoding());
			done = append_converted(buf, bytes, length, function);
		}
		if (done == 0)
		{
			if (write_missing == NULL)
				return false;
			done = utf8_decode(bytes, bytes + length, &cp);
			write_missing(buf, cp);
		}
		bytes += done;
		length -= done;
	}
	return true;
}

/*
 * Return bytes[0 .. length), valid UTF-8 that is normalised, as a text in the
 * server's encoding.  Return NULL where this encoding lacks a character: a
 * substitute would make another feature, of another hash.  Return NULL, too,
 * where the text might be too long for a row.
 */
text *
simhash_utf8_to_text(const uint8 *bytes, size_t length)
{
	StringInfoData buf;
	text	   *result = NULL;

	if (length > (server_has_utf8() ? MaxAllocSize - OTHER_COLUMNS
				  : MaxAllocSize / MAX_CONVERSION_GROWTH))
		return NULL;
	initStringInfo(&buf);
	if (simhash_append_utf8(&buf, bytes, length, NULL))
		result = cstring_to_text_with_len(buf.data, buf.len);
	pfree(buf.data);
	return result;
}
