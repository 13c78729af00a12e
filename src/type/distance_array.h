/*
 * distance_array.h
 *	  Distances of an array of fingerprints.
 */
#ifndef SIMHASH_DISTANCE_ARRAY_H
#define SIMHASH_DISTANCE_ARRAY_H

#include "type/width.h"

#define hamming_match WIDE(hamming_match)
#define hamming_count WIDE(hamming_count)
#define hamming_comparisons WIDE(hamming_comparisons)

extern int	hamming_match(const Fingerprint *fingerprints, int count,
						  Fingerprint centre, int radius, uint16 *matches);
extern void hamming_count(const Fingerprint *fingerprints, int count,
						  Fingerprint centre, int64 *counts);
extern int	hamming_comparisons(void);

#endif							/* SIMHASH_DISTANCE_ARRAY_H */
