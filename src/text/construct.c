/*
 * construct.c
 *	  The constructors simhash(...), simhash_tokens() and simhash_hashes(), and
 *	  minhash(...), minhash_tokens() and minhash_hashes().
 */
#include "postgres.h"

#include "miscadmin.h"

#include "text/arguments.h"
#include "text/feature_set.h"
#include "text/sketch.h"
#include "type/simhash.h"

/* Let each feature vote once, as tf says, which is not TF_COUNT. */
static void
hold_vote(FunctionCallInfo fcinfo, FeatureMaker make, TermFrequency tf,
		  int halves, Votes *votes)
{
	FeatureSet	set[HALVES_MAX];
	FeatureTarget target;
	FeatureBatch batch;
	uint32		j;
	int			i;

	for (i = 0; i < halves; i++)
		simhash_set_init(&set[i], work_mem / halves, tf == TF_LOG ? 1 : 0,
						 &votes[i]);
	target = simhash_set_target(set, halves, 0);
	make(fcinfo, &target);
	for (i = 0; i < halves; i++)
	{
		while (simhash_set_read(&set[i], &batch))
		{
			for (j = 0; votes[i].weighted && j < batch.length; j++)
				batch.weight[j] = simhash_term_vote(tf, batch.count[0][j],
													batch.weight[j]);
			simhash_votes_add_all(&votes[i], batch.hash, batch.weight,
								  batch.length);
		}
		simhash_set_free(&set[i]);
	}
}

/*
 * Return the fingerprint of the features that make() makes of the arguments,
 * or NULL if there is no feature, or if all features weigh 0.  They vote as
 * simhash_frequency_argument(fcinfo, tf_argument) says.
 */
static Datum
elect(FunctionCallInfo fcinfo, FeatureMaker make, int tf_argument, int halves)
{
	Votes		votes[HALVES_MAX];
	FeatureTarget target = {
		.halves = halves,
		.methods = &simhash_votes_methods,
		.arg = votes
	};
	TermFrequency tf;
	int			i;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	tf = simhash_frequency_argument(fcinfo, tf_argument);
	if (tf == TF_COUNT)
		make(fcinfo, &target);
	else
		hold_vote(fcinfo, make, tf, halves, votes);
	for (i = 0; i < halves; i++)
	{
		if (votes[i].total > PG_INT64_MAX)
			simhash_weight_overflow((double) votes[i].total);
	}
	return simhash_fingerprint_datum(fcinfo, &target);
}

#define SIMHASH(name, make, tf_argument) \
	SIMHASH_SQL_WIDTHS(name, elect(fcinfo, make, tf_argument, words))

/* simhash(body text, weights simhash_weights, words int, chars int, tf text) */
SIMHASH(simhash_text, simhash_make_text_features, 4)

/*
 * simhash_tokens(tokens text[], weights float8[]); simhash_hashes(hashes
 * bigint[], weights float8[]), with 128 bits, uuid[]
 */
SIMHASH(simhash_tokens, simhash_make_array_features, 0)
SIMHASH(simhash_hashes, simhash_make_array_features, 0)

/* simhash(doc tsvector, weights float4[], tf text) */
SIMHASH(simhash_tsvector, simhash_make_tsvector_features, 2)

/* Return the fingerprint of the set of features, or NULL if it is empty. */
static Datum
sketch(FunctionCallInfo fcinfo, FeatureMaker make, int halves)
{
	Sketch		sketches[HALVES_MAX];
	FeatureTarget target = {
		.halves = halves,
		.methods = &simhash_sketch_methods,
		.arg = sketches
	};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	make(fcinfo, &target);
	return simhash_fingerprint_datum(fcinfo, &target);
}

#define MINHASH(name, make) \
	SIMHASH_SQL_WIDTHS(name, sketch(fcinfo, make, words))

/* minhash(body text, weights simhash_weights, words int, chars int) */
MINHASH(simhash_minhash_text, simhash_make_text_features)

/* minhash_tokens(tokens text[]), minhash_hashes(), minhash(doc tsvector) */
MINHASH(simhash_minhash_tokens, simhash_make_array_features)
MINHASH(simhash_minhash_hashes, simhash_make_array_features)
MINHASH(simhash_minhash_tsvector, simhash_make_tsvector_features)
