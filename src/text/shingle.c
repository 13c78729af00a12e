/*
 * shingle.c
 *	  Overlapping sequences of tokens: the features of a text.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "text/shingle.h"

/*
 * Prepare s for one text, whose features go to target, which must stay as long
 * as s is used.  A feature is options->size tokens, with a space between two of
 * them unless these are code points.
 */
void
simhash_shingle_init(Shingler *s, const FeatureOptions *options,
					 const FeatureTarget *target)
{
	Assert(options->size >= 1 && options->size <= SHINGLE_MAX);
	s->options = *options;
	s->glue = options->chars ? 0 : 1;
	s->complete = false;
	s->target = target;
	s->bytes = s->space;
	s->length = 0;
	s->capacity = SHINGLE_BYTES;
	s->count = 0;
	s->start[0] = 0;
}

/* Return the length of the tokens i .. i + n - 1, which must have ended. */
static inline size_t
joined_length(const Shingler *s, uint32 i, uint32 n)
{
	return s->start[i + n] - s->glue - s->start[i];
}

/*
 * The tokens i .. i + n - 1 must have least .. most bytes: the compiler relies
 * on that.  Set hash[half][i] to the hash of these tokens for each half.
 */
static pg_attribute_always_inline void
hash_joined(const Shingler *s, uint32 i, uint32 n, size_t least, size_t most,
			int halves, uint64 (*hash)[SHINGLE_TOKENS])
{
	const uint8 *bytes = s->bytes + s->start[i];
	size_t		length = joined_length(s, i, n);
	int			half;

	if (length < least || length > most)
		pg_unreachable();
	for (half = 0; half < halves; half++)
		hash[half][i] = hash_feature(bytes, length, half);
}

/*
 * XXH3 branches on the length: 1 to 3 bytes, 4 to 8, and more.  A processor
 * cannot predict this branch for words: so words are hashed in that order.  The
 * compiler is told what is known of the length, and leaves the branch out.  In
 * the order of the text, simhash() of English takes 11 % longer.
 */
static pg_attribute_always_inline void
hash_all_by(const Shingler *s, uint32 n, uint32 count, int halves,
			uint64 (*hash)[SHINGLE_TOKENS])
{
	uint16		order[3][SHINGLE_TOKENS];
	uint32		filled[3] = {0};
	uint32		i;

	if (n > 1 || !s->glue)
	{
		for (i = 0; i < count; i++)
		{
			size_t		length = joined_length(s, i, n);

			if (length >= 4 && length <= 8)
				hash_joined(s, i, n, 4, 8, halves, hash);
			else
			{
				/* the buffer may have a word of 1 GB, and n shingles with it */
				CHECK_FOR_INTERRUPTS();
				hash_joined(s, i, n, 0, SIZE_MAX, halves, hash);
			}
		}
		return;
	}
	for (i = 0; i < count; i++)
	{
		size_t		length = joined_length(s, i, 1);

		/* without a branch */
		order[0][filled[0]] = i;
		filled[0] += length <= 3;
		order[1][filled[1]] = i;
		filled[1] += length > 3 && length <= 8;
		order[2][filled[2]] = i;
		filled[2] += length > 8;
	}
	for (i = 0; i < filled[0]; i++)
		hash_joined(s, order[0][i], 1, 0, 3, halves, hash);
	for (i = 0; i < filled[1]; i++)
		hash_joined(s, order[1][i], 1, 4, 8, halves, hash);
	for (i = 0; i < filled[2]; i++)
		hash_joined(s, order[2][i], 1, 9, SIZE_MAX, halves, hash);
}

/* Compile hash_all_by() for each number of halves, for constant seeds. */
static INLINE_HASHES void
hash_all(const Shingler *s, uint32 n, uint32 count, int halves,
		 uint64 (*hash)[SHINGLE_TOKENS])
{
	if (halves == 1)
		hash_all_by(s, n, count, 1, hash);
	else
		hash_all_by(s, n, count, HALVES_MAX, hash);
}

/*
 * weight must have room for SHINGLE_TOKENS, and hash[i] be the hash of
 * shingle i for half 0.  Set weight[i] to the mean of the weights of the tokens
 * of shingle i, rounded down, for all i < shingles.
 */
