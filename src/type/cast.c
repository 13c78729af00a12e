/*
 * cast.c
 *	  Casts between fingerprints and bit(n), numeric and bytea; and to
 *	  simhash64 from the smaller integers and from simhash128.  type.c has
 *	  that to bytea.
 *
 * bigint and simhash64 need no function: they are the same 64 bits.  uuid and
 * simhash128 need none either: they are the same 16 bytes.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/numeric.h"
#include "utils/varbit.h"

#include "type/simhash.h"

PG_FUNCTION_INFO_V1(SIMHASH_FUNCTION(from_bit));
PG_FUNCTION_INFO_V1(SIMHASH_FUNCTION(to_bit));
PG_FUNCTION_INFO_V1(SIMHASH_FUNCTION(from_numeric));
PG_FUNCTION_INFO_V1(SIMHASH_FUNCTION(to_numeric));
PG_FUNCTION_INFO_V1(SIMHASH_FUNCTION(from_bytea));

/* Error: 22026 for any length but HAMMING_BITS. */
Datum
SIMHASH_FUNCTION(from_bit) (PG_FUNCTION_ARGS)
{
	VarBit	   *bits = PG_GETARG_VARBIT_P(0);

	if (VARBITLEN(bits) != HAMMING_BITS)
		ereport(ERROR, (errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
						errmsg("bit string length %d does not match type %s",
							   VARBITLEN(bits), SIMHASH_TYPE),
						errdetail("A %s has %d bits.", SIMHASH_TYPE,
								  HAMMING_BITS)));
	PG_RETURN_SIMHASH(simhash_read_bytes(VARBITS(bits)));
}

Datum
SIMHASH_FUNCTION(to_bit) (PG_FUNCTION_ARGS)
{
	VarBit	   *bits = palloc(VARBITTOTALLEN(HAMMING_BITS));

	SET_VARSIZE(bits, VARBITTOTALLEN(HAMMING_BITS));
	VARBITLEN(bits) = HAMMING_BITS;
	simhash_write_bytes(PG_GETARG_SIMHASH(0), VARBITS(bits));
	PG_RETURN_VARBIT_P(bits);
}

/* Read decimal digits; return false for anything else or too large a value. */
static bool
read_decimal(const char *digits, Fingerprint *value)
{
	*value = 0;
	for (; *digits; digits++)
	{
		unsigned	digit = *digits - '0';

		if (digit > 9 || *value > (FINGERPRINT_ALL_BITS - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	return true;
}

/*
 * Read an integer of -2^(n - 1) .. 2^n - 1, where n is HAMMING_BITS.  Return
 * false for anything else.
 */
static bool
read_integer(const char *number, Fingerprint *value)
{
	if (*number != '-')
		return read_decimal(number, value);
	if (!read_decimal(number + 1, value) ||
		*value > fingerprint_bit(HAMMING_BITS - 1))
		return false;
	*value = -*value;			/* two's complement */
	return true;
}

static const char *
decimal(Datum number)
{
	return DatumGetCString(DirectFunctionCall1(numeric_out, number));
}

/*
 * Return the unsigned value of a number, rounded as core rounds to bigint.  A
 * number below 0 is taken as a signed integer of as many bits: the driver
 * chooses which type to send.  Error: 22003 for what read_integer() refuses.
 */
Datum
SIMHASH_FUNCTION(from_numeric) (PG_FUNCTION_ARGS)
{
	Datum		number = PG_GETARG_DATUM(0);
	Datum		rounded = DirectFunctionCall2(numeric_round, number,
											  Int32GetDatum(0));
	Fingerprint value;

	if (!read_integer(decimal(rounded), &value))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%s\" is out of range for type %s",
						decimal(number), SIMHASH_TYPE)));
	PG_RETURN_SIMHASH(value);
}

Datum
SIMHASH_FUNCTION(to_numeric) (PG_FUNCTION_ARGS)
{
	Fingerprint fingerprint = PG_GETARG_SIMHASH(0);
	char		digits[HAMMING_BITS / 3 + 2];	/* log(10) > 3 log(2) */
	char	   *first = digits + sizeof(digits);

	*--first = '\0';
	do
	{
		*--first = '0' + (int) (fingerprint % 10);
		fingerprint /= 10;
	} while (fingerprint != 0);
	return DirectFunctionCall3(numeric_in, CStringGetDatum(first),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* Error: 22P03 for any length but that of a fingerprint. */
Datum
SIMHASH_FUNCTION(from_bytea) (PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);

	if (VARSIZE_ANY_EXHDR(bytes) != sizeof(Fingerprint))
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid input length for type %s",
							   SIMHASH_TYPE),
						errdetail("Expected %d bytes, got %d.",
								  (int) sizeof(Fingerprint),
								  (int) VARSIZE_ANY_EXHDR(bytes))));
	PG_RETURN_SIMHASH(simhash_read_bytes(VARDATA_ANY(bytes)));
}

#if HAMMING_BITS == 64

/* as a cast to bigint */
SIMHASH_SQL(simhash64_from_smallint,
			SimhashGetDatum((int64) PG_GETARG_INT16(0)))
SIMHASH_SQL(simhash64_from_integer,
			SimhashGetDatum((int64) PG_GETARG_INT32(0)))

/* Return the higher half, whose bytes come first. */
SIMHASH_SQL(simhash64_from_simhash128,
			SimhashGetDatum(simhash_read_bytes(PG_GETARG_POINTER(0))))

#endif
