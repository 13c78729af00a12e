/*
 * arguments.h
 *	  From SQL arguments to features, and from states to a fingerprint.
 */
#ifndef SIMHASH_ARGUMENTS_H
#define SIMHASH_ARGUMENTS_H

#include "text/fingerprint.h"
#include "text/shingle.h"
#include "type/simhash.h"

/*
 * A function that hands the features of SQL arguments to target, after
 * feature_begin().  The first argument must not be null.
 */
typedef void (*FeatureMaker) (FunctionCallInfo fcinfo,
							  const FeatureTarget *target);

/* A function that hands a datum to target as one feature of the weight. */
typedef void (*FeatureAdder) (const FeatureTarget *target, Datum datum,
							  int64 weight);

extern MemoryContext simhash_aggregate_context(FunctionCallInfo fcinfo);
extern TermFrequency simhash_frequency_argument(FunctionCallInfo fcinfo,
												int argument);
extern FeatureOptions simhash_size_arguments(FunctionCallInfo fcinfo,
											 int argument,
											 uint32 default_words);
extern FeatureOptions simhash_text_arguments(FunctionCallInfo fcinfo,
											 int argument, bool is_set);
extern uint32 simhash_make_features(const struct varlena *body,
									const FeatureOptions *options,
									const FeatureTarget *target);
extern void simhash_make_text_features(FunctionCallInfo fcinfo,
									   const FeatureTarget *target);
extern void simhash_make_array_features(FunctionCallInfo fcinfo,
										const FeatureTarget *target);
extern void simhash_make_tsvector_features(FunctionCallInfo fcinfo,
										   const FeatureTarget *target);
extern void simhash_add_token_feature(const FeatureTarget *target, Datum token,
									  int64 weight);
extern void simhash_add_hash_feature(const FeatureTarget *target, Datum hash,
									 int64 weight);
extern int64 simhash_weight_from_datum(Datum datum);
extern Datum simhash_fingerprint_datum(FunctionCallInfo fcinfo,
									   const FeatureTarget *target);
pg_noreturn extern void simhash_weight_overflow(double total);

#endif							/* SIMHASH_ARGUMENTS_H */
