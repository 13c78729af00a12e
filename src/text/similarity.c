/*
 * similarity.c
 *	  How similar two texts are, exactly: simhash_jaccard(),
 *	  simhash_containment() and simhash_cosine() of texts.
 */
#include "postgres.h"

#include <math.h>

#include "common/int.h"
#include "miscadmin.h"

#include "text/arguments.h"
#include "text/feature_set.h"

PG_FUNCTION_INFO_V1(simhash_jaccard);
PG_FUNCTION_INFO_V1(simhash_containment);
PG_FUNCTION_INFO_V1(simhash_cosine_text);

/* Make set have the features of the texts that are the first two arguments. */
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

/* How many features two texts have. */
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
 * Count the features of (a text, b text, words int, chars int).  Return false
 * if a or b is null or has no feature.
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
	options = simhash_size_arguments(fcinfo, 2, 1);
	read_texts(fcinfo, &options, &set);
	counts->a = set.table.distinct[0];
	counts->b = set.table.distinct[1];
	counts->both = counts->a + counts->b - set.table.used;
	while (simhash_set_read_late(&set, &batch))
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
 * simhash_jaccard(a text, b text, words int, chars int): the part that both
 * have, of all features that one has; NULL if a or b has none.
 */
Datum
simhash_jaccard(PG_FUNCTION_ARGS)
{
	FeatureCounts counts;

	if (!count_features(fcinfo, &counts))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) counts.both /
					 (double) (counts.a + counts.b - counts.both));
}

/*
 * simhash_containment(a text, b text, words int, chars int): the part of a's
 * features that b has; NULL if a or b has none.
 */
Datum
simhash_containment(PG_FUNCTION_ARGS)
{
	FeatureCounts counts;

	if (!count_features(fcinfo, &counts))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) counts.both / (double) counts.a);
}

/* A sum of products, as integer: it does not depend on the order. */
typedef struct WideSum
{
	uint64		high;
	uint64		low;
} WideSum;

/* The sum must stay below 2^128. */
static inline void
add_product(WideSum *sum, uint64 x, uint64 y)
{
	uint64		x_low = (uint32) x;
	uint64		y_low = (uint32) y;
	uint64		lowest = x_low * y_low;
	uint64		middle = (x >> 32) * y_low + (lowest >> 32);
	uint64		other = x_low * (y >> 32) + (uint32) middle;
	uint64		low = (other << 32) | (uint32) lowest;

	sum->low += low;
	sum->high += (x >> 32) * (y >> 32) + (middle >> 32) + (other >> 32) +
		(sum->low < low);
}

static inline double
wide_to_double(WideSum sum)
{
	return ldexp((double) sum.high, 64) + (double) sum.low;
}

/* Two vectors, which have the weight of each feature times its count. */
typedef struct CosineSums
{
	int64		total[2];		/* of the numbers of each vector */
	WideSum		squares[2];
	WideSum		products;
} CosineSums;

/* Return the number that a vector has for a feature. */
static inline uint64
add_number(CosineSums *sums, int side, int64 weight, uint64 count)
{
	int64		total = sums->total[side];
	int64		number;

	if (pg_mul_s64_overflow(weight, (int64) count, &number) ||
		pg_add_s64_overflow(total, number, &sums->total[side]))
		simhash_weight_overflow(total + (double) weight * count);
	add_product(&sums->squares[side], number, number);
	return number;
}

/*
 * The numbers of a vector add up to less than 2^63.  So their squares, and the
 * products with those of the other vector, add up to less than 2^126.
 */
static void
add_to_cosine(CosineSums *sums, const FeatureBatch *batch)
{
	uint32		i;

	for (i = 0; i < batch->length; i++)
	{
		uint64		a = add_number(sums, 0, batch->weight[i],
								   batch->count[0][i]);
		uint64		b = add_number(sums, 1, batch->weight[i],
								   batch->count[1][i]);

		add_product(&sums->products, a, b);
	}
}

/*
 * simhash_cosine(a text, b text, weights simhash_weights, words int, chars
 * int): the cosine of the vectors of weighted counts; NULL if a or b has no
 * feature, or if all weigh 0.  Error: 22003 for an overflow of the weights of a
 * text.
 */
Datum
simhash_cosine_text(PG_FUNCTION_ARGS)
{
	CosineSums	sums = {0};
	FeatureOptions options;
	FeatureSet	set;
	FeatureBatch batch;
	double		squares;

	if (has_null_text(fcinfo))
		PG_RETURN_NULL();
	options = simhash_weighted_arguments(fcinfo, 2);
	read_texts(fcinfo, &options, &set);
	while (simhash_set_read_table(&set, &batch))
		add_to_cosine(&sums, &batch);
	while (simhash_set_read_late(&set, &batch))
		add_to_cosine(&sums, &batch);
	simhash_set_free(&set);

	/* the root of a rounded square is exact: equal vectors have 1 */
	squares = wide_to_double(sums.squares[0]) * wide_to_double(sums.squares[1]);
	if (squares == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(Min(wide_to_double(sums.products) / sqrt(squares), 1));
}
