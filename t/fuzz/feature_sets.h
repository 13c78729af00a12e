/*
 * feature_sets.h
 *	  Sets of features, by src and by naive.c.
 */
#ifndef FEATURE_SETS_H
#define FEATURE_SETS_H

#include "naive.h"

extern void check_set(const Occurrence *all, size_t count);
extern size_t sets_checked(size_t *full);

/* tokens.c */
extern void expect_same(const char *what, uint64 got, uint64 expected);

#endif							/* FEATURE_SETS_H */
