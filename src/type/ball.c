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

/* what is behind hamming_ball in the name of the type */
#define SUFFIX(words) ((words) == 1 ? "" : "128")

/* This overwrites the centre. */
static Datum
make_ball(uint64 *centre, int32 radius, int words)
{
	/* zeroed: constants are compared byte by byte */
	uint64	   *ball = palloc0((words + 1) * sizeof(uint64));

	simhash_swap_words(centre, words);
	memcpy(ball, centre, words * sizeof(uint64));
	memcpy(ball + words, &radius, sizeof(int32));
	return PointerGetDatum(ball);
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
ball_from_text(const char *input, uint64 *centre, int32 *radius, int words)
{
	const char *comma = strchr(input, ',');
	const char *open = skip_space(input);
	const char *close;
	char	   *end;
	long		value;

	if (comma == NULL || *open != '(' ||
		!simhash_from_text(open + 1, comma - open - 1, centre, words))
		return false;
	value = strtol(comma + 1, &end, 10);
	if (end == comma + 1)
		return false;
	close = skip_space(end);
	if (*close != ')' || *skip_space(close + 1) != '\0')
		return false;
	*radius = hamming_radius(value, 64 * words);
	return true;
}

/* Error: 22P02 for anything but (centre,radius). */
static Datum
read_ball(FunctionCallInfo fcinfo, int words)
{
	char	   *text = PG_GETARG_CSTRING(0);
	uint64		centre[HAMMING_MAX_WORDS];
	int32		radius;

	if (!ball_from_text(text, centre, &radius, words))
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type hamming_ball%s: \"%s\"",
						SUFFIX(words), text)));
	return make_ball(centre, radius, words);
}

static Datum
show_ball(FunctionCallInfo fcinfo, int words)
{
	uint64		centre[HAMMING_MAX_WORDS];
	int32		radius = simhash_ball_words(PG_GETARG_DATUM(0), centre, words);

	PG_RETURN_CSTRING(psprintf("(%s,%d)", simhash_to_hex(centre, words),
							   radius));
}

/*
 * The bytes of the centre, 2 of the radius.  Error: 22P03 for a radius that is
 * not in -1 .. the bits of a fingerprint.
 */
static Datum
receive_ball(FunctionCallInfo fcinfo, int words)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	uint64		centre[HAMMING_MAX_WORDS];
	int16		radius;
	int			i;

	for (i = 0; i < words; i++)
		centre[i] = pq_getmsgint64(buf);
	radius = pq_getmsgint(buf, sizeof(int16));
	if (radius != hamming_radius(radius, 64 * words))
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid radius in external value of type "
							   "hamming_ball%s: %d", SUFFIX(words), radius)));
	return make_ball(centre, radius, words);
}

static Datum
send_ball(FunctionCallInfo fcinfo, int words)
{
	uint64		centre[HAMMING_MAX_WORDS];
	int32		radius = simhash_ball_words(PG_GETARG_DATUM(0), centre, words);
	StringInfoData buf;
	int			i;

	pq_begintypsend(&buf);
	for (i = 0; i < words; i++)
		pq_sendint64(&buf, centre[i]);
	pq_sendint16(&buf, radius);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* hamming_ball(centre simhash64, radius bigint), and hamming_ball_128() */
static Datum
ball_of_arguments(FunctionCallInfo fcinfo, int words)
{
	uint64		centre[HAMMING_MAX_WORDS];

	simhash_datum_words(PG_GETARG_DATUM(0), centre, words);
	return make_ball(centre, hamming_radius(PG_GETARG_INT64(1), 64 * words),
					 words);
}

SIMHASH_SQL_WIDTHS(hamming_ball_in, read_ball(fcinfo, words))
SIMHASH_SQL_WIDTHS(hamming_ball_out, show_ball(fcinfo, words))
SIMHASH_SQL_WIDTHS(hamming_ball_recv, receive_ball(fcinfo, words))
SIMHASH_SQL_WIDTHS(hamming_ball_send, send_ball(fcinfo, words))
SIMHASH_SQL_WIDTHS(hamming_ball_make, ball_of_arguments(fcinfo, words))
