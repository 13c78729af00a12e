/*
 * simhash.h
 *	  The SQL types, their datums, and the numbers that operator classes use.
 */
#ifndef SIMHASH_H
#define SIMHASH_H

#include "fmgr.h"
#include "port/pg_bswap.h"

#include "type/compat.h"
#include "type/hamming.h"

/* Define the SQL function name.  It returns result, an expression of fcinfo. */
#define SIMHASH_SQL(name, result) \
	PG_FUNCTION_INFO_V1(name); \
	Datum name(PG_FUNCTION_ARGS) \
	{ \
		return result; \
	}

/*
 * Return value, the argument of that name.  Error: 22023 unless it is
 * least .. most.
 */
static inline int32
simhash_check_range(const char *name, int32 value, int32 least, int32 most)
{
	if (value < least || value > most)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s must be between %d and %d, not %d", name,
							   least, most, value)));
	return value;
}

/* Read a fingerprint from its bytes in network order. */
static inline Fingerprint
simhash_read_bytes(const void *bytes)
{
	uint64		words[FINGERPRINT_WORDS];
	int			i;

	memcpy(words, bytes, sizeof(words));
	for (i = 0; i < FINGERPRINT_WORDS; i++)
		words[i] = pg_ntoh64(words[i]);
	return fingerprint_from_words(words);
}

static inline void
simhash_write_bytes(Fingerprint fingerprint, void *bytes)
{
	uint64		words[FINGERPRINT_WORDS];
	int			i;

	for (i = 0; i < FINGERPRINT_WORDS; i++)
		words[i] = pg_hton64(fingerprint_word(fingerprint, i));
	memcpy(bytes, words, sizeof(words));
}

/*
 * simhash64 is passed as int8 is.  A wider fingerprint is passed by reference,
 * as its bytes in network order, like a uuid.
 */
#define SIMHASH_BY_VALUE (HAMMING_BITS == 64)

#if HAMMING_BITS == 64
static inline Fingerprint
DatumGetSimhash(Datum d)
{
	return (uint64) DatumGetInt64(d);
}

static inline Datum
SimhashGetDatum(Fingerprint fingerprint)
{
	return Int64GetDatum((int64) fingerprint);
}
#else
static inline Fingerprint
DatumGetSimhash(Datum d)
{
	return simhash_read_bytes(DatumGetPointer(d));
}

/* The bytes are in the current memory context. */
static inline Datum
SimhashGetDatum(Fingerprint fingerprint)
{
	void	   *bytes = palloc(sizeof(Fingerprint));

	simhash_write_bytes(fingerprint, bytes);
	return PointerGetDatum(bytes);
}
#endif

#define PG_GETARG_SIMHASH(n) DatumGetSimhash(PG_GETARG_DATUM(n))
#define PG_RETURN_SIMHASH(x) return SimhashGetDatum(x)

/*
 * A file that is compiled once learns the width of a fingerprint at run time.
 * There, a fingerprint is count halves of 64 bits, the higher one first.  count
 * is 1 for simhash64, and 2 for simhash128.
 */

/* Set half[0 .. count) to the fingerprint that a datum of its type has. */
static inline void
simhash_datum_halves(Datum datum, uint64 *half, int count)
{
	int			i;

	if (count == 1)
	{
		half[0] = (uint64) DatumGetInt64(datum);
		return;
	}
	memcpy(half, DatumGetPointer(datum), count * sizeof(uint64));
	for (i = 0; i < count; i++)
		half[i] = pg_ntoh64(half[i]);
}

/*
 * Return a fingerprint as a datum of its type.  That of a simhash128 is in the
 * current memory context.
 */
static inline Datum
simhash_halves_datum(const uint64 *half, int count)
{
	uint64	   *bytes;
	int			i;

	if (count == 1)
		return Int64GetDatum((int64) half[0]);
	bytes = palloc(count * sizeof(uint64));
	for (i = 0; i < count; i++)
		bytes[i] = pg_hton64(half[i]);
	return PointerGetDatum(bytes);
}

/* hamming_ball: all fingerprints within a radius of a centre. */
typedef struct HammingBall
{
	Fingerprint centre;
	int32		radius;			/* -1, which holds nothing, .. HAMMING_BITS,
								 * which holds all */
	int32		unused;			/* zero */
} HammingBall;

static inline bool
hamming_in_ball(const HammingBall *ball, Fingerprint fingerprint)
{
	return hamming_distance(ball->centre, fingerprint) <= ball->radius;
}

/*
 * Set half[0 .. count) to the centre of the ball that a datum of the type with
 * count halves has, and return its radius.
 */
static inline int32
simhash_ball_halves(Datum datum, uint64 *half, int count)
{
	const char *ball = DatumGetPointer(datum);
	int32		radius;
	int			i;

	memcpy(half, ball, count * sizeof(uint64));
	memcpy(&radius, ball + count * sizeof(uint64), sizeof(int32));
#ifndef WORDS_BIGENDIAN
	/* the centre is an integer of the machine */
	for (i = 0; i < count / 2; i++)
	{
		uint64		lower = half[i];

		half[i] = half[count - 1 - i];
		half[count - 1 - i] = lower;
	}
#endif
	return radius;
}

#define DatumGetHammingBall(d) ((HammingBall *) DatumGetPointer(d))
#define PG_GETARG_HAMMING_BALL(n) DatumGetHammingBall(PG_GETARG_DATUM(n))

/* Strategy numbers of the operators in every distance operator class. */
#define SIMHASH_NEAR_STRATEGY 1 /* fingerprint % fingerprint */
#define SIMHASH_BALL_STRATEGY 2 /* fingerprint <@ ball */
#define SIMHASH_EQUAL_STRATEGY 3	/* =, not in GiST */
#define SIMHASH_DISTANCE_STRATEGY 15	/* <->#, ordering */

/* What the operator % takes as near, for minhashes: doc/choosing.md. */
#define SIMHASH_NEAR_RADIUS (HAMMING_BITS / 8)

/* White space of the text forms: that of isspace() in the locale C. */
static inline bool
simhash_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* type.c */
#define SIMHASH_HEX_DIGITS (HAMMING_BITS / 4)
extern char *hamming_to_hex(Fingerprint fingerprint);
extern bool hamming_from_text(const char *input, size_t length,
							  Fingerprint *fingerprint);

#endif							/* SIMHASH_H */
