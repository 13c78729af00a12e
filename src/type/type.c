/*
 * type.c
 *	  The types simhash64 and simhash128: input, output, comparison, hashing.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/sortsupport.h"

#include "type/simhash.h"

/* Return the lower-case digits. */
char *
simhash_to_hex(const uint64 *word, int count)
{
	char	   *hex = palloc(16 * count + 1);
	int			i;

	for (i = 0; i < 16 * count; i++)
		hex[i] = "0123456789abcdef"[word[i / 16] >> (60 - 4 * (i % 16)) & 0xF];
	hex[i] = '\0';
	return hex;
}

/* Return the value of a digit in base 2 or 16; -1 if it is none. */
static int
digit_value(char c, int base)
{
	if (c >= '0' && c <= (base == 2 ? '1' : '9'))
		return c - '0';
	if (base == 16 && c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (base == 16 && c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Read 16 hexadecimal or 64 binary digits; return false for anything else. */
static bool
read_word(const char *input, int digits, uint64 *word)
{
	int			base = digits == 16 ? 16 : 2;
	uint64		value = 0;
	int			i;

	for (i = 0; i < digits; i++)
	{
		int			digit = digit_value(input[i], base);

		if (digit < 0)
			return false;
		value = value * base + digit;
	}
	*word = value;
	return true;
}

/*
 * Read 16 * count hexadecimal or 64 * count binary digits of the input, which
 * has length bytes.  White space may stand on either side.  Return false if the
 * input is anything else.
 */
bool
simhash_from_text(const char *input, int length, uint64 *word, int count)
{
	int			i;

	while (length > 0 && simhash_is_space(input[length - 1]))
		length--;
	while (length > 0 && simhash_is_space(*input))
	{
		input++;
		length--;
	}

	if (length != 16 * count && length != 64 * count)
		return false;

	length /= count;
	for (i = 0; i < count; i++)
		if (!read_word(input + i * length, length, word + i))
			return false;
	return true;
}

/* Error: 22P02 for anything that simhash_from_text() does not read. */
static Datum
read_text(FunctionCallInfo fcinfo, int words)
{
	char	   *text = PG_GETARG_CSTRING(0);
	const char *suffix = words == 1 ? "" : "_128";
	uint64		word[HAMMING_MAX_WORDS];

	if (!simhash_from_text(text, strlen(text), word, words))
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type simhash%d: \"%s\"",
						64 * words, text),
				 (int) strlen(text) == 32 * words ?
				 errhint(words == 1 ? "A fingerprint of 32 hexadecimal digits "
						 "is a simhash128." : "Store 256 bits as two halves, "
						 "left(hash, 32) and right(hash, 32).") :
				 errhint("A fingerprint has %d hexadecimal digits. Use "
						 "simhash%s() or minhash%s() for a text, and cast a "
						 "number to numeric first.",
						 16 * words, suffix, suffix)));
	return simhash_words_datum(word, words);
}

SIMHASH_SQL_TYPES(in, read_text(fcinfo, words))

static Datum
show_text(FunctionCallInfo fcinfo, int words)
{
	uint64		word[HAMMING_MAX_WORDS];

	simhash_datum_words(PG_GETARG_DATUM(0), word, words);
	PG_RETURN_CSTRING(simhash_to_hex(word, words));
}

SIMHASH_SQL_TYPES(out, show_text(fcinfo, words))

/* The bytes in network order; core checks that there are no more. */
static Datum
receive(FunctionCallInfo fcinfo, int words)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);

	return simhash_bytes_datum(pq_getmsgbytes(buf, words * sizeof(uint64)),
							   words);
}

SIMHASH_SQL_TYPES(recv, receive(fcinfo, words))

static Datum
to_bytea(FunctionCallInfo fcinfo, int words)
{
	bytea	   *bytes = palloc(VARHDRSZ + words * sizeof(uint64));
	uint64		word[HAMMING_MAX_WORDS];

	SET_VARSIZE(bytes, VARHDRSZ + words * sizeof(uint64));
	simhash_datum_words(PG_GETARG_DATUM(0), word, words);
	simhash_write_bytes(word, words, VARDATA(bytes));
	PG_RETURN_BYTEA_P(bytes);
}

/* The binary form, and the cast to bytea, are the same. */
SIMHASH_SQL_TYPES(send, to_bytea(fcinfo, words))
SIMHASH_SQL_TYPES(to_bytea, to_bytea(fcinfo, words))

/* Comparison, in unsigned order. */

static pg_attribute_always_inline int
compare(Datum a, Datum b, int words)
{
	uint64		x[HAMMING_MAX_WORDS];
	uint64		y[HAMMING_MAX_WORDS];

	simhash_datum_words(a, x, words);
	simhash_datum_words(b, y, words);
	return words_compare(x, y, words);
}

static pg_attribute_always_inline int
compare_arguments(FunctionCallInfo fcinfo, int words)
{
	return compare(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), words);
}

#define COMPARISON(name, op) \
	SIMHASH_SQL_TYPES(name, BoolGetDatum(compare_arguments(fcinfo, words) op 0))

COMPARISON(eq, ==)
COMPARISON(ne, !=)
COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)
SIMHASH_SQL_TYPES(cmp, Int32GetDatum(compare_arguments(fcinfo, words)))

static int
compare_wide(Datum a, Datum b, SortSupport ssup)
{
	return compare(a, b, 2);
}

/* Return word 0, which settles nearly all comparisons. */
static Datum
abbreviate(Datum original, SortSupport ssup)
{
	return simhash_bytes_datum(DatumGetPointer(original), 1);
}

/* To make an abbreviation costs nearly nothing. */
static bool
abort_abbreviation(int count, SortSupport ssup)
{
	return false;
}

static Datum
support_sort(SortSupport ssup, int words)
{
	/* core's sort is specialised for this comparator */
	ssup->comparator = ssup_datum_unsigned_cmp;
	if (words > 1 && ssup->abbreviate)
	{
		ssup->abbrev_full_comparator = compare_wide;
		ssup->abbrev_converter = abbreviate;
		ssup->abbrev_abort = abort_abbreviation;
	}
	else if (words > 1)
		ssup->comparator = compare_wide;
	PG_RETURN_VOID();
}

SIMHASH_SQL_TYPES(sortsupport,
				  support_sort((SortSupport) PG_GETARG_POINTER(0), words))

/*
 * Return a hash of the fingerprint as an integer of the machine.  With the seed
 * 0, its lower 32 bits are what hash_any() makes.
 */
static uint64
seeded_hash(Datum fingerprint, int words, uint64 seed)
{
	uint64		word[HAMMING_MAX_WORDS];

	simhash_datum_words(fingerprint, word, words);
	simhash_swap_words(word, words);
	return hash_bytes_extended((unsigned char *) word, words * sizeof(uint64),
							   seed);
}

SIMHASH_SQL_TYPES(hash,
				  UInt32GetDatum((uint32) seeded_hash(PG_GETARG_DATUM(0), words,
													  0)))
SIMHASH_SQL_TYPES(hash_extended,
				  UInt64GetDatum(seeded_hash(PG_GETARG_DATUM(0), words,
											 PG_GETARG_INT64(1))))

/* The least and the greatest are arguments, as they came: no copy is made. */

#define CHOICE(name, op) \
	SIMHASH_SQL_TYPES(name, \
					  PG_GETARG_DATUM(compare_arguments(fcinfo, words) op 0 \
									  ? 0 : 1))

CHOICE(smaller, <=)
CHOICE(larger, >=)
