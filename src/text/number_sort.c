/*
 * number_sort.c
 *	  Pairs of numbers sorted by PostgreSQL's own sort, in memory or on disk.
 *
 * The sort gets the bytes of the numbers, the most significant first, as a
 * uuid, which has the order of pairs.  The first 8 bytes decide nearly always.
 * The sort keeps them beside the pointer to each pair, and compares them first.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "port/pg_bswap.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "text/number_sort.h"
#include "type/compat.h"

/* Begin a sort of pairs in memory kilobytes. */
Tuplesortstate *
simhash_number_sort_begin(int memory)
{
	TypeCacheEntry *entry = lookup_type_cache(UUIDOID, TYPECACHE_LT_OPR);

	return tuplesort_begin_datum(UUIDOID, entry->lt_opr, InvalidOid, false,
								 memory, NULL, TUPLESORT_NONE);
}

void
simhash_number_sort_put(Tuplesortstate *sort, const uint64 *pair)
{
	uint64		bytes[] = {pg_hton64(pair[0]), pg_hton64(pair[1])};

	StaticAssertStmt(sizeof(bytes) == UUID_LEN, "a uuid has a pair's length");
	tuplesort_putdatum(sort, PointerGetDatum(bytes), false);
}

/*
 * Get the next pair in order.  After the last one return false, and keep pair
 * as it is.
 */
bool
simhash_number_sort_get(Tuplesortstate *sort, uint64 *pair)
{
	Datum		value;
	bool		isnull;
	int			i;

	if (!tuplesort_getdatum(sort, true, true, &value, &isnull, NULL))
		return false;
	memcpy(pair, DatumGetPointer(value), UUID_LEN);
	pfree(DatumGetPointer(value));
	for (i = 0; i < 2; i++)
		pair[i] = pg_ntoh64(pair[i]);
	return true;
}
