/*
 * join_pairs.h
 *	  The pairs of a similarity join, one at a time.
 */
#ifndef JOIN_PAIRS_H
#define JOIN_PAIRS_H

#include "dedup/join.h"

/* Fingerprints that are compared with another in one go. */
#define JOIN_PAIRS_STRETCH 1024

typedef struct JoinPairs
{
	HammingJoin *join;
	bool		is_swapped;		/* x is compared with stretches of y, or y of
								 * x? */
	FingerprintList *outer;		/* of which one is compared ... */
	uint32		i;
	uint32		end;
	FingerprintList *inner;		/* ... with stretches of these */
	uint32		inner_from;
	uint32		inner_end;
	uint32		stretch;		/* where the last one begins, and the next one */
	uint32		next_stretch;
	int			next;			/* of the matches */
	int			count;
	uint16		matches[JOIN_PAIRS_STRETCH];
} JoinPairs;

extern JoinPairs *hamming_join_pairs_begin(FingerprintList *x,
										   FingerprintList *y, int radius);
extern bool hamming_join_pairs_next(JoinPairs *near, uint32 *x, uint32 *y);
extern void hamming_join_pairs_end(JoinPairs *near);

#endif							/* JOIN_PAIRS_H */
