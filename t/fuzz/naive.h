/*
 * naive.h
 *	  From text to fingerprint, without any of the skill of src.
 */
#ifndef NAIVE_H
#define NAIVE_H

#include "buffer.h"

typedef struct Token
{
	const uint8 *bytes;
	size_t		length;
	int64		weight;			/* in units of 2^-16 */
} Token;

typedef struct Naive
{
	Buffer		normal;			/* the text, normalised */
	Token	   *token;
	size_t		tokens;
	bool		chars;			/* is each a code point? */
	size_t		size;			/* tokens of a feature */
	size_t		features;		/* one from each of the first tokens on */

	/* features before those of the text, all of one weight and hash */
	size_t		earlier;
	int64		earlier_weight;
	uint64		earlier_hash;

	bool		overflow;		/* has the total weight passed 2^63 - 1? */
	bool		elected;		/* is there a fingerprint? */
	uint64		fingerprint;
} Naive;

extern size_t naive_decode(const uint8 *p, const uint8 *end, int32 *cp);
extern void naive_split(Naive *n, const Buffer *body, size_t size, bool chars);
extern int64 naive_feature(const Naive *n, size_t i, Buffer *bytes);
extern void naive_vote(Naive *n);

#endif							/* NAIVE_H */
