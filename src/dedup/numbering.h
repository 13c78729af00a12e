/*
 * numbering.h
 *	  Number rows by the clusters of their fingerprints.
 */
#ifndef NUMBERING_H
#define NUMBERING_H

#include "dedup/fplist.h"

/* What a row has that has no fingerprint. */
#define NO_CLUSTER 0

typedef enum ClusterMethod
{
	CLUSTER_CONNECTED,			/* connected by steps within the radius */
	CLUSTER_LEADER				/* within the radius of the cluster's first
								 * row */
} ClusterMethod;

extern void simhash_number_clusters(FingerprintList *list, uint32 rows,
									int radius, ClusterMethod method,
									uint32 *numbers);

#endif							/* NUMBERING_H */
