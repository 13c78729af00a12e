/*
 * pairs.c
 *	  All pairs of rows within a radius of each other, of two sides or of one,
 *	  however many rows there are.
 *
 * Sides in memory are paired in one pass.  Sides in files are divided into
 * partitions (division.c).  What is too large for memory even then, or is not
 * divided, is paired by stretches, each of x with each of y.
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

	pairs->options = *options;

	/*
	 * A team writes its pairs to files, which temp_file_limit may not have
	 * room for.  One process alone keeps no pairs, and needs no file.
	 */
	if (temp_file_limit >= 0)
		pairs->options.workers = 0;
	hamming_division_begin(&pairs->division, x, y, options->share);
	pairs->comparison = hamming_compare_make(&x->list, &y->list,
											 options->radius);
	MemoryContextSwitchTo(old);
	return pairs;
}

/*
 * Return how many of count rows make a stretch: all of a side in memory, and
 * all of one side that memory has room for.
 */
static uint64
stretch_size(const NearPairs *pairs, uint64 count, uint64 other_count)
{
	const Division *division = &pairs->division;
	uint64		at_once = side_rows_within(division->x, pairs->options.memory);

	if (division->x->file == NULL ||
		(division->x == division->y && count <= at_once))
		return count;
	return hamming_division_stretch(count, other_count, at_once);
}

/*
 * Load the rows from .. from + count - 1 of the side into pairs->loaded[place],
 * and group none yet.  Leave out rows of x, at place 0, that are settled.  A
 * side in memory serves as it is.
 */
static NearSide *
load_rows(NearPairs *pairs, int place, NearSide *side, uint64 from,
		  uint64 count)
{
	NearSide   *loaded = &pairs->loaded[place];
	const uint8 *settled = place == 0 ? pairs->options.settled_rows : NULL;

	if (side->file == NULL)
		return side;
	hamming_side_begin(loaded, side->keeps_numbers, side->keeps_keys);
	hamming_side_reserve(loaded, count);
	hamming_side_seek(side, from);
	for (; count > 0; count--)
	{
		NearRow		row;

		CHECK_FOR_INTERRUPTS();
		hamming_side_read(side, &row);
		if (settled == NULL || !is_bit_set(settled, row.number))
			hamming_side_add(loaded, &row);
	}
	return loaded;
}

/*
 * Move those fingerprints of pass.x to the front of its list whose block of
 * the current segment is in the share.  Return their number.
 */
static uint32
gather_members(NearPairs *pairs)
{
	FingerprintList *list = &pairs->pass.x->list;
	uint32		count = 0;
	uint32		i;

	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (is_in_segment(&pairs->division, list->fps[i]))
			fplist_swap(list, i, count++);
	}
	return count;
}

/* Return the key of the group of a side with that number; 0 if it has none. */
static inline uint32
key_of(const NearSide *side, uint32 group)
{
	return side->keeps_keys ? side->keys[side->starts[side->groups[group]]] : 0;
}

/*
 * Set *all to the fingerprints of the next key that both sides of the pass
 * have.  Without keys all rows have the same.  Return false if there is none.
 */
bool
hamming_pairs_next_key(NearPairs *pairs, Candidates *all)
{
	const NearSide *x = pairs->pass.x;
	const NearSide *y = pairs->pass.y;

	while (pairs->x_group < x->group_count && pairs->y_group < y->group_count)
	{
		uint32		x_key = key_of(x, pairs->x_group);
		uint32		y_key = key_of(y, pairs->y_group);

		CHECK_FOR_INTERRUPTS();
		if (x_key == y_key)
		{
			all->x = x->groups[pairs->x_group++];
			all->x_end = x->groups[pairs->x_group];
			all->y = y->groups[pairs->y_group++];
			all->y_end = y->groups[pairs->y_group];
			return true;
		}
		pairs->x_group += x_key < y_key;
		pairs->y_group += y_key < x_key;
	}
	return false;
}

static bool
next_group(NearPairs *pairs)
{
	Candidates	all;

	if (pairs->pass.y == NULL || !hamming_pairs_next_key(pairs, &all))
		return false;
	if (pairs->options.share != NULL)
		all.x_end = gather_members(pairs);
	if (pairs->pass.x == pairs->pass.y)
	{
		all.y_end = all.x_end;
		pairs->same = all.x;
		/* equal fingerprints agree in the first segment */
		pairs->same_end = pairs->pass.segment == 0
			? all.x_end : all.x;
	}
	hamming_groups_begin(pairs->comparison->groups, &all, pairs->pass.cut,
						 pairs->pass.segment);
	return true;
}

