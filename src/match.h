/*
 * match.h
 *	  Which fingerprints of an array are within a radius?
 */
#ifndef MATCH_H
#define MATCH_H

extern int hamming_match(const uint64 *fingerprints, int count, uint64 centre,
						 int radius, uint16 *matches);

#endif /* MATCH_H */
