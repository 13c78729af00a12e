/*
 * clusters.h
 *	  Clusters of fingerprints, and of the rows that have them.
 */
#ifndef SIMHASH_CLUSTERS_H
#define SIMHASH_CLUSTERS_H

#include "dedup/arguments.h"
#include "near/together.h"

#define simhash_connect WIDE(simhash_connect)
#define simhash_connect_begin WIDE(simhash_connect_begin)
#define simhash_connect_main WIDE(simhash_connect_main)
#define simhash_choose_leaders WIDE(simhash_choose_leaders)
#define simhash_number_clusters WIDE(simhash_number_clusters)

/* The number of a row that has no fingerprint, and so no cluster. */
#define NO_CLUSTER 0

/* connect.c */
extern Together *simhash_connect_begin(FingerprintList *list, int radius);
extern void simhash_connect(FingerprintList *list, int radius, uint32 *parents,
							Together *together, const NearCut *cut,
							int segment);
extern PGDLLEXPORT void simhash_connect_main(dsm_segment *segment,
											 shm_toc *toc);

/* leaders.c */
extern void simhash_choose_leaders(FingerprintList *list, int radius,
								   uint32 *clusters);

/* numbering.c */
extern void simhash_number_clusters(FingerprintList *list, uint32 rows,
									int radius, ClusterMethod method,
									uint32 *numbers);

#endif							/* SIMHASH_CLUSTERS_H */