static void
begin_pass(NearPairs *pairs, NearSide *y)
{
	const Division *division = &pairs->division;
	NearGroups *groups = pairs->comparison->groups;
	double		segments = division->cut.segment_count;
	double		one = 1 / segments / division->partitions;

	hamming_side_group(y);
	pairs->pass.y = y;
	pairs->pass.cut = division->is_cut ? &division->cut : NULL;
	pairs->pass.segment = division->segment;
	pairs->x_group = pairs->y_group = 0;
	pairs->same = pairs->same_end = 0;
	groups->x = &pairs->pass.x->list;
	groups->y = &y->list;
	groups->settled = pairs->settled;
	/* a segment is as much of the work as any other, as is its partition */
	pairs->pass.done = division->segment / segments + division->partition * one;
	groups->done_before = pairs->pass.done;
	/* of a unit the leader shows more */
	groups->done_here = pairs->is_unit ? 0 : one;
	pairs->work.passes++;
	pairs->work.most_memory = Max(pairs->work.most_memory,
								  side_memory(&pairs->loaded[0]) +
								  side_memory(&pairs->loaded[1]));
	hamming_pass_team_begin(pairs);
}

/* Are all fingerprints of x in memory settled, so that no other pass is due? */
static bool
is_x_settled(const NearPairs *pairs)
{
	return pairs->settled != NULL &&
		memchr(pairs->settled, false, pairs->pass.x->list.count) == NULL;
}

