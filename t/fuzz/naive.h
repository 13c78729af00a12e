/*
 * naive.h
 *	  From text to fingerprint, without any of the skill of src.
 */
#ifndef NAIVE_H
#define NAIVE_H

#include "buffer.h"

#define NAIVE_WORDS 2			/* of 64 bits of a fingerprint */

typedef struct Token
{
	const uint8 *bytes;
	size_t		length;
	int64		weight;			/* in units of 2^-16 */
} Token;

typedef struct Naive
{
	Buffer		normal;			/* the text, normalised */
	Buffer		again;			/* the same, normalised in stretches */
	Buffer		places;			/* uint32 of each byte of normal: the
								 * character of the text that it comes from,
								 * from 0 */
	bool		bytewise;		/* is each byte a character of the text? */
	uint32		end;			/* number of characters of the text */
	Token	   *token;
	size_t		tokens;
	bool		chars;			/* is each a code point? */
	size_t		size;			/* tokens of a feature */
	size_t		features;		/* one from each of the first tokens on */

	/* features before those of the text, all of one weight and hash */
	size_t		earlier;
	int64		earlier_weight;
	uint64		earlier_hash[NAIVE_WORDS];

	bool		overflow;		/* has the total weight passed 2^63 - 1? */
	bool		elected;		/* is there a fingerprint? */
	uint64		fingerprint[NAIVE_WORDS];
} Naive;

/* A part of the text: tokens that follow one another. */
typedef struct NaivePassage
{
	size_t		first;			/* number of its first token */
	size_t		tokens;			/* without a space at the end */
	uint32		place;			/* the character that it begins with, from 0 */
	uint64		fingerprint[NAIVE_WORDS];
}			NaivePassage;

/* A feature of one text or two, among others that may have the same hash. */
typedef struct Occurrence
{
	uint64		hash;
	int64		weight;
	int			side;			/* 0 or 1: the text */
} Occurrence;

/* Features with one hash are one feature. */
typedef struct Distinct
{
	uint64		hash;
	uint64		count[2];		/* of occurrences, on each side */
	int64		weight;			/* the greatest of them */
} Distinct;

extern size_t naive_decode(const uint8 *p, const uint8 *end, int32 *cp);
extern void naive_split(Naive *n, const Buffer *body, size_t size, bool chars);
extern void naive_leave_out(Naive *n, size_t size);
extern void naive_join(const Naive *n, size_t i, size_t tokens, Buffer *bytes);
extern int64 naive_feature(const Naive *n, size_t i, Buffer *bytes);
extern void naive_vote(Naive *n);
extern size_t naive_distinct(Occurrence *all, size_t count, Distinct *distinct);
extern int64 naive_term_vote(bool once, uint64 count, int64 weight);
extern bool naive_elect(const Distinct *distinct, size_t count, bool once,
						bool *overflow, uint64 *fingerprint);
extern bool naive_minhash(const Distinct *distinct, size_t count,
						  uint64 *fingerprint);
extern size_t naive_passages(const Naive *n, size_t radius,
							 NaivePassage * *passages);

#endif							/* NAIVE_H */
