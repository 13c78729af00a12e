/*
 * distance_array.h
 *	  Distances of an array of fingerprints.
 */
#ifndef SIMHASH_DISTANCE_ARRAY_H
#define SIMHASH_DISTANCE_ARRAY_H

extern int	hamming_match(const uint64 *fingerprints, int count, uint64 centre,
						  int radius, uint16 *matches);
extern void hamming_count(const uint64 *fingerprints, int count, uint64 centre,
						  int64 *counts);
extern int	hamming_comparisons(void);

#endif							/* SIMHASH_DISTANCE_ARRAY_H */
