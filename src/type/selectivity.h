/*
 * selectivity.h
 *	  How many rows lie within a Hamming ball.
 */
#ifndef SELECTIVITY_H
#define SELECTIVITY_H

#include "nodes/supportnodes.h"

extern int32 hamming_known_radius(Node *ball);
extern void hamming_within_selectivity(SupportRequestSelectivity *request);

#endif							/* SELECTIVITY_H */
