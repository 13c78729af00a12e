/*
 * construct.c
 *	  The constructors simhash(...).
 */
#include "postgres.h"

#include "text/arguments.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_text);
PG_FUNCTION_INFO_V1(simhash_tokens);
PG_FUNCTION_INFO_V1(simhash_hashes);
PG_FUNCTION_INFO_V1(simhash_tsvector);

/*
 * Return the fingerprint of the features that make() makes of the arguments,
 * or NULL if there is no feature, or if all features weigh 0.
 */
static Datum
elect(FunctionCallInfo fcinfo, FeatureMaker make)
{
	Votes		votes;
	FeatureTarget target = {.votes = &votes};
	uint64		fingerprint;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	make(fcinfo, &target);
	if (votes.overflow)
		simhash_weight_overflow();
	if (!simhash_votes_fingerprint(&votes, &fingerprint))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(fingerprint);
}

Datum
simhash_text(PG_FUNCTION_ARGS)
{
	return elect(fcinfo, simhash_make_text_features);
}

Datum
simhash_tokens(PG_FUNCTION_ARGS)
{
	return elect(fcinfo, simhash_make_token_features);
}

Datum
simhash_hashes(PG_FUNCTION_ARGS)
{
	return elect(fcinfo, simhash_make_hash_features);
}

Datum
simhash_tsvector(PG_FUNCTION_ARGS)
{
	return elect(fcinfo, simhash_make_tsvector_features);
}
