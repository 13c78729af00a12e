/*
 * arguments.h
 *	  From SQL arguments to features.
 */
#ifndef SIMHASH_ARGUMENTS_H
#define SIMHASH_ARGUMENTS_H

#include "fmgr.h"

#include "text/sink.h"
#include "type/compat.h"

/*
 * A function that calls feature_begin(), and hands the features of its SQL
 * arguments to target.  The first argument must not be null.
 */
typedef void (*FeatureMaker) (FunctionCallInfo fcinfo,
							  const FeatureTarget *target);

/* A function that hands a datum to target as one feature of the weight. */
typedef void (*FeatureAdder) (const FeatureTarget *target, Datum datum,
							  int64 weight);

extern void simhash_make_text_features(FunctionCallInfo fcinfo,
									   const FeatureTarget *target);
extern void simhash_make_token_features(FunctionCallInfo fcinfo,
										const FeatureTarget *target);
extern void simhash_make_hash_features(FunctionCallInfo fcinfo,
									   const FeatureTarget *target);
extern void simhash_make_tsvector_features(FunctionCallInfo fcinfo,
										   const FeatureTarget *target);
extern void simhash_add_token_feature(const FeatureTarget *target, Datum token,
									  int64 weight);
extern void simhash_add_hash_feature(const FeatureTarget *target, Datum hash,
									 int64 weight);
extern int64 simhash_weight_from_datum(Datum datum);
pg_noreturn extern void simhash_weight_overflow(void);

#endif							/* SIMHASH_ARGUMENTS_H */
