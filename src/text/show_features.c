/*
 * show_features.c
 *	  simhash_features(...): what a fingerprint was made of.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "text/arguments.h"
#include "text/encoding.h"
#include "text/read_text.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_features_text);
PG_FUNCTION_INFO_V1(simhash_features_tokens);
PG_FUNCTION_INFO_V1(simhash_features_hashes);
PG_FUNCTION_INFO_V1(simhash_features_tsvector);

/* What tells a feature from all others. */
typedef struct FeatureKey
{
	uint64		hash;
	int64		weight;			/* of one occurrence, in units of 2^-16 */
	size_t		length;
	const uint8 *bytes;			/* NULL if only the hash is known */
} FeatureKey;

typedef struct FeatureSlot
{
	FeatureKey	key;
	size_t		number;			/* index into FeatureList.features */
	char		status;
} FeatureSlot;

static inline bool
same_feature(const FeatureKey *a, const FeatureKey *b)
{
	return a->hash == b->hash && a->weight == b->weight &&
		a->length == b->length &&
		(a->length == 0 || memcmp(a->bytes, b->bytes, a->length) == 0);
}

/* Hash all parts: features of one hash may differ in weight, or in bytes. */
static inline uint32
feature_hash_key(const FeatureKey *key)
{
	const uint64 numbers[] = {key->hash, (uint64) key->weight};
	uint64		seed = simhash_process_seed();
	uint64		hash = seeded_hash(seed, numbers, sizeof(numbers));

	if (key->length > 0)
		hash = seeded_hash(hash, key->bytes, key->length);
	return (uint32) hash;
}

#define SH_PREFIX feature
#define SH_ELEMENT_TYPE FeatureSlot
#define SH_KEY_TYPE FeatureKey
#define SH_KEY key
#define SH_HASH_KEY(tb, key) feature_hash_key(&(key))
#define SH_EQUAL(tb, a, b) same_feature(&(a), &(b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct FeatureCount
{
	FeatureKey	key;
	int32		count;
} FeatureCount;

/* Distinct features in order of first appearance. */
typedef struct FeatureList
{
	feature_hash *table;
	FeatureCount *features;
	size_t		length;
	size_t		capacity;
} FeatureList;

/* A FeatureSink: arg is the FeatureList. */
static void
list_feature(void *arg, const uint8 *bytes, size_t length, uint64 hash,
			 int64 weight)
{
	FeatureList *list = arg;
	FeatureKey	key = {hash, weight, length, bytes};
	FeatureSlot *slot;
	bool		found;

	slot = feature_insert(list->table, key, &found);
	if (!found)
	{
		if (bytes != NULL)
			slot->key.bytes = simhash_copy_bytes(bytes, length);
		slot->number = list->length;
		if (list->length == list->capacity)
		{
			list->capacity *= 2;
			list->features = repalloc_huge(list->features,
										   list->capacity *
										   sizeof(FeatureCount));
		}
		list->features[list->length].key = slot->key;
		list->features[list->length].count = 0;
		list->length++;
	}
	list->features[slot->number].count++;
}

/* A CodePointWriter: as U+ and hexadecimal digits. */
static void
write_codepoint(StringInfo buf, uint32 cp)
{
	appendStringInfo(buf, "U+%04X", cp);
}

/*
 * Fewer than MaxAllocSize / 4 bytes always fit: the conversion of a character
 * has four times its bytes at most, MAX_CONVERSION_GROWTH, and U+ with the
 * digits of one of two bytes has six.
 */
static text *
feature_to_text(const FeatureKey *key)
{
	StringInfoData buf;
	text	   *result;

	if (key->length > MaxAllocSize / 4)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("feature of %zu bytes is too long to show",
							   key->length)));
	initStringInfo(&buf);
	simhash_append_utf8(&buf, key->bytes, key->length, write_codepoint);
	result = cstring_to_text_with_len(buf.data, buf.len);
	pfree(buf.data);
	return result;
}

/* Return the features that make() makes of the arguments as a set of rows. */
static Datum
list_features(FunctionCallInfo fcinfo, FeatureMaker make)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FeatureList list;
	FeatureTarget target = {.sink = list_feature,.arg = &list};
	size_t		i;

	/* the executor frees its own description of the rows, and no other */
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	if (PG_ARGISNULL(0))
		return (Datum) 0;

	list.table = feature_create(CurrentMemoryContext, 256, NULL);
	list.length = 0;
	list.capacity = 256;
	list.features = palloc(list.capacity * sizeof(FeatureCount));
	make(fcinfo, &target);

	for (i = 0; i < list.length; i++)
	{
		FeatureCount *feature = &list.features[i];
		Datum		values[4] = {0};
		bool		nulls[4] = {false};

		CHECK_FOR_INTERRUPTS();
		nulls[0] = feature->key.bytes == NULL;
		if (!nulls[0])
			values[0] = PointerGetDatum(feature_to_text(&feature->key));
		values[1] = Int64GetDatum(feature->key.hash);
		values[2] = Int32GetDatum(feature->count);
		values[3] = Float8GetDatum((double) feature->key.weight / WEIGHT_UNIT);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		if (!nulls[0])
			pfree(DatumGetPointer(values[0]));
	}
	return (Datum) 0;
}

Datum
simhash_features_text(PG_FUNCTION_ARGS)
{
	return list_features(fcinfo, simhash_make_text_features);
}

Datum
simhash_features_tokens(PG_FUNCTION_ARGS)
{
	return list_features(fcinfo, simhash_make_token_features);
}

Datum
simhash_features_hashes(PG_FUNCTION_ARGS)
{
	return list_features(fcinfo, simhash_make_hash_features);
}

Datum
simhash_features_tsvector(PG_FUNCTION_ARGS)
{
	return list_features(fcinfo, simhash_make_tsvector_features);
}
