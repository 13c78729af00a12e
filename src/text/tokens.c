/*
 * tokens.c
 *	  From text to features: doc/algorithm.md, steps 1 to 3.
 *
 * The text comes in UTF-8, in pieces of any length that end between two code
 * points; bytes that are not valid UTF-8 are separators.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "text/fold.h"
#include "text/tokens.h"
#include "text/unicode_class.h"

/* One token, of one code point. */
static inline void
add_char_token(Shingler *s, const uint8 bytes[UTF8_MAX], size_t length)
{
	shingle_append_char(s, bytes, length);
	shingle_end(s);
}

/* Words: end the run. */
static inline void
end_run(Tokenizer *t)
{
	if (t->run == RUN_SPACED)
		shingle_end(&t->shingler);
	else if (t->run == RUN_UNSPACED && !t->bigram)
		add_char_token(&t->shingler, t->previous, t->previous_length);
	t->run = RUN_NONE;
}

/* Words: what follows is in a script written with spaces. */
static inline void
enter_spaced(Tokenizer *t)
{
	if (t->run != RUN_SPACED)
	{
		end_run(t);
		t->run = RUN_SPACED;
	}
}

/* Words: a code point of a script written without spaces. */
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
}

/* Chars: a letter, mark or digit is about to be added. */
static inline void
close_gap(Tokenizer *t)
{
	static const uint8 space[UTF8_MAX] = " ";

	if (t->gap)
		add_char_token(&t->shingler, space, 1);
	t->started = true;
	t->gap = false;
}

/* Anything that is not a letter, mark or digit. */
static inline void
add_separator(Tokenizer *t)
{
	if (t->chars)
		t->gap = t->started;
	else
		end_run(t);
}

/* A normalised code point: its properties, and its UTF-8. */
static inline void
add_utf8(Tokenizer *t, uint8 properties, const uint8 bytes[UTF8_MAX],
		 size_t length)
{
	if (!(properties & UC_WORD))
		add_separator(t);
	else if (t->chars)
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

/* The same for what comes out of the normaliser. */
static void
add_codepoint(void *arg, uint32 cp)
{
	uint8		bytes[UTF8_MAX] = {0};
	size_t		length = utf8_encode(cp, bytes);

	add_utf8(arg, unicode_class(cp), bytes, length);
}

/* Part of a word, in ASCII: length bytes, of which SHINGLE_PIECE are there. */
static inline void
add_ascii(Tokenizer *t, const uint8 *folded, size_t length)
{
	if (!t->chars)
	{
		enter_spaced(t);
		shingle_append(&t->shingler, folded, length);
		return;
	}
	close_gap(t);
	shingle_add_ascii(&t->shingler, folded, length);
}

/*
 * Take the ASCII bytes at text, at most FOLD_BYTES.  Where anything but ASCII
 * may follow, the last one is left alone: it may be the base of a combining
 * sequence.  Returns how many were taken.
 */
static size_t
feed_ascii(Tokenizer *t, const uint8 *text, const uint8 *end, bool last)
{
	uint8		bytes[FOLD_BYTES];
	uint8		folded[FOLD_BYTES + SHINGLE_PIECE];
	uint64		words;
	uint64		others;
	size_t		left = end - text;
	size_t		taken = Min(left, FOLD_BYTES);
	size_t		at = 0;

	if (left < FOLD_BYTES)
	{
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, text, left);
		text = bytes;
	}
	fold_ascii(text, folded, &words, &others);
	if (others != 0)
	{
		taken = pg_rightmost_one_pos64(others);
		taken -= Min(taken, 1);
	}
	else if (left > FOLD_BYTES ? text[FOLD_BYTES] >= 0x80 : !last)
		taken--;
	if (taken < 64)
		words &= (UINT64CONST(1) << taken) - 1;

	while (words != 0)
	{
		int			skipped = pg_rightmost_one_pos64(words);
		uint64		after;
		size_t		length;

		if (skipped > 0)
			add_separator(t);
		at += skipped;
		words >>= skipped;
		after = ~words;
		length = after == 0 ? 64 : pg_rightmost_one_pos64(after);
		add_ascii(t, folded + at, length);
		at += length;
		words = length < 64 ? words >> length : 0;
	}
	if (at < taken)
		add_separator(t);
	return taken;
}

/* Can feed_ascii take anything at text? */
static inline bool
is_ascii(const uint8 *text, const uint8 *end)
{
	return end - text >1 && (text[0] | text[1]) <0x80;
}

/* A code point in the text, or a byte that is none. */
typedef struct Decoded
{
	uint32		cp;
	uint8		properties;		/* 0 for a byte that is none */
	size_t		length;
} Decoded;

static pg_attribute_always_inline Decoded
decode(const uint8 *text, const uint8 *end)
{
	Decoded		d = {0};

	d.length = utf8_decode(text, end, &d.cp);
	if (d.length == 0)
		d.length = 1;
	else
		d.properties = unicode_class(d.cp);
	return d;
}

/*
 * Take code points, and bytes that are none, until feed_ascii can go on.
 * Returns where.
 */
static const uint8 *
feed_codepoints(Tokenizer *t, const uint8 *text, const uint8 *end, bool last)
{
	Decoded		this = decode(text, end);

	do
	{
		const uint8 *after = text +this.length;
		Decoded		next = {0};
		bool		starts;		/* does nothing that follows combine with this
								 * one? */

		if (after == end)
			starts = last;
		else
		{
			next = decode(after, end);
			starts = (next.properties & (UC_ASSIGNED | UC_STARTS)) !=
				UC_ASSIGNED;
		}

		if (!(this.properties & UC_ASSIGNED))
		{
			normalize_flush(&t->normalizer);
			add_separator(t);
		}
		else if ((this.properties & UC_INERT) && starts)
		{
			uint8		bytes[UTF8_MAX] = {0};

			normalize_flush(&t->normalizer);
			if (end - text >=UTF8_MAX)
				memcpy(bytes, text, UTF8_MAX);
			else
				memcpy(bytes, text, this.length);
			add_utf8(t, this.properties, bytes, this.length);
		}
		else
			simhash_normalize_push(&t->normalizer, this.cp);
		text = after;

		this = next;
	} while (text <end && !is_ascii(text, end));
	return text;
}

/*
 * Prepare to make features of size words (or code points, if chars) each, by
 * weight if there are weights.  A sink gets the bytes of every feature, at the
 * price of memory for the longest one; votes take long ones in constant memory.
 */
void
simhash_tokens_init(Tokenizer *t, uint32 size, bool chars,
					const WeightTable *weights, const MarkFiles *files,
					void *(*resize) (void *, size_t), FeatureTarget target)
{
	t->chars = chars;
	t->run = RUN_NONE;
	t->bigram = false;
	t->started = false;
	t->gap = false;
	simhash_normalize_init(&t->normalizer, files, add_codepoint, t);
	simhash_shingle_init(&t->shingler, size, !chars, weights,
						 target.sink ? resize : NULL, target);
}

/* Take a piece of the text; last says that it is the last one. */
void
simhash_tokens_feed(Tokenizer *t, const uint8 *text, size_t length, bool last)
{
	const uint8 *end = text +length;

	while (text <end)
	{
		if (is_ascii(text, end))
		{
			normalize_flush(&t->normalizer);
			text	  +=feed_ascii(t, text, end, last);
		}
		else
			text = feed_codepoints(t, text, end, last);
	}
	if (last)
	{
		normalize_flush(&t->normalizer);
		if (!t->chars)
			end_run(t);
		simhash_shingle_finish(&t->shingler);
	}
}
