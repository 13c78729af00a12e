/*
 * sets.h
 *	  Disjoint sets of the numbers from 0 on, which several processes may unite
 *	  at the same time.
 *
 * parents[i] is the parent of number i.  The root of a set is its least
 * member, and its own parent.  No parent is greater than its child: so a pass
 * in ascending order visits each parent before its children.  Sets are united,
 * never split.
 *
 * A number that is no root never becomes a root again.  An ancestor of a number
 * stays in the set of the number for ever, and stays less than the number.  So
 * path halving may write a parent that was read before others united sets: all
 * of this stays true.  A root gets a parent by compare-and-swap: if two
 * processes try that at the same time, one fails, and begins anew (Anderson and
 * Woll 1991).
 */
#ifndef SIMHASH_SETS_H
#define SIMHASH_SETS_H

#include "port/atomics.h"

StaticAssertDecl(sizeof(pg_atomic_uint32) == sizeof(uint32),
				 "parents are read and written as atomic numbers");

static inline pg_atomic_uint32 *
parent_of(uint32 *parents, uint32 member)
{
	return (pg_atomic_uint32 *) &parents[member];
}

/*
 * Return the root of member, by path halving (Tarjan, van Leeuwen 1984).  Other
 * processes may unite the set with another one meanwhile.
 */
static inline uint32
find_set(uint32 *parents, uint32 member)
{
	uint32		parent;

	while ((parent = pg_atomic_read_u32(parent_of(parents, member))) != member)
	{
		uint32		above = pg_atomic_read_u32(parent_of(parents, parent));

		if (above != parent)
			pg_atomic_write_u32(parent_of(parents, member), above);
		member = above;
	}
	return member;
}

/* Unite the set of a with the set of b, which may be the same set. */
static inline void
unite_sets(uint32 *parents, uint32 a, uint32 b)
{
	uint32		root;

	do
	{
		uint32		x = find_set(parents, a);
		uint32		y = find_set(parents, b);

		a = Min(x, y);
		b = Max(x, y);
		root = b;
	} while (a != b &&
			 !pg_atomic_compare_exchange_u32(parent_of(parents, b), &root,
											 a));
}

#endif							/* SIMHASH_SETS_H */
