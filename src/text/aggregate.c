/*
 * aggregate.c
 *	  simhash_agg() and simhash_centroid(): votes over rows.
 *
 * The state is a WeightSums for each half of the fingerprint.  Sums are
 * integers: so the order of the rows does not matter, each parallel worker can
 * have a part of the rows, and a moving window can take rows back.
 */
#include "postgres.h"

#include "text/aggregate.h"
#include "text/arguments.h"
#include "text/fingerprint.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_agg_serialize);
PG_FUNCTION_INFO_V1(simhash_agg_deserialize);
PG_FUNCTION_INFO_V1(simhash_agg_final);

/* The state of simhash_agg(), simhash_agg_128() and simhash_centroid(). */
typedef struct SumsState
{
	int			hashes;			/* of a feature; each has sums */
	WeightSums	sums[FLEXIBLE_ARRAY_MEMBER];
} SumsState;

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

/*
 * Return a state of size bytes, which has no pointers, for another process of
 * the server: both processes have one byte order.
 */
bytea *
simhash_state_to_bytes(const void *state, size_t size)
{
	bytea	   *bytes = palloc(VARHDRSZ + size);

	SET_VARSIZE(bytes, VARHDRSZ + size);
	memcpy(VARDATA(bytes), state, size);
	return bytes;
}

static size_t
state_size(int hashes)
{
	return offsetof(SumsState, sums) + hashes * sizeof(WeightSums);
}

/* Return a state of no features. */
static SumsState *
create_state(MemoryContext context, int hashes)
{
	SumsState  *state = MemoryContextAllocZero(context, state_size(hashes));

	state->hashes = hashes;
	return state;
}

/* The add_all of a FeatureTarget: add one feature to arg, the WeightSums. */
static void
sum_feature(void *arg, const uint64 *hash, const int64 *weight, uint32 count)
{
	WeightSums *sums = arg;

	Assert(count == 1);
	sums->total += *weight;
	simhash_sums_add(sums, hash, weight, 1);
}

/*
 * Add a row, (state internal, feature[, weight float8]), to the state if sign
 * is 1, or take it back if sign is -1.  A row with a NULL counts for nothing.
 */
static Datum
take_row(FunctionCallInfo fcinfo, FeatureAdder add, int hashes, int sign)
{
	MemoryContext context = simhash_aggregate_context(fcinfo);
	SumsState  *state;
	FeatureTarget target = {
		.hashes = hashes,
		.add_all = sum_feature,
		.arg_size = sizeof(WeightSums)
	};
	int64		weight = WEIGHT_UNIT;

	if (PG_ARGISNULL(0))
		state = create_state(context, hashes);
	else
		state = (SumsState *) PG_GETARG_POINTER(0);
	if (PG_ARGISNULL(1) || (PG_NARGS() > 2 && PG_ARGISNULL(2)))
		PG_RETURN_POINTER(state);
	if (PG_NARGS() > 2)
		weight = simhash_weight_from_datum(PG_GETARG_DATUM(2));
	/* the total is the same in all sums */
	if (sign > 0 && weight > PG_INT64_MAX - state->sums[0].total)
		simhash_weight_overflow((double) state->sums[0].total + weight);
	target.arg = state->sums;
	add(&target, PG_GETARG_DATUM(1), sign * weight);
	PG_RETURN_POINTER(state);
}

/* The SQL function name; the others are the parameters of take_row(). */
#define TRANSITION(name, add, hashes, sign) \
	SIMHASH_SQL(name, take_row(fcinfo, add, hashes, sign))

TRANSITION(simhash_agg_token, simhash_add_token_feature, 1, 1)
TRANSITION(simhash_agg_token_inverse, simhash_add_token_feature, 1, -1)
TRANSITION(simhash_agg_token_128, simhash_add_token_feature, 2, 1)
TRANSITION(simhash_agg_token_inverse_128, simhash_add_token_feature, 2, -1)

/* (state internal, hash[, weight float8]): a bigint, or a simhash64 */
TRANSITION(simhash_agg_hash, simhash_add_hash_feature, 1, 1)
TRANSITION(simhash_agg_hash_inverse, simhash_add_hash_feature, 1, -1)

/* (state internal, hash[, weight float8]): a uuid, or a simhash128 */
TRANSITION(simhash_agg_hash_128, simhash_add_uuid_feature, 2, 1)
TRANSITION(simhash_agg_hash_inverse_128, simhash_add_uuid_feature, 2, -1)

/* Add other to sums.  Error: 22003 for an overflow. */
static void
add_sums(WeightSums *sums, const WeightSums *other)
{
	int			bit;

	if (other->total > PG_INT64_MAX - sums->total)
		simhash_weight_overflow((double) sums->total + other->total);
	sums->total += other->total;
	for (bit = 0; bit < HALF_BITS; bit++)
		sums->ones[bit] += other->ones[bit];
}

/* Add the second state to the first.  Error: 22003 for an overflow. */
Datum
simhash_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = simhash_aggregate_context(fcinfo);
	SumsState  *state = NULL;
	const SumsState *other;
	int			number;

	if (!PG_ARGISNULL(0))
		state = (SumsState *) PG_GETARG_POINTER(0);
	if (PG_ARGISNULL(1))
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	other = (const SumsState *) PG_GETARG_POINTER(1);
	if (state == NULL)
		state = create_state(context, other->hashes);
	for (number = 0; number < other->hashes; number++)
		add_sums(&state->sums[number], &other->sums[number]);
	PG_RETURN_POINTER(state);
}

Datum
simhash_agg_serialize(PG_FUNCTION_ARGS)
{
	const SumsState *state = (const SumsState *) PG_GETARG_POINTER(0);

	(void) simhash_aggregate_context(fcinfo);
	PG_RETURN_BYTEA_P(simhash_state_to_bytes(state, state_size(state->hashes)));
}

/*
 * (serialized bytea, unused internal): the state that simhash_state_to_bytes()
 * has copied, of simhash_agg() or of minhash_agg().  The state may be in the
 * current memory context, as it is combined at once.
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
Datum
simhash_agg_final(PG_FUNCTION_ARGS)
{
	const SumsState *state;
	uint64		half[FEATURE_HASHES_MAX];
	int			number;

	(void) simhash_aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (const SumsState *) PG_GETARG_POINTER(0);
	for (number = 0; number < state->hashes; number++)
	{
		if (!simhash_sums_fingerprint(&state->sums[number], &half[number]))
			PG_RETURN_NULL();
	}
	return simhash_halves_datum(half, state->hashes);
}
