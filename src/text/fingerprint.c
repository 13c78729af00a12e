/*
 * fingerprint.c
 *	  Votes of weighted features, and the fingerprint that they elect:
 *	  "How often a feature counts" and "Vote: simhash" of doc/algorithm.md.
 */
#include "postgres.h"

#include <math.h>

#include "port/pg_bitutils.h"

#include "text/fingerprint.h"
#include "type/cpu.h"

void
simhash_votes_begin(void *votes, bool weighted)
{
	Votes	   *v = votes;

	v->waiting = 0;
	v->weighted = weighted;
	v->count = 0;
	v->total = 0;
	if (weighted)
		memset(&v->sums, 0, sizeof(v->sums));
	else
		memset(v->plane, 0, sizeof(v->plane));
}

/*
 * Add *low, a and b bit by bit: *low gets the low bits; return the high ones.
 */
static inline uint64
add_planes(uint64 *low, uint64 a, uint64 b)
{
	uint64		sum = *low ^ a;
	uint64		high = (*low & a) | (sum & b);

	*low = sum ^ b;
	return high;
}

/* Count VOTES_BATCH hashes by a tree of adders, after Harley and Seal. */
static inline void
count_batch(Votes *v, const uint64 *h)
{
	uint64	   *plane = v->plane;
	uint64		carry[8];
	int			i;

	for (i = 0; i < 8; i++)
		carry[i] = add_planes(&plane[0], h[2 * i], h[2 * i + 1]);
	for (i = 0; i < 4; i++)
		carry[i] = add_planes(&plane[1], carry[2 * i], carry[2 * i + 1]);
	for (i = 0; i < 2; i++)
		carry[i] = add_planes(&plane[2], carry[2 * i], carry[2 * i + 1]);
	carry[0] = add_planes(&plane[3], carry[0], carry[1]);
	for (i = 4; carry[0] != 0; i++)
	{
		uint64		sum = plane[i] ^ carry[0];

		Assert(i < VOTES_PLANES);
		carry[0] &= plane[i];
		plane[i] = sum;
	}
}

/*
 * Count the features that wait.  Hashes of 0, which no bit counts, fill a batch
 * below VOTES_BATCH.
 */
static void
count_waiting(Votes *v)
{
	if (v->weighted)
		simhash_sums_add(&v->sums, v->hash, v->weight, v->waiting);
	else
	{
		memset(v->hash + v->waiting, 0,
			   (VOTES_BATCH - v->waiting) * sizeof(uint64));
		count_batch(v, v->hash);
		v->count += v->waiting;
	}
	v->waiting = 0;
}

/* The add_all of simhash_votes_methods.  Each weight is 0 .. 2^51. */
void
simhash_votes_add_all(void *votes, const uint64 *hash, const int64 *weight,
					  uint32 count)
{
	Votes	   *v = votes;
	uint32		i;

	for (i = 0; v->weighted && i < count; i++)
		v->total += weight[i];
	if (v->weighted && count >= VOTES_BATCH)
	{
		simhash_sums_add(&v->sums, hash, weight, count);
		return;
	}
	for (i = 0; i + VOTES_BATCH <= count; i += VOTES_BATCH)
		count_batch(v, hash + i);
	v->count += i;
	for (; i < count; i++)
	{
		v->hash[v->waiting] = hash[i];
		if (v->weighted)
			v->weight[v->waiting] = weight[i];
		if (++v->waiting == VOTES_BATCH)
			count_waiting(v);
	}
}

/*
 * v->count must be at least 1.  Return the bits that more than half of the
 * features have set.
 *
 * threshold is v->count / 2 rounded down: an integer above one is above the
 * other.  From the highest plane down, equal has the bits whose count agrees
 * with threshold in all planes so far; more has those whose count is greater.
 */
static uint64
majority(const Votes *v)
{
	uint64		threshold = v->count / 2;
	uint64		more = 0;
	uint64		equal = ~UINT64CONST(0);
	int			i;

	for (i = pg_leftmost_one_pos64(v->count); i >= 0; i--)
	{
		if (threshold >> i & 1)
			equal &= v->plane[i];
		else
		{
			more |= equal & v->plane[i];
			equal &= ~v->plane[i];
		}
	}
	return more;
}

/*
 * v->total must be below 2^63.  Set bit i of *fingerprint if the features whose
 * hash has bit i set weigh more than half of all: a tie gives 0.  Return false
 * if there is no feature or all weigh 0.
 */
bool
simhash_votes_fingerprint(void *votes, uint64 *fingerprint)
{
	Votes	   *v = votes;

	count_waiting(v);
	if (v->weighted)
	{
		v->sums.total = v->total;
		return simhash_sums_fingerprint(&v->sums, fingerprint);
	}
	if (v->count == 0)
		return false;
	*fingerprint = majority(v);
	return true;
}

const HalfMethods simhash_votes_methods = {
	.state_size = sizeof(Votes),
	.begin = simhash_votes_begin,
	.add_all = simhash_votes_add_all,
	.fingerprint = simhash_votes_fingerprint
};

static void
sums_add_portable(WeightSums *sums, const uint64 *hash, const int64 *weight,
				  int count)
{
	int			i;
	int			bit;

	for (i = 0; i < count; i++)
	{
		for (bit = 0; bit < HALF_BITS; bit++)
			sums->ones[bit] += (uint64) weight[i] & -(hash[i] >> bit & 1);
	}
}

#ifdef SIMHASH_X86
#include <immintrin.h>

/* NARROW_BATCH weights below NARROW_WEIGHT add up to less than 2^31. */
#define NARROW_BATCH 64
#define NARROW_WEIGHT (UINT64CONST(1) << 25)

