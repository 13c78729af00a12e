/*
 * dedup.h
 *	  Clusters of rows, their pairs, and groups of pairs.
 */
#ifndef SIMHASH_DEDUP_H
#define SIMHASH_DEDUP_H

#include "utils/builtins.h"

#include "near/together.h"
#include "type/simhash.h"

/* The number of a row that has no fingerprint, and so no cluster. */
#define NO_CLUSTER 0

typedef enum ClusterMethod
{
	CLUSTER_CONNECTED,			/* what is connected by pairs */
	CLUSTER_LEADER				/* what is paired with the first one */
} ClusterMethod;

/* Return the method that value, a text, names.  Error: 22023. */
static inline ClusterMethod
check_method(Datum value)
{
	char	   *name = TextDatumGetCString(value);

	if (strcmp(name, "connected") == 0)
		return CLUSTER_CONNECTED;
	if (strcmp(name, "leader") == 0)
		return CLUSTER_LEADER;
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("unknown method \"%s\"", name),
					errhint("The methods are \"connected\" and \"leader\".")));
}

/* Return parts.  Error: 22023 if parts is less than 1. */
static inline int
check_parts(int parts)
{
	if (parts < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parts must be at least 1, not %d", parts)));
	return parts;
}

/* pair_rows.c knows the struct, which differs from width to width. */
typedef struct PairRows PairRows;

/* The functions for fingerprints of one width: pair_rows.c describes them. */
typedef struct PairMethods
{
	PairRows   *(*begin) (int max_distance, int part, int parts,
						  bool begins_alone);
	void		(*add) (PairRows *rows, int64 id, Datum fingerprint);
	bool		(*next) (PairRows *rows, Datum *values);
	void		(*end) (PairRows *rows);
} PairMethods;

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

/* connect.c */
extern Together *hamming_connect_begin(FingerprintList *list, int radius);
extern void hamming_connect(FingerprintList *list, int radius, uint32 *parents,
							Together *together, const NearCut *cut,
							int segment);
extern PGDLLEXPORT void hamming_connect_main(dsm_segment *segment,
											 shm_toc *toc);

/* leaders.c */
extern void hamming_choose_leaders(FingerprintList *list, int radius,
								   uint32 *clusters);

/* numbering.c */
extern void hamming_number_clusters(FingerprintList *list, uint32 rows,
									int radius, ClusterMethod method,
									uint32 *numbers);

/* pair_rows.c */
extern const PairMethods simhash_pair_methods;
extern const PairMethods simhash_pair_methods_128;

/* id_groups.c */
extern IdGroups *simhash_id_groups_begin(ClusterMethod method);
extern void simhash_id_groups_add(IdGroups *groups, int64 a, int64 b);
extern void simhash_id_groups_finish(IdGroups *groups);

#endif							/* SIMHASH_DEDUP_H */
