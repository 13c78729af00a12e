/*
 * fold.h
 *	  Case folding and word boundaries of ASCII, 64 bytes at a time.
 */
#ifndef SIMHASH_FOLD_H
#define SIMHASH_FOLD_H

#include "type/cpu.h"

#define FOLD_BYTES 64			/* as a mask has bits */

/*
 * Fold the case of FOLD_BYTES bytes.  Bit i of *words says that bytes[i] is an
 * ASCII letter or digit, and bit i of *others that bytes[i] is not ASCII.
 * folded[i] means nothing unless bit i of *words is set.
 */
#ifdef SIMHASH_SSE2

static inline void
fold_ascii(const uint8 *bytes, uint8 *folded, uint64 *words, uint64 *others)
{
	/*
	 * x is one of count characters from first on if x - first < count,
	 * unsigned.  SSE2 compares signed bytes, so 128 is taken from both sides.
	 */
	const __m128i first_letter = _mm_set1_epi8((char) (0x80 + 'a'));
	const __m128i first_digit = _mm_set1_epi8((char) (0x80 + '0'));
	const __m128i letters = _mm_set1_epi8((char) (0x80 + 26));
	const __m128i digits = _mm_set1_epi8((char) (0x80 + 10));
	const __m128i case_bit = _mm_set1_epi8(0x20);
	int			i;

	*words = 0;
	*others = 0;
	for (i = 0; i < FOLD_BYTES; i += 16)
	{
		__m128i		x = _mm_loadu_si128((const __m128i *) (bytes + i));
		__m128i		lower = _mm_or_si128(x, case_bit);
		__m128i		letter = _mm_cmplt_epi8(_mm_sub_epi8(lower, first_letter),
											letters);
		__m128i		digit = _mm_cmplt_epi8(_mm_sub_epi8(x, first_digit),
										   digits);

		/* a digit has the case bit already */
		_mm_storeu_si128((__m128i *) (folded + i), lower);
		*words |= (uint64) _mm_movemask_epi8(_mm_or_si128(letter, digit)) << i;
		*others |= (uint64) _mm_movemask_epi8(x) << i;
	}
}

#else

static inline void
fold_ascii(const uint8 *bytes, uint8 *folded, uint64 *words, uint64 *others)
{
	int			i;

	*words = 0;
	*others = 0;
	for (i = 0; i < FOLD_BYTES; i++)
	{
		uint8		lower = bytes[i] | 0x20;
		bool		letter = (uint8) (lower - 'a') < 26;
		bool		digit = (uint8) (bytes[i] - '0') < 10;

		folded[i] = lower;
		*words |= (uint64) (letter || digit) << i;
		*others |= (uint64) (bytes[i] >> 7) << i;
	}
}

#endif

#endif							/* SIMHASH_FOLD_H */
