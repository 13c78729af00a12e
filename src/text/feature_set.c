/*
 * feature_set.c
 *	  The distinct features of one text or two, within work_mem.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "text/feature_set.h"
#include "text/tokens.h"
#include "type/compat.h"
#include "type/secret.h"

/*
 * No SQL function takes more than 64 kB of stack: a Tokenizer, the arrays of
 * features (see FEATURES_AT_ONCE), the space of tables, and 16 kB for all else.
 */
StaticAssertDecl(sizeof(Tokenizer) +
				 (8 * FEATURES_AT_ONCE + HALVES_MAX * TABLE_SPACE) *
				 sizeof(uint64) <= 48 * 1024,
				 "a text takes too much stack");

/*
 * Prepare set for at most memory kilobytes.  sides is the number of texts whose
 * occurrences are counted, each apart: 0 if it does not matter how often a
 * feature occurs.
 *
 * votes is NULL, or where the features are to vote.  If no feature has a weight
 * or a count, those that go into the table vote as they come, and nobody need
 * read the table.
 */
void
simhash_set_init(FeatureSet *set, int memory, int sides,
				 Votes *votes)
{
	memset(set, 0, offsetof(FeatureSet, space));
	set->votes = votes;
	set->memory = memory;
	set->sides = sides;
}

/*
 * The begin of set_methods.  Of two texts, the first says for both whether
 * features come with weights.
 */
static void
begin_set(void *state, bool weighted)
{
	FeatureSet *set = state;
	bool		counted = set->sides > 0;

	if (set->has_begun)
		return;
	set->has_begun = true;
	simhash_table_init(&set->table, set->sides, weighted,
					   set->memory * (size_t) 1024 / 2, simhash_secret(),
					   set->space);
	if (set->votes != NULL)
		simhash_votes_begin(set->votes, weighted || counted);
	set->vote_at_once = set->votes != NULL && !weighted && !counted;
}

/*
 * Give an occurrence of a feature to the sort, unless the table, which is full,
 * has the feature.
 *
 * PostgreSQL sorts pairs as uuids: the bytes of a pair, the most significant
 * first, have the order of pairs.  The first 8 bytes decide nearly always.  The
 * sort keeps these beside the pointer to each uuid, and compares them first.
 */
static void
spill(FeatureSet *set, uint64 hash, int64 weight)
{
	uint64		use = (uint64) weight * FEATURE_SIDES + set->side;
	uint64		pair[] = {pg_hton64(hash), pg_hton64(use)};

	StaticAssertStmt(sizeof(pair) == UUID_LEN, "a uuid has a pair's length");
	if (simhash_table_count(&set->table, set->side, hash, weight))
		return;
	if (set->sort == NULL)
	{
		Oid			less = lookup_type_cache(UUIDOID, TYPECACHE_LT_OPR)->lt_opr;

		set->sort = tuplesort_begin_datum(UUIDOID, less, InvalidOid, false,
										  set->memory / 2, NULL,
										  TUPLESORT_NONE);
	}
	tuplesort_putdatum(set->sort, PointerGetDatum(pair), false);
}

static void
add_to_set(void *state, const uint64 *hash, const int64 *weight, uint32 count)
{
	FeatureSet *set = state;
	uint64		fresh[FEATURES_AT_ONCE];
	uint64		used = set->table.used;
	uint32		i = 0;

	if (set->sort == NULL)
		i = simhash_table_add(&set->table, set->side, hash, weight, count,
							  fresh);
	if (set->vote_at_once)
		simhash_votes_add_all(set->votes, fresh, NULL, set->table.used - used);
	for (; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		spill(set, hash[i], set->table.weight ? weight[i] : 0);
	}
}

static const HalfMethods set_methods = {
	.state_size = sizeof(FeatureSet),
	.begin = begin_set,
	.add_all = add_to_set
};

/*
 * Return a target that adds features to set[0 .. halves), by their hash of each
 * half.  side is 0, or 1 for a second text.  Call
 * this just before the text: the sets add to one side at a time.
 */
