/*
 * sink.h
 *	  Where features go: to what computes with their hashes, or to a function
 *	  that sees their bytes, too.
 */
#ifndef SIMHASH_SINK_H
#define SIMHASH_SINK_H

#include "text/hash.h"

/*
 * Arrays of so many 64-bit numbers are on the stack, up to eight of them in one
 * call: 24 kB.
 */
#define FEATURES_AT_ONCE 384

/* Weights are integers, in units of 2^-16: sums do not depend on the order. */
#define WEIGHT_UNIT 65536
#define WEIGHT_MAX 2147483648.0 /* the largest weight of a feature: 2^31 */

typedef struct FeatureTarget FeatureTarget;

/*
 * Features of a text that follow one another, and the tokens that these are
 * made of: feature i begins with token i.
 */
typedef struct Shingles
{
	uint32		count;			/* of features, 1 .. FEATURES_AT_ONCE */
	const uint64 (*hash)[FEATURES_AT_ONCE]; /* hash[half][i] of feature i */
	const uint8 *bytes;			/* the tokens in UTF-8, joined */
	const size_t *start;		/* of token i in bytes */
	size_t		end;			/* of the last token, with the joint that
								 * would precede another one */
	const uint32 *position;		/* character of the text that token i begins
								 * with, from 0 */
} Shingles;

/*
 * A function that takes one feature.  bytes[0 .. length) is the feature in
 * UTF-8, to be copied if it is needed after the call, or NULL if the caller of
 * SQL gave hashes.  hash has one for each half.  weight is that of one
 * occurrence, in units of 2^-16.
 */
typedef void (*FeatureSink) (const FeatureTarget *target, const uint8 *bytes,
							 size_t length, const uint64 *hash, int64 weight);

/*
 * What a half of a fingerprint is made by.  A fingerprint of 128 bits is two
 * independent halves.  add_all() is called once for each half, with its hashes
 * and its state.
 */
typedef struct HalfMethods
{
	size_t		state_size;		/* bytes of a state, which is that of a half */

	/*
	 * Prepare state.  Weights are read only if weighted.  NULL: a state of
	 * zeros is prepared.
	 */
	void		(*begin) (void *state, bool weighted);

	/*
	 * Add count features, FEATURES_AT_ONCE at most.  Weights are 0 .. 2^47.
	 */
	void		(*add_all) (void *state, const uint64 *hash,
							const int64 *weight, uint32 count);

	/* Add the features of other to state.  Only aggregates need it. */
	void		(*merge) (void *state, void *other);

	/* Set *fingerprint to the half; return false if there is none. */
	bool		(*fingerprint) (void *state, uint64 *fingerprint);
} HalfMethods;

/*
 * Where features go: to one of three.
 *
 * If take_shingles is not NULL, take_shingles(arg, ...) takes the features,
 * which must be those of a text.  If sink is not NULL, sink takes each feature.
 * Else methods->add_all() takes the hashes of each half.
 */
struct FeatureTarget
{
	int			halves;			/* of the fingerprint: hashes of a feature */
	void		(*take_shingles) (void *arg, const Shingles *shingles);
	FeatureSink sink;
	const HalfMethods *methods;
	void	   *arg;			/* of take_shingles, or of sink; else the
								 * state of each half */
};

static inline void *
feature_state(const FeatureTarget *target, int half)
{
	return (char *) target->arg + half * target->methods->state_size;
}

/*
 * To be called once, before the first feature.  Unless weighted, each feature
 * weighs 1.
 */
static inline void
feature_begin(const FeatureTarget *target, bool weighted)
{
	int			half;

	if (target->methods == NULL || target->methods->begin == NULL)
		return;
	for (half = 0; half < target->halves; half++)
		target->methods->begin(feature_state(target, half), weighted);
}

/* Add a feature. */
static inline void
feature_add(const FeatureTarget *target, const uint8 *bytes, size_t length,
			const uint64 *hash, int64 weight)
{
	int			half;

	if (target->sink)
	{
		target->sink(target, bytes, length, hash, weight);
		return;
	}
	for (half = 0; half < target->halves; half++)
		target->methods->add_all(feature_state(target, half), &hash[half],
								 &weight, 1);
}

/* Set half[] to the fingerprint.  Return false if there is none. */
static inline bool
feature_fingerprint(const FeatureTarget *target, uint64 *fingerprint)
{
	int			half;

	for (half = 0; half < target->halves; half++)
	{
		if (!target->methods->fingerprint(feature_state(target, half),
										  &fingerprint[half]))
			return false;
	}
	return true;
}

#endif							/* SIMHASH_SINK_H */
