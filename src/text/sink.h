/*
 * sink.h
 *	  Where features go: to votes, or to a function that wants to see them.
 */
#ifndef SIMHASH_SINK_H
#define SIMHASH_SINK_H

#include "text/fingerprint.h"
#include "text/hash.h"

/*
 * A function that takes one feature.  arg is that of the FeatureTarget.
 * bytes[0 .. length) is the feature in UTF-8, to be copied if it is needed
 * after the call; bytes is NULL if the caller of SQL gave a hash.  hash is the
 * hash of the feature, and weight that of one occurrence, in units of 2^-16.
 */
typedef void (*FeatureSink) (void *arg, const uint8 *bytes, size_t length,
							 uint64 hash, int64 weight);

/* Features go to sink, or to votes if sink is NULL. */
typedef struct FeatureTarget
{
	FeatureSink sink;
	Votes	   *votes;
	void	   *arg;			/* first argument of sink */
} FeatureTarget;

/*
 * Prepare for features.  Unless weighted, each of them weighs 1.  To be called
 * once, before the first feature_add().
 */
static inline void
feature_begin(const FeatureTarget *target, bool weighted)
{
	if (target->sink == NULL)
		simhash_votes_init(target->votes, weighted);
}

/*
 * Hand on a feature, as FeatureSink says.  Votes take a weight of 0 .. 2^47,
 * which they do not look at unless they are weighted.
 */
static inline void
feature_add(const FeatureTarget *target, const uint8 *bytes, size_t length,
			uint64 hash, int64 weight)
{
	if (target->sink)
		target->sink(target->arg, bytes, length, hash, weight);
	else if (target->votes->weighted)
		votes_add_weighted(target->votes, hash, weight);
	else
		votes_add(target->votes, hash);
}

#endif							/* SIMHASH_SINK_H */