FeatureTarget
simhash_set_target(FeatureSet *set, int halves, int side)
{
	FeatureTarget target = {
		.halves = halves,
		.methods = &set_methods,
		.arg = set
	};
	int			half;

	for (half = 0; half < halves; half++)
		set[half].side = side;
	return target;
}

/* Do what simhash_set_read() does, for the features of the table alone. */
static bool
read_table(FeatureSet *set, FeatureBatch *batch)
{
	const FeatureTable *table = &set->table;
	uint64		slots[FEATURE_BATCH];
	uint32		i;
	int			side;

	CHECK_FOR_INTERRUPTS();
	batch->length = simhash_table_list(table, &set->next, slots, FEATURE_BATCH);
	for (i = 0; i < batch->length; i++)
	{
		batch->hash[i] = table_hash(table, slots[i]);
		batch->weight[i] =
			table->weight ? table->weight[slots[i]] : WEIGHT_UNIT;
		for (side = 0; side < FEATURE_SIDES; side++)
			batch->count[side][i] =
				table->count[side] ? table->count[side][slots[i]] : 1;
	}
	return batch->length > 0;
}

static void
next_pair(FeatureSet *set)
{
	Datum		value;
	bool		isnull;

	CHECK_FOR_INTERRUPTS();
	set->has_pair = tuplesort_getdatum(set->sort, true, true, &value, &isnull,
									   NULL);
	if (!set->has_pair)
		return;
	memcpy(set->pair, DatumGetPointer(value), UUID_LEN);
	pfree(DatumGetPointer(value));
	set->pair[0] = pg_ntoh64(set->pair[0]);
	set->pair[1] = pg_ntoh64(set->pair[1]);
}

/* Add the next feature of the sort, all of its occurrences, to the batch. */
static void
read_run(FeatureSet *set, FeatureBatch *batch)
{
	uint32		i = batch->length++;
	int			side;

	batch->hash[i] = set->pair[0];
	batch->weight[i] = set->table.weighted ? 0 : WEIGHT_UNIT;
	for (side = 0; side < FEATURE_SIDES; side++)
		batch->count[side][i] = set->table.count[side] ? 0 : 1;
	for (; set->has_pair && set->pair[0] == batch->hash[i]; next_pair(set))
	{
		int64		weight = set->pair[1] / FEATURE_SIDES;

		side = set->pair[1] % FEATURE_SIDES;
		if (set->table.count[side])
			batch->count[side][i]++;
		batch->weight[i] = Max(batch->weight[i], weight);
	}
}

/* Do what simhash_set_read() does, for the spilled features alone. */
bool
simhash_set_read_spilled(FeatureSet *set, FeatureBatch *batch)
{
	batch->length = 0;
	if (set->sort == NULL)
		return false;
	if (!set->is_sorted)
	{
		tuplesort_performsort(set->sort);
		set->is_sorted = true;
		next_pair(set);
	}
	while (set->has_pair && batch->length < FEATURE_BATCH)
		read_run(set, batch);
	return batch->length > 0;
}

/*
 * No feature may be added any more.  Set *batch to the next features, in no
 * particular order, but for those that have voted when they came.  Return false
 * if there are no more.
 */
bool
simhash_set_read(FeatureSet *set, FeatureBatch *batch)
{
	return (!set->vote_at_once && read_table(set, batch)) ||
		simhash_set_read_spilled(set, batch);
}

/*
 * Copy the features of set to copy, in the current memory context.  No feature
 * of set may be spilled.
 */
void
simhash_set_copy(FeatureSet *copy, const FeatureSet *set)
{
	Assert(set->sort == NULL);
	memcpy(copy, set, offsetof(FeatureSet, space));
	simhash_table_copy(&copy->table, &set->table, copy->space);
}

void
simhash_set_free(FeatureSet *set)
{
	if (set->has_begun)
		simhash_table_free(&set->table);
	if (set->sort != NULL)
		tuplesort_end(set->sort);
}
