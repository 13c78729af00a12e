/*
 * aggregate.c
 *	  simhash_agg() and simhash_centroid(), votes over rows; minhash_agg(), a
 *	  sketch of rows.
 *
 * A state does not depend on the order of the rows: so each parallel worker can
 * have a part of these.  Sums are integers: so a moving window can take rows
 * back.
 */
#include "postgres.h"

#include "text/arguments.h"
#include "text/sketch.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_agg_deserialize);

/* The state of an aggregate. */
typedef struct AggregateState
{
	int			halves;			/* of the fingerprint */
	uint64		half_states[FLEXIBLE_ARRAY_MEMBER]; /* by HalfMethods */
} AggregateState;

/*
 * Return the memory context of the aggregate that calls the function.  Error:
 * XX000 outside an aggregate, where an internal argument could be anything.
 */
MemoryContext
simhash_aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return context;
}

static size_t
state_size(const HalfMethods *methods, int halves)
{
	return offsetof(AggregateState, half_states) +
		halves * methods->state_size;
}

static FeatureTarget
state_target(AggregateState *state, const HalfMethods *methods)
{
	FeatureTarget target = {
		.halves = state->halves,
		.methods = methods,
		.arg = state->half_states
	};

	return target;
}

/*
 * Return the state that is the first argument; or where that is NULL, one of no
 * features, which has no byte that was never written.
 */
static AggregateState *
get_state(FunctionCallInfo fcinfo, const HalfMethods *methods, int halves)
{
	MemoryContext context = simhash_aggregate_context(fcinfo);
	AggregateState *state;
	FeatureTarget target;

	if (!PG_ARGISNULL(0))
		return (AggregateState *) PG_GETARG_POINTER(0);
	state = MemoryContextAllocZero(context, state_size(methods, halves));
	state->halves = halves;
	target = state_target(state, methods);
	feature_begin(&target, true);
	return state;
}

/*
 * Add a row, (state internal, feature[, weight float8]), to the state if sign
 * is 1, or take it back if sign is -1.  A row with a NULL counts for nothing.
 */
static Datum
take_row(FunctionCallInfo fcinfo, const HalfMethods *methods, FeatureAdder add,
		 int halves, int sign)
{
	AggregateState *state = get_state(fcinfo, methods, halves);
	FeatureTarget target = state_target(state, methods);
	int64		weight = WEIGHT_UNIT;

	if (PG_ARGISNULL(1) || (PG_NARGS() > 2 && PG_ARGISNULL(2)))
		PG_RETURN_POINTER(state);
	if (PG_NARGS() > 2)
		weight = simhash_weight_from_datum(PG_GETARG_DATUM(2));
	add(&target, PG_GETARG_DATUM(1), sign * weight);
	PG_RETURN_POINTER(state);
}

/* Add the features of the second state to the first. */
static Datum
combine(FunctionCallInfo fcinfo, const HalfMethods *methods)
{
	AggregateState *state;
	AggregateState *other;
	FeatureTarget target;
	FeatureTarget more;
	int			half;

	(void) simhash_aggregate_context(fcinfo);
	if (PG_ARGISNULL(1))
	{
		fcinfo->isnull = PG_ARGISNULL(0);
		return PG_GETARG_DATUM(0);
	}
	other = (AggregateState *) PG_GETARG_POINTER(1);
	state = get_state(fcinfo, methods, other->halves);
	target = state_target(state, methods);
	more = state_target(other, methods);
	for (half = 0; half < other->halves; half++)
		methods->merge(feature_state(&target, half),
					   feature_state(&more, half));
	PG_RETURN_POINTER(state);
}

/*
 * Return the bytes of the state, which has no pointers, for another process of
 * the server: both processes have one byte order.
 */
