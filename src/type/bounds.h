/*
 * bounds.h
 *	  The least distance from a fingerprint to a bounded set of them.
 */
#ifndef SIMHASH_BOUNDS_H
#define SIMHASH_BOUNDS_H

#include "type/hamming.h"

/*
 * A set of fingerprints, by what bounds its members x: lo <= x <= hi in
 * unsigned order, and x has every bit of all and no bit outside any.  lo and
 * hi themselves have every bit of all and none outside any.
 */
typedef struct HammingBounds
{
	uint64		lo;
	uint64		hi;
	uint64		all;
	uint64		any;
} HammingBounds;

extern int	hamming_bounds_distance(const HammingBounds *b, uint64 q,
									int enough);

#endif							/* SIMHASH_BOUNDS_H */
