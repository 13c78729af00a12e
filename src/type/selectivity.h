/*
 * selectivity.h
 *	  How many rows lie within a Hamming ball.
 */
#ifndef SELECTIVITY_H
#define SELECTIVITY_H

#include "nodes/supportnodes.h"

extern int32 known_radius(Node *ball);
extern void within_selectivity(SupportRequestSelectivity *request);

#endif /* SELECTIVITY_H */
