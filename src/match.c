/*
 * match.c
 *	  Distances of an array of fingerprints: which are within a radius, and
 *	  how many are at each?
 *
 * This is where a search spends its time: on hundreds of fingerprints a leaf.
 * Processors that count the bits of eight words at once, or of one in one
 * instruction, are told apart at run time; -DSIMHASH_PORTABLE leaves only
 * what every processor can do.
 */
#include "postgres.h"

#include "match.h"

/* What there is for a kind of processor. */
typedef struct MatchRoutines
{
	int (*match)(const uint64 *, int, uint64, int, uint16 *);
	void (*count)(const uint64 *, int, uint64, int64 *);
	int comparisons; /* see hamming_comparisons */
} MatchRoutines;

/* Both are compiled once for each kind of processor below. */
static pg_attribute_always_inline int
match_each(const uint64 *fingerprints, int count, uint64 centre, int radius,
		   uint16 *matches)
{
	int found = 0;
	int i;

	for (i = 0; i < count; i++)
	{
		/* without a branch, which could not be predicted */
		matches[found] = i;
		found += __builtin_popcountll(fingerprints[i] ^ centre) <= radius;
	}
	return found;
}

static pg_attribute_always_inline void
count_each(const uint64 *fingerprints, int count, uint64 centre, int64 *counts)
{
	int i;

	for (i = 0; i < count; i++)
		counts[__builtin_popcountll(fingerprints[i] ^ centre)]++;
}

static int
match_portable(const uint64 *fingerprints, int count, uint64 centre, int radius,
			   uint16 *matches)
{
	return match_each(fingerprints, count, centre, radius, matches);
}

static void
count_portable(const uint64 *fingerprints, int count, uint64 centre,
			   int64 *counts)
{
	count_each(fingerprints, count, centre, counts);
}

static const MatchRoutines portable = { match_portable, count_portable, 2 };

#if defined(__x86_64__) && defined(__GNUC__) && !defined(SIMHASH_PORTABLE)

#include <immintrin.h>

__attribute__((target("popcnt"))) static int
match_popcnt(const uint64 *fingerprints, int count, uint64 centre, int radius,
			 uint16 *matches)
{
	return match_each(fingerprints, count, centre, radius, matches);
}

__attribute__((target("popcnt"))) static void
count_popcnt(const uint64 *fingerprints, int count, uint64 centre,
			 int64 *counts)
{
	count_each(fingerprints, count, centre, counts);
}

static const MatchRoutines popcnt = { match_popcnt, count_popcnt, 8 };

/* The target of a function that is inlined must not exceed the caller's. */
#define AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))

/* Collect the matches among the wanted ones of the eight words from i on. */
AVX512 static inline int
match_eight(__m512i words, __m512i centres, __m512i radii, __mmask8 wanted,
			int i, uint16 *matches)
{
	__m512i distances = _mm512_popcnt_epi64(_mm512_xor_si512(words, centres));
	unsigned within = _mm512_mask_cmple_epi64_mask(wanted, distances, radii);
	int found = 0;

	while (unlikely(within != 0))
	{
		matches[found++] = i + __builtin_ctz(within);
		within &= within - 1;
	}
	return found;
}

AVX512 static int
match_avx512(const uint64 *fingerprints, int count, uint64 centre, int radius,
			 uint16 *matches)
{
	const __m512i centres = _mm512_set1_epi64(centre);
	const __m512i radii = _mm512_set1_epi64(radius);
	int found = 0;
	int i;

	for (i = 0; i + 8 <= count; i += 8)
		found += match_eight(_mm512_loadu_si512(fingerprints + i), centres,
							 radii, 0xFF, i, matches + found);
	if (i < count)
	{
		__mmask8 wanted = (1 << (count - i)) - 1;

		found += match_eight(_mm512_maskz_loadu_epi64(wanted, fingerprints + i),
							 centres, radii, wanted, i, matches + found);
	}
	return found;
}

/* Counting gains nothing: it waits for its counters. */
static const MatchRoutines avx512 = { match_avx512, count_popcnt, 50 };

static const MatchRoutines *
choose_routines(void)
{
	if (__builtin_cpu_supports("avx512vpopcntdq"))
		return &avx512;
	if (__builtin_cpu_supports("popcnt"))
		return &popcnt;
	return &portable;
}

#else

static const MatchRoutines *
choose_routines(void)
{
	return &portable;
}

#endif

static const MatchRoutines *
routines(void)
{
	static const MatchRoutines *chosen = NULL;

	if (unlikely(chosen == NULL))
		chosen = choose_routines();
	return chosen;
}

/*
 * Collect the indexes of those within the radius, ascending; returns their
 * number.  matches has room for all.
 */
int
hamming_match(const uint64 *fingerprints, int count, uint64 centre, int radius,
			  uint16 *matches)
{
	return routines()->match(fingerprints, count, centre, radius, matches);
}

/* Add to counts, which has one for each distance 0 .. 64. */
void
hamming_count(const uint64 *fingerprints, int count, uint64 centre,
			  int64 *counts)
{
	routines()->count(fingerprints, count, centre, counts);
}

/*
 * How many comparisons take as long as sorting a fingerprint by one part of
 * its bits?  About, as measured.
 */
int
hamming_comparisons(void)
{
	return routines()->comparisons;
}
