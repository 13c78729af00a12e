/*
 * encoding.h
 *	  Text between the server's encoding and UTF-8.
 */
#ifndef SIMHASH_ENCODING_H
#define SIMHASH_ENCODING_H

#include "lib/stringinfo.h"

/* A function that appends to buf what stands for a code point. */
typedef void (*CodePointWriter) (StringInfo buf, uint32 cp);

extern size_t simhash_clip_utf8(const uint8 *bytes, size_t length,
								size_t limit);
extern int	simhash_clip_text(const char *body, int length, int limit);
extern const char *simhash_text_to_utf8(const char *body, int length,
										int *utf8_length);
extern bool simhash_append_utf8(StringInfo buf, const uint8 *bytes,
								size_t length, CodePointWriter write_missing);
extern text *simhash_utf8_to_text(const uint8 *bytes, size_t length);

#endif							/* SIMHASH_ENCODING_H */
