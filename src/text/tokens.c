/*
 * tokens.c
 *	  From text to tokens: "Normalisation" and "Tokens" of doc/algorithm.md.
 *
 * A code point takes one of three ways.  ASCII is folded and split 64 bytes at
 * a time.  A code point that normalisation leaves alone goes straight to
 * add_utf8().  All others go there through the normaliser.  The shingler joins
 * the tokens to features.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "text/tokens.h"
#include "type/cpu.h"

#define FOLD_BYTES 64			/* as a mask has bits */

#ifdef SIMHASH_SSE2
/*
 * Which bytes of x are one of count characters from first on?  Those with x -
 * first < count, unsigned.  SSE2 compares signed bytes: so 128 is taken from
 * both sides.
 */
static inline __m128i
are_from(__m128i x, int first, int count)
{
	return _mm_cmplt_epi8(_mm_sub_epi8(x, _mm_set1_epi8((char) (0x80 + first))),
						  _mm_set1_epi8((char) (0x80 + count)));
}
#endif

/*
 * Fold the case of FOLD_BYTES bytes.  Bit i of *words says that bytes[i] is an
 * ASCII letter or digit, and bit i of *others that bytes[i] is not ASCII.
 * folded[i] means nothing unless bit i of *words is set.
 */
static inline void
fold_ascii(const uint8 *bytes, uint8 *folded, uint64 *words, uint64 *others)
{
	int			i;

	*words = 0;
	*others = 0;
#ifdef SIMHASH_SSE2
	for (i = 0; i < FOLD_BYTES; i += 16)
	{
		__m128i		x = _mm_loadu_si128((const __m128i *) (bytes + i));
		__m128i		lower = _mm_or_si128(x, _mm_set1_epi8(0x20));
		__m128i		letter = are_from(lower, 'a', 26);
		__m128i		digit = are_from(x, '0', 10);

		/* a digit has the case bit already */
		_mm_storeu_si128((__m128i *) (folded + i), lower);
		*words |= (uint64) _mm_movemask_epi8(_mm_or_si128(letter, digit)) << i;
		*others |= (uint64) _mm_movemask_epi8(x) << i;
	}
#else
	for (i = 0; i < FOLD_BYTES; i++)
	{
		uint8		lower = bytes[i] | 0x20;
		bool		letter = (uint8) (lower - 'a') < 26;
		bool		digit = (uint8) (bytes[i] - '0') < 10;

		folded[i] = lower;
		*words |= (uint64) (letter || digit) << i;
		*others |= (uint64) (bytes[i] >> 7) << i;
	}
#endif
}

/*
 * Add a code point of length bytes, which ends a token.  UTF8_MAX bytes must be
 * readable; this holds for all functions here that take bytes[UTF8_MAX].
 */
static inline void
add_char_token(Shingler *s, const uint8 bytes[UTF8_MAX], size_t length)
{
	shingle_append_char(s, bytes, length);
	shingle_end(s);
}

static inline void
end_run(Tokenizer *t)
{
	if (t->run == RUN_SPACED)
		shingle_end(&t->shingler);
	else if (t->run == RUN_UNSPACED && !t->bigram)
		add_char_token(&t->shingler, t->previous, t->previous_length);
	t->run = RUN_NONE;
}

/* Words: a code point of a script written with spaces is about to be added. */
static inline void
enter_spaced(Tokenizer *t)
{
	if (t->run != RUN_SPACED)
	{
		end_run(t);
		t->run = RUN_SPACED;
		t->shingler.open_position = t->token_position;
	}
}

/* Words: add a code point of a script written without spaces. */
static inline void
add_unspaced(Tokenizer *t, const uint8 bytes[UTF8_MAX], size_t length)
{
	if (t->run == RUN_UNSPACED)
	{
		shingle_append_char(&t->shingler, t->previous, t->previous_length);
		add_char_token(&t->shingler, bytes, length);
		t->bigram = true;
	}
	else
	{
		end_run(t);
		t->run = RUN_UNSPACED;
		t->bigram = false;
	}
	memcpy(t->previous, bytes, UTF8_MAX);
	t->previous_length = length;
	/* the next token begins with this code point */
	t->shingler.open_position = t->token_position;
}

