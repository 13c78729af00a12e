/*
 * read_text.h
 *	  Text from SQL to the tokeniser.
 */
#ifndef SIMHASH_READ_TEXT_H
#define SIMHASH_READ_TEXT_H

#include "text/tokens.h"

extern const FeatureOptions simhash_single_words;

extern uint8 *simhash_copy_bytes(const uint8 *bytes, size_t length);
extern void *simhash_resize_array(void *array, size_t bytes);
extern void simhash_begin_text(Tokenizer *tokenizer,
							   const FeatureOptions *options,
							   FeatureTarget target);
extern void simhash_feed_utf8(Tokenizer *tokenizer, const uint8 *bytes,
							  size_t length);
extern void simhash_feed_text(Tokenizer *tokenizer, const char *body,
							  int length);

#endif							/* SIMHASH_READ_TEXT_H */
