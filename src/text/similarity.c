/*
 * similarity.c
 *	  How similar two texts are, exactly: text_jaccard(), text_containment(),
 *	  text_cosine().
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "text/arguments.h"
#include "text/feature_set.h"
#include "text/server_text.h"
#include "text/weights.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_text_cosine);

/* A text nearly always has a feature in its first bytes. */
#define FIRST_BYTES 256

/*
 * What fn_extra points to: the features of a text that may come again, as the
 * row of a join does with each of its partners, on either side.
 */
typedef struct KeptText
{
	KnownPointers known;		/* for simhash_cached_weights() */
	int			argument;		/* number of the one that is kept */
	uint64		other;			/* hash of the other one that came with it */

	MemoryContext context;		/* of all that is kept; NULL: none yet */
	const uint8 *body;			/* as stored, maybe compressed, or a TOAST
								 * pointer; NULL: no text is kept */
	size_t		size;			/* bytes of body */
	uint64		key;			/* the options, as options_key() */
	FeatureSet	set;			/* features of body, as those of side 0 */
} KeptText;

/* Options with one key are equal, and have one table of weights or stops. */
static uint64
options_key(const FeatureOptions *options)
{
	const WeightTable *table =
	options->weights ? options->weights : options->stops;
	uint64		id = table ? table->id : 0;

	StaticAssertStmt(SHINGLE_MAX < 128, "a size has 7 bits");
	return (id << 8) | (options->size << 1) | options->chars;
}

static uint64
hash_body(const struct varlena *body)
{
	return XXH3_64bits(body, VARSIZE_ANY(body));
}

static bool
is_kept(const KeptText *kept, const struct varlena *body, uint64 key)
{
	return kept->body != NULL && kept->key == key &&
		kept->size == VARSIZE_ANY(body) &&
		memcmp(kept->body, body, kept->size) == 0;
}

/*
 * Keep body with set, which has the features of body alone, in place of the
 * text that was kept.  Body and columns each take half of work_mem at most.
 */
static void
keep(KeptText *kept, MemoryContext parent, const struct varlena *body,
	 uint64 key, const FeatureSet *set)
{
	MemoryContext caller = CurrentMemoryContext;

	kept->body = NULL;
	kept->size = VARSIZE_ANY(body);
	if (set->sort != NULL || kept->size > work_mem * (size_t) 1024 / 2 ||
		(VARATT_IS_EXTERNAL(body) && !VARATT_IS_EXTERNAL_ONDISK(body)))
		return;
	if (kept->context == NULL)
		kept->context = AllocSetContextCreate(parent, "simhash kept text",
											  ALLOCSET_SMALL_SIZES);
	MemoryContextReset(kept->context);
	MemoryContextSwitchTo(kept->context);
	simhash_set_copy(&kept->set, set);
	kept->key = key;
	kept->body = simhash_copy_bytes((const uint8 *) body, kept->size);
	MemoryContextSwitchTo(caller);
}

/* Add the features of a text to set, as those of side. */
static void
read_text(struct varlena *body, const FeatureOptions *options, FeatureSet *set,
		  int side)
{
	struct varlena *detoasted = pg_detoast_datum_packed(body);
	FeatureTarget target = simhash_set_target(set, 1, side);

	simhash_make_features(detoasted, options, &target);
	if (detoasted != body)
		pfree(detoasted);
}

/*
 * Are two texts equal, byte by byte?  If so, set *has_feature to whether they
 * have one.  There must be no stop words: then a text has a feature if what it
 * begins with has one.
 */
