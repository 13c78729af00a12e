/*
 * hamming.h
 *	  Arithmetic of Hamming distances.
 */
#ifndef HAMMING_H
#define HAMMING_H

#include "port/pg_bitutils.h"

static inline int
hamming_distance(uint64 a, uint64 b)
{
	return pg_popcount64(a ^ b);
}

/*
 * A bound of any size as a radius.  No distance is below 0 or above 64, so
 * that -1 stands for every negative bound and 64 for every larger one.
 */
static inline int32
hamming_radius(int64 k)
{
	return (int32) Max(-1, Min(k, 64));
}

/*
 * A set of fingerprints, by what bounds its members x: lo <= x <= hi in
 * unsigned order, and x has every bit of all and no bit outside any.  lo and
 * hi themselves have every bit of all and none outside any.
 */
typedef struct HammingBounds
{
	uint64 lo;
	uint64 hi;
	uint64 all;
	uint64 any;
} HammingBounds;

extern int hamming_bounds_distance(const HammingBounds *b, uint64 q,
								   int enough);

#endif /* HAMMING_H */
