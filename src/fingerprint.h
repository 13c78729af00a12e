/*
 * fingerprint.h
 *	  Votes of weighted features, and the fingerprint that they elect.
 *
 * Charikar, "Similarity estimation techniques from rounding algorithms"
 * (2002); Manku, Jain and Das Sarma, "Detecting near-duplicates for web
 * crawling" (2007).
 */
#ifndef FINGERPRINT_H
#define FINGERPRINT_H

/*
 * Weights are integers, in units of 2^-16: sums do not depend on the order
 * of the features.
 */
#define WEIGHT_UNIT 65536
#define WEIGHT_MAX 2147483648.0 /* the largest weight of a feature: 2^31 */

typedef struct Votes
{
	int64 ones[64]; /* weight of the features whose hash has bit i set */
	int64 total;	/* weight of all features */

	/*
	 * Features of weight 1, not yet in the sums above: byte j of lanes[i]
	 * counts hash bit 8 * j + i.
	 */
	uint64 lanes[8];
	uint32 waiting;
} Votes;

extern void votes_init(Votes *v);
extern void votes_flush(Votes *v);
extern bool votes_add_weighted(Votes *v, uint64 hash, int64 weight);
extern bool votes_fingerprint(Votes *v, uint64 *fingerprint);
extern bool weight_from_double(double weight, int64 *result);

/* Add a feature of weight 1. */
static inline void
votes_add(Votes *v, uint64 hash)
{
	int i;

	for (i = 0; i < 8; i++)
		v->lanes[i] += (hash >> i) & UINT64CONST(0x0101010101010101);
	if (++v->waiting == 255)
		votes_flush(v);
}

#endif /* FINGERPRINT_H */
