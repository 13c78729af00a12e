/*
 * filter.h
 *	  Which fingerprints may be within a radius of any of a list?
 */
#ifndef SIMHASH_FILTER_H
#define SIMHASH_FILTER_H

#include "near/fplist.h"

/* A look at more masks would take longer than the search for pairs. */
#define FILTER_MAX_MASKS 64

/* A filter takes at most 1 / FILTER_SHARE of the memory for rows. */
#define FILTER_SHARE 4

typedef struct FilterPlan
{
	int			levels;			/* segments that make a mask; 0 for no filter */
	int			masks;			/* that are looked at */
	int			log_size;		/* the filter has 2^log_size bits */
	double		passes;			/* the fraction of other fingerprints that
								 * would pass, if they are random */
} FilterPlan;

typedef struct NearFilter
{
	int			count;			/* of masks */
	Fingerprint masks[FILTER_MAX_MASKS];
	int			shift;			/* of a hash, to the index of a word */
	uint64		words[FLEXIBLE_ARRAY_MEMBER];
} NearFilter;

extern FilterPlan hamming_filter_plan(double rows, int radius, Size memory);
extern NearFilter *hamming_filter_make(const Fingerprint *fps, uint32 count,
									   int radius, Size memory);
extern bool hamming_filter_passes(const NearFilter *filter, Fingerprint fp);

#endif							/* SIMHASH_FILTER_H */
