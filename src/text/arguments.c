/*
 * arguments.c
 *	  From the arguments of SQL functions to features.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "tsearch/ts_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "text/arguments.h"
#include "text/server_text.h"
#include "text/weights.h"
#include "type/simhash.h"

#define TF_SHOWN 64				/* bytes of a wrong tf, in an error */

/*
 * How many words a feature of a set has where the caller does not say:
 * doc/choosing.md has the figures.
 */
#define SET_WORDS 2

/*
 * argument is the number of the argument (tf text), or 0 if the SQL function
 * has none: then each occurrence is a vote of its own.  Return what tf names,
 * and TF_ONCE if tf is null.  Error: 22023 for another name.
 */
TermFrequency
simhash_frequency_argument(FunctionCallInfo fcinfo, int argument)
{
	static const char *const names[] = {"count", "log", "once"};
	text	   *value;
	int			i;

	if (argument == 0)
		return TF_COUNT;
	if (PG_ARGISNULL(argument))
		return TF_ONCE;
	value = PG_GETARG_TEXT_PP(argument);
	for (i = 0; i < (int) lengthof(names); i++)
	{
		size_t		length = strlen(names[i]);

		if (VARSIZE_ANY_EXHDR(value) == length &&
			memcmp(VARDATA_ANY(value), names[i], length) == 0)
			return (TermFrequency) i;
	}
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("tf must be \"once\", \"log\" or \"count\", not "
						   "\"%s\"",
						   pnstrdup(VARDATA_ANY(value),
									pg_mbcliplen(VARDATA_ANY(value),
												 VARSIZE_ANY_EXHDR(value),
												 TF_SHOWN)))));
}

/*
 * Return what (words int, chars int) say; default_words if both are null.
 * argument is the number of words; chars follows.  Error: 22023 for a size out
 * of range, and if neither is null.
 */
FeatureOptions
simhash_size_arguments(FunctionCallInfo fcinfo, int argument,
					   uint32 default_words)
{
	FeatureOptions options = {default_words, false, NULL, NULL};
	bool		words = !PG_ARGISNULL(argument);
	bool		chars = !PG_ARGISNULL(argument + 1);

	if (chars && words)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("words and chars cannot be used together"),
						errdetail("words is %d, chars is %d.",
								  PG_GETARG_INT32(argument),
								  PG_GETARG_INT32(argument + 1))));
	options.chars = chars;
	if (chars)
		options.size = simhash_check_range("chars",
										   PG_GETARG_INT32(argument + 1),
										   1, SHINGLE_MAX);
	else if (words)
		options.size = simhash_check_range("words", PG_GETARG_INT32(argument),
										   1, SHINGLE_MAX);
	return options;
}

/*
 * Return what (weights simhash_weights, words int, chars int) say.  argument is
 * the number of weights; words and chars follow.  is_set tells a function of
 * the set of features, which takes weights as a stop list.  The table of
 * weights or stops is valid as long as that of simhash_cached_weights().
 * Error: 22023 for weights with chars.
 */
FeatureOptions
simhash_text_arguments(FunctionCallInfo fcinfo, int argument, bool is_set)
{
	FeatureOptions options = simhash_size_arguments(fcinfo, argument + 1,
													is_set ? SET_WORDS : 1);
	const WeightTable *table;

	if (PG_ARGISNULL(argument))
		return options;
	if (options.chars)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("weights and chars cannot be used together"),
						errdetail("Weights apply to words, but chars is %u.",
								  options.size)));
	table = simhash_cached_weights(fcinfo, argument, is_set);
	if (is_set)
		options.stops = table;
	else
		options.weights = table;
	return options;
}

/* Hand the features of a text to target.  Return how many characters it has. */
uint32
simhash_make_features(const struct varlena *body,
					  const FeatureOptions *options,
					  const FeatureTarget *target)
{
	return simhash_read_text(VARDATA_ANY(body), VARSIZE_ANY_EXHDR(body), false,
							 options, target);
}

/* (body text, weights simhash_weights, words int, chars int) */
void
simhash_make_text_features(FunctionCallInfo fcinfo, const FeatureTarget *target)
{
	text	   *body = PG_GETARG_TEXT_PP(0);
	bool		is_set = target->methods != NULL && target->methods->of_set;
	FeatureOptions options = simhash_text_arguments(fcinfo, 1, is_set);

	simhash_make_features(body, &options, target);
	PG_FREE_IF_COPY(body, 0);
}

/* Return a float8 as a weight in units of 2^-16.  Error: 22023. */
int64
simhash_weight_from_datum(Datum datum)
{
	int64		weight;

	if (!simhash_weight_from_double(DatumGetFloat8(datum), &weight))
	{
		Datum		shown = DirectFunctionCall1(float8out, datum);

		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weight must be between 0 and 2147483648, not %s",
						DatumGetCString(shown))));
	}
	return weight;
}

/* Raise 22003: the features weigh total units, which is more than 2^63 - 1. */
void
simhash_weight_overflow(double total)
{
	ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					errmsg("total weight must be below 140737488355328, not "
						   "%.0f", total / WEIGHT_UNIT)));
}

/* Return what the states of target elect, or NULL for no fingerprint. */
Datum
simhash_fingerprint_datum(FunctionCallInfo fcinfo, const FeatureTarget *target)
{
	uint64		fingerprint[HALVES_MAX];
	int			half;

	for (half = 0; half < target->halves; half++)
	{
		if (!target->methods->fingerprint(feature_state(target, half),
										  &fingerprint[half]))
			PG_RETURN_NULL();
	}
	return simhash_words_datum(fingerprint, target->halves);
}

