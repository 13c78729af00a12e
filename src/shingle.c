/*
 * shingle.c
 *	  Overlapping sequences of n tokens, and their hashes.
 */
#include "postgres.h"

#include "shingle.h"

void
shingle_init(Shingler *s, uint32 size, bool joined,
			 void *(*grow)(void *, size_t), FeatureSink sink, void *arg)
{
	Assert(size >= 1 && size <= SHINGLE_MAX);
	s->size = size;
	s->joined = joined;
	s->complete = false;
	s->first = 0;
	s->open = 0;
	s->streamed = 0;
	s->bytes = s->space;
	s->length = 0;
	s->capacity = SHINGLE_INLINE;
	s->grow = grow;
	s->sink = sink;
	s->arg = arg;
}

/* Slot of the i-th oldest open shingle. */
static inline uint32
slot(const Shingler *s, uint32 i)
{
	return (s->first + i) % SHINGLE_MAX;
}

/* Drop the bytes before the oldest buffered shingle. */
static void
slide(Shingler *s)
{
	size_t drop = s->start[slot(s, s->streamed)];
	uint32 i;

	memmove(s->bytes, s->bytes + drop, s->length - drop);
	s->length -= drop;
	for (i = s->streamed; i < s->open; i++)
		s->start[slot(s, i)] -= drop;
}

static void
enlarge(Shingler *s, size_t needed)
{
	bool allocated = s->bytes != s->space;

	while (s->capacity < needed)
		s->capacity *= 2;
	s->bytes = s->grow(allocated ? s->bytes : NULL, s->capacity);
	if (!allocated)
		memcpy(s->bytes, s->space, s->length);
}

/* Turn the buffered shingles into streaming hashes. */
static void
stream(Shingler *s)
{
	for (; s->streamed < s->open; s->streamed++)
	{
		uint32 i = slot(s, s->streamed);

		XXH3_64bits_reset(&s->state[i]);
		XXH3_64bits_update(&s->state[i], s->bytes + s->start[i],
						   s->length - s->start[i]);
	}
}

/* A token begins: so does a shingle. */
void
shingle_begin(Shingler *s)
{
	if (s->joined && s->open > 0)
		shingle_append(s, (const uint8 *) " ", 1);
	if (s->open == s->streamed)
		s->length = 0;
	s->start[slot(s, s->open)] = s->length;
	s->open++;
}

/* Add bytes to the token that began last. */
void
shingle_append(Shingler *s, const uint8 *bytes, size_t length)
{
	uint32 i;

	if (s->open > s->streamed && s->length + length > s->capacity)
	{
		slide(s);
		if (s->length + length > s->capacity)
		{
			if (s->grow)
				enlarge(s, s->length + length);
			else
				stream(s);
		}
	}
	for (i = 0; i < s->streamed; i++)
		XXH3_64bits_update(&s->state[slot(s, i)], bytes, length);
	if (s->open > s->streamed)
	{
		memcpy(s->bytes + s->length, bytes, length);
		s->length += length;
	}
}

/* Close the oldest shingle, as a feature. */
static void
close_oldest(Shingler *s)
{
	const uint8 *bytes = s->bytes + s->start[s->first];
	size_t length = s->length - s->start[s->first];

	if (s->streamed > 0)
	{
		s->streamed--;
		s->sink(s->arg, NULL, 0, XXH3_64bits_digest(&s->state[s->first]));
	}
	else
		s->sink(s->arg, bytes, length, XXH3_64bits(bytes, length));
	s->first = slot(s, 1);
	s->open--;
}

/* The token ends: if it is the n-th of a shingle, so does that. */
void
shingle_end(Shingler *s)
{
	if (s->open == s->size)
	{
		s->complete = true;
		close_oldest(s);
	}
}

/* The text ends.  If it has fewer than n tokens, all of it is one feature. */
void
shingle_finish(Shingler *s)
{
	if (!s->complete && s->open > 0)
		close_oldest(s);
	if (s->bytes != s->space)
		s->grow(s->bytes, 0);
}
