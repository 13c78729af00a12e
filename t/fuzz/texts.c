/*
 * texts.c
 *	  Random texts, of what is most likely to go wrong.
 */
#include "postgres.h"

#include <utf8proc.h>

#include "text/shingle.h"
#include "fuzz.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzXYZ019"

static uint64 random_seed;
static uint64 random_count;

void
seed_random(uint64 seed)
{
	random_seed = seed;
	random_count = 0;
}

uint64
random_bits(void)
{
	return naive_split_mix(random_seed, random_count++);
}

uint32
below(uint32 limit)
{
	return random_bits() % limit;
}

static void
append_codepoint(Buffer *b, int32 cp)
{
	uint8		bytes[4];

	append(b, bytes, utf8proc_encode_char(cp, bytes));
}

/* Append bytes, each of them one of some. */
static void
append_some(Buffer *body, size_t count, const char *some)
{
	while (count-- > 0)
		append(body, some + below(strlen(some)), 1);
}

static void
add_word(Buffer *body)
{
	append_some(body, 1 + below(below(4) > 0 ? 12 : 150), LETTERS);
}

/* As many tokens as the buffer of the shingler ever holds. */
static void
add_letter(Buffer *body)
{
	append_some(body, 1, LETTERS);
	append(body, " ", 1);
}

/* Whole pieces of what is appended without a loop. */
static void
add_full_pieces(Buffer *body)
{
	append_some(body, SHINGLE_PIECE * (1 + below(4)), LETTERS);
}

static void
add_separator(Buffer *body)
{
	append_some(body, 1, " .,-\n_\x01\x7f");
}

/* A token about as long as something that is limited. */
static void
add_long_token(Buffer *body)
{
	/* SHINGLE_PIECE, _TOKENS and _BYTES; what XXH3 takes in another way */
	static const uint32 limit[] = {64, 128, 240, 2048, 4096,
	8064, 8128, 8192, 16384, 20000};
	size_t		end = body->length + ONE_OF(limit) + below(9) - 4;
	uint32		script = below(3);

	while (body->length < end)
	{
		if (script == 0 || (script == 1 && below(9) > 0))
			append_some(body, 1, LETTERS);
		else
			append_codepoint(body, 0x430 + below(32));
	}
	if (below(8) > 0)
		append(body, " ", 1);
}

/* A sequence of marks, sometimes a long one. */
static void
add_marks(Buffer *body)
{
	/* of several classes; also vowels and Jamo that compose, and nothing */
	static const int32 mark[] = {0x301, 0x323, 0x345, 0x3099, 0x5B0,
	0x9BE, 0x1161, 0x11A8, 0xAD};
	static const uint32 limit[] = {5, 5, 5, 5, 2050, 300, 3000};
	int32		often = ONE_OF(mark);
	int32		seldom = ONE_OF(mark);
	uint32		count = below(ONE_OF(limit));

	while (count-- > 0)
		append_codepoint(body, below(3) > 0 ? often : seldom);
}

/* A run in one script. */
static void
add_run(Buffer *body)
{
	/* Han, Hiragana, Thai, Cyrillic, Hangul */
	static const int32 start[] = {0x4E00, 0x3041, 0xE01, 0x430, 0xAC00};
	int32		from = ONE_OF(start);
	uint32		length = 1 + below(60);

	while (length-- > 0)
		append_codepoint(body, from + below(40));
}

/* A code point that some rule treats in its own way. */
static void
add_special(Buffer *body)
{
	/* marks, Hangul, what has cases or mappings, unspaced, and no words */
	static const int32 special[] = {
		0x301, 0x323, 0x344, 0x345, 0x3099, 0x309A, 0x5B0, 0x591,
		0xF73, 0x9BE, 0x9C7, 0xE31, 0xE48, 0x1D165, 0x1100, 0x1161,
		0x115F, 0x11A8, 0xAC00, 0xAC01, 0xDF, 0x130, 0x1E9E, 0x1FB3,
		0x3B1, 0x430, 0xFB01, 0xBC, 0xC5, 0x212B, 0x2126, 0x2460,
		0xFDFA, 0xFF21, 0x1D15E, 0x2F800, 0x304B, 0x3042, 0x4E00, 0xE01,
		0x20000, 0xAD, 0x200D, 0x2028, 0x3000, 0x378, 0x10FFFF
	};

	append_codepoint(body, ONE_OF(special));
}

static void
add_any(Buffer *body)
{
	int32		cp = below(0x110000 - 0x800);

	append_codepoint(body, cp < 0xD800 ? cp : cp + 0x800);
}

/* Hardly ever part of a code point. */
static void
add_byte(Buffer *body)
{
	uint8		byte = 0x80 + below(0x80);

	append(body, &byte, 1);
}

/* Make a text of a few kinds of stretches. */
void
make_text(Buffer *body)
{
	static void (*const add[]) (Buffer *) = {
		add_word, add_letter, add_full_pieces, add_separator, add_long_token,
		add_marks, add_run, add_special, add_any, add_byte
	};
	void		(*chosen[4]) (Buffer *);
	uint32		kinds = 1 + below(lengthof(chosen));
	size_t		length = below(1 << below(19));
	uint32		i;

	for (i = 0; i < kinds; i++)
		chosen[i] = ONE_OF(add);
	body->length = 0;
	while (body->length < length)
		chosen[below(kinds)] (body);
}
