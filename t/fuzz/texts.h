/*
 * texts.h
 *	  Random numbers and texts, the same ones for the same seed.
 */
#ifndef TEXTS_H
#define TEXTS_H

#include "buffer.h"

/* A random item of an array. */
#define ONE_OF(array) ((array)[below(lengthof(array))])

extern void seed_random(uint64 seed);
extern uint64 random_bits(void);
extern uint32 below(uint32 limit);
extern void make_text(Buffer *body);

#endif							/* TEXTS_H */
