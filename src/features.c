/*
 * features.c
 *	  simhash_features(...): what a fingerprint was made of.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "construct.h"
#include "simhash.h"

PG_FUNCTION_INFO_V1(simhash_features);

/* A feature's bytes and hash: the bytes tell it from any other. */
typedef struct FeatureKey
{
	uint64 hash;
	size_t length;
	const uint8 *bytes;
} FeatureKey;

typedef struct FeatureSlot
{
	FeatureKey key;
	size_t number; /* in order of first appearance */
	char status;
} FeatureSlot;

#define SH_PREFIX feature
#define SH_ELEMENT_TYPE FeatureSlot
#define SH_KEY_TYPE FeatureKey
#define SH_KEY key
#define SH_HASH_KEY(tb, key) ((uint32) (key).hash)
#define SH_EQUAL(tb, a, b) \
	((a).hash == (b).hash && (a).length == (b).length && \
	 memcmp((a).bytes, (b).bytes, (a).length) == 0)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct FeatureCount
{
	FeatureKey key;
	int32 count;
} FeatureCount;

/* Distinct features in order of first appearance. */
typedef struct FeatureList
{
	feature_hash *table;
	FeatureCount *features;
	size_t length;
	size_t capacity;
} FeatureList;

static void
list_feature(void *arg, const uint8 *bytes, size_t length, uint64 hash)
{
	FeatureList *list = arg;
	FeatureKey key = { hash, length, bytes };
	FeatureSlot *slot;
	bool found;

	slot = feature_insert(list->table, key, &found);
	if (!found)
	{
		uint8 *copy = resize_array(NULL, Max(length, 1));

		memcpy(copy, bytes, length);
		slot->key.bytes = copy;
		slot->number = list->length;
		if (list->length == list->capacity)
		{
			list->capacity *= 2;
			list->features = repalloc_huge(
				list->features, list->capacity * sizeof(FeatureCount));
		}
		list->features[list->length].key = slot->key;
		list->features[list->length].count = 0;
		list->length++;
	}
	list->features[slot->number].count++;
}

/*
 * UTF-8 in the server's encoding.  A character that this encoding lacks (the
 * normalisation of a text may have some) is shown as U+ and its code point.
 */
static text *
utf8_to_text(const uint8 *bytes, size_t length)
{
	StringInfoData buf;
	text *result;

	if (length > MaxAllocSize / 4)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("feature of %zu bytes is too long to show", length)));
	if (GetDatabaseEncoding() == PG_UTF8 ||
		GetDatabaseEncoding() == PG_SQL_ASCII)
		return cstring_to_text_with_len((const char *) bytes, length);

	initStringInfo(&buf);
	while (length > 0)
	{
		unsigned char converted[MAX_CONVERSION_GROWTH * UTF8_MAX + 1];
		uint32 cp = 0;
		size_t bytes_read = utf8_decode(bytes, bytes + length, &cp);

		Assert(bytes_read > 0);
		if (bytes_read == 1)
			appendStringInfoCharMacro(&buf, *bytes);
		else if (pg_do_encoding_conversion_buf(
					 FindDefaultConversionProc(PG_UTF8, GetDatabaseEncoding()),
					 PG_UTF8, GetDatabaseEncoding(), unconstify(uint8 *, bytes),
					 bytes_read, converted, sizeof(converted),
					 true) == (int) bytes_read)
			appendStringInfoString(&buf, (char *) converted);
		else
			appendStringInfo(&buf, "U+%04X", cp);
		bytes += bytes_read;
		length -= bytes_read;
	}
	result = cstring_to_text_with_len(buf.data, buf.len);
	pfree(buf.data);
	return result;
}

/* simhash_features(body text, words int, chars int) */
Datum
simhash_features(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FeatureList list;
	size_t i;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		return (Datum) 0;

	list.table = feature_create(CurrentMemoryContext, 256, NULL);
	list.length = 0;
	list.capacity = 256;
	list.features = palloc(list.capacity * sizeof(FeatureCount));
	feed_arguments(fcinfo, true, list_feature, &list);

	for (i = 0; i < list.length; i++)
	{
		FeatureCount *feature = &list.features[i];
		Datum values[3];
		bool nulls[3] = { false };

		CHECK_FOR_INTERRUPTS();
		values[0] = PointerGetDatum(
			utf8_to_text(feature->key.bytes, feature->key.length));
		values[1] = Int64GetDatum(feature->key.hash);
		values[2] = Int32GetDatum(feature->count);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		pfree(DatumGetPointer(values[0]));
	}
	return (Datum) 0;
}
