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
#define simhash_choose_leaders_unit WIDE(simhash_choose_leaders_unit)
#define simhash_number_clusters WIDE(simhash_number_clusters)

/* The number of a row that has no fingerprint, and so no cluster. */
#define NO_CLUSTER 0

/* The kinds of steps of a team: connect_large() in connect.c, and leaders.c. */
#define STEP_CONNECT_SLICES TOGETHER_STEPS
#define STEP_CONNECT_NEXT (TOGETHER_STEPS + 1)
#define STEP_CONNECT_OTHERS (TOGETHER_STEPS + 2)
#define STEP_CONNECT_BLOCKS (TOGETHER_STEPS + 3)
#define STEP_LEADERS (TOGETHER_STEPS + 4)

/* connect.c */
extern Together *simhash_connect_begin(FingerprintList *list, int radius);
extern void simhash_connect(FingerprintList *list, int radius, uint32 *parents,
							Together *together, const NearCut *cut,
							int segment);
extern PGDLLEXPORT void simhash_connect_main(dsm_segment *segment,
											 shm_toc *toc);

/* leaders.c */
extern void simhash_choose_leaders_unit(Together *together,
										const TeamStep *step, uint32 unit);
extern void simhash_choose_leaders(FingerprintList *list, int radius,
								   uint32 *clusters, Together *together);

/* numbering.c */
extern void simhash_number_clusters(FingerprintList *list, uint32 rows,
									int radius, ClusterMethod method,
									uint32 *numbers);

#endif							/* SIMHASH_CLUSTERS_H */
