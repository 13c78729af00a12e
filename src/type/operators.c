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

static pg_attribute_always_inline int
argument_distance(FunctionCallInfo fcinfo, int words)
{
	uint64		a[HAMMING_MAX_WORDS];
	uint64		b[HAMMING_MAX_WORDS];

	simhash_datum_words(PG_GETARG_DATUM(0), a, words);
	simhash_datum_words(PG_GETARG_DATUM(1), b, words);
	return words_distance(a, b, words);
}

SIMHASH_SQL_WIDTHS(simhash_distance,
				   Int32GetDatum(argument_distance(fcinfo, words)))

SIMHASH_SQL_WIDTHS(simhash_similarity,
				   Float8GetDatum(1.0 - argument_distance(fcinfo, words) /
								  (64.0 * words)))

/*
 * cos(pi * distance / bits), an estimate of the cosine of the angle between the
 * two feature vectors: a random hyperplane parts them with probability angle /
 * pi (Charikar 2002, after Goemans and Williamson 1995).
 */
static double
argument_cosine(FunctionCallInfo fcinfo, int words)
{
	int			distance = argument_distance(fcinfo, words);

	/* cos() of the nearest double to pi / 2 is not 0 */
	return distance == 32 * words ? 0.0 : cos(M_PI * distance / (64 * words));
}

SIMHASH_SQL_WIDTHS(simhash_cosine,
				   Float8GetDatum(argument_cosine(fcinfo, words)))

/*
 * max(0, 1 - 2 * distance / bits), an estimate of the Jaccard similarity of the
 * two sets of features.  A bit of two minhashes differs with probability (1 -
 * J) / 2: where the minima are of different features, and then in half of all
 * cases.
 */
SIMHASH_SQL_WIDTHS(simhash_minhash_jaccard,
				   Float8GetDatum(fmax(1 - argument_distance(fcinfo, words) /
									   (32.0 * words), 0)))

SIMHASH_SQL_WIDTHS(simhash_within,
				   BoolGetDatum(argument_distance(fcinfo, words) <=
								PG_GETARG_INT64(2)))

SIMHASH_SQL_WIDTHS(simhash_near,
				   BoolGetDatum(argument_distance(fcinfo, words) <=
								words * SIMHASH_NEAR_RADIUS))

/* Does the ball, the argument of that number, hold the other argument? */
static pg_attribute_always_inline bool
ball_contains(FunctionCallInfo fcinfo, int ball, int words)
{
	uint64		centre[HAMMING_MAX_WORDS];
	uint64		word[HAMMING_MAX_WORDS];
	int32		radius = simhash_ball_words(PG_GETARG_DATUM(ball), centre,
											words);

	simhash_datum_words(PG_GETARG_DATUM(1 - ball), word, words);
	return words_distance(centre, word, words) <= radius;
}

SIMHASH_SQL_WIDTHS(simhash_in_ball,
				   BoolGetDatum(ball_contains(fcinfo, 1, words)))

SIMHASH_SQL_WIDTHS(hamming_ball_contains,
				   BoolGetDatum(ball_contains(fcinfo, 0, words)))