static Datum
serialize(FunctionCallInfo fcinfo, const HalfMethods *methods)
{
	const AggregateState *state;
	size_t		size;
	bytea	   *bytes;

	(void) simhash_aggregate_context(fcinfo);
	state = (const AggregateState *) PG_GETARG_POINTER(0);
	size = state_size(methods, state->halves);
	bytes = palloc(VARHDRSZ + size);
	SET_VARSIZE(bytes, VARHDRSZ + size);
	memcpy(VARDATA(bytes), state, size);
	PG_RETURN_BYTEA_P(bytes);
}

/*
 * (serialized bytea, unused internal): the state of any of these aggregates.
 * It may be in the current memory context, as it is combined at once.
 */
Datum
simhash_agg_deserialize(PG_FUNCTION_ARGS)
{
	const bytea *bytes = PG_GETARG_BYTEA_PP(0);
	size_t		size = VARSIZE_ANY_EXHDR(bytes);

	(void) simhash_aggregate_context(fcinfo);
	PG_RETURN_POINTER(memcpy(palloc(size), VARDATA_ANY(bytes), size));
}

/* Return the fingerprint, or NULL if there is no feature or all weigh 0. */
static Datum
finish(FunctionCallInfo fcinfo, const HalfMethods *methods)
{
	FeatureTarget target;

	(void) simhash_aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	target = state_target((AggregateState *) PG_GETARG_POINTER(0), methods);
	return simhash_fingerprint_datum(fcinfo, &target);
}

/* The add_all, of one feature.  A weight below 0 takes a feature back. */
static void
sum_feature(void *state, const uint64 *hash, const int64 *weight, uint32 count)
{
	WeightSums *sums = state;

	Assert(count == 1);
	if (*weight > 0 && *weight > PG_INT64_MAX - sums->total)
		simhash_weight_overflow((double) sums->total + *weight);
	sums->total += *weight;
	simhash_sums_add(sums, hash, weight, 1);
}

static void
merge_sums(void *state, void *other)
{
	WeightSums *sums = state;
	const WeightSums *more = other;
	int			bit;

	if (more->total > PG_INT64_MAX - sums->total)
		simhash_weight_overflow((double) sums->total + more->total);
	sums->total += more->total;
	for (bit = 0; bit < HALF_BITS; bit++)
		sums->ones[bit] += more->ones[bit];
}

static const HalfMethods sums_methods = {
	.state_size = sizeof(WeightSums),
	.add_all = sum_feature,
	.merge = merge_sums,
	.fingerprint = simhash_sums_fingerprint
};

/* simhash_agg(), simhash_agg_128() and simhash_centroid() */
#define SUM_ROWS(name, add, sign) \
	SIMHASH_SQL_WIDTHS(name, take_row(fcinfo, &sums_methods, add, words, sign))

SUM_ROWS(simhash_agg_token, simhash_add_token_feature, 1)
SUM_ROWS(simhash_agg_token_inverse, simhash_add_token_feature, -1)
SUM_ROWS(simhash_agg_hash, simhash_add_hash_feature, 1)
SUM_ROWS(simhash_agg_hash_inverse, simhash_add_hash_feature, -1)
SIMHASH_SQL(simhash_agg_combine, combine(fcinfo, &sums_methods))
SIMHASH_SQL(simhash_agg_serialize, serialize(fcinfo, &sums_methods))
SIMHASH_SQL(simhash_agg_final, finish(fcinfo, &sums_methods))

/* minhash_agg() and minhash_agg_128() */
#define SKETCH_ROWS(name, add) \
	SIMHASH_SQL_WIDTHS(name, take_row(fcinfo, &simhash_sketch_methods, add, \
									  words, 1))

SKETCH_ROWS(simhash_minhash_agg_token, simhash_add_token_feature)
SKETCH_ROWS(simhash_minhash_agg_hash, simhash_add_hash_feature)
SIMHASH_SQL(simhash_minhash_agg_combine,
			combine(fcinfo, &simhash_sketch_methods))
SIMHASH_SQL(simhash_minhash_agg_serialize,
			serialize(fcinfo, &simhash_sketch_methods))
SIMHASH_SQL(simhash_minhash_agg_final, finish(fcinfo, &simhash_sketch_methods))