/* Let the next rows of x be pass.x; return false after the last. */
static bool
next_x(NearPairs *pairs, NearSide *x, const NearSide *y)
{
	uint64		size = Min(stretch_size(pairs, x->count, y->count),
						   x->count - pairs->x_next);
	NearSide   *side;

	hamming_side_end(&pairs->loaded[0]);
	if (pairs->settled != NULL)
		pfree(pairs->settled);
	pairs->settled = NULL;
	pairs->pass.x = pairs->pass.y = NULL;
	if (size == 0 || y->count == 0)
	{
		pairs->x_next = 0;
		return false;
	}
	side = load_rows(pairs, 0, x, pairs->x_next, size);
	hamming_side_group(side);
	if (pairs->options.settled_rows != NULL)
		pairs->settled = palloc_extended(Max(side->list.count, 1) *
										 sizeof(bool),
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	pairs->pass.x = side;
	pairs->x_next += size;
	/* of one side, each two stretches once, in this order */
	pairs->y_next = x == y ? pairs->x_next : 0;
	return true;
}

/* Begin the next pass of the current partition; return false after the last. */
static bool
next_stretches(NearPairs *pairs)
{
	const Division *division = &pairs->division;
	NearSide   *x = &division->x_partitions[division->partition];
	NearSide   *y = &division->y_partitions[division->partition];
	uint64		size;

	hamming_side_end(&pairs->loaded[1]);
	if (pairs->pass.x == NULL || pairs->y_next == y->count ||
		is_x_settled(pairs))
	{
		if (!next_x(pairs, x, y))
			return false;
		if (x == y)
		{
			begin_pass(pairs, pairs->pass.x);
			return true;
		}
	}
	size = Min(stretch_size(pairs, y->count, x->count),
			   y->count - pairs->y_next);
	begin_pass(pairs, load_rows(pairs, 1, y, pairs->y_next, size));
	pairs->y_next += size;
	return true;
}

/*
 * Begin the next segment of the cut; return false if there is none.  Of sides
 * in files a team may pair all of them at once.
 */
static bool
next_segment(NearPairs *pairs)
{
	Division   *division = &pairs->division;

	if (pairs->is_unit)
		return false;
	if (division->segment < 0 && division->x->file != NULL &&
		hamming_division_choose(division, &pairs->options))
	{
		if (hamming_partitions_pair(pairs))
		{
			division->partition = division->partitions;
			return true;
		}
		hamming_division_make(division, pairs->options.memory);
	}
	hamming_division_end(division);
	if (division->segment + 1 == division->cut.segment_count)
		return false;
	hamming_division_next(division, NULL, &pairs->work);
	division->partition = 0;
	return true;
}

/*
 * Begin the next pass, and return it; return NULL after the last.  Each pair of
 * rows within the radius is in at least one pass: in pass->x, if pass->y is the
 * same side; else one of its rows is in pass->x, and the other one in pass->y.
 */
const NearPass *
hamming_pairs_next_pass(NearPairs *pairs)
{
	Division   *division = &pairs->division;
	MemoryContext old =
	MemoryContextSwitchTo(GetMemoryChunkContext(pairs));
	bool		found = division->x->count > 0 && division->y->count > 0;

	while (found)
	{
		CHECK_FOR_INTERRUPTS();
		if (division->segment >= 0 &&
			division->partition < division->partitions)
		{
			if (next_stretches(pairs))
				break;
			division->partition++;
		}
		else
		{
			found = next_segment(pairs);
			if (pairs->team != NULL)
				break;
		}
	}
	MemoryContextSwitchTo(old);
	return found ? &pairs->pass : NULL;
}

/* Describe the rows of fingerprint two->x of pass.x, and two->y of pass.y. */
static void
set_pair(const NearPairs *pairs, const FoundPair *two, NearPair *pair)
{
	pair->x_side = pairs->pass.x;
	pair->x = pair->x_side->starts[two->x];
	pair->x_end = pair->x_side->starts[two->x + 1];
	pair->y_side = pairs->pass.y;
	pair->y = pair->y_side->starts[two->y];
	pair->y_end = pair->y_side->starts[two->y + 1];
	pair->is_same = pair->x_side == pair->y_side && two->x == two->y;
	pair->distance = two->distance;
	pair->fingerprint = two->x;
}

/* Get the next rows that share a fingerprint. */
static bool
next_same(NearPairs *pairs, NearPair *pair)
{
	while (pairs->same < pairs->same_end)
	{
		uint32		x = pairs->pass.x->list.numbers[pairs->same++];
		FoundPair	two = {x, x, 0};

		CHECK_FOR_INTERRUPTS();
		set_pair(pairs, &two, pair);
		if (pair->x_end - pair->x > 1)
			return true;
	}
	return false;
}

/* Get the rows of the next two fingerprints of the current pass. */
static bool
next_two(NearPairs *pairs, NearPair *pair)
{
	FoundPair	two;
	bool		found = pairs->together != NULL
	? simhash_team_file_read(&pairs->file, &two, sizeof(two))
	: hamming_compare_next(pairs->comparison, &two);

	if (found)
		set_pair(pairs, &two, pair);
	return found;
}

/*
 * Is the pair a row and itself?  Where both sides have the same rows, and y has
 * one row of that key and fingerprint, this is the only one that x can have.
 * y of the pass has all rows of a key and fingerprint, unless it is a stretch
 * of a partition.
 */
static bool
is_row_with_itself(const NearPairs *pairs, const NearPair *pair)
{
	const Division *division = &pairs->division;

	return pairs->options.are_same_rows && pair->distance == 0 &&
		pair->y_end - pair->y == 1 && pairs->pass.y->count ==
		division->y_partitions[division->partition].count;
}

/*
 * Do what hamming_pairs_next() does, for the pairs of the current pass only:
 * before the first pass there are none.
 */
bool
hamming_pairs_next_of_pass(NearPairs *pairs, NearPair *pair)
{
	if (pairs->team != NULL)
		return hamming_partitions_next(pairs, pair);
	do
	{
		CHECK_FOR_INTERRUPTS();
		while (!next_same(pairs, pair) && !next_two(pairs, pair))
			if (!next_group(pairs))
				return false;
	} while (is_row_with_itself(pairs, pair));
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
	while (!hamming_pairs_next_of_pass(pairs, pair))
		if (!hamming_pairs_next_pass(pairs))
			return false;
	return true;
}

/* Free all, but for the sides. */
void
hamming_pairs_end(NearPairs *pairs)
{
	hamming_side_end(&pairs->loaded[0]);
	hamming_side_end(&pairs->loaded[1]);
	hamming_division_end(&pairs->division);
	hamming_pass_team_end(pairs);
	simhash_team_file_close(&pairs->file);
	if (pairs->team != NULL)
		simhash_team_end(pairs->team);
	MemoryContextDelete(GetMemoryChunkContext(pairs));
}
