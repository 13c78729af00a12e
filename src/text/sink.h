/*
 * sink.h
 *	  Where features go: to votes, or to whoever wants to see them.
 */
#ifndef SINK_H
#define SINK_H

#include "text/fingerprint.h"
#include "text/hash.h"

/*
 * Takes each feature, with its weight in units of 2^-16.  bytes is NULL where
 * there is nothing but the hash.
 */
typedef void (*FeatureSink) (void *arg, const uint8 *bytes, size_t length,
							 uint64 hash, int64 weight);

typedef struct FeatureTarget
{
	FeatureSink sink;			/* if NULL: */
	Votes	   *votes;
	void	   *arg;			/* of the sink */
} FeatureTarget;

/* The features that follow all weigh 1, or else come with their weights. */
static inline void
feature_begin(const FeatureTarget *target, bool weighted)
{
	if (target->sink == NULL)
		simhash_votes_init(target->votes, weighted);
}

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

#endif							/* SINK_H */
