/*
 * width.h
 *	  The width of a fingerprint, for which a file is compiled.
 *
 * The files that compute with fingerprints are compiled once for each width:
 * Makefile has the list.  HAMMING_BITS is the width in bits.  What a file of
 * the list exports, but for hamming_...(), is named WIDE(name): so the library
 * has one of each width.  WIDE_NAME("name") is the name of a SQL function of
 * the width.  A file that is not of the list is compiled for 64 bits.
 */
#ifndef SIMHASH_WIDTH_H
#define SIMHASH_WIDTH_H

#include "port/pg_bitutils.h"

/* for each width, so that the first file that make compiles stops it */
#ifndef HAVE_INT128
#error "simhash needs a 64-bit system: PostgreSQL has no integers of 128 bits"
#endif

#ifndef HAMMING_BITS
#define HAMMING_BITS 64			/* of a fingerprint: the greatest distance */
#endif

#if HAMMING_BITS == 64

typedef uint64 Fingerprint;

#define WIDE(name) name
#define WIDE_NAME(name) name
#define SIMHASH_FUNCTION(name) simhash64_##name
#define SIMHASH_TYPE "simhash64"
#define HAMMING_BALL_TYPE "hamming_ball"

#elif HAMMING_BITS == 128

typedef uint128 Fingerprint;

#define WIDE(name) name##_128
#define WIDE_NAME(name) name "_128"
#define SIMHASH_FUNCTION(name) simhash128_##name
#define SIMHASH_TYPE "simhash128"
#define HAMMING_BALL_TYPE "hamming_ball128"

#else
#error "HAMMING_BITS must be 64 or 128"
#endif

/*
 * A fingerprint is one or two machine words of 64 bits.  Word 0 has the highest
 * bits, whatever the byte order of the machine.
 */
#define FINGERPRINT_WORDS (HAMMING_BITS / 64)
#define FINGERPRINT_ALL_BITS (~(Fingerprint) 0)

static inline uint64
fingerprint_word(Fingerprint fingerprint, int i)
{
	return (uint64) (fingerprint >> (HAMMING_BITS - 64 - 64 * i));
}

/* Return the fingerprint whose word i is word.  All of its other bits are 0. */
static inline Fingerprint
fingerprint_from_word(uint64 word, int i)
{
	return (Fingerprint) word << (HAMMING_BITS - 64 - 64 * i);
}

/* Compared from word 0 on, words have the order of their fingerprints. */
static inline Fingerprint
fingerprint_from_words(const uint64 *words)
{
	Fingerprint fingerprint = 0;
	int			i;

	for (i = 0; i < FINGERPRINT_WORDS; i++)
		fingerprint |= fingerprint_from_word(words[i], i);
	return fingerprint;
}

/* Return the exclusive or of the words. */
static inline uint64
fingerprint_fold(Fingerprint fingerprint)
{
	uint64		result = 0;
	int			i;

	for (i = 0; i < FINGERPRINT_WORDS; i++)
		result ^= fingerprint_word(fingerprint, i);
	return result;
}

/*
 * Return the address of the word of fingerprints[0] that has bit i, counted
 * from the lowest bit.  The same word of fingerprints[n] is n *
 * FINGERPRINT_WORDS words behind that.
 */
static inline const uint64 *
fingerprint_words_at(const Fingerprint *fingerprints, int i)
{
	int			word = i / 64;

#ifdef WORDS_BIGENDIAN
	word = FINGERPRINT_WORDS - 1 - word;
#endif
	return (const uint64 *) fingerprints + word;
}

/* The fingerprint that has only bit i set, 0 for the lowest. */
static inline Fingerprint
fingerprint_bit(int i)
{
	return (Fingerprint) 1 << i;
}

static inline int
fingerprint_popcount(Fingerprint fingerprint)
{
	int			count = 0;
	int			i;

	for (i = 0; i < FINGERPRINT_WORDS; i++)
		count += pg_popcount64(fingerprint_word(fingerprint, i));
	return count;
}

/* The highest bit that is set, counted from the lowest.  One must be set. */
static inline int
fingerprint_leftmost_one(Fingerprint fingerprint)
{
	int			i = 0;

	while (fingerprint_word(fingerprint, i) == 0)
		i++;
	return HAMMING_BITS - 64 - 64 * i +
		pg_leftmost_one_pos64(fingerprint_word(fingerprint, i));
}

/* The lowest bit that is set. */
static inline int
fingerprint_rightmost_one(Fingerprint fingerprint)
{
	int			i = FINGERPRINT_WORDS - 1;

	while (fingerprint_word(fingerprint, i) == 0)
		i--;
	return HAMMING_BITS - 64 - 64 * i +
		pg_rightmost_one_pos64(fingerprint_word(fingerprint, i));
}

/*
 * whole must not be 0, and part not above whole.  Return about part / whole: 32
 * significant bits of whole or more count, and the same bits of part.  So both
 * are converted from int64: other conversions are slow.
 */
static inline double
fingerprint_quotient(Fingerprint part, Fingerprint whole)
{
	int			shift = HAMMING_BITS - 63;

	Assert(part <= whole);
	if (fingerprint_word(whole, 0) >> 32 == 0)
		shift = Max(fingerprint_leftmost_one(whole) - 62, 0);
	return (double) (int64) (part >> shift) / (double) (int64) (whole >> shift);
}

#endif							/* SIMHASH_WIDTH_H */
