/*
 * estimate.c
 *	  A part of a total, estimated from a sample, with a confidence interval.
 */
#include "postgres.h"

#include <math.h>

#include "audit/audit.h"

/* Standard deviations within which 95 % of a normal distribution is. */
#define DEVIATIONS 1.959964

/* About DEVIATIONS ^ 2 / 2 (Agresti and Coull 1998). */
#define ADDED_UNITS 2

/*
 * Return the upper limit of the interval of Clopper and Pearson (1934), of a
 * share that n draws have shown, in the closed form of Paulson, Camp and Pratt
 * (Blyth 1986).  n may be no integer.
 */
static double
upper_limit(double share, double n)
{
	double		hits = share * n + 1;
	double		others = (1 - share) * n;
	double		square = DEVIATIONS * DEVIATIONS;
	double		root;

	if (share >= 1)
		return 1;
	root = (81 * hits * others - 9 * n - 8 -
			3 * DEVIATIONS * sqrt(9 * hits * others * (9 * n + 5 - square) +
								  n + 1)) /
		(81 * hits * hits - 9 * hits * (2 + square) + 1);
	if (root <= 0)
		return 1;				/* next to no others */
	return Max(1 / (1 + hits * hits / (others * others) * root * root * root),
			   share);
}

/* Return what value of unit i of the sample stands for among all units. */
static inline double
scale_up(const Sample *sample, int i, double value)
{
	return value / sample->draws[i].chance;
}

/*
 * Return an effective size: a sample of equal weights, and of so many units,
 * gives a share the variance that sample[] and ADDED_UNITS more units give.  If
 * is_part, all of an added unit is part, else nothing.  least is the least
 * chance of a unit.  simhash_estimate() says why units are added.
 */
static double
effective_size(const Sample *sample, const Proportion *p, double least,
			   bool is_part)
{
	double		random = 0;		/* weight that chance may have left out */
	double		squares = 0;	/* of weights, likewise */
	double		variance;
	double		weight;
	double		added;
	double		share;
	int			i;

	for (i = 0; i < sample->count; i++)
	{
		weight = scale_up(sample, i, sample->whole[i]) / p->total;
		random += (1.0 - sample->draws[i].chance) * weight;
		squares += (1.0 - sample->draws[i].chance) * weight * weight;
	}
	weight = 1 / least / p->total;
	if (random > 0)
		weight = Max(squares / random, weight);
	added = ADDED_UNITS * weight;
	share = (p->value + (is_part ? added : 0)) / (1 + added);
	variance = (1 - least) * added * weight *
		(is_part ? (1 - share) * (1 - share) : share * share);
	for (i = 0; i < sample->count; i++)
	{
		double		residual = scale_up(sample, i, sample->part[i] -
										share * sample->whole[i]) / p->total;

		variance += (1.0 - sample->draws[i].chance) * residual * residual;
	}
	/* without those added: of n units of equal weight this leaves n */
	return share * (1 - share) * (1 + added) / variance;
}

/*
 * Estimate which share the part is of the whole.
 *
 * A unit stands for 1 / chance of them: Hajek's estimator.  The interval is
 * that of a sample of equal weights whose size gives the share the same
 * variance (Korn and Graubard 1998).  A unit whose chance is 1 adds no
 * variance.
 *
 * Where few sampled units differ from the others, the variance is estimated as
 * too small.  So for each limit it is that with more units on the far side of
 * the limit.  Each weighs as much as those that chance has drawn, on average by
 * weight (Kish 1965), or as the lightest that may have been missed: a whole of
 * 1, of the least chance.
 */
Proportion
simhash_estimate(const Sample *sample)
{
	Proportion	p = {0};
	double		part = 0;
	double		least = 1;
	int			i;

	for (i = 0; i < sample->count; i++)
	{
		p.total += scale_up(sample, i, sample->whole[i]);
		part += scale_up(sample, i, sample->part[i]);
		least = Min(least, sample->draws[i].chance);
	}
	p.value = p.low = p.high = part / p.total;
	if (p.total == 0 || least == 1)
		return p;
	p.low = 1 - upper_limit(1 - p.value,
							effective_size(sample, &p, least, false));
	p.high = upper_limit(p.value, effective_size(sample, &p, least, true));
	return p;
}
