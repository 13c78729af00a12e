/*
 * fingerprint.c
 *	  Votes of weighted features, and the fingerprint that they elect.
 */
#include "postgres.h"

#include <math.h>

#include "fingerprint.h"

void
votes_init(Votes *v)
{
	memset(v, 0, sizeof(*v));
}

/* Move the byte counts into the sums, before one of them can overflow. */
void
votes_flush(Votes *v)
{
	int bit;

	for (bit = 0; bit < 64; bit++)
	{
		int64 count = (v->lanes[bit % 8] >> (bit / 8 * 8)) & 0xFF;

		v->ones[bit] += count * WEIGHT_UNIT;
	}
	v->total += (int64) v->waiting * WEIGHT_UNIT;
	v->waiting = 0;
	memset(v->lanes, 0, sizeof(v->lanes));
}

/*
 * Add a feature of any weight, in units of 2^-16.  Returns false, and adds
 * nothing, if the total would pass 2^63 - 1; no sum is larger than the total.
 *
 * Features of weight 1 still in the lanes are at most 255 * 2^16: far below
 * the headroom that a document of 2^30 bytes leaves, so only weighted
 * features can overflow.
 */
bool
votes_add_weighted(Votes *v, uint64 hash, int64 weight)
{
	int bit;

	if (weight > PG_INT64_MAX - v->total)
		return false;
	v->total += weight;
	for (bit = 0; bit < 64; bit++)
		v->ones[bit] += weight & -(int64) (hash >> bit & 1);
	return true;
}

/*
 * Bit i is set if the features with bit i weigh more than half of all: a tie
 * gives 0.  Returns false if there is no weight at all.
 */
bool
votes_fingerprint(Votes *v, uint64 *fingerprint)
{
	int bit;

	votes_flush(v);
	*fingerprint = 0;
	for (bit = 0; bit < 64; bit++)
	{
		/* not 2 * ones > total, which could overflow */
		if (v->ones[bit] > v->total - v->ones[bit])
			*fingerprint |= UINT64CONST(1) << bit;
	}
	return v->total > 0;
}

/*
 * A weight in units of 2^-16, rounded half to even: rint() does that in the
 * rounding mode in which PostgreSQL runs, and the product is exact.  Returns
 * false for a negative, infinite or NaN weight and for one above 2^31.
 */
bool
weight_from_double(double weight, int64 *result)
{
	if (!(weight >= 0 && weight <= WEIGHT_MAX))
		return false;
	*result = (int64) rint(weight * WEIGHT_UNIT);
	return true;
}
