/*
 * selectivity.h
 *	  How many rows lie within a Hamming ball.
 */
#ifndef SIMHASH_SELECTIVITY_H
#define SIMHASH_SELECTIVITY_H

#include "nodes/supportnodes.h"

#include "type/width.h"

#define hamming_known_radius WIDE(hamming_known_radius)
#define hamming_within_selectivity WIDE(hamming_within_selectivity)

extern int32 hamming_known_radius(Node *ball);
extern void hamming_within_selectivity(SupportRequestSelectivity *request);

#endif							/* SIMHASH_SELECTIVITY_H */
