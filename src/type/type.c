/*
 * type.c
 *	  The type simhash64: input, output, comparison, hashing.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/sortsupport.h"

#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash64_in);
PG_FUNCTION_INFO_V1(simhash64_out);
PG_FUNCTION_INFO_V1(simhash64_recv);
PG_FUNCTION_INFO_V1(simhash64_send);
PG_FUNCTION_INFO_V1(simhash64_eq);
PG_FUNCTION_INFO_V1(simhash64_ne);
PG_FUNCTION_INFO_V1(simhash64_lt);
PG_FUNCTION_INFO_V1(simhash64_le);
PG_FUNCTION_INFO_V1(simhash64_gt);
PG_FUNCTION_INFO_V1(simhash64_ge);
PG_FUNCTION_INFO_V1(simhash64_cmp);
PG_FUNCTION_INFO_V1(simhash64_sortsupport);
PG_FUNCTION_INFO_V1(simhash64_hash);
PG_FUNCTION_INFO_V1(simhash64_hash_extended);
PG_FUNCTION_INFO_V1(simhash64_smaller);
PG_FUNCTION_INFO_V1(simhash64_larger);

/* Write 16 lower-case hexadecimal digits, without a terminator. */
void
simhash_to_hex(uint64 fingerprint, char *hex)
{
	int			i;

	for (i = 0; i < SIMHASH_HEX_DIGITS; i++)
		hex[i] = "0123456789abcdef"[fingerprint >> (60 - 4 * i) & 0xF];
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
 * Read 16 hexadecimal or 64 binary digits of the input, which has length bytes.
 * White space may stand on either side.  Returns false if the input is anything
 * else.
 */
bool
simhash_from_text(const char *input, size_t length, uint64 *fingerprint)
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

/* Error: 22P02 for anything but 16 hexadecimal or 64 binary digits. */
Datum
simhash64_in(PG_FUNCTION_ARGS)
{
	char	   *text = PG_GETARG_CSTRING(0);
	uint64		fingerprint;

	if (!simhash_from_text(text, strlen(text), &fingerprint))
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"", "simhash64",
						text)));
	PG_RETURN_SIMHASH(fingerprint);
}

Datum
simhash64_out(PG_FUNCTION_ARGS)
{
	char	   *hex = palloc(SIMHASH_HEX_DIGITS + 1);

	simhash_to_hex(PG_GETARG_SIMHASH(0), hex);
	hex[SIMHASH_HEX_DIGITS] = '\0';
	PG_RETURN_CSTRING(hex);
}

/* 8 bytes, network order; core checks that there are no more. */
Datum
simhash64_recv(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIMHASH(pq_getmsgint64((StringInfo) PG_GETARG_POINTER(0)));
}

Datum
simhash64_send(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint64(&buf, PG_GETARG_SIMHASH(0));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* Comparison, in unsigned order. */

static int
simhash_compare(uint64 a, uint64 b)
{
	return (a > b) - (a < b);
}

#define COMPARISON(name, op) \
	Datum name(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_BOOL(PG_GETARG_SIMHASH(0) op PG_GETARG_SIMHASH(1)); \
	}

COMPARISON(simhash64_eq, ==)
COMPARISON(simhash64_ne, !=)
COMPARISON(simhash64_lt, <)
COMPARISON(simhash64_le, <=)
COMPARISON(simhash64_gt, >)
COMPARISON(simhash64_ge, >=)

Datum
simhash64_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(simhash_compare(PG_GETARG_SIMHASH(0),
									PG_GETARG_SIMHASH(1)));
}

#if SIZEOF_DATUM < 8
static int
simhash_fast_compare(Datum a, Datum b, SortSupport ssup)
{
	return simhash_compare(DatumGetSimhash(a), DatumGetSimhash(b));
}
#endif

Datum
simhash64_sortsupport(PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);

#if SIZEOF_DATUM >= 8
	/* core's sort is specialised for this comparator */
	ssup->comparator = ssup_datum_unsigned_cmp;
#else
	ssup->comparator = simhash_fast_compare;
#endif
	PG_RETURN_VOID();
}

Datum
simhash64_hash(PG_FUNCTION_ARGS)
{
	uint64		fingerprint = PG_GETARG_SIMHASH(0);

	return hash_any((unsigned char *) &fingerprint, sizeof(fingerprint));
}

Datum
simhash64_hash_extended(PG_FUNCTION_ARGS)
{
	uint64		fingerprint = PG_GETARG_SIMHASH(0);

	return hash_any_extended((unsigned char *) &fingerprint,
							 sizeof(fingerprint), PG_GETARG_INT64(1));
}

Datum
simhash64_smaller(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIMHASH(Min(PG_GETARG_SIMHASH(0), PG_GETARG_SIMHASH(1)));
}

Datum
simhash64_larger(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIMHASH(Max(PG_GETARG_SIMHASH(0), PG_GETARG_SIMHASH(1)));
}
