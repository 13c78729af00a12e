/*
 * pair_sort.c
 *	  Pairs of numbers sorted by PostgreSQL's own sort, in memory or on disk.
 *
 * The sort gets a pair as a uuid: 16 bytes, most significant first, which have
 * the order of pairs.  The first 8 bytes decide nearly always.  The sort keeps
 * them beside the pointer to each uuid, and compares them first.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "port/pg_bswap.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "type/compat.h"
#include "type/pair_sort.h"

/*
 * Begin a sort in memory kilobytes.  options is TUPLESORT_RANDOMACCESS to read
 * the result twice, else TUPLESORT_NONE.
 */
Tuplesortstate *
simhash_pair_sort_begin(int memory, int options)
{
	TypeCacheEntry *type = lookup_type_cache(UUIDOID, TYPECACHE_LT_OPR);

	return tuplesort_begin_datum(UUIDOID, type->lt_opr, InvalidOid, false,
								 memory, NULL, options);
}

void
simhash_pair_sort_put(Tuplesortstate *sort, NumberPair pair)
{
	pg_uuid_t	uuid;

	StaticAssertStmt(sizeof(uuid) == sizeof(pair),
					 "a pair is not 16 bytes long");
	pair.first = pg_hton64(pair.first);
	pair.second = pg_hton64(pair.second);
	memcpy(&uuid, &pair, sizeof(uuid));
	tuplesort_putdatum(sort, UUIDPGetDatum(&uuid), false);
}

/*
 * Get the next pair in order.  After the last one return false, and keep *pair.
 */
bool
simhash_pair_sort_get(Tuplesortstate *sort, NumberPair *pair)
{
	Datum		value;
	bool		isnull;

	if (!tuplesort_getdatum(sort, true, true, &value, &isnull, NULL))
		return false;
	memcpy(pair, DatumGetUUIDP(value), sizeof(*pair));
	pfree(DatumGetPointer(value));
	pair->first = pg_ntoh64(pair->first);
	pair->second = pg_ntoh64(pair->second);
	return true;
}