static bool
are_equal(struct varlena *const bodies[2], const FeatureOptions *options,
		  bool *has_feature)
{
	size_t		size = toast_raw_datum_size(PointerGetDatum(bodies[0]));
	struct varlena *a;
	struct varlena *b;
	bool		result;

	if (size != toast_raw_datum_size(PointerGetDatum(bodies[1])))
		return false;
	size -= VARHDRSZ;
	a = pg_detoast_datum_packed(bodies[0]);
	b = pg_detoast_datum_packed(bodies[1]);
	result = memcmp(VARDATA_ANY(a), VARDATA_ANY(b), size) == 0;
	if (result)
	{
		int			first = pg_mbcliplen(VARDATA_ANY(a), size, FIRST_BYTES);
		FeatureSet	set;
		FeatureTarget target;

		simhash_set_init(&set, work_mem, 0, NULL);
		target = simhash_set_target(&set, 1, 0);
		simhash_read_text(VARDATA_ANY(a), first, false, options, &target);
		if (set.table.used == 0)
			simhash_read_text(VARDATA_ANY(a), size, false, options, &target);
		*has_feature = set.table.used > 0;
		simhash_set_free(&set);
	}
	if (a != bodies[0])
		pfree(a);
	if (b != bodies[1])
		pfree(b);
	return result;
}

/* What read_texts() has found. */
typedef enum FoundTexts
{
	TEXTS_NULL,					/* one is null, or they are equal and have no
								 * feature */
	TEXTS_EQUAL,				/* they are equal */
	TEXTS_READ					/* the set has their features */
} FoundTexts;

/*
 * Fill set with the features of (a text, b text, weights simhash_weights, words
 * int, chars int), unless the texts are equal and there are no weights.  Set
 * *tf to the argument tf, which comes next, unless tf is NULL: then the
 * features are those of a set.  Set *first to the number of the argument whose
 * features are those of side 0.
 */
static FoundTexts
read_texts(FunctionCallInfo fcinfo, TermFrequency *tf, FeatureSet *set,
		   int *first)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	KeptText   *kept;
	FeatureOptions options;
	uint64		key;
	struct varlena *bodies[2];
	bool		has_feature;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return TEXTS_NULL;
	/* before the weights are read: these have kept->known */
	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = MemoryContextAllocZero(flinfo->fn_mcxt,
												  sizeof(KeptText));
	kept = flinfo->fn_extra;
	options = simhash_text_arguments(fcinfo, 2, tf == NULL);
	if (tf != NULL)
		*tf = simhash_frequency_argument(fcinfo, 5);
	key = options_key(&options);
	bodies[0] = PG_GETARG_RAW_VARLENA_P(0);
	bodies[1] = PG_GETARG_RAW_VARLENA_P(1);
	if (options.weights == NULL && options.stops == NULL &&
		are_equal(bodies, &options, &has_feature))
		return has_feature ? TEXTS_EQUAL : TEXTS_NULL;
	*first = kept->argument;
	if (is_kept(kept, bodies[*first], key))
		simhash_set_copy(set, &kept->set);
	else
	{
		uint64		other = hash_body(bodies[!*first]);

		/* the other argument came before, too: keep that one from now on */
		if (other == kept->other)
		{
			*first = !*first;
			other = hash_body(bodies[!*first]);
		}
		kept->argument = *first;
		kept->other = other;
		simhash_set_init(set, work_mem, 2, NULL);
		read_text(bodies[*first], &options, set, 0);
		keep(kept, flinfo->fn_mcxt, bodies[*first], key, set);
	}
	read_text(bodies[!*first], &options, set, 1);
	return TEXTS_READ;
}

/*
 * (a text, b text, weights simhash_weights, words int, chars int): of all
 * features that a has, or that a or b has unless of_a, the part that both have.
 * They are those of minhash(): weights is a stop list.  NULL if a or b is null
 * or has no feature.
 */
static Datum
share_in_common(FunctionCallInfo fcinfo, bool of_a)
{
	FeatureSet	set;
	FeatureBatch batch;
	uint64		count[2];		/* features of side 0, and of side 1 */
	uint64		both;
	uint64		all;
	int			a;				/* the side of a */
	FoundTexts	found = read_texts(fcinfo, NULL, &set, &a);
	uint32		i;

	if (found == TEXTS_NULL)
		PG_RETURN_NULL();
	if (found == TEXTS_EQUAL)
		PG_RETURN_FLOAT8(1);
	count[0] = set.table.distinct[0];
	count[1] = set.table.distinct[1];
	both = count[0] + count[1] - set.table.used;
	while (simhash_set_read_spilled(&set, &batch))
	{
		for (i = 0; i < batch.length; i++)
		{
			bool		has[2] = {batch.count[0][i] > 0, batch.count[1][i] > 0};

			count[0] += has[0];
			count[1] += has[1];
			both += has[0] && has[1];
		}
	}
	simhash_set_free(&set);
	if (count[0] == 0 || count[1] == 0)
		PG_RETURN_NULL();
	all = of_a ? count[a] : count[0] + count[1] - both;
	PG_RETURN_FLOAT8((double) both / (double) all);
}

