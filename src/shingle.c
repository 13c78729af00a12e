/*
 * shingle.c
 *	  Overlapping sequences of n tokens: the features of a text.
 */
#include "postgres.h"

#include "shingle.h"

void
shingle_init(Shingler *s, uint32 size, bool joined, const WeightTable *weights,
			 void *(*grow)(void *, size_t), FeatureTarget target)
{
	Assert(size >= 1 && size <= SHINGLE_MAX);
	s->size = size;
	s->joint = joined ? 1 : 0;
	s->complete = false;
	s->weights = weights;
	s->target = target;
	s->bytes = s->space;
	s->length = 0;
	s->capacity = SHINGLE_BYTES;
	s->count = 0;
	s->start[0] = 0;
	s->first = 0;
	s->streamed = 0;
	s->joint_due = false;
	s->open_is_long = false;
	s->grow = grow;
}

/* Emit the shingles of the buffer, where all tokens weigh 1. */
static void
emit_plain(Shingler *s, uint32 shingles)
{
	const FeatureTarget target = s->target;
	const uint8 *bytes = s->bytes;
	const size_t *start = s->start;
	uint32 i;

	for (i = 0; i < shingles; i++)
	{
		const uint8 *shingle = bytes + start[i];
		size_t length = start[i + s->size] - s->joint - start[i];

		feature_add(&target, shingle, length, XXH3_64bits(shingle, length),
					WEIGHT_UNIT);
	}
}

/* The same by weight: that of a shingle is the mean of its tokens'. */
static void
emit_weighted(Shingler *s, uint32 shingles)
{
	const FeatureTarget target = s->target;
	const uint8 *bytes = s->bytes;
	const size_t *start = s->start;
	int64 weight[SHINGLE_TOKENS];
	int64 sum = 0;
	uint32 i;

	for (i = 0; i < shingles + s->size - 1; i++)
	{
		const uint8 *token = bytes + start[i];
		size_t length = start[i + 1] - s->joint - start[i];
		uint64 hash = XXH3_64bits(token, length);

		weight[i] = weight_of(s->weights, hash);
		sum += weight[i];
		if (i + 1 >= s->size)
		{
			uint32 oldest = i + 1 - s->size;

			if (s->size > 1)
			{
				token = bytes + start[oldest];
				length = start[i + 1] - s->joint - start[oldest];
				hash = XXH3_64bits(token, length);
			}
			feature_add(&target, token, length, hash, sum / s->size);
			sum -= weight[oldest];
		}
	}
}

/* Turn the shingles of the buffer into features, and make room. */
void
shingle_flush(Shingler *s)
{
	uint32 shingles;
	size_t drop;
	uint32 i;

	if (s->count < s->size)
		return;
	shingles = s->count - s->size + 1;
	if (s->weights)
		emit_weighted(s, shingles);
	else
		emit_plain(s, shingles);
	s->complete = true;

	drop = s->start[shingles];
	memmove(s->bytes, s->bytes + drop, s->length - drop);
	s->length -= drop;
	s->count -= shingles;
	for (i = 0; i <= s->count; i++)
		s->start[i] = s->start[i + shingles] - drop;
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

/* The i-th oldest long shingle. */
static inline LongShingle *
long_shingle(Shingler *s, uint32 i)
{
	return &s->slots[(s->first + i) % SHINGLE_MAX];
}

/* Weight of token i of the buffer, which ends at the given place. */
static int64
token_weight(const Shingler *s, uint32 i, size_t end)
{
	if (s->weights == NULL)
		return WEIGHT_UNIT;
	return weight_of(s->weights,
					 XXH3_64bits(s->bytes + s->start[i], end - s->start[i]));
}

/*
 * Empty the buffer: its shingles, and that of the open token, which may have
 * no byte yet, go on as long ones.
 */
static void
stream(Shingler *s)
{
	uint32 i;
	uint32 j;

	for (i = 0; i <= s->count; i++)
	{
		LongShingle *shingle = long_shingle(s, s->streamed++);

		XXH3_64bits_reset(&shingle->hash);
		XXH3_64bits_update(&shingle->hash, s->bytes + s->start[i],
						   s->length - s->start[i]);
		shingle->tokens = s->count - i;
		shingle->weight = 0;
		for (j = i; j < s->count; j++)
			shingle->weight += token_weight(s, j, s->start[j + 1] - s->joint);
	}
	XXH3_64bits_reset(&s->open_token);
	XXH3_64bits_update(&s->open_token, s->bytes + s->start[s->count],
					   s->length - s->start[s->count]);
	s->open_is_long = true;
	s->length = 0;
	s->count = 0;
}

/* shingle_append where there is no room, or a long shingle is open. */
void
shingle_append_long(Shingler *s, const uint8 *bytes, size_t length)
{
	uint32 i;

	if (s->joint_due)
	{
		for (i = 0; i < s->streamed; i++)
			XXH3_64bits_update(&long_shingle(s, i)->hash, " ", 1);
		s->joint_due = false;
	}
	if (!s->open_is_long && s->length + SHINGLE_PIECE + 1 > s->capacity)
	{
		shingle_flush(s);
		if (s->length + SHINGLE_PIECE + 1 > s->capacity)
		{
			if (s->grow)
				enlarge(s, s->length + SHINGLE_PIECE + 1);
			else
				stream(s);
		}
	}
	for (i = 0; i < s->streamed; i++)
		XXH3_64bits_update(&long_shingle(s, i)->hash, bytes, length);
	if (s->open_is_long)
		XXH3_64bits_update(&s->open_token, bytes, length);
	else
	{
		memcpy(s->bytes + s->length, bytes, length);
		s->length += length;
	}
}

/* Close the oldest long shingle, as a feature. */
static void
close_long(Shingler *s)
{
	LongShingle *shingle = long_shingle(s, 0);

	uint64 hash = XXH3_64bits_digest(&shingle->hash);

	feature_add(&s->target, NULL, 0, hash, shingle->weight / shingle->tokens);
	s->first = (s->first + 1) % SHINGLE_MAX;
	s->streamed--;
	s->complete = true;
}

/* shingle_end where a long shingle is open. */
void
shingle_end_long(Shingler *s)
{
	int64 weight;
	uint32 i;

	if (!s->open_is_long)
		weight = token_weight(s, s->count, s->length);
	else if (s->weights)
		weight = weight_of(s->weights, XXH3_64bits_digest(&s->open_token));
	else
		weight = WEIGHT_UNIT;

	for (i = 0; i < s->streamed; i++)
	{
		long_shingle(s, i)->tokens++;
		long_shingle(s, i)->weight += weight;
	}
	if (long_shingle(s, 0)->tokens == s->size)
		close_long(s);
	s->joint_due = s->joint > 0;

	if (!s->open_is_long)
	{
		s->bytes[s->length] = ' ';
		s->length += s->joint;
		s->start[++s->count] = s->length;
		if (s->count == SHINGLE_TOKENS)
			shingle_flush(s);
	}
	s->open_is_long = false;
}

/* The text ends.  If it has fewer than n tokens, all of it is one feature. */
void
shingle_finish(Shingler *s)
{
	shingle_flush(s);
	if (!s->complete && s->streamed > 0)
		close_long(s);
	else if (!s->complete && s->count > 0)
	{
		s->size = s->count;
		shingle_flush(s);
	}
	if (s->bytes != s->space)
		s->grow(s->bytes, 0);
}
