/*
 * similarity.c
 *	  How similar two texts are, exactly: text_jaccard(), text_containment(),
 *	  text_cosine().
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "text/arguments.h"
#include "text/feature_set.h"

PG_FUNCTION_INFO_V1(simhash_text_jaccard);
PG_FUNCTION_INFO_V1(simhash_text_containment);
PG_FUNCTION_INFO_V1(simhash_text_cosine);

/* Fill set with the features of the first two arguments, which are texts. */
static void
read_texts(FunctionCallInfo fcinfo, const FeatureOptions *options,
		   FeatureSet *set)
{
	int			side;

	simhash_set_init(set, work_mem, 2, NULL);
	for (side = 0; side < 2; side++)
	{
		text	   *body = PG_GETARG_TEXT_PP(side);
		FeatureTarget target = simhash_set_target(set, 1, side);

		simhash_make_features(body, options, &target);
		PG_FREE_IF_COPY(body, side);
	}
}

/* How many features each of two texts has, and how many both have. */
typedef struct FeatureCounts
{
	uint64		a;
	uint64		b;
	uint64		both;
} FeatureCounts;

static inline bool
has_null_text(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(0) || PG_ARGISNULL(1);
}

/*
 * Count the features of (a text, b text, weights simhash_weights, words int,
 * chars int), which are those of minhash(): weights is a stop list.  Return
 * false if a or b is null or has no feature.
 */
static bool
count_features(FunctionCallInfo fcinfo, FeatureCounts *counts)
{
	FeatureOptions options;
	FeatureSet	set;
	FeatureBatch batch;
	uint32		i;

	if (has_null_text(fcinfo))
		return false;
	options = simhash_stops_arguments(fcinfo, 2);
	read_texts(fcinfo, &options, &set);
	counts->a = set.table.distinct[0];
	counts->b = set.table.distinct[1];
	counts->both = counts->a + counts->b - set.table.used;
	while (simhash_set_read_spilled(&set, &batch))
	{
		for (i = 0; i < batch.length; i++)
		{
			bool		a = batch.count[0][i] > 0;
			bool		b = batch.count[1][i] > 0;

			counts->a += a;
			counts->b += b;
			counts->both += a && b;
		}
	}
	simhash_set_free(&set);
	return counts->a > 0 && counts->b > 0;
}

/*
 * text_jaccard(a text, b text, weights simhash_weights, words int, chars int):
 * of all features that a or b has, the part that both have; NULL if a or b has
 * none.
 */
Datum
simhash_text_jaccard(PG_FUNCTION_ARGS)
{
	FeatureCounts counts;

	if (!count_features(fcinfo, &counts))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) counts.both /
					 (double) (counts.a + counts.b - counts.both));
}

/*
 * text_containment(a text, b text, weights simhash_weights, words int, chars
 * int): the part of a's features that b has; NULL if a or b has none.
 */
Datum
simhash_text_containment(PG_FUNCTION_ARGS)
{
	FeatureCounts counts;

	if (!count_features(fcinfo, &counts))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) counts.both / (double) counts.a);
}

/*
 * A sum of products of coordinates, high * 2^32 + low, in units of 2^-64.  It
 * is exact, and so does not depend on the order.  128 bits alone would do for
 * votes that are rounded down, where weights below 1/1000 lose their digits.
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
 * Add the coordinate of a feature to the vector of a text, and return the
 * coordinate, in units of 2^-32: the vote that simhash() rounds down to units
 * of 2^-16.
 */
static inline uint128
add_coordinate(CosineSums *sums, int side, TermFrequency tf, uint64 count,
			   int64 weight)
{
	uint128		x = simhash_exact_vote(tf, count, weight);

	sums->total[side] += x / WEIGHT_UNIT;
	add_product(&sums->squares[side], x, x);
	return x;
}

static void
add_to_cosine(CosineSums *sums, TermFrequency tf, const FeatureBatch *batch)
{
	uint32		i;

	for (i = 0; i < batch->length; i++)
	{
		uint128		a = add_coordinate(sums, 0, tf, batch->count[0][i],
									   batch->weight[i]);
		uint128		b = add_coordinate(sums, 1, tf, batch->count[1][i],
									   batch->weight[i]);

		add_product(&sums->products, a, b);
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
	FeatureOptions options;
	TermFrequency tf;
	FeatureSet	set;
	FeatureBatch batch;
	double		squares;
	int			side;

	if (has_null_text(fcinfo))
		PG_RETURN_NULL();
	options = simhash_weighted_arguments(fcinfo, 2);
	tf = simhash_frequency_argument(fcinfo, 5);
	read_texts(fcinfo, &options, &set);
	while (simhash_set_read_table(&set, &batch))
		add_to_cosine(&sums, tf, &batch);
	while (simhash_set_read_spilled(&set, &batch))
		add_to_cosine(&sums, tf, &batch);
	simhash_set_free(&set);
	for (side = 0; side < 2; side++)
	{
		if (sums.total[side] > PG_INT64_MAX)
			simhash_weight_overflow((double) sums.total[side]);
	}

	/* the root of a rounded square is exact: equal vectors have 1 */
	squares = sum_to_double(sums.squares[0]) * sum_to_double(sums.squares[1]);
	if (squares == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(Min(sum_to_double(sums.products) / sqrt(squares), 1));
}
