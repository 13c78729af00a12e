/*
 * minhash.c
 *	  The constructors minhash(...), and the aggregates minhash_agg().
 */
#include "postgres.h"

#include "libpq/pqformat.h"

#include "text/aggregate.h"
#include "text/arguments.h"
#include "text/sketch.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_minhash_text);
PG_FUNCTION_INFO_V1(simhash_minhash_text_stops);
PG_FUNCTION_INFO_V1(simhash_minhash_tokens);
PG_FUNCTION_INFO_V1(simhash_minhash_hashes);
PG_FUNCTION_INFO_V1(simhash_minhash_tsvector);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_token);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_hash);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_serialize);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_deserialize);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_final);

/*
 * Words of a feature where the caller does not say: doc/choosing.md has the
 * figures.
 */
#define DEFAULT_WORDS 2

/* Return the fingerprint of a sketch, NULL if there is no feature. */
static Datum
return_fingerprint(FunctionCallInfo fcinfo, Sketch *sketch)
{
	uint64		fingerprint;

	if (!simhash_sketch_fingerprint(sketch, &fingerprint))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(fingerprint);
}

/* Return the fingerprint of the text that is the first argument. */
static Datum
sketch_text(FunctionCallInfo fcinfo, const FeatureOptions *options)
{
	text	   *body = PG_GETARG_TEXT_PP(0);
	Sketch		sketch;
	FeatureTarget target = simhash_sketch_target(&sketch);

	simhash_sketch_init(&sketch, simhash_process_seed());
	simhash_make_features(body, options, &target);
	PG_FREE_IF_COPY(body, 0);
	return return_fingerprint(fcinfo, &sketch);
}

/* minhash(body text, words int, chars int) */
Datum
simhash_minhash_text(PG_FUNCTION_ARGS)
{
	FeatureOptions options;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	options = simhash_size_arguments(fcinfo, 1, DEFAULT_WORDS);
	return sketch_text(fcinfo, &options);
}

/* minhash(body text, weights simhash_weights, words int, chars int) */
Datum
simhash_minhash_text_stops(PG_FUNCTION_ARGS)
{
	FeatureOptions options;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		options = simhash_size_arguments(fcinfo, 2, DEFAULT_WORDS);
	else
		options = simhash_stops_arguments(fcinfo, 1, DEFAULT_WORDS);
	return sketch_text(fcinfo, &options);
}

/* Return the fingerprint of the features that make() makes. */
static Datum
sketch_features(FunctionCallInfo fcinfo, FeatureMaker make)
{
	Sketch		sketch;
	FeatureTarget target = simhash_sketch_target(&sketch);

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	simhash_sketch_init(&sketch, simhash_process_seed());
	make(fcinfo, &target);
	return return_fingerprint(fcinfo, &sketch);
}

Datum
simhash_minhash_tokens(PG_FUNCTION_ARGS)
{
	return sketch_features(fcinfo, simhash_make_token_features);
}

Datum
simhash_minhash_hashes(PG_FUNCTION_ARGS)
{
	return sketch_features(fcinfo, simhash_make_hash_features);
}

Datum
simhash_minhash_tsvector(PG_FUNCTION_ARGS)
{
	return sketch_features(fcinfo, simhash_make_tsvector_features);
}

/* Return the first argument, or a sketch of no features if that is null. */
static Sketch *
get_sketch(FunctionCallInfo fcinfo)
{
	MemoryContext context = simhash_aggregate_context(fcinfo);
	Sketch	   *sketch;

	if (!PG_ARGISNULL(0))
		return (Sketch *) PG_GETARG_POINTER(0);
	sketch = MemoryContextAlloc(context, sizeof(Sketch));
	simhash_sketch_init(sketch, simhash_process_seed());
	return sketch;
}

/* Add a row, (state internal, feature), which counts for nothing if NULL. */
static Datum
take_row(FunctionCallInfo fcinfo, FeatureAdder add)
{
	Sketch	   *sketch = get_sketch(fcinfo);
	FeatureTarget target = simhash_sketch_target(sketch);

	if (!PG_ARGISNULL(1))
		add(&target, PG_GETARG_DATUM(1), WEIGHT_UNIT);
	PG_RETURN_POINTER(sketch);
}

Datum
simhash_minhash_agg_token(PG_FUNCTION_ARGS)
{
	return take_row(fcinfo, simhash_add_token_feature);
}

Datum
simhash_minhash_agg_hash(PG_FUNCTION_ARGS)
{
	return take_row(fcinfo, simhash_add_hash_feature);
}

/* Add the features of the second state to the first. */
Datum
simhash_minhash_agg_combine(PG_FUNCTION_ARGS)
{
	Sketch	   *sketch = get_sketch(fcinfo);
	Sketch	   *other;

	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(sketch);
	other = (Sketch *) PG_GETARG_POINTER(1);
	simhash_sketch_finish(other);
	if (!other->is_empty)
		simhash_sketch_merge(sketch, other->least);
	PG_RETURN_POINTER(sketch);
}

/* Send the value of each bin, as int8 in network byte order. */
Datum
simhash_minhash_agg_serialize(PG_FUNCTION_ARGS)
{
	Sketch	   *sketch = get_sketch(fcinfo);
	StringInfoData buf;
	int			bin;

	simhash_sketch_finish(sketch);
	pq_begintypsend(&buf);
	pq_sendbyte(&buf, sketch->is_empty);
	for (bin = 0; bin < SKETCH_BINS; bin++)
		pq_sendint64(&buf, sketch->least[bin]);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* (serialized bytea, unused internal) */
Datum
simhash_minhash_agg_deserialize(PG_FUNCTION_ARGS)
{
	Sketch	   *sketch = palloc(sizeof(Sketch));
	uint64		least[SKETCH_BINS];
	StringInfoData buf;
	bool		is_empty;
	int			bin;

	simhash_read_state(fcinfo, &buf);
	simhash_sketch_init(sketch, simhash_process_seed());
	is_empty = pq_getmsgbyte(&buf) != 0;
	for (bin = 0; bin < SKETCH_BINS; bin++)
		least[bin] = pq_getmsgint64(&buf);
	pq_getmsgend(&buf);
	if (!is_empty)
		simhash_sketch_merge(sketch, least);
	PG_RETURN_POINTER(sketch);
}

/* Return the fingerprint, or NULL if there is no feature. */
Datum
simhash_minhash_agg_final(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	return return_fingerprint(fcinfo, get_sketch(fcinfo));
}
