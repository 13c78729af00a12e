/*
 * malloc.c
 *	  Texts, and the arrays that grow with them, in memory of malloc().
 *
 * AddressSanitizer knows where a chunk of malloc() ends, and not where one of
 * palloc() does, which lies within a larger one.  For script/soak reference
 * the linker has calls of src/text come here: see --wrap in the Makefile.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "text/tokens.h"

extern void __real_simhash_tokens_feed(Tokenizer *t, const uint8 *bytes,
									   size_t length, bool last);
extern void __wrap_simhash_tokens_feed(Tokenizer *t, const uint8 *bytes,
									   size_t length, bool last);
extern void *__wrap_simhash_resize_array(void *array, size_t bytes);

/* Feed a copy, beyond which nothing may be read. */
void
__wrap_simhash_tokens_feed(Tokenizer *t, const uint8 *bytes, size_t length,
						   bool last)
{
	uint8	   *copy = malloc(length);

	if (length > 0)
		memcpy(copy, bytes, length);
	__real_simhash_tokens_feed(t, copy, length, last);
	free(copy);
}

/* What an error leaves behind lives as long as the process. */
void *
__wrap_simhash_resize_array(void *array, size_t bytes)
{
	CHECK_FOR_INTERRUPTS();
	if (bytes > 0)
		return realloc(array, bytes);
	free(array);
	return NULL;
}