typedef struct Elements
{
	Datum	   *values;
	int			count;
} Elements;

/*
 * Return the elements of an array.  Error: 2202E for more than one dimension,
 * and 22004 for a null.  Messages call the array name.
 */
static Elements
array_elements(ArrayType *array, const char *name)
{
	Elements	result;
	bool	   *nulls;
	int16		length;
	bool		by_value;
	char		alignment;
	int			i;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("%s must be a one-dimensional array, not one "
							   "of %d dimensions",
							   name, ARR_NDIM(array))));
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment,
					  &result.values, &nulls, &result.count);
	for (i = 0; i < result.count; i++)
	{
		if (nulls[i])
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
							errmsg("%s must not contain nulls", name),
							errdetail("Element %d is null.",
									  ARR_LBOUND(array)[0] + i)));
	}
	return result;
}

/* A FeatureAdder: a text, which is one token as it is, not normalised. */
INLINE_HASHES void
simhash_add_token_feature(const FeatureTarget *target, Datum element,
						  int64 weight)
{
	text	   *token = DatumGetTextPP(element);
	uint64		hash[HALVES_MAX];
	int			length;
	const char *utf8 = simhash_text_to_utf8(VARDATA_ANY(token),
											VARSIZE_ANY_EXHDR(token), &length);

	hash_feature_all(utf8, length, hash, target->halves);
	feature_add(target, (const uint8 *) utf8, length, hash, weight);
	if (utf8 != VARDATA_ANY(token))
		pfree(unconstify(char *, utf8));
}

/*
 * A FeatureAdder: element is a hash of the feature, a bigint or a simhash64 if
 * target->halves is 1, a uuid or a simhash128 if it is 2.
 */
void
simhash_add_hash_feature(const FeatureTarget *target, Datum element,
						 int64 weight)
{
	uint64		hash[HALVES_MAX];

	simhash_datum_words(element, hash, target->halves);
	feature_add(target, NULL, 0, hash, weight);
}

/* (tokens text[], or hashes bigint[] or uuid[][, weights float8[]]) */
void
simhash_make_array_features(FunctionCallInfo fcinfo,
							const FeatureTarget *target)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	bool		are_tokens = ARR_ELEMTYPE(array) == TEXTOID;
	const char *name = are_tokens ? "tokens" : "hashes";
	FeatureAdder add = are_tokens ? simhash_add_token_feature
	: simhash_add_hash_feature;
	Elements	elements = array_elements(array, name);
	Elements	weights = {NULL, 0};
	int			i;

	if (PG_NARGS() > 1 && !PG_ARGISNULL(1))
	{
		weights = array_elements(PG_GETARG_ARRAYTYPE_P(1), "weights");
		if (weights.count != elements.count)
			ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
							errmsg("number of weights must match the %d "
								   "elements of %s, not be %d",
								   elements.count, name, weights.count)));
	}
	feature_begin(target, weights.values != NULL);
	for (i = 0; i < elements.count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		add(target, elements.values[i],
			weights.values ? simhash_weight_from_datum(weights.values[i])
			: WEIGHT_UNIT);
	}
}

/*
 * Set weight[0 .. 3] to the weights of the labels D, C, B and A, in units of
 * 2^-16, from an array of four float4.
 */
static void
label_weights(ArrayType *array, int64 *weight)
{
	Elements	elements = array_elements(array, "weights");
	int			i;

	if (elements.count != 4)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("weights must have four elements, for the "
							   "labels D, C, B and A, not %d",
							   elements.count)));
	for (i = 0; i < 4; i++)
	{
		double		value = DatumGetFloat4(elements.values[i]);

		weight[i] = simhash_weight_from_datum(Float8GetDatum(value));
	}
}

/*
 * Add a lexeme once for each of its positions, by weight[] of the position's
 * label; once, as label D, if the lexeme has no position.
 */
static INLINE_HASHES void
add_lexeme(const FeatureTarget *target, TSVector doc, const WordEntry *entry,
		   const int64 *weight)
{
	const char *text = STRPTR(doc) + entry->pos;
	WordEntryPos *position = POSDATAPTR(doc, entry);
	int			length;
	const char *utf8 = simhash_text_to_utf8(text, entry->len, &length);
	const uint8 *bytes = (const uint8 *) utf8;
	uint64		hash[HALVES_MAX];
	int			i;

	hash_feature_all(utf8, length, hash, target->halves);
	if (!entry->haspos)
		feature_add(target, bytes, length, hash, weight[0]);
	for (i = 0; i < POSDATALEN(doc, entry); i++)
		feature_add(target, bytes, length, hash,
					weight[WEP_GETWEIGHT(position[i])]);
	if (utf8 != text)
		pfree(unconstify(char *, utf8));
}

/* (doc tsvector[, weights float4[]]) */
void
simhash_make_tsvector_features(FunctionCallInfo fcinfo,
							   const FeatureTarget *target)
{
	TSVector	doc = PG_GETARG_TSVECTOR(0);

	/* ts_rank's 0.1, 0.2, 0.4 and 1, in units of 2^-16 */
	int64		weight[4] = {6554, 13107, 26214, 65536};
	int			i;

	if (PG_NARGS() > 1 && !PG_ARGISNULL(1))
		label_weights(PG_GETARG_ARRAYTYPE_P(1), weight);
	feature_begin(target, true);
	for (i = 0; i < doc->size; i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_lexeme(target, doc, ARRPTR(doc) + i, weight);
	}
	PG_FREE_IF_COPY(doc, 0);
}
