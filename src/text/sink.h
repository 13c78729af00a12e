/*
 * sink.h
 *	  Where features go: to votes, or to a function that wants to see them.
 */
#ifndef SIMHASH_SINK_H
#define SIMHASH_SINK_H

#include "text/fingerprint.h"
#include "text/hash.h"

/*
 * A function that takes one feature.  bytes[0 .. length) is the feature in
 * UTF-8, to be copied if it is needed after the call, or NULL if the caller of
 * SQL gave a hash.  weight is that of one occurrence, in units of 2^-16.
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

/* Call once, before feature_add().  Unless weighted, each feature weighs 1. */
static inline void
feature_begin(const FeatureTarget *target, bool weighted)
{
	if (target->sink == NULL)
		simhash_votes_init(target->votes, weighted);
}

/* Votes take a weight of 0 .. 2^47, which only weighted ones look at. */
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
