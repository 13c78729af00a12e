/*
 * max_distance.h
 *	  The argument max_distance of simhash_cluster() and simhash_pairs().
 */
#ifndef SIMHASH_MAX_DISTANCE_H
#define SIMHASH_MAX_DISTANCE_H

#include "type/hamming.h"

static inline int
check_max_distance(int max_distance)
{
	if (max_distance < 0 || max_distance > HAMMING_BITS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_distance must be 0 to %d, not %d",
						HAMMING_BITS, max_distance)));
	return max_distance;
}

#endif							/* SIMHASH_MAX_DISTANCE_H */
