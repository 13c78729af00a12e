/*
 * division.h
 *	  The partitions of sides in files, of which memory has room for some rows
 *	  only.
 */
#ifndef SIMHASH_DIVISION_H
#define SIMHASH_DIVISION_H

#include "near/share.h"
#include "near/side.h"

/* Partitions of a segment at most: each has a buffer of 8 kB for each side. */
#define MAX_PARTITIONS 1024

/*
 * The sides, and their partitions in files, by key and by the current segment
 * of the cut.  Of sides that are not divided there is one partition: the sides
 * themselves.
 */
typedef struct Division
{
	NearSide   *x;
	NearSide   *y;				/* may be x */
	const Share *share;			/* only its rows are in partitions; or NULL */

	/* Rows are paired that agree in one segment of a cut after the other. */
	bool		is_cut;			/* else they need agree in no segment */
	NearCut		cut;			/* without a cut, of one segment */
	int			segment;		/* the current one; -1 before the first */

	int			partitions;		/* how many */
	int			partition;		/* the current one, of the segment */
	NearSide   *x_partitions;	/* x, if the sides are not divided */
	NearSide   *y_partitions;	/* x_partitions, if y is x */
} Division;

extern void hamming_division_begin(Division *division, NearSide *x,
								   NearSide *y, const Share *share);
extern bool hamming_division_choose(Division *division, int radius,
									Size memory);
extern void hamming_division_make(Division *division, Size memory);
extern uint64 hamming_division_next(Division *division, SharedFileSet *files);
extern void hamming_division_end(Division *division);
extern const char *hamming_division_file(int side, uint32 partition);
extern bool hamming_division_prefers_stretches(double x, double y,
											   double at_once);

/* Are the sides divided into partitions? */
static inline bool
is_divided(const Division *division)
{
	return division->x_partitions != division->x;
}

/* Is the fingerprint's block of the current segment in the share, if any? */
static inline bool
is_in_segment(const Division *division, Fingerprint fp)
{
	return division->share == NULL ||
		is_block_in_share(division->share, fp, division->segment);
}

#endif							/* SIMHASH_DIVISION_H */
