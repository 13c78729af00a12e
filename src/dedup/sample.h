/*
 * sample.h
 *	  The distances in a sample of fingerprints, for each width of these.
 */
#ifndef SIMHASH_SAMPLE_H
#define SIMHASH_SAMPLE_H

#include "fmgr.h"

extern void simhash_count_distances(const char *query, int wanted,
									FunctionCallInfo fcinfo);
extern void simhash_count_distances_128(const char *query, int wanted,
										FunctionCallInfo fcinfo);

#endif							/* SIMHASH_SAMPLE_H */
