/*
 * tokens.h
 *	  From text to features.
 */
#ifndef SIMHASH_TOKENS_H
#define SIMHASH_TOKENS_H

#include "text/shingle.h"

/* NFKC_Casefold of a stream of code points.  It begins as zeros. */
typedef struct Normalizer
{
	/*
	 * The combining sequence so far, mapped and decomposed.  Only its first
	 * code point may have UC_STARTS.
	 */
	int32	   *sequence;		/* of simhash_resize_array(), or NULL */
	size_t		length;
	size_t		capacity;
	bool		unsorted;		/* is sequence not in canonical order? */

	uint32		position;		/* character of the text that the sequence
								 * begins with */

	/* takes each normalised code point */
	void		(*emit) (void *arg, uint32 cp);
	void	   *arg;
} Normalizer;

typedef enum TokenRun
{
	RUN_NONE,					/* between two runs */
	RUN_SPACED,					/* in a script written with spaces */
	RUN_UNSPACED				/* in a script written without */
} TokenRun;

/*
 * From a text to tokens.  A token is a word or a bigram; or, by the chars of
 * FeatureOptions, a code point, or a space for what stands between words.
 */
typedef struct Tokenizer
{
	bool		bytewise;		/* is each byte a character of the text? */
	uint32		position;		/* number of the next character, from 0 */
	uint32		token_position; /* that of the code point to be added */

	/* If not chars: */
	TokenRun	run;			/* the run that the last code point is in */
	uint8		previous[UTF8_MAX]; /* the last code point of an unspaced run */
	size_t		previous_length;
	bool		bigram;			/* has that run had a bigram? */

	/* If chars: */
	bool		started;		/* has there been a letter, mark or digit? */
	bool		gap;			/* has anything else followed the last one? */

	Normalizer	normalizer;
	Shingler	shingler;
} Tokenizer;

/* normalize.c */
extern void simhash_normalize_push(Normalizer *n, uint32 cp, uint32 position);
extern void simhash_normalize_end(Normalizer *n);

/*
 * Nothing that follows may belong to the combining sequence.  Emit the
 * sequence, if there is one.
 */
static inline void
normalize_flush(Normalizer *n)
{
	if (n->length > 0)
		simhash_normalize_end(n);
}

/* tokens.c */
extern void simhash_tokens_init(Tokenizer *t, const FeatureOptions *options,
								const FeatureTarget *target);
extern void simhash_tokens_feed(Tokenizer *t, const uint8 *bytes, size_t length,
								bool last);

#endif							/* SIMHASH_TOKENS_H */
