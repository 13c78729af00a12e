/*
 * operators.c
 *	  Distances, and the predicates made of them.
 *
 * The predicates raise no error, whatever their arguments: they are declared
 * LEAKPROOF, which lets an index serve them under a row security policy.
 */
#include "postgres.h"

#include <math.h>

#include "type/simhash.h"

#define simhash_distance WIDE(simhash_distance)
#define simhash_similarity WIDE(simhash_similarity)
#define simhash_cosine WIDE(simhash_cosine)
#define simhash_minhash_jaccard WIDE(simhash_minhash_jaccard)
#define simhash_within WIDE(simhash_within)
#define simhash_near WIDE(simhash_near)
#define simhash_in_ball WIDE(simhash_in_ball)
#define hamming_ball_contains WIDE(hamming_ball_contains)

PG_FUNCTION_INFO_V1(simhash_distance);
PG_FUNCTION_INFO_V1(simhash_similarity);
PG_FUNCTION_INFO_V1(simhash_cosine);
PG_FUNCTION_INFO_V1(simhash_minhash_jaccard);
PG_FUNCTION_INFO_V1(simhash_within);
PG_FUNCTION_INFO_V1(simhash_near);
PG_FUNCTION_INFO_V1(simhash_in_ball);
PG_FUNCTION_INFO_V1(hamming_ball_contains);

static inline int
argument_distance(FunctionCallInfo fcinfo)
{
	return hamming_distance(PG_GETARG_SIMHASH(0), PG_GETARG_SIMHASH(1));
}

Datum
simhash_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(argument_distance(fcinfo));
}

Datum
simhash_similarity(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(1.0 - argument_distance(fcinfo) / (double) HAMMING_BITS);
}

/*
 * cos(pi * distance / HAMMING_BITS), an estimate of the cosine of the angle
 * between the two feature vectors: a random hyperplane parts them with
 * probability angle / pi (Charikar 2002, after Goemans and Williamson 1995).
 */
Datum
simhash_cosine(PG_FUNCTION_ARGS)
{
	int			distance = argument_distance(fcinfo);

	/* cos() of the nearest double to pi / 2 is not 0 */
	PG_RETURN_FLOAT8(distance == HAMMING_BITS / 2 ? 0.0 :
					 cos(M_PI * distance / HAMMING_BITS));
}

/*
 * max(0, 1 - 2 * distance / HAMMING_BITS), an estimate of the Jaccard
 * similarity of the two sets of features.  A bit of two minhashes differs with
 * probability (1 - J) / 2: where the minima are of different features, and then
 * in half of all cases.
 */
Datum
simhash_minhash_jaccard(PG_FUNCTION_ARGS)
{
	double		estimate = 1 - argument_distance(fcinfo) / (HAMMING_BITS / 2.0);

	PG_RETURN_FLOAT8(Max(estimate, 0));
}

Datum
simhash_within(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(argument_distance(fcinfo) <= PG_GETARG_INT64(2));
}

Datum
simhash_near(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(argument_distance(fcinfo) <= SIMHASH_NEAR_RADIUS);
}

Datum
simhash_in_ball(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(hamming_in_ball(PG_GETARG_HAMMING_BALL(1),
								   PG_GETARG_SIMHASH(0)));
}

Datum
hamming_ball_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(hamming_in_ball(PG_GETARG_HAMMING_BALL(0),
								   PG_GETARG_SIMHASH(1)));
}
