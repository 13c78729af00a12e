/*
 * id_groups.h
 *	  The groups of ids that pairs of ids make.
 */
#ifndef SIMHASH_ID_GROUPS_H
#define SIMHASH_ID_GROUPS_H

#include "dedup/arguments.h"
#include "near/fplist.h"

/*
 * Numbers of ids, from 0 on, in order of first appearance: a hash table with
 * open addressing and linear probing, which takes 16 bytes for each id that
 * there is room for.  The bits of a slot that no number needs have a tag, some
 * bits of the hash: so hardly any id is read but the one that is looked for.
 *
 * simhash_components() with lib/simplehash.h takes 1.4 times as long, even with
 * a prefetch of slots, and 1.5 times as much memory.
 */
typedef struct IdNumbers
{
	uint64	   *ids;			/* the id of each number */
	uint32		count;			/* ids that are numbered */
	Size		capacity;		/* ids that there is room for; a power of two */
	uint32	   *slots;			/* 2 * capacity numbers of ids, with a tag
								 * above, or FREE_SLOT */
	uint64		multiplier;		/* of the hash; odd, and secret */
	int			shift;			/* brings a hash down to the slots */
} IdNumbers;

/* Pairs that wait, to be added together: see find_numbers(). */
#define ID_GROUPS_WAITING 256

/* A pair of a lesser id, whose list it is on, with a greater one. */
typedef struct GreaterId
{
	uint32		number;			/* of the greater id */
	uint32		next;			/* next on the list: index of greater */
} GreaterId;

/*
 * While pairs are added, an id is its number in the table, and a bigint there
 * is a uint64 of the same order.  Then the ids are grouped: the list has those
 * that are in a group with others, as bigints, in ascending order.  They stand
 * for its fingerprints, which have 64 bits in what is compiled once.  The
 * number of each is the place of the least id of its group.
 */
typedef struct IdGroups
{
	ClusterMethod method;
	uint64		waiting[2 * ID_GROUPS_WAITING]; /* ids of pairs, by twos */
	int			waiting_count;
	IdNumbers	table;
	uint32	   *links;			/* of each id: if connected, its parent in a
								 * set (sets.h); if by leader, the first on
								 * the list of greater ids, or NO_GREATER */
	Size		capacity;		/* links that there is room for */
	/* only if by leader: */
	GreaterId  *greater;
	uint32		greater_count;
	Size		greater_capacity;
	FingerprintList list;		/* once the ids are grouped */
} IdGroups;

extern IdGroups *simhash_id_groups_begin(ClusterMethod method);
extern void simhash_id_groups_add(IdGroups *groups, int64 a, int64 b);
extern void simhash_id_groups_finish(IdGroups *groups);

#endif							/* SIMHASH_ID_GROUPS_H */
