/*
 * sink.h
 *	  Where features go: to what computes with their hashes, or to a function
 *	  that wants to see them.
 */
#ifndef SIMHASH_SINK_H
#define SIMHASH_SINK_H

#include "text/hash.h"

#define FEATURES_AT_ONCE 2048

/* Weights are integers, in units of 2^-16: sums do not depend on the order. */
#define WEIGHT_UNIT 65536
#define WEIGHT_MAX 2147483648.0 /* the largest weight of a feature: 2^31 */

/*
 * A function that takes one feature.  bytes[0 .. length) is the feature in
 * UTF-8, to be copied if it is needed after the call, or NULL if the caller of
 * SQL gave a hash.  weight is that of one occurrence, in units of 2^-16.
 */
typedef void (*FeatureSink) (void *arg, const uint8 *bytes, size_t length,
							 uint64 hash, int64 weight);

/*
 * Where features go.  If sink is not NULL, sink takes each feature.  Else
 * add_all takes features by their hashes, FEATURES_AT_ONCE at most, and reads
 * their weights, 0 .. 2^47, only if begin was told that they are weighted.
 */
typedef struct FeatureTarget
{
	FeatureSink sink;
	void		(*begin) (void *arg, bool weighted);	/* may be NULL */
	void		(*add_all) (void *arg, const uint64 *hash, const int64 *weight,
							uint32 count);
	void	   *arg;			/* first argument of all three */
} FeatureTarget;

/* Call once, before feature_add().  Unless weighted, each feature weighs 1. */
static inline void
feature_begin(const FeatureTarget *target, bool weighted)
{
	if (target->begin)
		target->begin(target->arg, weighted);
}

static inline void
feature_add(const FeatureTarget *target, const uint8 *bytes, size_t length,
			uint64 hash, int64 weight)
{
	if (target->sink)
		target->sink(target->arg, bytes, length, hash, weight);
	else
		target->add_all(target->arg, &hash, &weight, 1);
}

#endif							/* SIMHASH_SINK_H */
