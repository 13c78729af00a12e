/*
 * cast.c
 *	  Casts between simhash64 and bit(64), numeric and bytea, and from the
 *	  smaller integers.
 *
 * bigint needs no function: it is the same 64 bits.
 */
#include "postgres.h"

#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
#include "utils/varbit.h"

#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash64_from_smallint);
PG_FUNCTION_INFO_V1(simhash64_from_integer);
PG_FUNCTION_INFO_V1(simhash64_from_bit);
PG_FUNCTION_INFO_V1(simhash64_to_bit);
PG_FUNCTION_INFO_V1(simhash64_from_numeric);
PG_FUNCTION_INFO_V1(simhash64_to_numeric);
PG_FUNCTION_INFO_V1(simhash64_from_bytea);
PG_FUNCTION_INFO_V1(simhash64_to_bytea);

/* The sign is extended to 64 bits, as in a cast to bigint. */

Datum
simhash64_from_smallint(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIMHASH((int64) PG_GETARG_INT16(0));
}

Datum
simhash64_from_integer(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIMHASH((int64) PG_GETARG_INT32(0));
}

/* Fingerprints as eight bytes in network order. */

static uint64
read_bytes(const void *bytes)
{
	uint64		value;

	memcpy(&value, bytes, sizeof(value));
	return pg_ntoh64(value);
}

static void
write_bytes(uint64 value, void *bytes)
{
	value = pg_hton64(value);
	memcpy(bytes, &value, sizeof(value));
}

/* Error: 22026 for any length but 64. */
Datum
simhash64_from_bit(PG_FUNCTION_ARGS)
{
	VarBit	   *bits = PG_GETARG_VARBIT_P(0);

	if (VARBITLEN(bits) != HAMMING_BITS)
		ereport(ERROR, (errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
						errmsg("bit string length %d does not match type %s",
							   VARBITLEN(bits), "simhash64"),
						errdetail("A simhash64 has 64 bits.")));
	PG_RETURN_SIMHASH(read_bytes(VARBITS(bits)));
}

Datum
simhash64_to_bit(PG_FUNCTION_ARGS)
{
	VarBit	   *bits = palloc(VARBITTOTALLEN(HAMMING_BITS));

	SET_VARSIZE(bits, VARBITTOTALLEN(HAMMING_BITS));
	VARBITLEN(bits) = HAMMING_BITS;
	write_bytes(PG_GETARG_SIMHASH(0), VARBITS(bits));
	PG_RETURN_VARBIT_P(bits);
}

/* Read decimal digits; return false for anything else or too large a value. */
static bool
read_decimal(const char *digits, uint64 *value)
{
	*value = 0;
	for (; *digits; digits++)
	{
		uint64		digit = *digits - '0';

		if (digit > 9 || *value > (PG_UINT64_MAX - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	return true;
}

/* Read an integer of -2^63 .. 2^64 - 1; return false for anything else. */
static bool
read_integer(const char *number, uint64 *value)
{
	if (*number != '-')
		return read_decimal(number, value);
	if (!read_decimal(number + 1, value) || *value > (uint64) PG_INT64_MAX + 1)
		return false;
	*value = -*value;			/* two's complement, as the same bigint */
	return true;
}

static const char *
decimal(Datum number)
{
	return DatumGetCString(DirectFunctionCall1(numeric_out, number));
}

/*
 * Return the unsigned value of a number, rounded as core rounds to bigint.  A
 * number below 0 is taken as the same bigint: the driver chooses which type to
 * send.  Error: 22003 outside -2^63 .. 2^64 - 1.
 */
Datum
simhash64_from_numeric(PG_FUNCTION_ARGS)
{
	Datum		number = PG_GETARG_DATUM(0);
	Datum		rounded = DirectFunctionCall2(numeric_round, number,
											  Int32GetDatum(0));
	uint64		value;

	if (!read_integer(decimal(rounded), &value))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%s\" is out of range for type %s",
						decimal(number), "simhash64")));
	PG_RETURN_SIMHASH(value);
}

Datum
simhash64_to_numeric(PG_FUNCTION_ARGS)
{
	char		digits[32];

	snprintf(digits, sizeof(digits), UINT64_FORMAT, PG_GETARG_SIMHASH(0));
	return DirectFunctionCall3(numeric_in, CStringGetDatum(digits),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* Error: 22P03 for any length but 8. */
Datum
simhash64_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);

	if (VARSIZE_ANY_EXHDR(bytes) != sizeof(uint64))
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid input length for type %s", "simhash64"),
						errdetail("Expected 8 bytes, got %d.",
								  (int) VARSIZE_ANY_EXHDR(bytes))));
	PG_RETURN_SIMHASH(read_bytes(VARDATA_ANY(bytes)));
}

Datum
simhash64_to_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = palloc(VARHDRSZ + sizeof(uint64));

	SET_VARSIZE(bytes, VARHDRSZ + sizeof(uint64));
	write_bytes(PG_GETARG_SIMHASH(0), VARDATA(bytes));
	PG_RETURN_BYTEA_P(bytes);
}
