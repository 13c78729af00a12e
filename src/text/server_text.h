/*
 * server_text.h
 *	  Text from the server to the tokeniser, and back to the server's encoding.
 */
#ifndef SIMHASH_SERVER_TEXT_H
#define SIMHASH_SERVER_TEXT_H

#include "lib/stringinfo.h"

#include "text/shingle.h"

/* A function that appends to buf what stands for a code point. */
typedef void (*CodePointWriter) (StringInfo buf, uint32 cp);

extern const FeatureOptions simhash_single_words;

extern uint8 *simhash_copy_bytes(const uint8 *bytes, size_t length);
extern const char *simhash_text_to_utf8(const char *body, int length,
										int *utf8_length);
extern uint32 simhash_read_text(const char *body, size_t length, bool is_utf8,
								const FeatureOptions *options,
								const FeatureTarget *target);
extern bool simhash_append_utf8(StringInfo buf, const uint8 *bytes,
								size_t length, CodePointWriter write_missing);
extern text *simhash_utf8_to_text(const uint8 *bytes, size_t length);

#endif							/* SIMHASH_SERVER_TEXT_H */
