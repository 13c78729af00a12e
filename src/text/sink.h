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

typedef struct FeatureTarget FeatureTarget;

/*
 * A function that takes one feature.  bytes[0 .. length) is the feature in
 * UTF-8, to be copied if it is needed after the call, or NULL if the caller of
 * SQL gave hashes.  hash has target->hashes of them.  weight is that of one
 * occurrence, in units of 2^-16.
 */
typedef void (*FeatureSink) (const FeatureTarget *target, const uint8 *bytes,
							 size_t length, const uint64 *hash, int64 weight);

/*
 * Where features go.  If sink is not NULL, sink takes each feature.  Else
 * add_all takes features by their hashes, FEATURES_AT_ONCE at most, of which
 * hash[number][i] belongs to feature i, and reads their weights, 0 .. 2^47,
 * only if begin was told that they are weighted.  begin may be NULL.
 */
struct FeatureTarget
{
	int			hashes;			/* of each feature: see hash_feature() */
	FeatureSink sink;
	void		(*begin) (const FeatureTarget *target, bool weighted);
	void		(*add_all) (const FeatureTarget *target,
							const uint64 *const *hash, const int64 *weight,
							uint32 count);
	void	   *arg;			/* for these three */
};

/* Call once, before feature_add().  Unless weighted, each feature weighs 1. */
static inline void
feature_begin(const FeatureTarget *target, bool weighted)
{
	if (target->begin)
		target->begin(target, weighted);
}

/* Set one[0 .. hashes) to the hashes of feature i: see FeatureTarget. */
static inline void
feature_take(const uint64 *const *hash, uint32 i, uint64 *one, int hashes)
{
	int			number;

	for (number = 0; number < hashes; number++)
		one[number] = hash[number][i];
}

static inline void
feature_add(const FeatureTarget *target, const uint8 *bytes, size_t length,
			const uint64 *hash, int64 weight)
{
	const uint64 *column[FEATURE_HASHES_MAX];
	int			number;

	if (target->sink)
	{
		target->sink(target, bytes, length, hash, weight);
		return;
	}
	/* a constant bound: columns that target does not read cost less */
	for (number = 0; number < FEATURE_HASHES_MAX; number++)
		column[number] = hash + number;
	target->add_all(target, column, &weight, 1);
}

#endif							/* SIMHASH_SINK_H */
