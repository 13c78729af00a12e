/*
 * distance_array.h
 *	  Distances of an array of fingerprints.
 */
#ifndef DISTANCE_ARRAY_H
#define DISTANCE_ARRAY_H

extern int	hamming_match(const uint64 *fingerprints, int count, uint64 centre,
						  int radius, uint16 *matches);
extern void hamming_count(const uint64 *fingerprints, int count, uint64 centre,
						  int64 *counts);
extern int	hamming_comparisons(void);

#endif							/* DISTANCE_ARRAY_H */
