/*
 * encoding.c
 *	  Text between the server's encoding and UTF-8.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "text/encoding.h"
#include "text/utf8.h"

/*
 * limit must be at least UTF8_MAX.  Return the length of the longest prefix of
 * bytes[0 .. length), in UTF-8, that has at most limit bytes and ends between
 * two characters.  Each byte that is not part of valid UTF-8 is taken as a
 * character.
 */
size_t
simhash_clip_utf8(const uint8 *bytes, size_t length, size_t limit)
{
	size_t		from;

	if (length <= limit)
		return length;
	/* a character across the limit begins less than UTF8_MAX bytes before */
	for (from = limit - UTF8_MAX + 1; from < limit; from++)
	{
		uint32		cp;

		if (from + utf8_decode(bytes + from, bytes + length, &cp) > limit)
			return from;
	}
	return limit;
}

/*
 * Do what simhash_clip_utf8() does, in the server's encoding.  SQL_ASCII is
 * taken as UTF-8.
 */
int
simhash_clip_text(const char *body, int length, int limit)
{
	if (GetDatabaseEncoding() == PG_UTF8 ||
		GetDatabaseEncoding() == PG_SQL_ASCII)
		return simhash_clip_utf8((const uint8 *) body, length, limit);
	if (length <= limit || pg_database_encoding_max_length() == 1)
		return Min(length, limit);
	return pg_mbcliplen(body, length, limit);
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
	if (GetDatabaseEncoding() != PG_SQL_ASCII)
		utf8 = pg_server_to_any(body, length, PG_UTF8);
	if (utf8 != body)
		*utf8_length = strlen(utf8);
	return utf8;
}

/*
 * bytes[0 .. length) is one character in UTF-8.  Append this character to buf
 * in the server's encoding; return false if that encoding lacks the character.
 */
static bool
append_converted(StringInfo buf, const uint8 *bytes, int length)
{
	unsigned char converted[MAX_CONVERSION_GROWTH * UTF8_MAX + 1];
	int			encoding = GetDatabaseEncoding();
	Oid			function = FindDefaultConversionProc(PG_UTF8, encoding);

	if (pg_do_encoding_conversion_buf(function, PG_UTF8, encoding,
									  unconstify(uint8 *, bytes), length,
									  converted, sizeof(converted),
									  true) != length)
		return false;
	appendStringInfoString(buf, (char *) converted);
	return true;
}

/*
 * Append bytes[0 .. length), valid UTF-8, to buf in the server's encoding.
 * lacking(buf, cp) writes each character cp that this encoding lacks: the
 * normalisation of a text may have such characters.  If lacking is NULL, return
 * false at the first of them.
 */
bool
simhash_append_utf8(StringInfo buf, const uint8 *bytes, size_t length,
					CodePointWriter lacking)
{
	if (GetDatabaseEncoding() == PG_UTF8 ||
		GetDatabaseEncoding() == PG_SQL_ASCII)
	{
		appendBinaryStringInfo(buf, (const char *) bytes, length);
		return true;
	}
	while (length > 0)
	{
		uint32		cp = 0;
		size_t		bytes_read = utf8_decode(bytes, bytes + length, &cp);

		Assert(bytes_read > 0);
		/* a character takes a microsecond, and the length has no bound */
		CHECK_FOR_INTERRUPTS();
		if (bytes_read == 1)
			appendStringInfoCharMacro(buf, *bytes);
		else if (!append_converted(buf, bytes, bytes_read))
		{
			if (lacking == NULL)
				return false;
			lacking(buf, cp);
		}
		bytes += bytes_read;
		length -= bytes_read;
	}
	return true;
}

/*
 * Return bytes[0 .. length), valid UTF-8 that is normalised, as a text in the
 * server's encoding.  Return NULL where this encoding lacks a character: a
 * substitute would make another feature, of another hash.  Error: 54000 for too
 * many bytes, which the message calls what.
 *
 * Fewer than MaxAllocSize / 4 bytes always fit: the conversion of a character
 * has four times its bytes at most, MAX_CONVERSION_GROWTH.
 */
text *
simhash_utf8_to_text(const uint8 *bytes, size_t length, const char *what)
{
	StringInfoData buf;
	text	   *result = NULL;

	if (length > MaxAllocSize / 4)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("%s of %zu bytes is too long to show", what,
							   length)));
	initStringInfo(&buf);
	if (simhash_append_utf8(&buf, bytes, length, NULL))
		result = cstring_to_text_with_len(buf.data, buf.len);
	pfree(buf.data);
	return result;
}
