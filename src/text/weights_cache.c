/*
 * weights_cache.c
 *	  Tables of weights that are made once, not once for each row.
 *
 * A value is known by the digest in its header: if there is a table for that,
 * the rest of the value is not even fetched.  Tables stay for the session, as
 * each row may be a query of its own, in a trigger for example: the last one
 * used, and up to CACHED_TABLES - 1 others as far as work_mem has room.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "text/fingerprint.h"
#include "text/weights.h"
#include "type/secret.h"

/* Few, as the digest of each table may be compared for each row. */
#define CACHED_TABLES 16

typedef struct CachedWeights
{
	dlist_node	node;			/* of cached, the most recently used first */
	MemoryContext context;		/* of this and of its table */
	size_t		bytes;			/* of context */
	WeightsDigest digest;
	bool		is_stop_list;	/* is each weight 0 or 1? */
	WeightTable table;
} CachedWeights;

static dlist_head cached = DLIST_STATIC_INIT(cached);
static uint64 tables_made = 0;

static WeightsDigest
digest_of(FunctionCallInfo fcinfo, struct varlena *value)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	KnownPointers *known = flinfo->fn_extra;
	struct varatt_external pointer;
	uint32		i;

	if (!VARATT_IS_EXTERNAL_ONDISK(value))
		return simhash_weights_digest(value);
	VARATT_EXTERNAL_GET_POINTER(pointer, value);
	if (known == NULL)
	{
		known = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(KnownPointers));
		flinfo->fn_extra = known;
	}
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

static inline bool
is_stop_weight(double weight)
{
	return weight == 0 || weight == 1;
}

/*
 * entry->table must have more slots than the value of reader has tokens.  Add
 * these tokens.  Of two tokens with one hash, the first in the order of their
 * bytes counts.
 */
static void
fill_table(CachedWeights *entry, WeightsReader *reader)
{
	uint32		i;

	for (i = 0; i < reader->header.count; i++)
	{
		TokenWeight token = simhash_weights_next(reader);
		int64		weight;

		CHECK_FOR_INTERRUPTS();
		entry->is_stop_list &= is_stop_weight(token.weight);
		simhash_weight_from_double(token.weight, &weight);
		simhash_weights_add(&entry->table,
							XXH3_64bits(token.token, token.length), weight);
	}
}

/* Make the table of a value.  At least half of its slots are free. */
static CachedWeights *
read_weights(struct varlena *value)
{
	struct varlena *detoasted = pg_detoast_datum_packed(value);
	WeightsReader reader = simhash_weights_read(detoasted);
	uint64		slots = 2 * pg_nextpower2_64(Max(reader.header.count, 1));
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "simhash weights",
												  ALLOCSET_SMALL_SIZES);
	CachedWeights *entry = MemoryContextAlloc(context, sizeof(CachedWeights));
	void	   *space = MemoryContextAllocHuge(context,
											   slots * sizeof(WeightSlot));
	int64		default_weight;

	entry->context = context;
	entry->digest = reader.header.digest;
	entry->bytes = MemoryContextMemAllocated(context, false);
	simhash_weight_from_double(reader.header.default_weight, &default_weight);
	simhash_weights_init(&entry->table, space, slots, simhash_secret(),
						 default_weight);
	entry->table.id = ++tables_made;
	entry->is_stop_list = is_stop_weight(reader.header.default_weight);
	fill_table(entry, &reader);
	if (detoasted != value)
		pfree(detoasted);
	/* nothing can fail any more */
	MemoryContextSetParent(context, TopMemoryContext);
	return entry;
}

/* Drop tables beyond CACHED_TABLES and work_mem, except the most recent. */
static void
trim_cache(void)
{
	dlist_mutable_iter iter;
	size_t		kept = 0;
	int			count = 0;

	dlist_foreach_modify(iter, &cached)
	{
		CachedWeights *entry = dlist_container(CachedWeights, node, iter.cur);

		if (count > 0 && (count == CACHED_TABLES ||
						  kept + entry->bytes > work_mem * (size_t) 1024))
		{
			dlist_delete(iter.cur);
			MemoryContextDelete(entry->context);
			continue;
		}
		kept += entry->bytes;
		count++;
	}
}

/* Return the entry of an argument, valid until the next call. */
static const CachedWeights *
cached_weights(FunctionCallInfo fcinfo, int argument)
{
	struct varlena *value = PG_GETARG_RAW_VARLENA_P(argument);
	WeightsDigest digest = digest_of(fcinfo, value);
	CachedWeights *entry;
	dlist_iter	iter;

	dlist_foreach(iter, &cached)
	{
		entry = dlist_container(CachedWeights, node, iter.cur);
		if (memcmp(&entry->digest, &digest, sizeof(digest)) == 0)
		{
			dlist_move_head(&cached, &entry->node);
			return entry;
		}
	}
	entry = read_weights(value);
	dlist_push_head(&cached, &entry->node);
	trim_cache();
	return entry;
}

/* A weight of value is neither 0 nor 1.  Raise 22023, which names the word. */
pg_noreturn static void
refuse_weights(struct varlena *value)
{
	WeightsReader reader = simhash_weights_read(pg_detoast_datum_packed(value));
	TokenWeight token = {0};

	token.weight = reader.header.default_weight;
	while (is_stop_weight(token.weight))
	{
		CHECK_FOR_INTERRUPTS();
		token = simhash_weights_next(&reader);
	}
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("weights of a stop list must be 0 or 1"),
					errdetail("The weight of \"%s\" is %s.",
							  simhash_excerpt(token.token, token.length),
							  float8out_internal(token.weight)),
					errhint("Only simhash() and text_cosine() take other "
							"weights.")));
}

/*
 * Return the table of an argument that is not null, valid until the next call.
 * Error: 22023 if is_stop_list and a weight is neither 0 nor 1.
 */
const WeightTable *
simhash_cached_weights(FunctionCallInfo fcinfo, int argument, bool is_stop_list)
{
	const CachedWeights *entry = cached_weights(fcinfo, argument);

	if (is_stop_list && !entry->is_stop_list)
		refuse_weights(PG_GETARG_RAW_VARLENA_P(argument));
	return &entry->table;
}
