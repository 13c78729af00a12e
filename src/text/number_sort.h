/*
 * number_sort.h
 *	  Pairs of numbers sorted by PostgreSQL's own sort, in memory or on disk.
 */
#ifndef SIMHASH_NUMBER_SORT_H
#define SIMHASH_NUMBER_SORT_H

struct Tuplesortstate;

extern struct Tuplesortstate *simhash_number_sort_begin(int memory);
extern void simhash_number_sort_put(struct Tuplesortstate *sort,
									const uint64 *pair);
extern bool simhash_number_sort_get(struct Tuplesortstate *sort, uint64 *pair);

#endif							/* SIMHASH_NUMBER_SORT_H */
