/*
 * pair_sort.h
 *	  Pairs of numbers sorted by PostgreSQL's own sort, in memory or on disk.
 */
#ifndef SIMHASH_PAIR_SORT_H
#define SIMHASH_PAIR_SORT_H

typedef struct NumberPair
{
	uint64		first;
	uint64		second;
} NumberPair;

struct Tuplesortstate;

extern struct Tuplesortstate *simhash_pair_sort_begin(int memory, int options);
extern void simhash_pair_sort_put(struct Tuplesortstate *sort, NumberPair pair);
extern bool simhash_pair_sort_get(struct Tuplesortstate *sort,
								  NumberPair *pair);

#endif							/* SIMHASH_PAIR_SORT_H */
