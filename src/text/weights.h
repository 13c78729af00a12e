/*
 * weights.h
 *	  simhash_weights as it is stored, as JSON, and as tables that are kept.
 */
#ifndef SIMHASH_WEIGHTS_H
#define SIMHASH_WEIGHTS_H

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/nodes.h"

#include "text/shingle.h"
#include "type/compat.h"

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
 * This layout, in the byte order of the machine, is frozen.
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

/*
 * fn_extra points to this struct, or to one that begins with it: the digests of
 * the last values that were stored out of line, by their TOAST pointers.
 * During a query, a TOAST pointer stands for one value: it could stand for
 * another one only after the counter of OIDs has wrapped.  KNOWN_POINTERS are
 * compared for each row, each about 16 bytes.
 */
#define KNOWN_POINTERS 8

typedef struct KnownPointers
{
	struct varatt_external pointer[KNOWN_POINTERS];
	WeightsDigest digest[KNOWN_POINTERS];
	uint32		count;			/* added so far; each replaces the oldest */
} KnownPointers;

/* weights_type.c */
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

/* weights_cache.c */
extern const WeightTable *simhash_cached_weights(FunctionCallInfo fcinfo,
												 int argument,
												 bool is_stop_list);

#endif							/* SIMHASH_WEIGHTS_H */
