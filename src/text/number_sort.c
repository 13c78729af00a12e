/*
 * number_sort.c
 *	  Tuples of numbers sorted by PostgreSQL's own sort, in memory or on disk.
 *
 * The sort gets the bytes of the numbers, the most significant first, which
 * have the order of tuples: of two numbers as a uuid, of more as a bytea, which
 * takes a little more memory.  The first 8 bytes decide nearly always.  The
 * sort keeps them beside the pointer to each tuple, and compares them first.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "port/pg_bswap.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "text/number_sort.h"
#include "type/compat.h"

#define MAX_LENGTH 3			/* of a tuple */
#define IS_UUID(length) ((length) * sizeof(uint64) == UUID_LEN)

/*
 * Begin a sort of tuples of length numbers, 2 or 3, in memory kilobytes.
 * options is TUPLESORT_RANDOMACCESS to read the result twice, else
 * TUPLESORT_NONE.
 */
Tuplesortstate *
simhash_number_sort_begin(int length, int memory, int options)
{
	Oid			type = IS_UUID(length) ? UUIDOID : BYTEAOID;
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_LT_OPR);

	Assert(length <= MAX_LENGTH);
	return tuplesort_begin_datum(type, entry->lt_opr, InvalidOid, false,
								 memory, NULL, options);
}

void
simhash_number_sort_put(Tuplesortstate *sort, const uint64 *numbers, int length)
{
	struct
	{
		char		padding[sizeof(uint64) - VARHDRSZ];
		char		header[VARHDRSZ];
		uint64		bytes[MAX_LENGTH];
	}			tuple;
	int			i;

	for (i = 0; i < length; i++)
		tuple.bytes[i] = pg_hton64(numbers[i]);
	SET_VARSIZE(tuple.header, VARHDRSZ + length * sizeof(uint64));
	tuplesort_putdatum(sort, IS_UUID(length) ? PointerGetDatum(tuple.bytes)
					   : PointerGetDatum(tuple.header), false);
}

/*
 * Get the next tuple in order.  After the last one return false, and keep
 * numbers as they are.
 */
bool
simhash_number_sort_get(Tuplesortstate *sort, uint64 *numbers, int length)
{
	Datum		value;
	bool		isnull;
	char	   *bytes;
	int			i;

	if (!tuplesort_getdatum(sort, true, true, &value, &isnull, NULL))
		return false;
	bytes = DatumGetPointer(value);
	if (!IS_UUID(length))
		bytes = VARDATA_ANY(bytes);
	memcpy(numbers, bytes, length * sizeof(uint64));
	pfree(DatumGetPointer(value));
	for (i = 0; i < length; i++)
		numbers[i] = pg_ntoh64(numbers[i]);
	return true;
}
