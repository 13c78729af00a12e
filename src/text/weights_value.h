/*
 * weights_value.h
 *	  simhash_weights as it is stored, and as JSON.
 */
#ifndef SIMHASH_WEIGHTS_VALUE_H
#define SIMHASH_WEIGHTS_VALUE_H

#include "lib/stringinfo.h"
#include "nodes/nodes.h"

/* A token and its weight as the user gave it, not yet rounded to units. */
typedef struct TokenWeight
{
	const uint8 *token;			/* normalised, in UTF-8 */
	uint32		length;			/* of token, in bytes */
	double		weight;
} TokenWeight;

/* The first half of the SHA-256 of a value: it stands for the value. */
typedef struct WeightsDigest
{
	uint64		low;
	uint64		high;
} WeightsDigest;

/*
 * What a value holds after the varlena header, on disk: this header, and then
 * for each token its weight as double, its length as uint32, and its bytes,
 * without any alignment.  The tokens are in order of their bytes, each
 * different from all others, and -0 is stored as 0: equal values have equal
 * bytes.
 *
 * This layout, in the byte order of the machine, is frozen.  It must not
 * change as long as a column may hold a value.
 */
typedef struct WeightsHeader
{
	WeightsDigest digest;		/* of all that follows */
	double		default_weight; /* weight of all tokens that do not follow */
	uint32		count;			/* number of tokens that follow */
	uint32		unused;			/* zero */
} WeightsHeader;

/* A walk over the tokens of a value. */
typedef struct WeightsReader
{
	WeightsHeader header;
	const uint8 *next;			/* where the next token is stored */
} WeightsReader;

/* weights_value.c */
extern struct varlena *simhash_weights_pack(TokenWeight *tokens, size_t count,
											double default_weight,
											const TokenWeight **duplicate);
extern WeightsDigest simhash_weights_digest(struct varlena *value);
extern WeightsReader simhash_weights_read(const struct varlena *value);
extern TokenWeight simhash_weights_next(WeightsReader *reader);

/* weights_json.c */
extern char *simhash_excerpt(const uint8 *bytes, size_t length);
extern void simhash_weights_check_length(const struct varlena *value);
extern struct varlena *simhash_weights_parse(const char *json, Node *escontext);
extern void simhash_weights_write(StringInfo buf, const struct varlena *value);

#endif							/* SIMHASH_WEIGHTS_VALUE_H */
