/*
 * arguments.h
 *	  From SQL arguments to features.
 */
#ifndef CONSTRUCT_H
#define CONSTRUCT_H

#include "fmgr.h"

#include "type/compat.h"
#include "text/sink.h"

/*
 * Makes the features of the arguments, of which the first is not null, and
 * calls feature_begin before.
 */
typedef void (*FeatureMaker)(FunctionCallInfo fcinfo,
							 const FeatureTarget *target);

/* Adds a datum as a feature. */
typedef void (*FeatureAdder)(const FeatureTarget *target, Datum datum,
							 int64 weight);

/* construct.c */
extern void make_text_features(FunctionCallInfo fcinfo,
							   const FeatureTarget *target);
extern void make_token_features(FunctionCallInfo fcinfo,
								const FeatureTarget *target);
extern void make_hash_features(FunctionCallInfo fcinfo,
							   const FeatureTarget *target);
extern void make_tsvector_features(FunctionCallInfo fcinfo,
								   const FeatureTarget *target);
extern void add_token_feature(const FeatureTarget *target, Datum token,
							  int64 weight);
extern void add_hash_feature(const FeatureTarget *target, Datum hash,
							 int64 weight);
extern int64 weight_from_datum(Datum datum);
pg_noreturn extern void weight_overflow(void);

#endif /* CONSTRUCT_H */
