/*
 * compare.h
 *	  The pairs of two lists of fingerprints, or of one, by their places.
 */
#ifndef SIMHASH_COMPARE_H
#define SIMHASH_COMPARE_H

#include "near/groups.h"
#include "near/matches.h"

#define hamming_compare_make WIDE(hamming_compare_make)
#define hamming_compare_begin WIDE(hamming_compare_begin)
#define hamming_compare_next WIDE(hamming_compare_next)
#define hamming_compare_free WIDE(hamming_compare_free)

/*
 * Each fingerprint of a stretch, outer, is compared with all of another,
 * inner, which is the longer one.  But if numbers may be settled, outer is of
 * x.
 */
typedef struct Comparison
{
	NearGroups *groups;
	bool		is_swapped;		/* outer is a stretch of y, and inner of x */
	FingerprintList *outer;		/* NULL before the first group */
	uint32		i;				/* place of the outer one that is compared */
	uint32		outer_end;
	FingerprintList *inner;
	uint32		inner_from;
	uint32		inner_end;
	bool		is_one_stretch; /* outer and inner are the same stretch */
	Matches		matches;		/* of the outer one, in inner */
	uint64		compared;		/* pairs that were compared, or are now */
} Comparison;

extern Comparison *hamming_compare_make(FingerprintList *x, FingerprintList *y,
										int radius);
extern void hamming_compare_begin(Comparison *c, const Candidates *all,
								  const NearCut *cut, int segment);
extern bool hamming_compare_next(Comparison *c, uint32 *x, uint32 *y);
extern void hamming_compare_free(Comparison *c);

#endif							/* SIMHASH_COMPARE_H */