/* Chars: a letter, mark or digit is about to be added. */
static inline void
close_gap(Tokenizer *t)
{
	static const uint8 space[UTF8_MAX] = " ";

	t->shingler.open_position = t->token_position;
	if (t->gap)
		add_char_token(&t->shingler, space, 1);
	t->started = true;
	t->gap = false;
}

static inline void
add_separator(Tokenizer *t)
{
	if (t->shingler.options.chars)
		t->gap = t->started;
	else
		end_run(t);
}

/* Add a normalised code point, by its UC_ properties and its UTF-8. */
static inline void
add_utf8(Tokenizer *t, uint8 properties, const uint8 bytes[UTF8_MAX],
		 size_t length)
{
	if (!(properties & UC_WORD))
		add_separator(t);
	else if (t->shingler.options.chars)
	{
		close_gap(t);
		add_char_token(&t->shingler, bytes, length);
	}
	else if (properties & UC_UNSPACED)
		add_unspaced(t, bytes, length);
	else
	{
		enter_spaced(t);
		shingle_append_char(&t->shingler, bytes, length);
	}
}

/* The emit of the normaliser: arg is the Tokenizer. */
static void
add_codepoint(void *arg, uint32 cp)
{
	uint8		bytes[UTF8_MAX] = {0};
	size_t		length = utf8_encode(cp, bytes);
	Tokenizer  *t = arg;

	t->token_position = t->normalizer.position;
	add_utf8(t, unicode_class(cp), bytes, length);
}

/*
 * Add folded[0 .. length), a run of ASCII letters and digits.  length is
 * FOLD_BYTES at most.  SHINGLE_PIECE bytes must be readable.
 */
static inline void
add_ascii(Tokenizer *t, const uint8 *folded, size_t length)
{
	if (!t->shingler.options.chars)
	{
		enter_spaced(t);
		shingle_append(&t->shingler, folded, length);
		return;
	}
	close_gap(t);
	shingle_add_ascii(&t->shingler, folded, length);
}

/*
 * is_ascii(from, end) must hold; last says that the text ends at end.  Add the
 * ASCII bytes at from, FOLD_BYTES at most, and return their number.
 *
 * If something else than ASCII may follow the last of these bytes, that byte
 * is left, as it may be the base of a combining sequence.  As is_ascii() holds
 * for two bytes, at least one is added.
 */
static size_t
feed_ascii(Tokenizer *t, const uint8 *from, const uint8 *end, bool last)
{
	uint8		bytes[FOLD_BYTES];
	uint8		folded[FOLD_BYTES + SHINGLE_PIECE];
	uint64		words;
	uint64		others;
	size_t		left = end - from;
	size_t		taken = Min(left, FOLD_BYTES);
	size_t		offset = 0;

	if (left < FOLD_BYTES)
	{
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, from, left);
		from = bytes;
	}
	fold_ascii(from, folded, &words, &others);
	if (others != 0)
	{
		taken = pg_rightmost_one_pos64(others);
		taken -= Min(taken, 1);
	}
	else if (left > FOLD_BYTES ? from[FOLD_BYTES] >= 0x80 : !last)
		taken--;
	if (taken < FOLD_BYTES)
		words &= (UINT64CONST(1) << taken) - 1;

	while (words != 0)
	{
		int			skipped = pg_rightmost_one_pos64(words);
		uint64		after;
		size_t		length;

		if (skipped > 0)
			add_separator(t);
		offset += skipped;
		words >>= skipped;
		after = ~words;
		length = after == 0 ? FOLD_BYTES : pg_rightmost_one_pos64(after);
		t->token_position = t->position + offset;
		/* below FOLD_BYTES: SHINGLE_PIECE bytes of folded follow offset */
		add_ascii(t, folded + offset, length);
		offset += length;
		words = length < FOLD_BYTES ? words >> length : 0;
	}
	if (offset < taken)
		add_separator(t);
	return taken;
}

