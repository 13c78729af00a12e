/*
 * simhash.h
 *	  The SQL types, their datums, and the numbers that operator classes use.
 */
#ifndef SIMHASH_H
#define SIMHASH_H

#include "fmgr.h"

#include "type/compat.h"
#include "type/hamming.h"

/* simhash64: HAMMING_BITS bits, passed as int8 is. */
static inline uint64
DatumGetSimhash(Datum d)
{
	return (uint64) DatumGetInt64(d);
}

static inline Datum
SimhashGetDatum(uint64 fingerprint)
{
	return Int64GetDatum((int64) fingerprint);
}

#define PG_GETARG_SIMHASH(n) DatumGetSimhash(PG_GETARG_DATUM(n))
#define PG_RETURN_SIMHASH(x) return SimhashGetDatum(x)

/* hamming_ball: all fingerprints within a radius of a centre. */
typedef struct HammingBall
{
	uint64		centre;
	int32		radius;			/* -1, which holds nothing, .. HAMMING_BITS,
								 * which holds all */
	int32		unused;			/* zero */
} HammingBall;

static inline bool
hamming_in_ball(const HammingBall *ball, uint64 fingerprint)
{
	return hamming_distance(ball->centre, fingerprint) <= ball->radius;
}

static inline bool
hamming_in_balls(uint64 fingerprint, const HammingBall *balls, int count)
{
	int			i;

	for (i = 0; i < count; i++)
		if (!hamming_in_ball(&balls[i], fingerprint))
			return false;
	return true;
}

#define DatumGetHammingBall(d) ((HammingBall *) DatumGetPointer(d))
#define PG_GETARG_HAMMING_BALL(n) DatumGetHammingBall(PG_GETARG_DATUM(n))

/* Strategy numbers of the operators in every distance operator class. */
#define SIMHASH_NEAR_STRATEGY 1 /* simhash64 % simhash64 */
#define SIMHASH_BALL_STRATEGY 2 /* simhash64 <@ hamming_ball */
#define SIMHASH_EQUAL_STRATEGY 3	/* simhash64 = simhash64, not in GiST */
#define SIMHASH_DISTANCE_STRATEGY 15	/* simhash64 <~> simhash64, ordering */

/* The distance of the operator %, from the literature. */
#define SIMHASH_NEAR_RADIUS 3

/* White space of the text forms: that of isspace() in the locale C. */
static inline bool
simhash_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* type.c */
#define SIMHASH_HEX_DIGITS 16
extern void simhash_to_hex(uint64 fingerprint, char *hex);
extern bool simhash_from_text(const char *input, size_t length,
							  uint64 *fingerprint);

#endif							/* SIMHASH_H */
