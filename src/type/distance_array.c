/*
 * distance_array.c
 *	  Distances of an array of words: which are within a radius, and what are
 *	  they?
 *
 * This is where a search spends its time: on hundreds of words a leaf.
 */
#include "postgres.h"

#include "type/cpu.h"
#include "type/hamming.h"

/* What there is for a kind of processor. */
typedef struct MatchRoutines
{
	int			(*match) (const uint64 *, int, uint64, int, uint16 *);
	void		(*add) (const uint64 *, int, uint64, uint16 *);
	int			comparisons;	/* see hamming_comparisons() */
} MatchRoutines;

/*
 * Return the number of bits that are set in x.  Compilers know this form, and
 * use the instruction where the function that has it inlined may.
 */
static pg_attribute_always_inline int
count_bits(uint64 x)
{
	x -= x >> 1 & UINT64CONST(0x5555555555555555);
	x = (x & UINT64CONST(0x3333333333333333)) +
		(x >> 2 & UINT64CONST(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64CONST(0x0F0F0F0F0F0F0F0F);
	return x * UINT64CONST(0x0101010101010101) >> 56;
}

/*
 * A loop of few instructions takes up to a tenth longer where it begins in the
 * middle of a cache line: so each has the same place in any build.
 */
#define AT_CACHE_LINE pg_attribute_aligned(64)

/*
 * Define match_NAME() and add_NAME(), and their routines, as the compiler makes
 * them where it may use the instructions of target.
 */
#define COMPILED_FOR(target, name, comparisons) \
target static int \
match_##name(const uint64 *words, int count, uint64 centre, int radius, \
			 uint16 *matches) \
{ \
	int			found = 0; \
	int			i; \
\
	for (i = 0; i < count; i++) \
	{ \
		/* without a branch, which could not be predicted */ \
		matches[found] = i; \
		found += count_bits(words[i] ^ centre) <= radius; \
	} \
	return found; \
} \
\
target static void \
add_##name(const uint64 *words, int count, uint64 centre, uint16 *distances) \
{ \
	int			i; \
\
	for (i = 0; i < count; i++) \
		distances[i] += count_bits(words[i] ^ centre); \
} \
\
static const MatchRoutines name = {match_##name, add_##name, comparisons};

/*
 * Collect the matches among the words from i on.  within has width bits for
 * each word.  If a word matches, the lowest of its bits is set.  All other bits
 * are 0.  The portable way has no use for this.
 */
pg_attribute_unused() static inline int
collect(uint64 within, int width, int i, uint16 *matches)
{
	int			found = 0;

	while (unlikely(within != 0))
	{
		matches[found++] = i + pg_rightmost_one_pos64(within) / width;
		within &= within - 1;
	}
	return found;
}

COMPILED_FOR(, portable, 10)

#ifdef SIMHASH_X86
#include <immintrin.h>

COMPILED_FOR(TARGET_POPCNT, popcnt, 20)

/*
 * Return for each of four words how many of its bits differ from the
 * centre (Mula, Kurz and Lemire 2018).
 *
 * more[h] = 4 + bits of h, less[h] = 4 - bits of h.  So more[lower half] -
 * less[upper half] is the number of bits of the byte.  _mm256_sad_epu8() adds
 * these differences.
 */
TARGET_AVX2 static inline __m256i
differences_of_four(__m256i words, __m256i centres)
{
	const __m256i half = _mm256_set1_epi8(0x0F);
	const __m128i plus = _mm_setr_epi8(4, 5, 5, 6, 5, 6, 6, 7,
									   5, 6, 6, 7, 6, 7, 7, 8);
	const __m128i minus = _mm_setr_epi8(4, 3, 3, 2, 3, 2, 2, 1,
										3, 2, 2, 1, 2, 1, 1, 0);
	const __m256i more = _mm256_broadcastsi128_si256(plus);
	const __m256i less = _mm256_broadcastsi128_si256(minus);
	__m256i		x = _mm256_xor_si256(words, centres);
	__m256i		lower = _mm256_and_si256(x, half);
	__m256i		upper = _mm256_and_si256(_mm256_srli_epi16(x, 4), half);

	return _mm256_sad_epu8(_mm256_shuffle_epi8(more, lower),
						   _mm256_shuffle_epi8(less, upper));
}

/* Return a bit for each of four numbers: is it below its limit? */
TARGET_AVX2 static inline unsigned
four_below(__m256i numbers, __m256i limits)
{
	__m256i		below = _mm256_cmpgt_epi64(limits, numbers);

	return _mm256_movemask_pd(_mm256_castsi256_pd(below));
}

/* Collect the matches among sixteen words from place i on: most often none. */
TARGET_AVX2 static inline int
match_sixteen(const uint64 *from, __m256i centres, __m256i limits, int i,
			  uint16 *matches)
{
	const __m256i *words = (const __m256i *) from;
	__m256i		a = differences_of_four(_mm256_loadu_si256(words), centres);
	__m256i		b = differences_of_four(_mm256_loadu_si256(words + 1), centres);
	__m256i		c = differences_of_four(_mm256_loadu_si256(words + 2), centres);
	__m256i		d = differences_of_four(_mm256_loadu_si256(words + 3), centres);
	__m256i		least = _mm256_min_epi32(_mm256_min_epi32(a, b),
										 _mm256_min_epi32(c, d));

	if (likely(four_below(least, limits) == 0))
		return 0;
	return collect(four_below(a, limits) | four_below(b, limits) << 4 |
				   four_below(c, limits) << 8 | four_below(d, limits) << 12,
				   1, i, matches);
}

AT_CACHE_LINE TARGET_AVX2 static int
match_avx2(const uint64 *words, int count, uint64 centre, int radius,
		   uint16 *matches)
{
	const __m256i centres = _mm256_set1_epi64x(centre);
	const __m256i limits = _mm256_set1_epi64x(radius + 1);
	int			found = 0;
	int			i;

	for (i = 0; i + 16 <= count; i += 16)
		found += match_sixteen(words + i, centres, limits, i, matches + found);
	for (; i < count; i += 4)
	{
		__m256i		left = _mm256_set1_epi64x(count - i);
		__m256i		wanted = _mm256_cmpgt_epi64(left,
												_mm256_setr_epi64x(0, 1, 2, 3));
		const long long *rest = (const long long *) (words + i);
		__m256i		four = _mm256_maskload_epi64(rest, wanted);

		found += collect(four_below(differences_of_four(four, centres),
									_mm256_and_si256(limits, wanted)),
						 1, i, matches + found);
	}
	return found;
}

TARGET_AVX2 static void
add_avx2(const uint64 *words, int count, uint64 centre, uint16 *distances)
{
	const __m256i centres = _mm256_set1_epi64x(centre);
	int			i;

	for (i = 0; i + 8 <= count; i += 8)
	{
		const __m256i *from = (const __m256i *) (words + i);
		__m128i    *to = (__m128i *) (distances + i);
		__m256i		a = differences_of_four(_mm256_loadu_si256(from), centres);
		__m256i		b = differences_of_four(_mm256_loadu_si256(from + 1),
											centres);

		/* in each half, two of a and two of b: first 32 bits each, then 16 */
		__m256i		pairs = _mm256_packus_epi32(a, b);
		__m256i		packed = _mm256_packus_epi32(pairs, pairs);
		__m128i		more =
		_mm_unpacklo_epi32(_mm256_castsi256_si128(packed),
						   _mm256_extracti128_si256(packed, 1));

		_mm_storeu_si128(to, _mm_add_epi16(_mm_loadu_si128(to), more));
	}
	add_popcnt(words + i, count - i, centre, distances + i);
}

static const MatchRoutines avx2 = {
	match_avx2, add_avx2, 45
};

/*
 * Collect the matches among eight words from place i on.  wanted has a bit for
 * each word that there is.
 */
TARGET_AVX512_POPCNT static inline int
match_eight(__m512i words, __m512i centres, __m512i radii, __mmask8 wanted,
			int i, uint16 *matches)
{
	__m512i		differences = _mm512_xor_si512(words, centres);
	__m512i		distances = _mm512_popcnt_epi64(differences);

	return collect(_mm512_mask_cmple_epi64_mask(wanted, distances, radii),
				   1, i, matches);
}

AT_CACHE_LINE TARGET_AVX512_POPCNT static int
match_avx512(const uint64 *words, int count, uint64 centre, int radius,
			 uint16 *matches)
{
	const __m512i centres = _mm512_set1_epi64(centre);
	const __m512i radii = _mm512_set1_epi64(radius);
	int			found = 0;
	int			i;

	for (i = 0; i + 8 <= count; i += 8)
		found += match_eight(_mm512_loadu_si512(words + i), centres, radii,
							 0xFF, i, matches + found);
	if (i < count)
	{
		__mmask8	wanted = (1 << (count - i)) - 1;

		found += match_eight(_mm512_maskz_loadu_epi64(wanted, words + i),
							 centres, radii, wanted, i, matches + found);
	}
	return found;
}

static const MatchRoutines avx512 = {
	match_avx512, add_avx2, 50
};

#elif defined(SIMHASH_NEON)

/* Return how many bits of two words and the centre differ, in each byte. */
static inline uint8x16_t
differences_of_two(const uint64 *two, uint8x16_t centres)
{
	return vcntq_u8(veorq_u8(vld1q_u8((const uint8 *) two), centres));
}

/* Return the same for four words, four bytes each: add neighbours. */
static inline uint8x16_t
differences_of_four(const uint64 *four, uint8x16_t centres)
{
	return vpaddq_u8(differences_of_two(four, centres),
					 differences_of_two(four + 2, centres));
}

/* Return the same for eight words, two bytes each. */
static inline uint8x16_t
differences_of_eight(const uint64 *eight, uint8x16_t centres)
{
	return vpaddq_u8(differences_of_four(eight, centres),
					 differences_of_four(eight + 4, centres));
}

/*
 * Compare sixteen words with the centre.  Of the result, bit 4 * i says
 * that sixteen[i] is within the radius.  All other bits are 0.
 */
static inline uint64
sixteen_within(const uint64 *sixteen, uint8x16_t centres, uint8x16_t radii)
{
	uint8x16_t	distances = vpaddq_u8(differences_of_eight(sixteen, centres),
									  differences_of_eight(sixteen + 8,
														   centres));
	uint8x16_t	within = vcleq_u8(distances, radii);
	uint8x8_t	halves = vshrn_n_u16(vreinterpretq_u16_u8(within), 4);

	return vget_lane_u64(vreinterpret_u64_u8(halves), 0) &
		UINT64CONST(0x1111111111111111);
}

static int
match_neon(const uint64 *words, int count, uint64 centre, int radius,
		   uint16 *matches)
{
	const uint64 twice[2] = {centre, centre};
	const uint8x16_t centres = vld1q_u8((const uint8 *) twice);
	const uint8x16_t radii = vdupq_n_u8(radius);
	int			found = 0;
	int			i;

	for (i = 0; i + 16 <= count; i += 16)
		found += collect(sixteen_within(words + i, centres, radii), 4, i,
						 matches + found);
	if (i < count)
	{
		uint64		wanted = (UINT64CONST(1) << (4 * (count - i))) - 1;
		uint64		rest[16] = {0};

		memcpy(rest, words + i, (count - i) * sizeof(uint64));
		found += collect(sixteen_within(rest, centres, radii) & wanted, 4, i,
						 matches + found);
	}
	return found;
}

static const MatchRoutines neon = {
	match_neon, add_portable, 40
};

#endif

static const MatchRoutines *
choose_routines(void)
{
#ifdef SIMHASH_X86
	if (CPU_HAS(4, "avx512vpopcntdq"))
		return &avx512;
	if (CPU_HAS(3, "avx2"))
		return &avx2;
	if (CPU_HAS(2, "popcnt"))
		return &popcnt;
#elif defined(SIMHASH_NEON)
	if (SIMHASH_LEVEL >= 2)
		return &neon;
#endif
	return &portable;
}

static const MatchRoutines *
routines(void)
{
	static const MatchRoutines *chosen = NULL;

	if (unlikely(chosen == NULL))
		chosen = choose_routines();
	return chosen;
}

/*
 * Store in matches the indexes of the words within radius of the centre,
 * ascending, and return their number.  count is at most 65,536, and radius 0 ..
 * 64.  matches has room for count indexes.
 */
int
hamming_match(const uint64 *words, int count, uint64 centre, int radius,
			  uint16 *matches)
{
	return routines()->match(words, count, centre, radius, matches);
}

/* Add to distances[i] the distance of words[i] from the centre. */
void
hamming_add_distances(const uint64 *words, int count, uint64 centre,
					  uint16 *distances)
{
	routines()->add(words, count, centre, distances);
}

/*
 * Return about how many comparisons of words take as long as sorting a
 * fingerprint by some of its bits.  By this number the join chooses how often
 * it cuts them.
 *
 * Measured with simhash_cluster at k = 8 and 1 M random fingerprints: a sort,
 * with all else that is done for a group, takes 12 to 30 ns a fingerprint.  A
 * comparison takes 0.25 ns with AVX-512, 0.45 with AVX2, 1.3 with POPCNT and
 * 2.9 with neither.  The number for NEON is an estimate from its instructions.
 *
 * For these fingerprints two levels of cuts are best; below 17 the join would
 * choose three, which take 1.3 to 3 times as long.
 */
int
hamming_comparisons(void)
{
	return routines()->comparisons;
}
