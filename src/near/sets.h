/*
 * sets.h
 *	  Disjoint sets of the numbers from 0 on.
 *
 * parents[i] is the parent of number i.  The root of a set is its least
 * member, and its own parent.  No parent is greater than its child: so a pass
 * in ascending order visits each parent before its children.  Sets are united,
 * never split.
 */
#ifndef SIMHASH_SETS_H
#define SIMHASH_SETS_H

/* Return the root of member, by path halving (Tarjan, van Leeuwen 1984). */
static inline uint32
find_set(uint32 *parents, uint32 member)
{
	while (parents[member] != member)
	{
		parents[member] = parents[parents[member]];
		member = parents[member];
	}
	return member;
}

/* Unite the set of a with the set of b, which may be the same set. */
static inline void
unite_sets(uint32 *parents, uint32 a, uint32 b)
{
	a = find_set(parents, a);
	b = find_set(parents, b);
	if (a < b)
		parents[b] = a;
	else
		parents[a] = b;
}

#endif							/* SIMHASH_SETS_H */