/* Are the next two bytes ASCII, so that feed_ascii() can go on at from? */
static inline bool
is_ascii(const uint8 *from, const uint8 *end)
{
	return end - from > 1 && (from[0] | from[1]) < 0x80;
}

/* A code point of the text, or a byte that is not part of valid UTF-8. */
typedef struct Decoded
{
	uint32		cp;				/* means nothing for such a byte */
	uint8		properties;		/* UC_ bits; 0 for such a byte */
	size_t		length;			/* bytes; 1 for such a byte */
} Decoded;

/* from must be before end.  Return what stands at from. */
static pg_attribute_always_inline Decoded
decode(const uint8 *from, const uint8 *end)
{
	Decoded		d = {0};

	d.length = utf8_decode(from, end, &d.cp);
	if (d.length == 0)
		d.length = 1;
	else
		d.properties = unicode_class(d.cp);
	return d;
}

/*
 * from must be before end.  Add code points, and bytes that are not valid
 * UTF-8.  Return where this stops: at end, or where is_ascii() holds.
 */
static const uint8 *
feed_codepoints(Tokenizer *t, const uint8 *from, const uint8 *end, bool last)
{
	Decoded		this = decode(from, end);

	do
	{
		const uint8 *after = from + this.length;
		Decoded		next = {0};
		bool		is_whole;	/* does nothing later combine with it? */

		if (after == end)
			is_whole = last;
		else
		{
			next = decode(after, end);
			is_whole = (next.properties & (UC_ASSIGNED | UC_STARTS)) !=
				UC_ASSIGNED;
		}

		if (!(this.properties & UC_ASSIGNED))
		{
			normalize_flush(&t->normalizer);
			add_separator(t);
		}
		else if ((this.properties & UC_INERT) && is_whole)
		{
			uint8		bytes[UTF8_MAX] = {0};

			normalize_flush(&t->normalizer);
			if (end - from >= UTF8_MAX)
				memcpy(bytes, from, UTF8_MAX);
			else
				memcpy(bytes, from, this.length);
			t->token_position = t->position;
			add_utf8(t, this.properties, bytes, this.length);
		}
		else
			simhash_normalize_push(&t->normalizer, this.cp, t->position);
		t->position += t->bytewise ? this.length : 1;
		from = after;
		this = next;
	} while (from < end && !is_ascii(from, end));
	return from;
}

/*
 * Prepare t for one text, whose features go to target.  feature_begin() must
 * come before the first feature, weighted if options->weights is not NULL.  t
 * must stay where it is, and target and the tables of options must stay as long
 * as t is used.
 */
void
simhash_tokens_init(Tokenizer *t, const FeatureOptions *options,
					const FeatureTarget *target)
{
	memset(t, 0, offsetof(Tokenizer, shingler));
	t->normalizer.emit = add_codepoint;
	t->normalizer.arg = t;
	simhash_shingle_init(&t->shingler, options, target);
}

/*
 * Make features of the next piece of the text.  A piece may be empty, and must
 * end between two code points.  Each byte that is not part of valid UTF-8 is a
 * separator.  After the last piece t needs no freeing.
 */
void
simhash_tokens_feed(Tokenizer *t, const uint8 *bytes, size_t length, bool last)
{
	const uint8 *end = bytes + length;

	while (bytes < end)
	{
		if (is_ascii(bytes, end))
		{
			size_t		taken;

			normalize_flush(&t->normalizer);
			taken = feed_ascii(t, bytes, end, last);
			t->position += taken;
			bytes += taken;
		}
		else
			bytes = feed_codepoints(t, bytes, end, last);
	}
	if (last)
	{
		normalize_flush(&t->normalizer);
		if (t->normalizer.sequence)
			simhash_resize_array(t->normalizer.sequence, 0);
		if (!t->shingler.options.chars)
			end_run(t);
		simhash_shingle_finish(&t->shingler);
	}
}
