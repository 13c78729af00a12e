/*
 * am_sort.c
 *	  Keys sorted by PostgreSQL's own sort, in memory or on disk.
 *
 * A key is given to the sort as a uuid: 16 bytes, most significant first, which
 * have the order of keys.  The first 8 bytes decide nearly always.  The sort
 * keeps them beside the pointer to each uuid, and compares them first.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "port/pg_bswap.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "am/am.h"

/*
 * Begin a sort in memory kilobytes.  options is TUPLESORT_RANDOMACCESS to read
 * the result twice, else TUPLESORT_NONE.
 */
Tuplesortstate *
hamming_sort_begin(int memory, int options)
{
	TypeCacheEntry *type = lookup_type_cache(UUIDOID, TYPECACHE_LT_OPR);

	return tuplesort_begin_datum(UUIDOID, type->lt_opr, InvalidOid, false,
								 memory, NULL, options);
}

void
hamming_sort_put(Tuplesortstate *sort, HammingKey key)
{
	pg_uuid_t	uuid;

	StaticAssertStmt(sizeof(uuid) == sizeof(key), "a key is not 16 bytes long");
	key.bits = pg_hton64(key.bits);
	key.tid = pg_hton64(key.tid);
	memcpy(&uuid, &key, sizeof(uuid));
	tuplesort_putdatum(sort, UUIDPGetDatum(&uuid), false);
}

/*
 * Get the next key in order.  After the last one return false, and keep *key.
 */
bool
hamming_sort_get(Tuplesortstate *sort, HammingKey *key)
{
	Datum		value;
	bool		isnull;

	if (!tuplesort_getdatum(sort, true, true, &value, &isnull, NULL))
		return false;
	memcpy(key, DatumGetUUIDP(value), sizeof(*key));
	pfree(DatumGetPointer(value));
	key->bits = pg_ntoh64(key->bits);
	key->tid = pg_ntoh64(key->tid);
	return true;
}
