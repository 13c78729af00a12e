/*
 * encoding.c
 *	  Text between the server's encoding and UTF-8.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"

#include "text/encoding.h"
#include "text/utf8.h"

/*
 * Length of the longest prefix of text that has at most limit bytes and does
 * not part the bytes of a character.  SQL_ASCII holds UTF-8 as far as we are
 * concerned, and possibly bytes that are none.
 */
int
simhash_clip_text(const char *text, int length, int limit)
{
	const uint8 *bytes = (const uint8 *) text;
	int			from;

	if (length <= limit)
		return length;
	if (GetDatabaseEncoding() != PG_UTF8 &&
		GetDatabaseEncoding() != PG_SQL_ASCII)
		return pg_database_encoding_max_length() == 1
			? limit
			: pg_mbcliplen(text, length, limit);
	/* only a character that begins less than UTF8_MAX before can be parted */
	for (from = limit - UTF8_MAX + 1; from < limit; from++)
	{
		uint32		cp;

		if (from + (int) utf8_decode(bytes + from, bytes + length, &cp) > limit)
			return from;
	}
	return limit;
}

/*
 * The same text in UTF-8: the argument itself where that is what it is.
 * Error: 22P05 for a character that has no equivalent.
 */
const char *
simhash_text_to_utf8(const char *text, int length, int *utf8_length)
{
	const char *utf8 = text;

	*utf8_length = length;
	if (GetDatabaseEncoding() != PG_SQL_ASCII)
		utf8 = pg_server_to_any(text, length, PG_UTF8);
	if (utf8 != text)
		*utf8_length = strlen(utf8);
	return utf8;
}

/*
 * Append UTF-8 in the server's encoding.  A character that this encoding
 * lacks (the normalisation of a text may have some) is left to the writer.
 */
void
simhash_append_utf8(StringInfo buf, const uint8 *bytes, size_t length,
					CodePointWriter lacking)
{
	if (GetDatabaseEncoding() == PG_UTF8 ||
		GetDatabaseEncoding() == PG_SQL_ASCII)
	{
		appendBinaryStringInfo(buf, (const char *) bytes, length);
		return;
	}
	while (length > 0)
	{
		unsigned char converted[MAX_CONVERSION_GROWTH * UTF8_MAX + 1];
		uint32		cp = 0;
		size_t		bytes_read = utf8_decode(bytes, bytes + length, &cp);

		Assert(bytes_read > 0);
		if (bytes_read == 1)
			appendStringInfoCharMacro(buf, *bytes);
		else if (pg_do_encoding_conversion_buf(
											   FindDefaultConversionProc(PG_UTF8, GetDatabaseEncoding()),
											   PG_UTF8, GetDatabaseEncoding(), unconstify(uint8 *, bytes),
											   bytes_read, converted, sizeof(converted),
											   true) == (int) bytes_read)
			appendStringInfoString(buf, (char *) converted);
		else
			lacking(buf, cp);
		bytes += bytes_read;
		length -= bytes_read;
	}
}
