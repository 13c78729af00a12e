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

PG_FUNCTION_INFO_V1(SIMHASH_FUNCTION(in));
PG_FUNCTION_INFO_V1(SIMHASH_FUNCTION(recv));
PG_FUNCTION_INFO_V1(SIMHASH_FUNCTION(sortsupport));
PG_FUNCTION_INFO_V1(SIMHASH_FUNCTION(hash));
PG_FUNCTION_INFO_V1(SIMHASH_FUNCTION(hash_extended));

/* Return the lower-case digits. */
char *
hamming_to_hex(Fingerprint fingerprint)
{
	char	   *hex = palloc(SIMHASH_HEX_DIGITS + 1);
	int			i;

	hex[SIMHASH_HEX_DIGITS] = '\0';
	for (i = SIMHASH_HEX_DIGITS - 1; i >= 0; i--)
	{
		hex[i] = "0123456789abcdef"[fingerprint & 0xF];
		fingerprint >>= 4;
	}
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

/*
 * Read SIMHASH_HEX_DIGITS hexadecimal or HAMMING_BITS binary digits of the
 * input, which has length bytes.  White space may stand on either side.  Return
 * false if the input is anything else.
 */
bool
hamming_from_text(const char *input, size_t length, Fingerprint *fingerprint)
{
	int			base;
	size_t		i;

	while (length > 0 && simhash_is_space(input[length - 1]))
		length--;
	while (length > 0 && simhash_is_space(*input))
	{
		input++;
		length--;
	}

	if (length != SIMHASH_HEX_DIGITS && length != HAMMING_BITS)
		return false;

	base = length == SIMHASH_HEX_DIGITS ? 16 : 2;
	*fingerprint = 0;
	for (i = 0; i < length; i++)
	{
		int			digit = digit_value(input[i], base);

		if (digit < 0)
			return false;
		*fingerprint = *fingerprint * base + digit;
	}
	return true;
}

/* Return a hint for an input that has twice the digits of a fingerprint. */
static const char *
width_hint(void)
{
	if (HAMMING_BITS == 64)
		return "A fingerprint of 32 hexadecimal digits is a simhash128.";
	return "Store 256 bits as two halves, left(hash, 32) and right(hash, 32).";
}

/* Error: 22P02 for anything that hamming_from_text() does not read. */
Datum
SIMHASH_FUNCTION(in) (PG_FUNCTION_ARGS)
{
	char	   *text = PG_GETARG_CSTRING(0);
	Fingerprint fingerprint;

	if (!hamming_from_text(text, strlen(text), &fingerprint))
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"",
						SIMHASH_TYPE, text),
				 strlen(text) == 2 * SIMHASH_HEX_DIGITS ?
				 errhint("%s", width_hint()) :
				 errhint("A fingerprint has %d hexadecimal digits. Use %s() or "
						 "%s() for a text, and cast a number to numeric first.",
						 SIMHASH_HEX_DIGITS,
						 WIDE_NAME("simhash"), WIDE_NAME("minhash"))));
	PG_RETURN_SIMHASH(fingerprint);
}

SIMHASH_SQL(SIMHASH_FUNCTION(out),
			CStringGetDatum(hamming_to_hex(PG_GETARG_SIMHASH(0))))

/* The bytes in network order; core checks that there are no more. */
Datum
SIMHASH_FUNCTION(recv) (PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);

	PG_RETURN_SIMHASH(simhash_read_bytes(pq_getmsgbytes(buf,
														sizeof(Fingerprint))));
}

static Datum
to_bytea(Fingerprint fingerprint)
{
	bytea	   *bytes = palloc(VARHDRSZ + sizeof(Fingerprint));

	SET_VARSIZE(bytes, VARHDRSZ + sizeof(Fingerprint));
	simhash_write_bytes(fingerprint, VARDATA(bytes));
	return PointerGetDatum(bytes);
}

/* The binary form, and the cast to bytea, are the same. */
SIMHASH_SQL(SIMHASH_FUNCTION(send), to_bytea(PG_GETARG_SIMHASH(0)))
SIMHASH_SQL(SIMHASH_FUNCTION(to_bytea), to_bytea(PG_GETARG_SIMHASH(0)))

/* Comparison, in unsigned order. */

static int
simhash_compare(Fingerprint a, Fingerprint b)
{
	return (a > b) - (a < b);
}

#define COMPARISON(name, op) \
	SIMHASH_SQL(SIMHASH_FUNCTION(name), \
				BoolGetDatum(PG_GETARG_SIMHASH(0) op PG_GETARG_SIMHASH(1)))

COMPARISON(eq, ==)
COMPARISON(ne, !=)
COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)

SIMHASH_SQL(SIMHASH_FUNCTION(cmp),
			Int32GetDatum(simhash_compare(PG_GETARG_SIMHASH(0),
										  PG_GETARG_SIMHASH(1))))

#if HAMMING_BITS > 64
static int
simhash_fast_compare(Datum a, Datum b, SortSupport ssup)
{
	return simhash_compare(DatumGetSimhash(a), DatumGetSimhash(b));
}

/* Return the higher half, which settles nearly all comparisons. */
static Datum
simhash_abbreviate(Datum original, SortSupport ssup)
{
	return UInt64GetDatum(fingerprint_word(DatumGetSimhash(original), 0));
}

/* To make an abbreviation costs nearly nothing. */
static bool
simhash_abort_abbreviation(int count, SortSupport ssup)
{
	return false;
}
#endif

Datum
SIMHASH_FUNCTION(sortsupport) (PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);

	/* core's sort is specialised for this comparator */
	ssup->comparator = ssup_datum_unsigned_cmp;
#if HAMMING_BITS > 64
	if (ssup->abbreviate)
	{
		ssup->abbrev_full_comparator = simhash_fast_compare;
		ssup->abbrev_converter = simhash_abbreviate;
		ssup->abbrev_abort = simhash_abort_abbreviation;
	}
	else
		ssup->comparator = simhash_fast_compare;
#endif
	PG_RETURN_VOID();
}

Datum
SIMHASH_FUNCTION(hash) (PG_FUNCTION_ARGS)
{
	Fingerprint fingerprint = PG_GETARG_SIMHASH(0);

	return hash_any((unsigned char *) &fingerprint, sizeof(fingerprint));
}

Datum
SIMHASH_FUNCTION(hash_extended) (PG_FUNCTION_ARGS)
{
	Fingerprint fingerprint = PG_GETARG_SIMHASH(0);

	return hash_any_extended((unsigned char *) &fingerprint,
							 sizeof(fingerprint), PG_GETARG_INT64(1));
}

/* The least and the greatest are arguments, as they came: no copy is made. */

#define CHOICE(name, op) \
	SIMHASH_SQL(SIMHASH_FUNCTION(name), \
				PG_GETARG_DATUM(PG_GETARG_SIMHASH(0) op PG_GETARG_SIMHASH(1) \
								? 0 : 1))

CHOICE(smaller, <=)
CHOICE(larger, >=)
