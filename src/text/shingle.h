/*
 * shingle.h
 *	  Overlapping sequences of tokens: the features of a text.
 */
#ifndef SIMHASH_SHINGLE_H
#define SIMHASH_SHINGLE_H

#include "text/feature.h"
#include "text/unicode.h"

#define SHINGLE_MAX 64			/* tokens of a shingle */
#define SHINGLE_BYTES 8192		/* of the buffer, at first: a quarter of an L1
								 * cache */
#define SHINGLE_TOKENS FEATURES_AT_ONCE /* of the buffer, at most */
#define SHINGLE_PIECE 64		/* bytes that are appended at once, at most */

typedef struct WeightSlot
{
	uint64		hash;			/* of a token */
	int64		weight;			/* in units of 2^-16; -1: the slot is free */
} WeightSlot;

/*
 * A hash table of tokens, which never grows.  The search for a token begins in
 * first_slot() and goes on to the next slot, cyclically, as long as slots are
 * not free.  Two tokens with one hash are one token: no fingerprint could tell
 * them apart.
 */
typedef struct WeightTable
{
	WeightSlot *slots;
	uint64		mask;			/* number of slots - 1 */
	int			shift;			/* 64 - log2(number of slots) */
	uint64		multiplier;		/* odd, and secret: see first_slot() */
	int64		default_weight; /* weight of tokens that are not in the table */
	uint64		id;				/* of a table in weights_cache.c: 1 or more,
								 * and never that of another one */
} WeightTable;

/* What the features of a text are. */
typedef struct FeatureOptions
{
	uint32		size;			/* tokens of a feature, 1 .. SHINGLE_MAX */
	bool		chars;			/* is a token a code point?  Else it is a word
								 * or bigram. */
	const WeightTable *weights; /* of words; NULL: each feature weighs 1 */
	const WeightTable *stops;	/* words of weight 0 here are left out; NULL:
								 * none is */
} FeatureOptions;

/*
 * A shingle is size tokens in a row.  Tokens gather in a buffer, joined as in a
 * shingle, so that each shingle is a part of the buffer.  Whenever the
 * buffer is full, its shingles become features, and all but its last size - 1
 * tokens are dropped.  If even that leaves no room, the buffer grows.
 */
typedef struct Shingler
{
	FeatureOptions options;		/* size: of a shingle */
	uint32		glue;			/* bytes between two tokens: 1, a space, or 0 */
	bool		complete;		/* has there been a shingle of size tokens? */
	const FeatureTarget *target;

	/*
	 * The buffer.  Token i begins at start[i], and ends glue bytes before
	 * start[i + 1].  The open token begins at start[count].
	 */
	uint8	   *bytes;			/* space, unless it has grown */
	size_t		length;
	size_t		capacity;
	uint32		count;			/* of tokens that have ended */
	size_t		start[SHINGLE_TOKENS + 1];
	uint32		position[SHINGLE_TOKENS];	/* character of the text that each
											 * token begins with */
	uint32		open_position;	/* the same of the open token */
	uint8		space[SHINGLE_BYTES];
} Shingler;

/* weights_table.c */
extern void simhash_weights_init(WeightTable *table, WeightSlot *slots,
								 uint64 count, uint64 seed,
								 int64 default_weight);
extern void simhash_weights_of(const WeightTable *table, const uint64 *hash,
							   int64 *weight, uint32 count);
extern void simhash_weights_add(WeightTable *table, uint64 hash, int64 weight);

/* shingle.c */
extern void simhash_shingle_init(Shingler *s, const FeatureOptions *options,
								 const FeatureTarget *target);
extern void simhash_shingle_make_room(Shingler *s);
extern bool simhash_shingle_open_is_stop(const Shingler *s);
extern void simhash_shingle_flush(Shingler *s);
extern void simhash_shingle_finish(Shingler *s);

static inline bool
shingle_has_room(const Shingler *s)
{
	return s->length + SHINGLE_PIECE + 1 <= s->capacity;
}

/*
 * Add bytes[0 .. length) to the open token.  length is SHINGLE_PIECE at most,
 * and SHINGLE_PIECE bytes must be readable whatever it is.
 */
static inline void
shingle_append(Shingler *s, const uint8 *bytes, size_t length)
{
	uint8	   *to;

	if (unlikely(!shingle_has_room(s)))
		simhash_shingle_make_room(s);
	to = s->bytes + s->length;
	/* most words are short, and a copy of a fixed size is quick */
	memcpy(to, bytes, 16);
	if (unlikely(length > 16))
		memcpy(to + 16, bytes + 16, SHINGLE_PIECE - 16);
	s->length += length;
}

/* Add a code point to the open token.  UTF8_MAX bytes must be readable. */
static inline void
shingle_append_char(Shingler *s, const uint8 bytes[UTF8_MAX], size_t length)
{
	if (unlikely(!shingle_has_room(s)))
		simhash_shingle_make_room(s);
	memcpy(s->bytes + s->length, bytes, UTF8_MAX);
	s->length += length;
}

/* End the open token, and drop it if it is a stop word. */
static inline void
shingle_end(Shingler *s)
{
	if (unlikely(s->options.stops != NULL) && simhash_shingle_open_is_stop(s))
	{
		s->length = s->start[s->count];
		return;
	}
	s->bytes[s->length] = ' ';
	s->length += s->glue;
	s->position[s->count] = s->open_position;
	s->start[++s->count] = s->length;
	if (unlikely(s->count == SHINGLE_TOKENS))
		simhash_shingle_flush(s);
}

/*
 * s->glue must be 0, and no token open.  length is SHINGLE_PIECE at most, and
 * SHINGLE_PIECE bytes must be readable.  Add a token for each of bytes[0 ..
 * length), which are ASCII.  s->open_position is that of the first.  The
 * buffer stays short of SHINGLE_TOKENS: only shingle_end() may reach that
 * number, and flushes.
 */
static inline void
shingle_add_ascii(Shingler *s, const uint8 *bytes, size_t length)
{
	size_t	   *start;
	size_t		i;

	if (unlikely(!shingle_has_room(s)))
		simhash_shingle_make_room(s);
	if (unlikely(s->count + SHINGLE_PIECE >= SHINGLE_TOKENS))
		simhash_shingle_flush(s);
	start = s->start + s->count;
	memcpy(s->bytes + s->length, bytes, SHINGLE_PIECE);
	for (i = 1; i <= length; i++)
		start[i] = s->length + i;
	for (i = 0; i < length; i++)
		s->position[s->count + i] = s->open_position + i;
	s->length += length;
	s->count += length;
}

#endif							/* SIMHASH_SHINGLE_H */
