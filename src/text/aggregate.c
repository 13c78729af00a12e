/*
 * aggregate.c
 *	  simhash_agg() and simhash_centroid(): votes over rows.
 *
 * The state is a WeightSums.  Sums are integers, so that the order of the rows
 * does not matter, parallel workers can each have a part of the rows, and a
 * moving window can take rows back.
 */
#include "postgres.h"

#include "libpq/pqformat.h"

#include "text/aggregate.h"
#include "text/arguments.h"
#include "text/fingerprint.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_agg_token);
PG_FUNCTION_INFO_V1(simhash_agg_token_inverse);
PG_FUNCTION_INFO_V1(simhash_agg_hash);
PG_FUNCTION_INFO_V1(simhash_agg_hash_inverse);
PG_FUNCTION_INFO_V1(simhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_agg_serialize);
PG_FUNCTION_INFO_V1(simhash_agg_deserialize);
PG_FUNCTION_INFO_V1(simhash_agg_final);

/* Error: outside an aggregate, an internal argument could be anything. */
MemoryContext
simhash_aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return context;
}

/*
 * Make buf read the first argument, a serialized state.  The deserialized
 * state may be in the current memory context, as it is combined at once.
 */
void
simhash_read_state(FunctionCallInfo fcinfo, StringInfo buf)
{
	bytea	   *value = PG_GETARG_BYTEA_PP(0);

	(void) simhash_aggregate_context(fcinfo);
	buf->data = VARDATA_ANY(value);
	buf->len = buf->maxlen = VARSIZE_ANY_EXHDR(value);
	buf->cursor = 0;
}

/* Return the first argument, or a state of no features if that is null. */
static WeightSums *
get_sums(FunctionCallInfo fcinfo)
{
	MemoryContext context = simhash_aggregate_context(fcinfo);

	if (PG_ARGISNULL(0))
		return MemoryContextAllocZero(context, sizeof(WeightSums));
	return (WeightSums *) PG_GETARG_POINTER(0);
}

/* A FeatureSink: arg is the WeightSums that the feature is added to. */
static void
sum_feature(void *arg, const uint8 *bytes, size_t length, uint64 hash,
			int64 weight)
{
	WeightSums *sums = arg;

	sums->total += weight;
	simhash_sums_add(sums, &hash, &weight, 1);
}

/*
 * Add a row, (state internal, feature[, weight float8]), to the state if sign
 * is 1, or take it back if sign is -1.  A row with a NULL counts for nothing.
 */
static Datum
take_row(FunctionCallInfo fcinfo, FeatureAdder add, int sign)
{
	WeightSums *sums = get_sums(fcinfo);
	FeatureTarget target = {.sink = sum_feature,.arg = sums};
	int64		weight = WEIGHT_UNIT;

	if (PG_ARGISNULL(1) || (PG_NARGS() > 2 && PG_ARGISNULL(2)))
		PG_RETURN_POINTER(sums);
	if (PG_NARGS() > 2)
		weight = simhash_weight_from_datum(PG_GETARG_DATUM(2));
	if (sign > 0 && weight > PG_INT64_MAX - sums->total)
		simhash_weight_overflow();
	add(&target, PG_GETARG_DATUM(1), sign * weight);
	PG_RETURN_POINTER(sums);
}

Datum
simhash_agg_token(PG_FUNCTION_ARGS)
{
	return take_row(fcinfo, simhash_add_token_feature, 1);
}

Datum
simhash_agg_token_inverse(PG_FUNCTION_ARGS)
{
	return take_row(fcinfo, simhash_add_token_feature, -1);
}

/* (state internal, hash[, weight float8]): a bigint, or a simhash64 */
Datum
simhash_agg_hash(PG_FUNCTION_ARGS)
{
	return take_row(fcinfo, simhash_add_hash_feature, 1);
}

Datum
simhash_agg_hash_inverse(PG_FUNCTION_ARGS)
{
	return take_row(fcinfo, simhash_add_hash_feature, -1);
}

/* Add the second state to the first.  Error: 22003 for an overflow. */
Datum
simhash_agg_combine(PG_FUNCTION_ARGS)
{
	WeightSums *sums = get_sums(fcinfo);
	const WeightSums *other;
	int			bit;

	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(sums);
	other = (const WeightSums *) PG_GETARG_POINTER(1);
	if (other->total > PG_INT64_MAX - sums->total)
		simhash_weight_overflow();
	sums->total += other->total;
	for (bit = 0; bit < HAMMING_BITS; bit++)
		sums->ones[bit] += other->ones[bit];
	PG_RETURN_POINTER(sums);
}

/* Send the total and the sum of each bit, as int8 in network byte order. */
Datum
simhash_agg_serialize(PG_FUNCTION_ARGS)
{
	const WeightSums *sums = get_sums(fcinfo);
	StringInfoData buf;
	int			bit;

	pq_begintypsend(&buf);
	pq_sendint64(&buf, sums->total);
	for (bit = 0; bit < HAMMING_BITS; bit++)
		pq_sendint64(&buf, sums->ones[bit]);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* (serialized bytea, unused internal) */
Datum
simhash_agg_deserialize(PG_FUNCTION_ARGS)
{
	WeightSums *sums = palloc(sizeof(WeightSums));
	StringInfoData buf;
	int			bit;

	simhash_read_state(fcinfo, &buf);
	sums->total = pq_getmsgint64(&buf);
	for (bit = 0; bit < HAMMING_BITS; bit++)
		sums->ones[bit] = pq_getmsgint64(&buf);
	pq_getmsgend(&buf);
	PG_RETURN_POINTER(sums);
}

/* Return the fingerprint, or NULL if there is no feature or all weigh 0. */
Datum
simhash_agg_final(PG_FUNCTION_ARGS)
{
	uint64		fingerprint;

	if (PG_ARGISNULL(0) ||
		!simhash_sums_fingerprint(get_sums(fcinfo), &fingerprint))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(fingerprint);
}
