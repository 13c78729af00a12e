/*
 * cast_simhash64.c
 *	  Casts that only simhash64 has: from the smaller integers, and from a wider
 *	  fingerprint.
 */
#include "postgres.h"

#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash64_from_smallint);
PG_FUNCTION_INFO_V1(simhash64_from_integer);
PG_FUNCTION_INFO_V1(simhash64_from_simhash128);

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

/* Return the higher half, whose bytes come first. */
Datum
simhash64_from_simhash128(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIMHASH(simhash_read_bytes(PG_GETARG_POINTER(0)));
}
