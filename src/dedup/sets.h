/*
 * sets.h
 *	  Disjoint sets of the numbers from 0 on.
 *
 * parents has the parent of each number.  The root of a set is its least
 * member, is its own parent, and stands for the set.  No parent is greater
 * than its child: so a pass over the numbers in ascending order visits each
 * parent before its children.
 *
 * Sets are only ever united.  So two numbers that share a set share one for
 * ever.
 */
#ifndef SIMHASH_SETS_H
#define SIMHASH_SETS_H

/*
 * Return the least member of the set of member.  Each number on the way gets
 * its grandparent as its parent, which shortens the way for later calls (path
 * halving: Tarjan and van Leeuwen 1984).
 */
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
