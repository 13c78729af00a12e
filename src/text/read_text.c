/*
 * read_text.c
 *	  Text from SQL to the tokeniser, with the server's memory.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "text/encoding.h"
#include "text/feature_table.h"
#include "text/read_text.h"

#define PIECE_BYTES 65536		/* that are converted at once: 0.4 ms */

/*
 * The resize of simhash_tokens_init(): in the current memory context, and of
 * more than 1 GB, too.
 */
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
 * No SQL function takes more than 64 kB of stack: a Tokenizer, the arrays of
 * features (see FEATURES_AT_ONCE), the space of tables, and 16 kB for all else.
 */
StaticAssertDecl(sizeof(Tokenizer) +
				 (8 * FEATURES_AT_ONCE + HALVES_MAX * TABLE_SPACE) *
				 sizeof(uint64) <= 48 * 1024,
				 "a text takes too much stack");

const FeatureOptions simhash_single_words = {1, false, NULL, NULL};

/* Do what simhash_tokens_init() does, for a text in the server's encoding. */
void
simhash_begin_text(Tokenizer *tokenizer, const FeatureOptions *options,
				   FeatureTarget target)
{
	simhash_tokens_init(tokenizer, options, simhash_resize_array, target);
	tokenizer->bytewise = GetDatabaseEncoding() == PG_SQL_ASCII;
}

/* Make the features of bytes[0 .. length), all of the text, in UTF-8. */
void
simhash_feed_utf8(Tokenizer *tokenizer, const uint8 *bytes, size_t length)
{
	do
	{
		size_t		clipped = simhash_clip_utf8(bytes, length, PIECE_BYTES);

		CHECK_FOR_INTERRUPTS();
		simhash_tokens_feed(tokenizer, bytes, clipped, clipped == length);
		bytes += clipped;
		length -= clipped;
	} while (length > 0);
}

/*
 * Make the features of body[0 .. length), all of the text, which is in the
 * server's encoding.  Error: 22P05 for a character that Unicode lacks.
 */
void
simhash_feed_text(Tokenizer *tokenizer, const char *body, int length)
{
	do
	{
		int			clipped = simhash_clip_text(body, length, PIECE_BYTES);
		int			utf8_length;
		const char *utf8 = simhash_text_to_utf8(body, clipped, &utf8_length);

		CHECK_FOR_INTERRUPTS();
		simhash_tokens_feed(tokenizer, (const uint8 *) utf8, utf8_length,
							clipped == length);
		if (utf8 != body)
			pfree(unconstify(char *, utf8));
		body += clipped;
		length -= clipped;
	} while (length > 0);
}
