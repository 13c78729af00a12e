/*
 * show_features.c
 *	  simhash_features(...): what a fingerprint was made of.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "text/arguments.h"
#include "text/server_text.h"
#include "type/secret.h"
#include "type/simhash.h"

/*
 * A feature.  Those with one hash are one feature, unless each occurrence is a
 * vote of its own, tf => 'count': then what differs in its weight, or in its
 * bytes, is shown apart.
 */
typedef struct Feature
{
	uint64		hash[HALVES_MAX];	/* 0 where there is none */
	int64		weight;			/* the greatest of all occurrences, in units
								 * of 2^-16 */
	size_t		length;
	const uint8 *bytes;			/* NULL if only the hash is known */
	int32		count;			/* below 2^31: of one code point, three bytes
								 * of a text become five at most (U+FDFA) */
} Feature;

typedef struct FeatureSlot
{
	size_t		number;			/* index into FeatureList.features */
	char		status;
} FeatureSlot;

/* Distinct features in order of first appearance. */
typedef struct FeatureList
{
	TermFrequency tf;
	struct feature_hash *table;
	Feature    *features;
	size_t		length;
	size_t		capacity;		/* above length */
} FeatureList;

static bool
same_feature(const FeatureList *list, size_t i, size_t j)
{
	const Feature *a = &list->features[i];
	const Feature *b = &list->features[j];

	return memcmp(a->hash, b->hash, sizeof(a->hash)) == 0 &&
		(list->tf != TF_COUNT ||
		 (a->weight == b->weight && a->length == b->length &&
		  (a->length == 0 || memcmp(a->bytes, b->bytes, a->length) == 0)));
}

/* Return a hash of what same_feature() compares. */
static uint32
hash_number(const FeatureList *list, size_t i)
{
	const Feature *feature = &list->features[i];
	uint64		hash = seeded_hash(simhash_secret(), feature->hash,
								   sizeof(feature->hash));

	if (list->tf == TF_COUNT)
	{
		hash = seeded_hash(hash, &feature->weight, sizeof(feature->weight));
		if (feature->length > 0)
			hash = seeded_hash(hash, feature->bytes, feature->length);
	}
	return (uint32) hash;
}

#define SH_PREFIX feature
#define SH_ELEMENT_TYPE FeatureSlot
#define SH_KEY_TYPE size_t
#define SH_KEY number
#define SH_HASH_KEY(tb, key) hash_number((tb)->private_data, key)
#define SH_EQUAL(tb, a, b) same_feature((tb)->private_data, a, b)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* A FeatureSink: target->arg is the FeatureList. */
static void
list_feature(const FeatureTarget *target, const uint8 *bytes, size_t length,
			 const uint64 *hash, int64 weight)
{
	FeatureList *list = target->arg;
	Feature    *feature = &list->features[list->length];
	FeatureSlot *slot;
	bool		found;

	*feature = (Feature)
	{
		.weight = weight,.length = length,.bytes = bytes
	};
	memcpy(feature->hash, hash, target->halves * sizeof(uint64));
	slot = feature_insert(list->table, list->length, &found);
	feature = &list->features[slot->number];
	feature->weight = Max(feature->weight, weight);
	feature->count++;
	if (found)
		return;
	if (bytes != NULL)
		feature->bytes = simhash_copy_bytes(bytes, length);
	if (++list->length == list->capacity)
	{
		list->capacity *= 2;
		list->features = repalloc_huge(list->features,
									   list->capacity * sizeof(Feature));
	}
}

/*
 * The parameters are those of elect() in construct.c.  halves is 1 where the
 * column hash is a bigint, and 2 where it is a uuid.  Error: 22003 if simhash()
 * of these features raises 22003.
 */
static Datum
list_features(FunctionCallInfo fcinfo, FeatureMaker make, int tf_argument,
			  int halves)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FeatureList list = {0};
	FeatureTarget target = {.halves = halves,.sink = list_feature,
	.arg = &list};
	uint128		total = 0;
	size_t		i;

	/* the executor frees its own description of the rows, and no other */
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	if (PG_ARGISNULL(0))
		return (Datum) 0;

	list.tf = simhash_frequency_argument(fcinfo, tf_argument);
	list.table = feature_create(CurrentMemoryContext, 256, &list);
	list.capacity = 256;
	list.features = palloc(list.capacity * sizeof(Feature));
	make(fcinfo, &target);

	for (i = 0; i < list.length; i++)
	{
		const Feature *feature = &list.features[i];
		int64		factor = simhash_term_factor(list.tf, feature->count);
		text	   *name = NULL;
		Datum		row[5];
		bool		nulls[5] = {false};

		CHECK_FOR_INTERRUPTS();
		total += simhash_exact_vote(list.tf, feature->count,
									feature->weight) / WEIGHT_UNIT;
		if (feature->bytes != NULL)
			name = simhash_utf8_to_text(feature->bytes, feature->length);
		row[0] = PointerGetDatum(name);
		nulls[0] = name == NULL;
		row[1] = simhash_words_datum(feature->hash, halves);
		row[2] = Int32GetDatum(feature->count);
		row[3] = Float8GetDatum((double) factor / WEIGHT_UNIT);
		row[4] = Float8GetDatum((double) feature->weight / WEIGHT_UNIT);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, row, nulls);
		if (name != NULL)
			pfree(name);
		if (halves > 1)
			pfree(DatumGetPointer(row[1]));
	}
	if (total > PG_INT64_MAX)
		simhash_weight_overflow((double) total);
	return (Datum) 0;
}

#define LIST_FEATURES(name, make, tf_argument, halves) \
	SIMHASH_SQL(name, list_features(fcinfo, make, tf_argument, halves))

LIST_FEATURES(simhash_features_text, simhash_make_text_features, 4, 1)
LIST_FEATURES(simhash_features_tokens, simhash_make_array_features, 0, 1)
LIST_FEATURES(simhash_features_hashes, simhash_make_array_features, 0, 1)
LIST_FEATURES(simhash_features_hashes_128, simhash_make_array_features, 0, 2)
LIST_FEATURES(simhash_features_tsvector, simhash_make_tsvector_features, 2, 1)
