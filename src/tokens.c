/*
 * tokens.c
 *	  From text to features: doc/algorithm.md, steps 1 to 3.
 *
 * The text comes in UTF-8, in pieces of any length that end between two code
 * points; bytes that are not valid UTF-8 are separators.
 */
#include "postgres.h"

#include "tokens.h"
#include "unicode_class.h"

/*
 * Case folding of ASCII: 0 where the byte is not part of a word.
 */
static inline uint8
ascii_fold(uint8 c)
{
	if ((uint8) (c - 'a') < 26 || (uint8) (c - '0') < 10)
		return c;
	return (uint8) (c - 'A') < 26 ? c + ('a' - 'A') : 0;
}

/* One token, whole. */
static void
add_token(Shingler *s, const uint8 *bytes, size_t length)
{
	shingle_begin(s);
	shingle_append(s, bytes, length);
	shingle_end(s);
}

/* Words: end the run. */
static void
end_run(Tokenizer *t)
{
	if (t->run == RUN_SPACED)
		shingle_end(&t->shingler);
	else if (t->run == RUN_UNSPACED && !t->bigram)
		add_token(&t->shingler, t->previous, t->previous_length);
	t->run = RUN_NONE;
}

/* Words: a code point, or more, of a script written with spaces. */
static inline void
add_spaced(Tokenizer *t, const uint8 *bytes, size_t length)
{
	if (t->run != RUN_SPACED)
	{
		end_run(t);
		shingle_begin(&t->shingler);
		t->run = RUN_SPACED;
	}
	shingle_append(&t->shingler, bytes, length);
}

/* Words: a code point of a script written without spaces. */
static void
add_unspaced(Tokenizer *t, const uint8 *bytes, size_t length)
{
	if (t->run == RUN_UNSPACED)
	{
		uint8 bigram[2 * UTF8_MAX];

		memcpy(bigram, t->previous, t->previous_length);
		memcpy(bigram + t->previous_length, bytes, length);
		add_token(&t->shingler, bigram, t->previous_length + length);
		t->bigram = true;
	}
	else
	{
		end_run(t);
		t->run = RUN_UNSPACED;
		t->bigram = false;
	}
	memcpy(t->previous, bytes, length);
	t->previous_length = length;
}

/* Chars: a letter, mark or digit. */
static void
add_char(Tokenizer *t, const uint8 *bytes, size_t length)
{
	if (t->gap)
		add_token(&t->shingler, (const uint8 *) " ", 1);
	add_token(&t->shingler, bytes, length);
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

/* A normalised code point. */
static void
add_codepoint(void *arg, uint32 cp)
{
	Tokenizer *t = arg;
	uint8 properties = unicode_class(cp);
	uint8 bytes[UTF8_MAX];
	size_t length;

	if (!(properties & UC_WORD))
	{
		add_separator(t);
		return;
	}
	length = utf8_encode(cp, bytes);
	if (t->chars)
		add_char(t, bytes, length);
	else if (properties & UC_UNSPACED)
		add_unspaced(t, bytes, length);
	else
		add_spaced(t, bytes, length);
}

/*
 * Take the ASCII bytes at text, but not one that is followed by another byte:
 * that may be the base of a combining sequence.
 */
static const uint8 *
feed_ascii(Tokenizer *t, const uint8 *text, const uint8 *end)
{
	uint8 piece[64];
	size_t length = 0;

	normalize_flush(&t->normalizer);
	for (; text + 1 < end && (text[0] | text[1]) < 0x80; text++)
	{
		uint8 c = ascii_fold(*text);

		if (c != 0 && t->chars)
			add_char(t, &c, 1);
		else if (c != 0)
		{
			piece[length++] = c;
			if (length == sizeof(piece))
			{
				add_spaced(t, piece, length);
				length = 0;
			}
		}
		else
		{
			if (length > 0)
				add_spaced(t, piece, length);
			length = 0;
			add_separator(t);
		}
	}
	if (length > 0)
		add_spaced(t, piece, length);
	return text;
}

/* Does nothing at text combine with what stands before it? */
static bool
starts_anew(const uint8 *text, const uint8 *end, bool last)
{
	uint32 cp;

	if (text == end)
		return last;
	return utf8_decode(text, end, &cp) == 0 ||
		   (unicode_class(cp) & UC_STARTS) != 0;
}

/* Take the code point, or the byte that is none, at text. */
static const uint8 *
feed_codepoint(Tokenizer *t, const uint8 *text, const uint8 *end, bool last)
{
	uint32 cp;
	size_t length = utf8_decode(text, end, &cp);
	uint8 properties = length > 0 ? unicode_class(cp) : 0;

	if (!(properties & UC_ASSIGNED))
	{
		normalize_flush(&t->normalizer);
		add_separator(t);
	}
	else if ((properties & UC_INERT) && starts_anew(text + length, end, last))
	{
		normalize_flush(&t->normalizer);
		add_codepoint(t, cp);
	}
	else
		normalize_push(&t->normalizer, cp);
	return text + Max(length, 1);
}

/*
 * Prepare to make features of size words (or code points, if chars) each.
 * keep_bytes gives the sink the bytes of every feature, at the price of
 * memory for the longest one; without it long ones come as a hash alone.
 */
void
tokens_init(Tokenizer *t, uint32 size, bool chars,
			void *(*resize)(void *, size_t), bool keep_bytes, FeatureSink sink,
			void *arg)
{
	t->chars = chars;
	t->run = RUN_NONE;
	t->bigram = false;
	t->started = false;
	t->gap = false;
	normalize_init(&t->normalizer, resize, add_codepoint, t);
	shingle_init(&t->shingler, size, !chars, keep_bytes ? resize : NULL, sink,
				 arg);
}

/* Take a piece of the text; last says that it is the last one. */
void
tokens_feed(Tokenizer *t, const uint8 *text, size_t length, bool last)
{
	const uint8 *end = text + length;

	while (text < end)
	{
		if (text + 1 < end && (text[0] | text[1]) < 0x80)
			text = feed_ascii(t, text, end);
		else
			text = feed_codepoint(t, text, end, last);
	}
	if (last)
	{
		normalize_finish(&t->normalizer);
		if (!t->chars)
			end_run(t);
		shingle_finish(&t->shingler);
	}
}
