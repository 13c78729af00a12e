/*
 * estimate.h
 *	  A part of a total, estimated from a sample, with a confidence interval.
 */
#ifndef SIMHASH_AUDIT_ESTIMATE_H
#define SIMHASH_AUDIT_ESTIMATE_H

/*
 * A unit of a sample: what it has of the whole, and of the part.  There may be
 * many, so they are small; all is computed as double.
 */
typedef struct Sampled
{
	uint32		whole;
	uint32		part;			/* 0 .. whole */
	float		chance;			/* of being drawn, above 0, up to 1 */
} Sampled;

typedef struct Proportion
{
	double		total;			/* the whole, of all units */
	double		value;			/* the part, as a share; NaN if total is 0 */
	double		low;			/* of the interval of 95 % */
	double		high;
} Proportion;

extern Proportion simhash_estimate(const Sampled *sample, int count);

#endif							/* SIMHASH_AUDIT_ESTIMATE_H */
