/*
 * construct.c
 *	  The constructors simhash(...).
 */
#include "postgres.h"

#include "text/arguments.h"
#include "text/feature_set.h"
#include "text/fingerprint.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_text);
PG_FUNCTION_INFO_V1(simhash_tokens);
PG_FUNCTION_INFO_V1(simhash_hashes);
PG_FUNCTION_INFO_V1(simhash_tsvector);

/* Let features vote, each once, by its weight times the factor of tf. */
static void
vote_batch(FeatureBatch *batch, TermFrequency tf, Votes *votes)
{
	uint32		i;

	for (i = 0; votes->weighted && i < batch->length; i++)
		batch->weight[i] = simhash_term_vote(tf, batch->count[0][i],
											 batch->weight[i]);
	simhash_votes_add_all(votes, batch->hash, batch->weight, batch->length);
}

/* Let the features of the set vote that have not voted when they came. */
static void
vote_once(FeatureSet *set, TermFrequency tf, Votes *votes)
{
	FeatureBatch batch;

	while (!set->takes_first && simhash_set_read_table(set, &batch))
		vote_batch(&batch, tf, votes);
	while (simhash_set_read_late(set, &batch))
		vote_batch(&batch, tf, votes);
}

/* Make the features of the arguments, and let them vote as tf says. */
static void
hold_vote(FunctionCallInfo fcinfo, FeatureMaker make, TermFrequency tf,
		  Votes *votes)
{
	FeatureTarget target = simhash_votes_target(votes);
	FeatureSet	set;

	if (tf == TF_COUNT)
	{
		make(fcinfo, &target);
		return;
	}
	simhash_set_init(&set, tf == TF_LOG ? 1 : 0, &target);
	target = simhash_set_target(&set, 0);
	make(fcinfo, &target);
	vote_once(&set, tf, votes);
	simhash_set_free(&set);
}

/*
 * Return the fingerprint of the features that make() makes of the arguments,
 * or NULL if there is no feature, or if all features weigh 0.  They vote as
 * simhash_frequency_argument(fcinfo, tf_argument) says.
 */
static Datum
elect(FunctionCallInfo fcinfo, FeatureMaker make, int tf_argument)
{
	Votes		votes;
	uint64		fingerprint;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	hold_vote(fcinfo, make, simhash_frequency_argument(fcinfo, tf_argument),
			  &votes);
	if (votes.overflow)
		simhash_weight_overflow();
	if (!simhash_votes_fingerprint(&votes, &fingerprint))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(fingerprint);
}

/* simhash(body text, weights simhash_weights, words int, chars int, tf text) */
Datum
simhash_text(PG_FUNCTION_ARGS)
{
	return elect(fcinfo, simhash_make_text_features, 4);
}

/* simhash(tokens text[], weights float8[]) */
Datum
simhash_tokens(PG_FUNCTION_ARGS)
{
	return elect(fcinfo, simhash_make_token_features, 0);
}

/* simhash(hashes bigint[], weights float8[]) */
Datum
simhash_hashes(PG_FUNCTION_ARGS)
{
	return elect(fcinfo, simhash_make_hash_features, 0);
}

/* simhash(doc tsvector, weights float4[], tf text) */
Datum
simhash_tsvector(PG_FUNCTION_ARGS)
{
	return elect(fcinfo, simhash_make_tsvector_features, 2);
}
