/*
 * compare.h
 *	  The pairs of a similarity join, one at a time.
 */
#ifndef SIMHASH_COMPARE_H
#define SIMHASH_COMPARE_H

#include "near/groups.h"
#include "near/matches.h"

#define hamming_join_pairs_begin WIDE(hamming_join_pairs_begin)
#define hamming_join_pairs_settle WIDE(hamming_join_pairs_settle)
#define hamming_join_pairs_restrict WIDE(hamming_join_pairs_restrict)
#define hamming_join_pairs_next WIDE(hamming_join_pairs_next)
#define hamming_join_pairs_is_first WIDE(hamming_join_pairs_is_first)
#define hamming_join_pairs_end WIDE(hamming_join_pairs_end)

/*
 * Each of the outer stretch is compared with all of the longer, inner one.  In
 * a join with settled numbers outer is a stretch of x, whatever its length.
 */
typedef struct JoinPairs
{
	HammingJoin *join;
	bool		is_swapped;		/* outer is a stretch of y, and inner of x */
	FingerprintList *outer;
	uint32		i;				/* place of the outer one that is compared */
	uint32		outer_end;
	FingerprintList *inner;
	uint32		inner_from;
	uint32		inner_end;
	bool		is_one_stretch; /* outer and inner are the same stretch */
	Matches		matches;		/* of the outer one, in inner */
	uint64		compared;		/* pairs that were compared, or are now */
} JoinPairs;

extern JoinPairs *hamming_join_pairs_begin(FingerprintList *x,
										   FingerprintList *y, int radius);
extern void hamming_join_pairs_settle(JoinPairs *pairs, const bool *settled);
extern void hamming_join_pairs_restrict(JoinPairs *pairs, const JoinCut *cut,
										int part);
extern bool hamming_join_pairs_next(JoinPairs *pairs, uint32 *x, uint32 *y);
extern bool hamming_join_pairs_is_first(const JoinPairs *pairs,
										Fingerprint difference);
extern void hamming_join_pairs_end(JoinPairs *pairs);

#endif							/* SIMHASH_COMPARE_H */
