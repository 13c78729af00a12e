/*
 * feature_set.h
 *	  The distinct features of one text or two, within work_mem.
 */
#ifndef SIMHASH_FEATURE_SET_H
#define SIMHASH_FEATURE_SET_H

#include "text/fingerprint.h"

#define FEATURE_BATCH 128		/* features that are read at once */
#define FEATURE_SIDES 2			/* texts that a table can tell apart */
#define TABLE_SPACE 516			/* numbers of a table's space: one column of
								 * 512 slots, two of 256, or four of 128 */

/*
 * Features with one hash are one feature.  A table, in memory, has columns: the
 * hash of a feature; how often it occurs in the text of each side; its weight.
 * Counts and weights are there only if they are asked for.  A slot is a row
 * of the columns.  A hash of 0 says that the slot is free.  The feature whose
 * hash is 0 has a slot of its own, number slots, where the hash is 1 if there
 * is such a feature.
 */
typedef struct FeatureTable
{
	uint64	   *hash;			/* the first column, which the others follow,
								 * in space unless they have grown */
	uint64	   *count[FEATURE_SIDES];	/* NULL: not asked for */
	int64	   *weight;			/* the greatest of all occurrences; NULL: not
								 * asked for */
	uint64		slots;			/* a power of two; 0: no columns yet */
	uint64		used;			/* features, slots / 2 at most */
	uint64		distinct[FEATURE_SIDES];	/* features of the text of each
											 * side, if they are counted */
	int			shift;			/* 64 - log2(slots) */
	uint64		multiplier;		/* odd, and secret: see first_slot() */

	int			sides;			/* columns of counts */
	bool		weighted;		/* is there a column of weights? */
	size_t		limit;			/* bytes that the columns may take */
	uint64	   *space;			/* TABLE_SPACE numbers */
} FeatureTable;

/*
 * A table has features as long as these fit into half of the memory.  All
 * others are spilled: they go to a sort, which has the other half, and goes on
 * in temporary files.
 */
typedef struct FeatureSet
{
	Votes	   *votes;			/* see simhash_set_init() */
	bool		vote_at_once;	/* does a feature vote when it comes? */
	bool		has_begun;		/* has a text begun? */
	int			memory;			/* kilobytes, for table and sort */
	int			sides;			/* texts whose occurrences are counted */
	int			side;			/* that features are added to */
	FeatureTable table;
	struct Tuplesortstate *sort;	/* NULL: none is spilled */

	/* Reading: the next slot of the table, and the next pair of the sort. */
	uint64		next;
	bool		is_sorted;		/* has reading the sort begun? */
	bool		has_pair;
	uint64		pair[2];		/* a hash; and a weight, 0 .. 2^47, times
								 * FEATURE_SIDES, plus a side */

	uint64		space[TABLE_SPACE]; /* of the table */
} FeatureSet;

/* Features that differ from each other, and from those in batches before. */
typedef struct FeatureBatch
{
	uint32		length;
	uint64		hash[FEATURE_BATCH];
	uint64		count[FEATURE_SIDES][FEATURE_BATCH];	/* 1 if not counted */
	int64		weight[FEATURE_BATCH];	/* WEIGHT_UNIT if not weighted */
} FeatureBatch;

/* feature_table.c */
extern void simhash_table_init(FeatureTable *table, int sides, bool weighted,
							   size_t limit, uint64 seed, uint64 *space);
extern uint32 simhash_table_add(FeatureTable *table, int side,
								const uint64 *hash, const int64 *weight,
								uint32 count, uint64 *fresh);
extern bool simhash_table_count(FeatureTable *table, int side, uint64 hash,
								int64 weight);
extern uint32 simhash_table_list(const FeatureTable *table, uint64 *next,
								 uint64 *slots, uint32 room);
extern void simhash_table_copy(FeatureTable *copy, const FeatureTable *table,
							   uint64 *space);
extern void simhash_table_free(FeatureTable *table);

/* The hash of the feature in a slot that is not free. */
static inline uint64
table_hash(const FeatureTable *table, uint64 slot)
{
	return slot < table->slots ? table->hash[slot] : 0;
}

/* feature_set.c */
extern void simhash_set_init(FeatureSet *set, int memory, int sides,
							 Votes *votes);
extern FeatureTarget simhash_set_target(FeatureSet *set, int halves,
										int side);
extern bool simhash_set_read(FeatureSet *set, FeatureBatch *batch);
extern bool simhash_set_read_spilled(FeatureSet *set, FeatureBatch *batch);
extern void simhash_set_copy(FeatureSet *copy, const FeatureSet *set);
extern void simhash_set_free(FeatureSet *set);

#endif							/* SIMHASH_FEATURE_SET_H */
