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
 * Define a SQL function of each width: name and name_128, or simhash64_name and
 * simhash128_name.  They return result, an expression of fcinfo and of words,
 * how many words a fingerprint has.
 */
#define SIMHASH_SQL_WIDTHS(name, result) \
	SIMHASH_SQL_WORDS(name, 1, result) \
	SIMHASH_SQL_WORDS(name##_128, 2, result)
#define SIMHASH_SQL_TYPES(name, result) \
	SIMHASH_SQL_WORDS(simhash64_##name, 1, result) \
	SIMHASH_SQL_WORDS(simhash128_##name, 2, result)
#define SIMHASH_SQL_WORDS(name, word_count, result) \
	PG_FUNCTION_INFO_V1(name); \
	Datum name(PG_FUNCTION_ARGS) \
	{ \
		const int	words = word_count; \
\
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

/*
 * simhash64 is passed as int8 is.  A wider fingerprint is passed by reference,
 * as its bytes in network order, like a uuid.
 *
 * In what follows, count is the number of a fingerprint's words.
 */

/* Set word[0 .. count) to the fingerprint with these bytes in network order. */
static inline void
simhash_read_bytes(const void *bytes, uint64 *word, int count)
{
	int			i;

	memcpy(word, bytes, count * sizeof(uint64));
	for (i = 0; i < count; i++)
		word[i] = pg_ntoh64(word[i]);
}

static inline void
simhash_write_bytes(const uint64 *word, int count, void *bytes)
{
	int			i;

	for (i = 0; i < count; i++)
	{
		uint64		swapped = pg_hton64(word[i]);

		memcpy((char *) bytes + i * sizeof(uint64), &swapped, sizeof(uint64));
	}
}

/* Set word[0 .. count) to the fingerprint that a datum of its type has. */
static inline void
simhash_datum_words(Datum datum, uint64 *word, int count)
{
	if (count == 1)
		word[0] = DatumGetUInt64(datum);
	else
		simhash_read_bytes(DatumGetPointer(datum), word, count);
}

/*
 * Return a fingerprint as a datum of its type.  That of a simhash128 is in the
 * current memory context.
 */
static inline Datum
simhash_words_datum(const uint64 *word, int count)
{
	void	   *bytes;

	if (count == 1)
		return UInt64GetDatum(word[0]);
	bytes = palloc(count * sizeof(uint64));
	simhash_write_bytes(word, count, bytes);
	return PointerGetDatum(bytes);
}

/* Return the fingerprint with these bytes in network order. */
static inline Datum
simhash_bytes_datum(const void *bytes, int count)
{
	uint64		word[HAMMING_MAX_WORDS];

	simhash_read_bytes(bytes, word, count);
	return simhash_words_datum(word, count);
}

/*
 * Make an integer of the machine of the words of a fingerprint, or undo that.
 * A ball has such an integer, and a hash is made of it.
 */
static inline void
simhash_swap_words(uint64 *word, int count)
{
#ifndef WORDS_BIGENDIAN
	int			i;

	for (i = 0; i < count / 2; i++)
	{
		uint64		first = word[i];

		word[i] = word[count - 1 - i];
		word[count - 1 - i] = first;
	}
#endif
}

/*
 * A datum of hamming_ball or hamming_ball128 is the centre, the radius as an
 * int32, and four bytes of 0.  The ball has all fingerprints within the radius:
 * none if it is -1.
 *
 * Set word[0 .. count) to the centre, and return the radius.
 */
static inline int32
simhash_ball_words(Datum datum, uint64 *word, int count)
{
	const char *ball = DatumGetPointer(datum);
	int32		radius;

	memcpy(word, ball, count * sizeof(uint64));
	simhash_swap_words(word, count);
	memcpy(&radius, ball + count * sizeof(uint64), sizeof(int32));
	return radius;
}

/* Strategy numbers of the operators in every distance operator class. */
#define SIMHASH_NEAR_STRATEGY 1 /* fingerprint % fingerprint */
#define SIMHASH_BALL_STRATEGY 2 /* fingerprint <@ ball */
#define SIMHASH_EQUAL_STRATEGY 3	/* =, not in GiST */
#define SIMHASH_DISTANCE_STRATEGY 15	/* <->#, ordering */

/* What the operator % takes as near, a word, for minhashes: doc/choosing.md. */
#define SIMHASH_NEAR_RADIUS 8

/* White space of the text forms: that of isspace() in the locale C. */
static inline bool
simhash_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* type.c */
extern char *simhash_to_hex(const uint64 *word, int count);
extern bool simhash_from_text(const char *input, int length, uint64 *word,
							  int count);

#endif							/* SIMHASH_H */