static void
weigh_shingles(const Shingler *s, uint32 shingles, const uint64 *hash,
			   int64 *weight)
{
	uint32		size = s->options.size;
	uint64		token_hash[1][SHINGLE_TOKENS];
	int64		sum = 0;
	uint32		i;

	if (size == 1)
	{
		simhash_weights_of(s->options.weights, hash, weight, shingles);
		return;
	}
	hash_all(s, 1, shingles + size - 1, 1, token_hash);
	simhash_weights_of(s->options.weights, token_hash[0], weight,
					   shingles + size - 1);
	for (i = 0; i < size - 1; i++)
		sum += weight[i];
	for (i = 0; i < shingles; i++)
	{
		int64		oldest = weight[i];

		sum += weight[i + size - 1];
		weight[i] = sum / size;
		sum -= oldest;
	}
}

/* Make features of the shingles 0 .. shingles - 1 of the buffer. */
static void
emit_shingles(Shingler *s, uint32 shingles)
{
	uint64		hash[HALVES_MAX][SHINGLE_TOKENS];
	int64		weight[SHINGLE_TOKENS];
	uint32		i;
	int			half;

	hash_all(s, s->options.size, shingles, s->target->halves, hash);
	if (s->options.weights)
		weigh_shingles(s, shingles, hash[0], weight);
	if (s->target->take_shingles)
	{
		Shingles	all = {shingles, hash, s->bytes, s->start,
		s->start[s->count], s->position};

		s->target->take_shingles(s->target->arg, &all);
		return;
	}
	if (s->target->sink == NULL)
	{
		for (half = 0; half < s->target->halves; half++)
			s->target->methods->add_all(feature_state(s->target, half),
										hash[half], weight, shingles);
		return;
	}
	for (i = 0; i < shingles; i++)
	{
		uint64		one[HALVES_MAX];

		for (half = 0; half < s->target->halves; half++)
			one[half] = hash[half][i];
		s->target->sink(s->target, s->bytes + s->start[i],
						joined_length(s, i, s->options.size), one,
						s->options.weights ? weight[i] : WEIGHT_UNIT);
	}
}

/* There must be stop words.  Is the open token, in the buffer, one of them? */
bool
simhash_shingle_open_is_stop(const Shingler *s)
{
	size_t		from = s->start[s->count];
	uint64		hash = XXH3_64bits(s->bytes + from, s->length - from);
	int64		weight;

	simhash_weights_of(s->options.stops, &hash, &weight, 1);
	return weight == 0;
}

/* Make features of the shingles in the buffer: see Shingler. */
void
simhash_shingle_flush(Shingler *s)
{
	uint32		shingles;
	size_t		drop;
	uint32		i;

	if (s->count < s->options.size)
		return;
	shingles = s->count - s->options.size + 1;
	emit_shingles(s, shingles);
	s->complete = true;

	drop = s->start[shingles];
	memmove(s->bytes, s->bytes + drop, s->length - drop);
	s->length -= drop;
	s->count -= shingles;
	for (i = 0; i <= s->count; i++)
		s->start[i] = s->start[i + shingles] - drop;
	for (i = 0; i < s->count; i++)
		s->position[i] = s->position[i + shingles];
}

/* Give the buffer the room that shingle_has_room() asks for. */
void
simhash_shingle_make_room(Shingler *s)
{
	bool		allocated = s->bytes != s->space;

	simhash_shingle_flush(s);
	if (shingle_has_room(s))
		return;
	s->capacity *= 2;
	s->bytes = simhash_resize_array(allocated ? s->bytes : NULL, s->capacity);
	if (!allocated)
		memcpy(s->bytes, s->space, s->length);
}

/*
 * The text has ended.  If it has fewer tokens than a shingle, all of it is one
 * feature.
 */
void
simhash_shingle_finish(Shingler *s)
{
	simhash_shingle_flush(s);
	if (!s->complete && s->count > 0)
	{
		s->options.size = s->count;
		simhash_shingle_flush(s);
	}
	if (s->bytes != s->space)
		simhash_resize_array(s->bytes, 0);
}
