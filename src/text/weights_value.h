/*
 * weights_value.h
 *	  simhash_weights as it is stored.
 */
#ifndef WEIGHTS_VALUE_H
#define WEIGHTS_VALUE_H

/* Weights as the user gave them; votes round them to multiples of 2^-16. */
typedef struct TokenWeight
{
	const uint8 *token;			/* normalised, in UTF-8 */
	uint32		length;
	double		weight;
} TokenWeight;

/* The first half of the SHA-256 of a value: only equal values have the same. */
typedef struct WeightsDigest
{
	uint64		low;
	uint64		high;
} WeightsDigest;

/*
 * A varlena: this, and then for each token its weight as double, the length
 * of the token as uint32, and its bytes, without any alignment.  The tokens
 * are in order of their bytes, each different from all others.  What is equal
 * has the same bytes; -0 is stored as 0.
 */
typedef struct WeightsHeader
{
	WeightsDigest digest;		/* of all that follows */
	double		rest;			/* weight of the tokens that are not there */
	uint32		count;			/* tokens */
	uint32		unused;			/* zero */
} WeightsHeader;

/* Where a walk over the tokens stands. */
typedef struct WeightsReader
{
	WeightsHeader header;
	const uint8 *next;
} WeightsReader;

extern struct varlena *simhash_weights_pack(TokenWeight *tokens, size_t count,
											double rest,
											const TokenWeight **twice);
extern WeightsDigest simhash_weights_digest(struct varlena *value);
extern WeightsReader simhash_weights_read(const struct varlena *value);
extern TokenWeight simhash_weights_next(WeightsReader *reader);

#endif							/* WEIGHTS_VALUE_H */
