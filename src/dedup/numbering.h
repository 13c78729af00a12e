/*
 * numbering.h
 *	  Number rows by the clusters of their fingerprints.
 */
#ifndef SIMHASH_NUMBERING_H
#define SIMHASH_NUMBERING_H

#include "dedup/fplist.h"
#include "dedup/method.h"

#define simhash_number_clusters WIDE(simhash_number_clusters)

/* The number of a row that has no fingerprint, and so no cluster. */
#define NO_CLUSTER 0

extern void simhash_number_clusters(FingerprintList *list, uint32 rows,
									int radius, ClusterMethod method,
									uint32 *numbers);

#endif							/* SIMHASH_NUMBERING_H */
