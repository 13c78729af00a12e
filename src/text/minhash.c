/*
 * minhash.c
 *	  The constructors minhash(...), minhash_tokens(), minhash_hashes(), and the
 *	  aggregates minhash_agg().
 */
#include "postgres.h"

#include "text/aggregate.h"
#include "text/arguments.h"
#include "text/sketch.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_minhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_serialize);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_final);

static void
init_sketches(Sketch *sketch, int hashes)
{
	int			number;

	for (number = 0; number < hashes; number++)
		simhash_sketch_init(&sketch[number]);
}

/* Return the fingerprint with a half of each sketch; NULL without a feature. */
static Datum
return_fingerprint(FunctionCallInfo fcinfo, Sketch *sketch, int hashes)
{
	uint64		half[FEATURE_HASHES_MAX];
	int			number;

	for (number = 0; number < hashes; number++)
	{
		if (!simhash_sketch_fingerprint(&sketch[number], &half[number]))
			PG_RETURN_NULL();
	}
	return simhash_halves_datum(half, hashes);
}

/* Return the fingerprint of the features that make() makes of the arguments. */
static Datum
sketch_features(FunctionCallInfo fcinfo, FeatureMaker make, int hashes)
{
	Sketch		sketch[FEATURE_HASHES_MAX];
	FeatureTarget target = simhash_sketch_target(sketch, hashes);

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	init_sketches(sketch, hashes);
	make(fcinfo, &target);
	return return_fingerprint(fcinfo, sketch, hashes);
}

/*
 * A FeatureMaker: (body text, weights simhash_weights, words int, chars int),
 * where weights is a stop list.
 */
static void
make_text_features(FunctionCallInfo fcinfo, const FeatureTarget *target)
{
	text	   *body = PG_GETARG_TEXT_PP(0);
	FeatureOptions options = simhash_stops_arguments(fcinfo, 1);

	simhash_make_features(body, &options, target);
	PG_FREE_IF_COPY(body, 0);
}

/* The SQL function name; the others are the parameters of sketch_features(). */
#define CONSTRUCTOR(name, make, hashes) \
	SIMHASH_SQL(name, sketch_features(fcinfo, make, hashes))

CONSTRUCTOR(simhash_minhash_text, make_text_features, 1)
CONSTRUCTOR(simhash_minhash_text_128, make_text_features, 2)
CONSTRUCTOR(simhash_minhash_tokens, simhash_make_token_features, 1)
CONSTRUCTOR(simhash_minhash_tokens_128, simhash_make_token_features, 2)
CONSTRUCTOR(simhash_minhash_hashes, simhash_make_hash_features, 1)
CONSTRUCTOR(simhash_minhash_hashes_128, simhash_make_uuid_features, 2)
CONSTRUCTOR(simhash_minhash_tsvector, simhash_make_tsvector_features, 1)
CONSTRUCTOR(simhash_minhash_tsvector_128, simhash_make_tsvector_features, 2)

/* The state of minhash_agg() and minhash_agg_128(). */
typedef struct SketchState
{
	int			hashes;			/* of a feature; each has a sketch */
	Sketch		sketch[FLEXIBLE_ARRAY_MEMBER];
} SketchState;

static size_t
state_size(int hashes)
{
	return offsetof(SketchState, sketch) + hashes * sizeof(Sketch);
}

/* Return a state of no features, which has no byte that was never written. */
static SketchState *
create_state(MemoryContext context, int hashes)
{
	SketchState *state = MemoryContextAllocZero(context, state_size(hashes));

	state->hashes = hashes;
	init_sketches(state->sketch, hashes);
	return state;
}

/* Add a row, (state internal, feature), which counts for nothing if NULL. */
static Datum
take_row(FunctionCallInfo fcinfo, FeatureAdder add, int hashes)
{
	MemoryContext context = simhash_aggregate_context(fcinfo);
	SketchState *state;
	FeatureTarget target;

	if (PG_ARGISNULL(0))
		state = create_state(context, hashes);
	else
		state = (SketchState *) PG_GETARG_POINTER(0);
	target = simhash_sketch_target(state->sketch, hashes);
	if (!PG_ARGISNULL(1))
		add(&target, PG_GETARG_DATUM(1), WEIGHT_UNIT);
	PG_RETURN_POINTER(state);
}

/* The SQL function name; the others are the parameters of take_row(). */
#define TRANSITION(name, add, hashes) \
	SIMHASH_SQL(name, take_row(fcinfo, add, hashes))

TRANSITION(simhash_minhash_agg_token, simhash_add_token_feature, 1)
TRANSITION(simhash_minhash_agg_token_128, simhash_add_token_feature, 2)
TRANSITION(simhash_minhash_agg_hash, simhash_add_hash_feature, 1)
TRANSITION(simhash_minhash_agg_hash_128, simhash_add_uuid_feature, 2)

/* Add the features of the second state to the first. */
Datum
simhash_minhash_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = simhash_aggregate_context(fcinfo);
	SketchState *state = NULL;
	SketchState *other;
	int			number;

	if (!PG_ARGISNULL(0))
		state = (SketchState *) PG_GETARG_POINTER(0);
	if (PG_ARGISNULL(1))
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	other = (SketchState *) PG_GETARG_POINTER(1);
	if (state == NULL)
		state = create_state(context, other->hashes);
	for (number = 0; number < other->hashes; number++)
		simhash_sketch_merge(&state->sketch[number], &other->sketch[number]);
	PG_RETURN_POINTER(state);
}

Datum
simhash_minhash_agg_serialize(PG_FUNCTION_ARGS)
{
	const SketchState *state = (const SketchState *) PG_GETARG_POINTER(0);

	(void) simhash_aggregate_context(fcinfo);
	PG_RETURN_BYTEA_P(simhash_state_to_bytes(state, state_size(state->hashes)));
}

/* Return the fingerprint, or NULL if there is no feature. */
Datum
simhash_minhash_agg_final(PG_FUNCTION_ARGS)
{
	SketchState *state;

	(void) simhash_aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (SketchState *) PG_GETARG_POINTER(0);
	return return_fingerprint(fcinfo, state->sketch, state->hashes);
}
