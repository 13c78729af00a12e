/*
 * sketch.h
 *	  MinHash of a set of features, and the fingerprint of one bit each.
 *
 * Dahlgaard, Knudsen and Thorup, "Fast similarity sketching" (FOCS 2017); Li
 * and Koenig, "b-bit minwise hashing" (WWW 2010).
 */
#ifndef SIMHASH_SKETCH_H
#define SIMHASH_SKETCH_H

#include "text/feature.h"

#define SKETCH_BINS HALF_BITS
#define SKETCH_ROUNDS (2 * SKETCH_BINS)
#define SKETCH_WAITING 60		/* features that wait for others at most: a
								 * Sketch has less than 1024 bytes */

/*
 * Each bin keeps the least number that any feature has put there.  The highest
 * 7 bits of the number are the round, and the others are of the value.  So the
 * least one is of the earliest round, and the order in which features and
 * rounds come does not matter.
 */
typedef struct Sketch
{
	uint64		least[SKETCH_BINS]; /* the bins; PG_UINT64_MAX: no number */
	uint32		waiting;		/* number of features that wait */
	uint64		hash[SKETCH_WAITING];	/* of these */
} Sketch;

extern const HalfMethods simhash_sketch_methods;

extern void simhash_sketch_begin(void *state, bool weighted);
extern void simhash_sketch_add_all(void *state, const uint64 *hash,
								   const int64 *weight, uint32 count);
extern void simhash_sketch_merge(void *state, void *other);
extern const uint64 *simhash_sketch_bins(Sketch *sketch);
extern bool simhash_sketch_fingerprint(void *state, uint64 *fingerprint);

#endif							/* SIMHASH_SKETCH_H */
