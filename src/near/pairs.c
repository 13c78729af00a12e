/*
 * pairs.c
 *	  All pairs of rows within a radius of each other, of two sides or of one,
 *	  however many rows there are.
 *
 * Sides in memory are paired in one pass.  Sides in files are divided
 * into partitions (division.c), which this process pairs, or a team
 * (partitions.c).  What is too large for memory even then, or is not divided,
 * is paired pass by pass (pass.c).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "near/pairs.h"

/*
 * Begin to pair the rows of x with those of y, or with each other, where y is
 * x.  Both sides must be in memory, or both in files.  options may have
 * settled rows for two sides, and a share for one side without keys.  Memory
 * is taken from a child of the current context.  Until the end the caller
 * leaves the sides alone.
 */
NearPairs *
hamming_pairs_begin(NearSide *x, NearSide *y, const NearOptions *options)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "simhash pairs",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	NearPairs  *pairs = palloc0(sizeof(NearPairs));

	hamming_division_begin(&pairs->division, x, y, options->share);
	hamming_passes_make(&pairs->passes, x->list.word_count, options);

	/*
	 * A team writes its pairs to files, which temp_file_limit may not have
	 * room for.  One process alone keeps no pairs, and needs no file.
	 */
	if (temp_file_limit >= 0)
		pairs->passes.options.workers = 0;
	MemoryContextSwitchTo(old);
	return pairs;
}

/*
 * Begin to pair the next partition of the current segment.  After the last
 * partition, begin with the first partition of the next segment.  Return false
 * after the last segment.  At the first call a team may pair all partitions of
 * all segments, if the sides are in files.
 */
static bool
next_sides(NearPairs *pairs)
{
	Division   *division = &pairs->division;
	const Segments *segments = &division->segments;
	NearGroups *groups = pairs->passes.comparison->groups;
	bool		is_first = segments->number < 0;

	if (division->x->count == 0 || division->y->count == 0)
		return false;
	if (is_first && division->x->file != NULL &&
		hamming_division_choose(division, &pairs->passes.options))
	{
		pairs->team = hamming_partitions_pair(division, &pairs->passes.options,
											  &pairs->passes.work);
		if (pairs->team != NULL)
			return true;
		/* nor is there a team for each partition */
		pairs->passes.options.workers = 0;
		hamming_division_make(division, pairs->passes.options.memory);
	}
	if (!is_first && pairs->partition + 1 < division->partitions)
		pairs->partition++;
	else if (hamming_division_next(division, NULL, &pairs->passes.work))
		pairs->partition = 0;
	else
		return false;
	hamming_passes_begin(&pairs->passes,
						 &division->x_partitions[pairs->partition],
						 &division->y_partitions[pairs->partition], segments);
	/* a segment is as much of the work as any other, as is its partition */
	groups->done_here = 1.0 / segments->count / division->partitions;
	groups->done_before = (segments->number * division->partitions +
						   pairs->partition) * groups->done_here;
	return true;
}

/*
 * Get the next pair of fingerprints, and their rows, which hold until the next
 * call.  Each pair of rows comes once, unless rows are settled: then a pair
 * may come more often, and a pair of a settled row may not come.  Where sides
 * are too long for memory, a pair of fingerprints comes in several passes,
 * with other rows each time.
 */
bool
hamming_pairs_next(NearPairs *pairs, NearPair *pair)
{
	for (;;)
	{
		MemoryContext old;
		bool		found;

		if (pairs->team != NULL)
			return hamming_partitions_next(pairs->team, pair);
		if (hamming_passes_next(&pairs->passes, pair))
			return true;
		CHECK_FOR_INTERRUPTS();
		old = MemoryContextSwitchTo(GetMemoryChunkContext(pairs));
		found = next_sides(pairs);
		MemoryContextSwitchTo(old);
		if (!found)
			return false;
	}
}

/* Return what was done since the last call, and the most memory so far. */
NearWork
hamming_pairs_take_work(NearPairs *pairs)
{
	NearWork	work = pairs->passes.work;
	Comparison *comparison = pairs->passes.comparison;

	work.compared += comparison->compared;
	pairs->passes.work.passes = 0;
	comparison->compared = pairs->passes.work.compared = 0;
	return work;
}

/* Free all, but for the sides. */
void
hamming_pairs_end(NearPairs *pairs)
{
	hamming_passes_end(&pairs->passes);
	hamming_division_end(&pairs->division);
	if (pairs->team != NULL)
	{
		simhash_team_file_close(&pairs->team->file);
		simhash_team_end(pairs->team->file.team);
	}
	MemoryContextDelete(GetMemoryChunkContext(pairs));
}
