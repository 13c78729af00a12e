/*
 * connect.h
 *	  Connected components: disjoint sets of numbers from 0 on, and those of
 *	  fingerprints that are connected by steps within a radius.
 */
#ifndef CONNECT_H
#define CONNECT_H

#include "dedup/fplist.h"

/*
 * The least member of a set stands for it.  No parent is greater than its
 * child, so that parents can be visited before their children.
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

extern void simhash_connect(FingerprintList *list, int radius, uint32 *parents);

#endif							/* CONNECT_H */