SIMHASH_SQL(simhash_text_jaccard, share_in_common(fcinfo, false))
SIMHASH_SQL(simhash_text_containment, share_in_common(fcinfo, true))

/*
 * A sum of products of coordinates, high * 2^32 + low, in units of 2^-64.  It
 * is exact, and so does not depend on the order.  Products of exact votes need
 * 160 bits.  (Rounded votes would need 128, but weights below 1/1000 would lose
 * digits.)
 */
typedef struct WideSum
{
	uint128		high;
	uint128		low;
} WideSum;

/*
 * x and y are coordinates, in units of 2^-32.  Those of a text add up to less
 * than 2^80, or text_cosine() raises an error in place of its result: so high
 * stays below 2^127, and low below 2^97.  Where each vote is an integer in
 * units of 2^-16, nothing is added to low.
 */
static inline void
add_product(WideSum *sum, uint128 x, uint128 y)
{
	uint64		x_high = x >> 16;
	uint64		y_high = y >> 16;
	uint16		x_low = x;
	uint16		y_low = y;

	sum->high += (uint128) x_high * y_high;
	if (x_low > 0 || y_low > 0)
		sum->low += (((uint128) x_high * y_low +
					  (uint128) y_high * x_low) << 16) +
			(uint32) x_low * y_low;
}

static inline double
sum_to_double(WideSum sum)
{
	return ldexp((double) sum.high, 32) + (double) sum.low;
}

/* Two vectors, whose coordinates are what each feature votes with. */
typedef struct CosineSums
{
	uint128		total[2];		/* votes of each text, in units of 2^-16 */
	WideSum		squares[2];
	WideSum		products;
} CosineSums;

/*
 * Add the features of a batch to the vectors.  A coordinate is in units of
 * 2^-32: the vote that simhash() rounds down to units of 2^-16.
 */
static void
add_to_cosine(CosineSums *sums, TermFrequency tf, const FeatureBatch *batch)
{
	uint32		i;
	int			side;

	for (i = 0; i < batch->length; i++)
	{
		uint128		x[2];

		for (side = 0; side < 2; side++)
		{
			x[side] = simhash_exact_vote(tf, batch->count[side][i],
										 batch->weight[i]);
			sums->total[side] += x[side] / WEIGHT_UNIT;
			add_product(&sums->squares[side], x[side], x[side]);
		}
		add_product(&sums->products, x[0], x[1]);
	}
}

/*
 * text_cosine(a text, b text, weights simhash_weights, words int, chars int, tf
 * text): the cosine of the vectors of what the features vote with in
 * simhash(); NULL if a or b has no feature, or if all weigh 0.  Error: 22003
 * where simhash() of a text raises it.
 */
Datum
simhash_text_cosine(PG_FUNCTION_ARGS)
{
	CosineSums	sums = {0};
	TermFrequency tf;
	FeatureSet	set;
	FeatureBatch batch;
	double		squares;
	int			first;
	FoundTexts	found = read_texts(fcinfo, &tf, &set, &first);
	int			i;

	if (found == TEXTS_NULL)
		PG_RETURN_NULL();
	if (found == TEXTS_EQUAL)
		PG_RETURN_FLOAT8(1);
	while (simhash_set_read(&set, &batch))
		add_to_cosine(&sums, tf, &batch);
	simhash_set_free(&set);
	for (i = 0; i < 2; i++)
	{
		uint128		total = sums.total[i ^ first];

		if (total > PG_INT64_MAX)
			simhash_weight_overflow((double) total);
	}

	/* the root of a rounded square is exact: equal vectors have 1 */
	squares = sum_to_double(sums.squares[0]) * sum_to_double(sums.squares[1]);
	if (squares == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(Min(sum_to_double(sums.products) / sqrt(squares), 1));
}
