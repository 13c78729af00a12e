/*
 * bits.h
 *	  A bit for each number from 0 on.
 */
#ifndef SIMHASH_BITS_H
#define SIMHASH_BITS_H

static inline void
set_bit(uint8 *bits, uint64 number)
{
	bits[number / 8] |= 1 << number % 8;
}

static inline bool
is_bit_set(const uint8 *bits, uint64 number)
{
	return bits[number / 8] >> number % 8 & 1;
}

#endif							/* SIMHASH_BITS_H */
