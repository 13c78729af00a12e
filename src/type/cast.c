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

/* Error: 22026 for any length but that of a fingerprint. */
static Datum
from_bit(FunctionCallInfo fcinfo, int words)
{
	VarBit	   *bits = PG_GETARG_VARBIT_P(0);

	if (VARBITLEN(bits) != 64 * words)
		ereport(ERROR, (errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
						errmsg("bit string length %d does not match type "
							   "simhash%d", VARBITLEN(bits), 64 * words),
						errdetail("A simhash%d has %d bits.", 64 * words,
								  64 * words)));
	return simhash_bytes_datum(VARBITS(bits), words);
}

static Datum
to_bit(FunctionCallInfo fcinfo, int words)
{
	VarBit	   *bits = palloc(VARBITTOTALLEN(64 * words));
	uint64		word[HAMMING_MAX_WORDS];

	SET_VARSIZE(bits, VARBITTOTALLEN(64 * words));
	VARBITLEN(bits) = 64 * words;
	simhash_datum_words(PG_GETARG_DATUM(0), word, words);
	simhash_write_bytes(word, words, VARBITS(bits));
	PG_RETURN_VARBIT_P(bits);
}

/* Read decimal digits; return false for anything else or a value above most. */
static bool
read_decimal(const char *digits, uint128 most, uint128 *value)
{
	const uint128 tenth = most / 10;
	uint128		result = 0;

	for (; *digits; digits++)
	{
		unsigned	digit = *digits - '0';

		if (digit > 9 || result > tenth || result * 10 > most - digit)
			return false;
		result = result * 10 + digit;
	}
	*value = result;
	return true;
}

/*
 * Read an integer of -2^(bits - 1) .. 2^bits - 1.  Return false for anything
 * else.
 */
static bool
read_integer(const char *number, int bits, uint128 *value)
{
	if (*number != '-')
		return read_decimal(number, ~(uint128) 0 >> (128 - bits), value);
	if (!read_decimal(number + 1, (uint128) 1 << (bits - 1), value))
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
static Datum
from_numeric(FunctionCallInfo fcinfo, int words)
{
	Datum		number = PG_GETARG_DATUM(0);
	Datum		rounded = DirectFunctionCall2(numeric_round, number,
											  Int32GetDatum(0));
	uint128		value;
	uint64		word[HAMMING_MAX_WORDS];
	int			i;

	if (!read_integer(decimal(rounded), 64 * words, &value))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%s\" is out of range for type simhash%d",
						decimal(number), 64 * words)));
	for (i = words - 1; i >= 0; i--)
	{
		word[i] = (uint64) value;
		value >>= 64;
	}
	return simhash_words_datum(word, words);
}

static Datum
to_numeric(FunctionCallInfo fcinfo, int words)
{
	char		digits[40];		/* 2^128 < 10^39 */
	char	   *first = digits + sizeof(digits);
	uint64		word[HAMMING_MAX_WORDS];
	uint128		value = 0;
	int			i;

	simhash_datum_words(PG_GETARG_DATUM(0), word, words);
	for (i = 0; i < words; i++)
		value = value << 64 | word[i];
	*--first = '\0';
	do
	{
		/* divisions of 64 bits are faster */
		bool		is_short = value <= PG_UINT64_MAX;
		int			digit = is_short ? (uint64) value % 10 : value % 10;

		*--first = '0' + digit;
		value = is_short ? (uint64) value / 10 : value / 10;
	} while (value != 0);
	return DirectFunctionCall3(numeric_in, CStringGetDatum(first),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* Error: 22P03 for any length but that of a fingerprint. */
static Datum
from_bytea(FunctionCallInfo fcinfo, int words)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	int			length = VARSIZE_ANY_EXHDR(bytes);

	if (length != 8 * words)
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid input length for type simhash%d",
							   64 * words),
						errdetail("Expected %d bytes, got %d.", 8 * words,
								  length)));
	return simhash_bytes_datum(VARDATA_ANY(bytes), words);
}

SIMHASH_SQL_TYPES(from_bit, from_bit(fcinfo, words))
SIMHASH_SQL_TYPES(to_bit, to_bit(fcinfo, words))
SIMHASH_SQL_TYPES(from_numeric, from_numeric(fcinfo, words))
SIMHASH_SQL_TYPES(to_numeric, to_numeric(fcinfo, words))
SIMHASH_SQL_TYPES(from_bytea, from_bytea(fcinfo, words))

/* as a cast to bigint */
SIMHASH_SQL(simhash64_from_smallint, Int64GetDatum(PG_GETARG_INT16(0)))
SIMHASH_SQL(simhash64_from_integer, Int64GetDatum(PG_GETARG_INT32(0)))

/* Return word 0, whose bytes come first. */
SIMHASH_SQL(simhash64_from_simhash128,
			simhash_bytes_datum(PG_GETARG_POINTER(0), 1))
