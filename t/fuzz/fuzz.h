/*
 * fuzz.h
 *	  Random texts and sets of features, and what is expected of them.
 */
#ifndef FUZZ_H
#define FUZZ_H

/* Bytes that grow. */
typedef struct Buffer
{
	uint8	   *bytes;
	size_t		length;
	size_t		capacity;
} Buffer;

/* realloc, or free where no bytes are left. */
static inline void *
resize(void *array, size_t bytes)
{
	if (bytes == 0)
	{
		free(array);
		return NULL;
	}
	array = realloc(array, bytes);
	if (array == NULL)
		abort();
	return array;
}

static inline void
append(Buffer *b, const void *bytes, size_t length)
{
	if (b->length + length > b->capacity)
	{
		b->capacity = 2 * (b->length + length);
		b->bytes = resize(b->bytes, b->capacity);
	}
	if (length > 0)
		memcpy(b->bytes + b->length, bytes, length);
	b->length += length;
}

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
} NaivePassage;

/* A feature of one text or two, among others that may have the same hash. */
typedef struct Occurrence
{
	uint64		hash;			/* must be first */
	int64		weight;
	int			side;			/* 0 or 1: the text */
} Occurrence;

/* Features with one hash are one feature. */
typedef struct Distinct
{
	uint64		hash;			/* must be first */
	uint64		count[2];		/* of occurrences, on each side */
	int64		weight;			/* the greatest of them */
} Distinct;

/* tokens.c */
extern void expect_same(const char *what, uint64 got, uint64 expected);

/* texts.c */
extern void seed_random(uint64 seed);
extern uint64 random_bits(void);
extern uint32 below(uint32 limit);
extern void make_text(Buffer *body);

/* A random item of an array. */
#define ONE_OF(array) ((array)[below(lengthof(array))])

/* feature_sets.c */
extern size_t sets_checked;
extern size_t full_tables;

extern void check_set(const Occurrence *all, size_t length);

/* naive.c */
extern size_t naive_decode(const uint8 *p, const uint8 *end, int32 *cp);
extern void naive_split(Naive *n, const Buffer *body, size_t size, bool chars);
extern void naive_leave_out(Naive *n, size_t size);
extern void naive_join(const Naive *n, size_t i, size_t tokens, Buffer *bytes);
extern int64 naive_feature(const Naive *n, size_t i, Buffer *bytes);
extern void naive_vote(Naive *n);
extern int	compare_hashes(const void *a, const void *b);
extern size_t naive_distinct(Occurrence *all, size_t count, Distinct *distinct);
extern int64 naive_term_vote(bool once, uint64 count, int64 weight);
extern bool naive_elect(const Distinct *distinct, size_t count, bool once,
						bool *overflow, uint64 *fingerprint);
extern uint64 naive_split_mix(uint64 seed, uint64 i);
extern bool naive_minhash(const Distinct *distinct, size_t count,
						  uint64 *fingerprint);
extern size_t naive_passages(const Naive *n, size_t radius,
							 NaivePassage **passages);

#endif							/* FUZZ_H */
