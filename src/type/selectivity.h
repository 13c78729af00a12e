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

/*
 * The kind of statistics that analyze.c stores: of the pairs of rows that have
 * fingerprints, the part that is within each radius, 0 .. HAMMING_BITS.  The
 * number is of those that PostgreSQL leaves to everybody, 10000 to 30000, as
 * nothing but the columns of our own types has such statistics.
 */
#define SIMHASH_STATISTIC_KIND 21864

extern int32 hamming_known_radius(Node *ball);
extern void hamming_within_selectivity(SupportRequestSelectivity *request);

#endif							/* SIMHASH_SELECTIVITY_H */
