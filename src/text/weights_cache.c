/*
 * weights_cache.c
 *	  Weights that are read once, not once per row.
 *
 * A value is known by the digest in its header, so that the rest of it is not
 * even fetched if its table is there.  A few tables stay for the session, as
 * far as work_mem has room for them: a trigger, say, is a query for each row.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "type/compat.h"
#include "text/sink.h"
#include "text/weights_cache.h"
#include "text/weights_value.h"

#define CACHED_TABLES 16		/* looked through for each row */

typedef struct CachedWeights
{
	struct CachedWeights *next; /* used less recently */
	MemoryContext context;		/* of all this */
	size_t		bytes;			/* which it takes */
	WeightsDigest digest;
	WeightTable table;
} CachedWeights;

static CachedWeights *most_recent = NULL;

/*
 * What fn_extra points to: digests of values that are stored out of line.
 * Such a pointer is of one value until the counter of OIDs has gone round.
 */
#define KNOWN_POINTERS 8

typedef struct KnownPointers
{
	struct varatt_external pointer[KNOWN_POINTERS];
	WeightsDigest digest[KNOWN_POINTERS];
	uint32		count;			/* ever known; the oldest is overwritten */
} KnownPointers;

static WeightsDigest
digest_of(FunctionCallInfo fcinfo, struct varlena *value)
{
	KnownPointers *known = fcinfo->flinfo->fn_extra;
	struct varatt_external pointer;
	uint32		i;

	if (!VARATT_IS_EXTERNAL_ONDISK(value))
		return simhash_weights_digest(value);
	VARATT_EXTERNAL_GET_POINTER(pointer, value);
	if (known == NULL)
		known = fcinfo->flinfo->fn_extra = MemoryContextAllocZero(
																  fcinfo->flinfo->fn_mcxt, sizeof(KnownPointers));
	for (i = 0; i < Min(known->count, KNOWN_POINTERS); i++)
	{
		if (memcmp(&known->pointer[i], &pointer, sizeof(pointer)) == 0)
			return known->digest[i];
	}
	i = known->count % KNOWN_POINTERS;
	known->digest[i] = simhash_weights_digest(value);
	known->pointer[i] = pointer;
	known->count++;
	return known->digest[i];
}

/*
 * Fill a table in which a place or more stays free, so that every search ends.
 * Of two tokens with one hash the first in order of their bytes counts.
 */
static void
fill_table(WeightTable *table, WeightsReader *reader)
{
	uint32		i;

	for (i = 0; i < reader->header.count; i++)
	{
		TokenWeight token = simhash_weights_next(reader);
		int64		weight;

		CHECK_FOR_INTERRUPTS();
		simhash_weight_from_double(token.weight, &weight);
		simhash_weights_add(table, XXH3_64bits(token.token, token.length),
							weight);
	}
}

static CachedWeights *
read_weights(struct varlena *value)
{
	struct varlena *detoasted = pg_detoast_datum_packed(value);
	WeightsReader reader = simhash_weights_read(detoasted);
	uint64		buckets = pg_nextpower2_64(
										   Max(reader.header.count / (WEIGHT_BUCKET / 2), 2));
	MemoryContext context = AllocSetContextCreate(
												  CurrentMemoryContext, "simhash weights", ALLOCSET_SMALL_SIZES);
	CachedWeights *entry = MemoryContextAlloc(context, sizeof(CachedWeights));
	void	   *space;
	int64		rest;

	entry->context = context;
	entry->digest = reader.header.digest;
	space = MemoryContextAllocHuge(context, buckets * sizeof(WeightBucket) +
								   PG_CACHE_LINE_SIZE);
	entry->bytes = MemoryContextMemAllocated(context, false);
	simhash_weight_from_double(reader.header.rest, &rest);
	simhash_weights_init(&entry->table, (WeightBucket *) CACHELINEALIGN(space),
						 buckets, simhash_process_seed(), rest);
	fill_table(&entry->table, &reader);
	if (detoasted != value)
		pfree(detoasted);
	/* nothing can fail any more */
	MemoryContextSetParent(context, TopMemoryContext);
	return entry;
}

/*
 * Drop what goes beyond the limits; what was used more recently comes first.
 */
static void
trim_cache(void)
{
	CachedWeights **link = &most_recent->next;
	size_t		kept = most_recent->bytes;
	int			count = 1;

	while (*link != NULL)
	{
		CachedWeights *entry = *link;

		if (count == CACHED_TABLES ||
			kept + entry->bytes > work_mem * (size_t) 1024)
		{
			*link = entry->next;
			MemoryContextDelete(entry->context);
		}
		else
		{
			kept += entry->bytes;
			count++;
			link = &entry->next;
		}
	}
}

/*
 * The table of a simhash_weights argument that is not null, until the next
 * call.
 */
const WeightTable *
simhash_cached_weights(FunctionCallInfo fcinfo, int argument)
{
	struct varlena *value = PG_GETARG_RAW_VARLENA_P(argument);
	WeightsDigest digest = digest_of(fcinfo, value);
	CachedWeights **link = &most_recent;
	CachedWeights *entry;
	bool		known;

	while (*link != NULL &&
		   memcmp(&(*link)->digest, &digest, sizeof(digest)) != 0)
		link = &(*link)->next;
	entry = *link;
	known = entry != NULL;
	if (known)
		*link = entry->next;
	else
		entry = read_weights(value);
	entry->next = most_recent;
	most_recent = entry;
	if (!known)
		trim_cache();
	return &entry->table;
}
