/*
 * feature_set.h
 *	  The distinct features of one text or two, within work_mem.
 */
#ifndef SIMHASH_FEATURE_SET_H
#define SIMHASH_FEATURE_SET_H

#include "text/feature_table.h"
#include "text/fingerprint.h"

#define FEATURE_BATCH 128		/* features that are read at once */

/*
 * Features with one hash are one feature.  A table has features as long as
 * these fit into half of the memory.  All others are spilled: they go to a
 * sort, which has the other half, and goes on in temporary files.
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
	uint64		pair[2];		/* a hash, and the result of pack() */

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

extern void simhash_set_init(FeatureSet *set, int memory, int sides,
							 Votes *votes);
extern FeatureTarget simhash_set_target(FeatureSet *set, int halves,
										int side);
extern bool simhash_set_read_table(FeatureSet *set, FeatureBatch *batch);
extern bool simhash_set_read_spilled(FeatureSet *set, FeatureBatch *batch);
extern void simhash_set_copy(FeatureSet *copy, const FeatureSet *set);
extern void simhash_set_free(FeatureSet *set);

#endif							/* SIMHASH_FEATURE_SET_H */
