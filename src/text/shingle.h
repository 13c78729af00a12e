/*
 * shingle.h
 *	  Overlapping sequences of n tokens: the features of a text.
 */
#ifndef SHINGLE_H
#define SHINGLE_H

#include "text/sink.h"
#include "text/utf8.h"
#include "text/weights_table.h"

#define SHINGLE_MAX 64			/* tokens of a shingle */
#define SHINGLE_BYTES 8192		/* kept without allocation */
#define SHINGLE_TOKENS 2048		/* kept */
#define SHINGLE_PIECE 64		/* bytes that are appended without a loop */

/* An open shingle that has outgrown the buffer. */
typedef struct LongShingle
{
	XXH3_state_t hash;
	int64		weight;			/* of its complete tokens */
	uint32		tokens;			/* how many these are */
} LongShingle;

/*
 * Tokens gather in a buffer, joined as in a shingle, so that each shingle is
 * a stretch of it.  Whenever the buffer is full its shingles become features,
 * and all but its last n - 1 tokens are dropped.
 *
 * If even that leaves no room, the open shingles go on as states of a
 * streaming hash, so that a token of any length takes constant memory;
 * shingles that open later are in the buffer again.
 */
typedef struct Shingler
{
	uint32		size;			/* n */
	uint32		joint;			/* length of what joins two tokens: 1, a
								 * space, or 0 */
	bool		complete;		/* has a shingle of n tokens been seen? */
	const WeightTable *weights; /* of the tokens; NULL: all weigh 1 */
	FeatureTarget target;

	/*
	 * Token i begins at start[i], and ends joint bytes before start[i + 1].
	 * An open one begins at start[count].
	 */
	uint8	   *bytes;
	size_t		length;
	size_t		capacity;
	uint32		count;
	size_t		start[SHINGLE_TOKENS + 1];

	uint32		first;			/* slot of the oldest long shingle */
	uint32		streamed;		/* how many there are */
	bool		joint_due;		/* do they lack the joint after their last
								 * token? */
	bool		open_is_long;	/* is the open token in them alone? */
	XXH3_state_t open_token;	/* its own hash, for its weight */

	/* Enlarges the buffer if features are wanted in full, else NULL. */
	void	   *(*grow) (void *array, size_t bytes);

	uint8		space[SHINGLE_BYTES];
	LongShingle slots[SHINGLE_MAX];
} Shingler;

extern void simhash_shingle_init(Shingler *s, uint32 size, bool joined,
								 const WeightTable *weights,
								 void *(*grow) (void *, size_t),
								 FeatureTarget target);
extern void simhash_shingle_append_long(Shingler *s, const uint8 *bytes,
										size_t length);
extern void simhash_shingle_end_long(Shingler *s);
extern void simhash_shingle_add_ascii_long(Shingler *s, const uint8 *bytes,
										   size_t length);
extern void simhash_shingle_flush(Shingler *s);
extern void simhash_shingle_finish(Shingler *s);

/* Has the buffer room for SHINGLE_PIECE bytes, and the joint? */
static inline bool
shingle_has_room(const Shingler *s)
{
	return s->length + SHINGLE_PIECE + 1 <= s->capacity;
}

/* Is there a long shingle, or no room in the buffer? */
static inline bool
shingle_is_full(const Shingler *s)
{
	return s->streamed > 0 || !shingle_has_room(s);
}

/*
 * Add length bytes, at most SHINGLE_PIECE, to the open token.  So many can be
 * read, whatever length is.
 */
static inline void
shingle_append(Shingler *s, const uint8 *bytes, size_t length)
{
	uint8	   *to = s->bytes + s->length;

	if (unlikely(shingle_is_full(s)))
	{
		simhash_shingle_append_long(s, bytes, length);
		return;
	}
	/* most words are short, and copies of a fixed size are quick */
	memcpy(to, bytes, 16);
	if (unlikely(length > 16))
		memcpy(to + 16, bytes + 16, SHINGLE_PIECE - 16);
	s->length += length;
}

/*
 * Add a token for each of length bytes, under the same conditions.  The buffer
 * stays short of SHINGLE_TOKENS, which only shingle_end may reach.
 */
static inline void
shingle_add_ascii(Shingler *s, const uint8 *bytes, size_t length)
{
	size_t	   *start = s->start + s->count;
	size_t		i;

	if (unlikely(shingle_is_full(s) ||
				 s->count + SHINGLE_PIECE >= SHINGLE_TOKENS))
	{
		simhash_shingle_add_ascii_long(s, bytes, length);
		return;
	}
	memcpy(s->bytes + s->length, bytes, SHINGLE_PIECE);
	for (i = 1; i <= length; i++)
		start[i] = s->length + i;
	s->length += length;
	s->count += length;
}

/* Add a code point of length bytes to the open token. */
static inline void
shingle_append_char(Shingler *s, const uint8 bytes[UTF8_MAX], size_t length)
{
	if (unlikely(shingle_is_full(s)))
	{
		simhash_shingle_append_long(s, bytes, length);
		return;
	}
	memcpy(s->bytes + s->length, bytes, UTF8_MAX);
	s->length += length;
}

/* The open token, which is in the buffer, ends there. */
static inline void
shingle_end_buffered(Shingler *s)
{
	s->bytes[s->length] = ' ';
	s->length += s->joint;
	s->start[++s->count] = s->length;
	if (unlikely(s->count == SHINGLE_TOKENS))
		simhash_shingle_flush(s);
}

/* The open token ends. */
static inline void
shingle_end(Shingler *s)
{
	if (unlikely(s->streamed > 0))
		simhash_shingle_end_long(s);
	else
		shingle_end_buffered(s);
}

#endif							/* SHINGLE_H */
