/*
 * cpu.h
 *	  What a processor and a compiler can do beyond C99.
 *
 * What an x86-64 processor can do is found out at run time.  Every aarch64
 * processor has NEON.  A build with -DSIMHASH_PORTABLE has only the code for
 * every processor.
 */
#ifndef SIMHASH_CPU_H
#define SIMHASH_CPU_H

/*
 * The most that is used of a processor.  1 is what each processor of the
 * architecture can do.  On x86-64, 2 allows POPCNT, 3 AVX2 and 4 AVX-512.  On
 * aarch64, 2 allows NEON.  Tests and measurements set a lower level.
 */
#ifndef SIMHASH_LEVEL
#define SIMHASH_LEVEL 4
#endif

#ifndef SIMHASH_PORTABLE

#ifdef __SSE2__
#define SIMHASH_SSE2
#include <emmintrin.h>
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#define SIMHASH_X86

/*
 * A function with one of these attributes may use these instructions.  It must
 * not be called unless CPU_HAS() is true for them.  A function that is inlined
 * into another may use no more than the other.  A file with such functions
 * includes immintrin.h.  Others do not: a compiler takes 0.7 s to read it.
 */
#define TARGET_POPCNT __attribute__((target("popcnt")))
#define TARGET_AVX2 __attribute__((target("avx2")))
#define TARGET_AVX512F __attribute__((target("avx512f")))
#define TARGET_AVX512_POPCNT __attribute__((target("avx512f,avx512vpopcntdq")))

#define CPU_HAS(level, feature) \
	(SIMHASH_LEVEL >= (level) && __builtin_cpu_supports(feature))
#endif

#if defined(__aarch64__) && defined(__ARM_NEON) && !defined(WORDS_BIGENDIAN)
#define SIMHASH_NEON
#include <arm_neon.h>
#endif

#endif							/* not SIMHASH_PORTABLE */

/* Let the processor fetch a cache line.  address need not be a valid one. */
static inline void
cpu_prefetch(const void *address)
{
#ifdef __GNUC__
	__builtin_prefetch(address);
#endif
}

#endif							/* SIMHASH_CPU_H */
