/*
 * match.c
 *	  Which fingerprints of an array are within a radius?
 *
 * This is where a search spends its time: on hundreds of fingerprints a leaf.
 * Processors that count the bits of eight words at once, or of one in one
 * instruction, are told apart at run time; -DSIMHASH_PORTABLE leaves only
 * what every processor can do.
 */
#include "postgres.h"

#include "match.h"

typedef int (*MatchFunction)(const uint64 *, int, uint64, int, uint16 *);

/* Compiled once for each kind of processor below. */
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

static int
match_portable(const uint64 *fingerprints, int count, uint64 centre, int radius,
			   uint16 *matches)
{
	return match_each(fingerprints, count, centre, radius, matches);
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(SIMHASH_PORTABLE)

#include <immintrin.h>

__attribute__((target("popcnt"))) static int
match_popcnt(const uint64 *fingerprints, int count, uint64 centre, int radius,
			 uint16 *matches)
{
	return match_each(fingerprints, count, centre, radius, matches);
}

__attribute__((target("avx512f,avx512vpopcntdq"))) static int
match_avx512(const uint64 *fingerprints, int count, uint64 centre, int radius,
			 uint16 *matches)
{
	const __m512i centres = _mm512_set1_epi64(centre);
	const __m512i radii = _mm512_set1_epi64(radius);
	int found = 0;
	int i;

	for (i = 0; i < count; i += 8)
	{
		__mmask8 wanted = count - i >= 8 ? 0xFF : (1 << (count - i)) - 1;
		__m512i words = _mm512_maskz_loadu_epi64(wanted, fingerprints + i);
		__m512i distances = _mm512_popcnt_epi64(
			_mm512_xor_si512(words, centres));
		unsigned within = _mm512_mask_cmple_epi64_mask(wanted, distances,
													   radii);

		while (unlikely(within != 0))
		{
			matches[found++] = i + __builtin_ctz(within);
			within &= within - 1;
		}
	}
	return found;
}

static MatchFunction
choose_match(void)
{
	if (__builtin_cpu_supports("avx512vpopcntdq"))
		return match_avx512;
	if (__builtin_cpu_supports("popcnt"))
		return match_popcnt;
	return match_portable;
}

#else

static MatchFunction
choose_match(void)
{
	return match_portable;
}

#endif

/*
 * Collect the indexes of those within the radius, ascending; returns their
 * number.  matches has room for all.
 */
int
hamming_match(const uint64 *fingerprints, int count, uint64 centre, int radius,
			  uint16 *matches)
{
	static MatchFunction match = NULL;

	if (unlikely(match == NULL))
		match = choose_match();
	return match(fingerprints, count, centre, radius, matches);
}
