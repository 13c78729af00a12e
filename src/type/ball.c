/*
 * ball.c
 *	  The types hamming_ball and hamming_ball128: a centre and a radius,
 *	  "(centre,radius)".
 *
 * A search operator of an index takes one argument beside the column; this
 * is the one that says "within k of q".
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "type/simhash.h"

PG_FUNCTION_INFO_V1(WIDE(hamming_ball_in));
PG_FUNCTION_INFO_V1(WIDE(hamming_ball_out));
PG_FUNCTION_INFO_V1(WIDE(hamming_ball_recv));
PG_FUNCTION_INFO_V1(WIDE(hamming_ball_send));

static HammingBall *
make_ball(Fingerprint centre, int32 radius)
{
	/* zeroed: constants are compared byte by byte */
	HammingBall *ball = palloc0(sizeof(HammingBall));

	ball->centre = centre;
	ball->radius = radius;
	return ball;
}

static const char *
skip_space(const char *input)
{
	while (simhash_is_space(*input))
		input++;
	return input;
}

/*
 * Read (centre,radius).  Return false for anything else.  White space may stand
 * before and after each part.  strtol() clamps too large a radius.
 */
static bool
ball_from_text(const char *input, Fingerprint *centre, int32 *radius)
{
	const char *comma = strchr(input, ',');
	const char *open = skip_space(input);
	const char *close;
	char	   *end;
	long		value;

	if (comma == NULL || *open != '(' ||
		!hamming_from_text(open + 1, comma - open - 1, centre))
		return false;
	value = strtol(comma + 1, &end, 10);
	if (end == comma + 1)
		return false;
	close = skip_space(end);
	if (*close != ')' || *skip_space(close + 1) != '\0')
		return false;
	*radius = hamming_radius(value);
	return true;
}

/* Error: 22P02 for anything but (centre,radius). */
Datum
WIDE(hamming_ball_in) (PG_FUNCTION_ARGS)
{
	char	   *text = PG_GETARG_CSTRING(0);
	Fingerprint centre;
	int32		radius;

	if (!ball_from_text(text, &centre, &radius))
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"",
						HAMMING_BALL_TYPE, text)));
	PG_RETURN_POINTER(make_ball(centre, radius));
}

Datum
WIDE(hamming_ball_out) (PG_FUNCTION_ARGS)
{
	HammingBall *ball = PG_GETARG_HAMMING_BALL(0);

	PG_RETURN_CSTRING(psprintf("(%s,%d)", hamming_to_hex(ball->centre),
							   ball->radius));
}

/*
 * The bytes of the centre, 2 of the radius.  Error: 22P03 for a radius that is
 * not in -1 .. HAMMING_BITS.
 */
Datum
WIDE(hamming_ball_recv) (PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	const char *bytes = pq_getmsgbytes(buf, sizeof(Fingerprint));
	int16		radius = pq_getmsgint(buf, sizeof(int16));

	if (radius != hamming_radius(radius))
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid radius in external value of type "
							   "%s: %d",
							   HAMMING_BALL_TYPE, radius)));
	PG_RETURN_POINTER(make_ball(simhash_read_bytes(bytes), radius));
}

Datum
WIDE(hamming_ball_send) (PG_FUNCTION_ARGS)
{
	HammingBall *ball = PG_GETARG_HAMMING_BALL(0);
	char		centre[sizeof(Fingerprint)];
	StringInfoData buf;

	simhash_write_bytes(ball->centre, centre);
	pq_begintypsend(&buf);
	pq_sendbytes(&buf, centre, sizeof(centre));
	pq_sendint16(&buf, ball->radius);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* hamming_ball(centre simhash64, radius bigint), and hamming_ball_128() */
SIMHASH_SQL(WIDE(hamming_ball_make),
			PointerGetDatum(make_ball(PG_GETARG_SIMHASH(0),
									  hamming_radius(PG_GETARG_INT64(1)))))
