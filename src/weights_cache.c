/*
 * weights_cache.c
 *	  Weights that are read once per query, not once per row.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compat.h"
#include "fingerprint.h"
#include "weights_cache.h"
#include "weights_value.h"

/*
 * A value that is stored out of line is known by its TOAST pointer, so that
 * it need not be fetched; any other by the digest in its header.
 */
typedef struct CachedWeights
{
	struct CachedWeights *next; /* used less recently */
	bool external;
	struct varatt_external pointer; /* if external */
	uint64 digest[2];				/* if not */
	void *memory;					/* of the table */
	size_t bytes;					/* of that */
	WeightTable table;
} CachedWeights;

/*
 * Fill a table, at most half.  Of two tokens with one hash the first in order
 * of their bytes counts.
 */
static void
fill_table(CachedWeights *entry, const struct varlena *value,
		   MemoryContext context)
{
	WeightsReader reader = weights_read(value);
	WeightTable *table = &entry->table;
	uint64 buckets = pg_nextpower2_64(
		Max(reader.header.count / (WEIGHT_BUCKET / 2), 1));
	uint32 i;

	entry->bytes = buckets * sizeof(WeightBucket) + PG_CACHE_LINE_SIZE;
	entry->memory = MemoryContextAllocHuge(context, entry->bytes);
	memset(entry->memory, 0xFF, entry->bytes); /* weights -1 */
	table->buckets = (WeightBucket *) CACHELINEALIGN(entry->memory);
	table->mask = buckets - 1;
	weight_from_double(reader.header.rest, &table->rest);
	for (i = 0; i < reader.header.count; i++)
	{
		TokenWeight token = weights_next(&reader);
		uint64 hash = XXH3_64bits(token.token, token.length);
		int64 weight;

		weight_from_double(token.weight, &weight);
		weights_add(table, hash, weight);
	}
}

static bool
is_entry(const CachedWeights *entry, const CachedWeights *wanted)
{
	if (entry->external != wanted->external)
		return false;
	if (entry->external)
		return memcmp(&entry->pointer, &wanted->pointer,
					  sizeof(entry->pointer)) == 0;
	return memcmp(entry->digest, wanted->digest, sizeof(entry->digest)) == 0;
}

/* Drop what was used least recently and goes beyond work_mem. */
static void
trim_cache(CachedWeights *first)
{
	CachedWeights **link = &first->next;
	size_t kept = first->bytes;

	while (*link != NULL)
	{
		CachedWeights *entry = *link;

		if (kept + entry->bytes > work_mem * (size_t) 1024)
		{
			*link = entry->next;
			pfree(entry->memory);
			pfree(entry);
		}
		else
		{
			kept += entry->bytes;
			link = &entry->next;
		}
	}
}

/*
 * The table of a simhash_weights argument that is not null.  A query may use
 * several in turn, for several languages, say: as many are kept as work_mem
 * has room for, and at least one.
 */
const WeightTable *
cached_weights(FunctionCallInfo fcinfo, int argument)
{
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	CachedWeights *first = fcinfo->flinfo->fn_extra;
	struct varlena *given = PG_GETARG_RAW_VARLENA_P(argument);
	struct varlena *value = NULL;
	CachedWeights wanted = { .external = VARATT_IS_EXTERNAL_ONDISK(given) };
	CachedWeights **link;
	CachedWeights *entry;

	if (wanted.external)
		VARATT_EXTERNAL_GET_POINTER(wanted.pointer, given);
	else
	{
		WeightsReader reader;

		value = pg_detoast_datum_packed(given);
		reader = weights_read(value);
		memcpy(wanted.digest, reader.header.digest, sizeof(wanted.digest));
	}

	for (link = &first; *link != NULL; link = &(*link)->next)
	{
		if (is_entry(*link, &wanted))
			break;
	}
	entry = *link;
	if (entry != NULL)
		*link = entry->next;
	else
	{
		if (wanted.external)
			value = pg_detoast_datum_packed(given);
		fill_table(&wanted, value, context);
		entry = MemoryContextAlloc(context, sizeof(CachedWeights));
		*entry = wanted;
	}
	entry->next = first;
	fcinfo->flinfo->fn_extra = entry;
	trim_cache(entry);
	if (value != NULL && value != given)
		pfree(value);
	return &entry->table;
}
