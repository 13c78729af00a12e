/*
 * read_text.c
 *	  Text from SQL to the tokeniser, and what that needs of the server.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "text/encoding.h"
#include "text/read_text.h"

/* Bytes between two checks for a cancel request. */
#define PIECE_BYTES 65536

/* As the algorithms want it: NULL to begin with, 0 bytes to free. */
static void *
resize_array(void *array, size_t bytes)
{
	if (array == NULL)
		return MemoryContextAllocHuge(CurrentMemoryContext, bytes);
	if (bytes > 0)
		return repalloc_huge(array, bytes);
	pfree(array);
	return NULL;
}

/* A copy of a feature that is to be kept. */
uint8 *
simhash_copy_bytes(const uint8 *bytes, size_t length)
{
	return memcpy(resize_array(NULL, Max(length, 1)), bytes, length);
}

/* Files go away with the query, whatever happens. */
static void *
create_file(void)
{
	return BufFileCreateTemp(false);
}

static void
write_file(void *file, const int32 *marks, size_t count)
{
	CHECK_FOR_INTERRUPTS();
	BufFileWrite(file, unconstify(int32 *, marks), count * sizeof(int32));
}

static void
rewind_file(void *file)
{
	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not rewind temporary file: %m")));
}

static size_t
read_file(void *file, int32 *marks, size_t count)
{
	CHECK_FOR_INTERRUPTS();
	return BufFileRead(file, marks, count * sizeof(int32)) / sizeof(int32);
}

static void
close_file(void *file)
{
	BufFileClose(file);
}

static const MarkFiles mark_files = {create_file, write_file, rewind_file,
read_file, close_file};

/* Prepare to read a text, as simhash_tokens_init. */
void
simhash_begin_text(Tokenizer *tokenizer, uint32 size, bool chars,
				   const WeightTable *weights, FeatureTarget target)
{
	simhash_tokens_init(tokenizer, size, chars, weights, &mark_files,
						resize_array, target);
}

/* Feed a text in the server's encoding, one piece at a time. */
void
simhash_feed_text(Tokenizer *tokenizer, const char *text, int length)
{
	do
	{
		int			clipped = simhash_clip_text(text, length, PIECE_BYTES);
		int			utf8_length;
		const char *utf8 = simhash_text_to_utf8(text, clipped, &utf8_length);

		CHECK_FOR_INTERRUPTS();
		simhash_tokens_feed(tokenizer, (const uint8 *) utf8, utf8_length,
							clipped == length);
		if (utf8 != text)
			pfree(unconstify(char *, utf8));
		text	  +=clipped;

		length -= clipped;
	} while (length > 0);
}
