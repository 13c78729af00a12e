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

static inline int
argument_distance(FunctionCallInfo fcinfo)
{
	return hamming_distance(PG_GETARG_SIMHASH(0), PG_GETARG_SIMHASH(1));
}

SIMHASH_SQL(WIDE(simhash_distance), Int32GetDatum(argument_distance(fcinfo)))

SIMHASH_SQL(WIDE(simhash_similarity),
			Float8GetDatum(1.0 - argument_distance(fcinfo) /
						   (double) HAMMING_BITS))

/*
 * cos(pi * distance / HAMMING_BITS), an estimate of the cosine of the angle
 * between the two feature vectors: a random hyperplane parts them with
 * probability angle / pi (Charikar 2002, after Goemans and Williamson 1995).
 */
static double
argument_cosine(FunctionCallInfo fcinfo)
{
	int			distance = argument_distance(fcinfo);

	/* cos() of the nearest double to pi / 2 is not 0 */
	return distance == HAMMING_BITS / 2 ? 0.0 :
		cos(M_PI * distance / HAMMING_BITS);
}

SIMHASH_SQL(WIDE(simhash_cosine), Float8GetDatum(argument_cosine(fcinfo)))

/*
 * max(0, 1 - 2 * distance / HAMMING_BITS), an estimate of the Jaccard
 * similarity of the two sets of features.  A bit of two minhashes differs with
 * probability (1 - J) / 2: where the minima are of different features, and then
 * in half of all cases.
 */
SIMHASH_SQL(WIDE(simhash_minhash_jaccard),
			Float8GetDatum(fmax(1 - argument_distance(fcinfo) /
								(HAMMING_BITS / 2.0), 0)))

SIMHASH_SQL(WIDE(simhash_within),
			BoolGetDatum(argument_distance(fcinfo) <= PG_GETARG_INT64(2)))

SIMHASH_SQL(WIDE(simhash_near),
			BoolGetDatum(argument_distance(fcinfo) <= SIMHASH_NEAR_RADIUS))

SIMHASH_SQL(WIDE(simhash_in_ball),
			BoolGetDatum(hamming_in_ball(PG_GETARG_HAMMING_BALL(1),
										 PG_GETARG_SIMHASH(0))))

SIMHASH_SQL(WIDE(hamming_ball_contains),
			BoolGetDatum(hamming_in_ball(PG_GETARG_HAMMING_BALL(0),
										 PG_GETARG_SIMHASH(1))))