/* Do what simhash_sums_add() does, for four bits at a time. */
TARGET_AVX2 static void
sums_add_avx2(WeightSums *sums, const uint64 *hash, const int64 *weight,
			  int count)
{
	const __m256i one = _mm256_set_epi64x(8, 4, 2, 1);
	int			i;
	int			j;

	for (j = 0; j < HALF_BITS / 4; j++)
	{
		__m256i		bits = _mm256_slli_epi64(one, 4 * j);
		__m256i		ones = _mm256_loadu_si256((__m256i *) sums->ones + j);

		for (i = 0; i < count; i++)
		{
			__m256i		hashes = _mm256_set1_epi64x(hash[i]);
			__m256i		weights = _mm256_set1_epi64x(weight[i]);
			__m256i		common = _mm256_and_si256(hashes, bits);
			__m256i		set = _mm256_cmpeq_epi64(common, bits);

			ones = _mm256_add_epi64(ones, _mm256_and_si256(set, weights));
		}
		_mm256_storeu_si256((__m256i *) sums->ones + j, ones);
	}
}

/*
 * count is at most NARROW_BATCH, and each weight below NARROW_WEIGHT.  ones[j]
 * adds up 16 sums of 32 bits; its mask is bits 16 j to 16 j + 15 of a hash.
 */
TARGET_AVX512F static void
sums_add_narrow(WeightSums *sums, const uint64 *hash, const int64 *weight,
				int count)
{
	__m512i		ones[4];
	int			i;
	int			j;

	for (j = 0; j < 4; j++)
		ones[j] = _mm512_setzero_si512();
	for (i = 0; i < count; i++)
	{
		__m512i		weights = _mm512_set1_epi32((int32) weight[i]);

		for (j = 0; j < 4; j++)
		{
			__mmask16	set = (__mmask16) (hash[i] >> (16 * j));

			ones[j] = _mm512_mask_add_epi32(ones[j], set, ones[j], weights);
		}
	}
	for (j = 0; j < 8; j++)
	{
		__m256i		lanes = _mm512_extracti64x4_epi64(ones[j / 2], 0);
		__m512i		sum = _mm512_loadu_si512(sums->ones + 8 * j);

		if (j % 2 == 1)
			lanes = _mm512_extracti64x4_epi64(ones[j / 2], 1);
		sum = _mm512_add_epi64(sum, _mm512_cvtepu32_epi64(lanes));
		_mm512_storeu_si512(sums->ones + 8 * j, sum);
	}
}

/* A negative weight has its highest bit set, and so is not narrow. */
static void
sums_add_avx512(WeightSums *sums, const uint64 *hash, const int64 *weight,
				int count)
{
	int			i;
	int			j;

	for (i = 0; i < count; i += NARROW_BATCH)
	{
		int			batch = Min(count - i, NARROW_BATCH);
		uint64		bits = 0;

		for (j = 0; j < batch; j++)
			bits |= (uint64) weight[i + j];
		if (bits < NARROW_WEIGHT)
			sums_add_narrow(sums, hash + i, weight + i, batch);
		else
			sums_add_avx2(sums, hash + i, weight + i, batch);
	}
}

#endif

/*
 * Add count weights to sums->ones, by their hashes.  The caller adds them to
 * sums->total, and sees to it that the total does not overflow.  A negative
 * weight takes an addition back.
 */
void
simhash_sums_add(WeightSums *sums, const uint64 *hash, const int64 *weight,
				 int count)
{
#ifdef SIMHASH_X86
	if (CPU_HAS(4, "avx512f"))
		sums_add_avx512(sums, hash, weight, count);
	else if (CPU_HAS(3, "avx2"))
		sums_add_avx2(sums, hash, weight, count);
	else
#endif
		sums_add_portable(sums, hash, weight, count);
}

bool
simhash_sums_fingerprint(void *state, uint64 *fingerprint)
{
	const WeightSums *sums = state;
	int			bit;

	*fingerprint = 0;
	for (bit = 0; bit < HALF_BITS; bit++)
	{
		if (2 * sums->ones[bit] > (uint64) sums->total)
			*fingerprint |= UINT64CONST(1) << bit;
	}
	return sums->total > 0;
}

/*
 * Set *result to weight in units of 2^-16, rounded half to even: the product
 * is exact, as its factor is a power of two.  Return false if weight is
 * negative, infinite, NaN or above WEIGHT_MAX.
 */
bool
simhash_weight_from_double(double weight, int64 *result)
{
	if (!(weight >= 0 && weight <= WEIGHT_MAX))
		return false;
	*result = (int64) rint(weight * WEIGHT_UNIT);
	return true;
}

/* More occurrences than this count like this many, for TF_LOG. */
#define LOG_COUNT_MAX (1 << 20)

/*
 * Return what simhash_term_factor() returns for TF_LOG: 1 + ln(count) in units
 * of 2^-16, rounded to the nearest integer.
 *
 * All processors find the same integer.  For each count up to LOG_COUNT_MAX the
 * exact value is at least 3.0e-8 units from where the rounding changes (at
 * 118,955).  The double that is rounded is below 2^20, and errs by less than
 * 4e-10 if log() errs by one in the last place.
 */
int64
simhash_log_factor(uint64 count)
{
	/* of the counts that most features have; 0: none, or not computed yet */
	static int64 known[64];
	uint64		i = count < lengthof(known) ? count : 0;
	int64		factor = known[i];

	if (factor == 0 && count > 0)
		factor = (int64) rint(WEIGHT_UNIT *
							  (1 + log((double) Min(count, LOG_COUNT_MAX))));
	if (i > 0)
		known[i] = factor;
	return factor;
}
