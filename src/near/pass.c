/*
 * pass.c
 *	  The pairs of two sides of any size, or of one: what memory has no room
 *	  for is paired pass by pass, each stretch of x with each of y.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "near/pairs.h"

/*
 * Memory has room for at_once rows.  Return how many of count rows of a side in
 * a file make a stretch, beside a stretch of a side of other_count rows.
 */
static double
stretch_rows(double count, double other_count, double at_once)
{
	return Min(count, at_once - Min(other_count, floor(at_once / 2)));
}

/*
 * Are sides of x and of y rows in files paired sooner stretch by stretch than
 * partition by partition?  By stretches, each stretch of one side is read and
 * sorted once for each stretch of the other.  By partitions, each row is
 * written, read and sorted once for each segment, which takes as long as about
 * three readings.
 */
bool
hamming_prefers_stretches(double x, double y, double at_once)
{
	return x * ceil(y / stretch_rows(y, x, at_once)) +
		y * ceil(x / stretch_rows(x, y, at_once)) <= 3 * (x + y);
}

/*
 * Make what pairs sides one after the other, in memory of the current context.
 */
void
hamming_passes_make(NearPasses *p, int word_count, const NearOptions *options)
{
	FingerprintList none = {.word_count = word_count};

	memset(p, 0, sizeof(NearPasses));
	p->options = *options;
	/* a pass sets the lists */
	p->comparison = hamming_compare_make(&none, &none, options->radius);
}

/*
 * Begin to pair the rows of x with those of y, or with each other, where y is
 * x.  Both sides are in memory, or both in files.
 */
void
hamming_passes_begin(NearPasses *p, NearSide *x, NearSide *y,
					 const Segments *only)
{
	p->all_x = x;
	p->all_y = y;
	p->only = only;
	p->x_next = p->y_next = 0;
}

/*
 * Return how many rows of a side, from next on, make the next stretch: all of a
 * side in memory, and all of one side that memory has room for.
 */
static uint64
stretch_size(const NearPasses *p, const NearSide *side, const NearSide *other,
			 uint64 next)
{
	uint64		at_once = side_rows_within(side, p->options.memory);
	uint64		size = side->count;

	if (side->file != NULL && (side != other || size > at_once))
		size = stretch_rows(size, other->count, at_once);
	return Min(size, side->count - next);
}

/*
 * Load the rows from .. from + count - 1 of the side into loaded[place], and
 * group them.  Leave out rows of x, at place 0, that are settled.  A side in
 * memory serves as it is.
 */
static NearSide *
load_rows(NearPasses *p, int place, NearSide *side, uint64 from, uint64 count)
{
	NearSide   *loaded = side->file == NULL ? side : &p->loaded[place];
	const uint8 *settled = place == 0 ? p->options.settled_rows : NULL;

	if (loaded != side)
	{
		hamming_side_begin(loaded, side->list.word_count, side->keeps_numbers,
						   side->keeps_keys);
		hamming_side_reserve(loaded, count);
		hamming_side_seek(side, from);
	}
	for (; loaded != side && count > 0; count--)
	{
		NearRow		row;

		CHECK_FOR_INTERRUPTS();
		hamming_side_read(side, &row);
		if (settled == NULL || !is_bit_set(settled, row.number))
			hamming_side_add(loaded, &row);
	}
	hamming_side_group(loaded);
	return loaded;
}

/* Begin to pair p->x with y.  A team may find all pairs. */
static void
begin_pass(NearPasses *p, NearSide *y)
{
	NearLists  *lists = &p->comparison->groups->lists;

	p->y = y;
	lists->x = &p->x->list;
	lists->y = &y->list;
	lists->settled = p->settled;
	p->next_key[0] = p->next_key[1] = 0;
	p->same = p->same_end = 0;
	p->work.passes++;
	p->work.most_memory = Max(p->work.most_memory,
							  side_memory(&p->loaded[0]) +
							  side_memory(&p->loaded[1]));
	hamming_pass_team_begin(&p->team, p->x, y, p->settled, &p->options,
							&p->work);
	if (p->team.together != NULL && y == p->x)
		p->same_end = y->list.count;
}

/* Let no row of x be in memory. */
static void
leave_x(NearPasses *p)
{
	hamming_side_end(&p->loaded[0]);
	if (p->settled != NULL)
		pfree(p->settled);
	p->settled = NULL;
	p->x = p->y = NULL;
}

/* Let p->x be the next rows of x; return false after the last. */
static bool
next_x(NearPasses *p)
{
	uint64		size = stretch_size(p, p->all_x, p->all_y, p->x_next);

	leave_x(p);
	if (size == 0 || p->all_y->count == 0)
		return false;
	p->x = load_rows(p, 0, p->all_x, p->x_next, size);
	if (p->options.settled_rows != NULL)
		p->settled = palloc_extended(Max(p->x->list.count, 1) * sizeof(bool),
									 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	p->x_next += size;
	/* of one side, each two stretches once, in this order */
	p->y_next = p->all_x == p->all_y ? p->x_next : 0;
	return true;
}

/* Begin the next pass; return false after the last, or without sides. */
static bool
next_pass(NearPasses *p)
{
	NearSide   *y = p->all_y;
	uint64		size;

	if (y == NULL)
		return false;
	hamming_side_end(&p->loaded[1]);
	/* where all of x is settled no other pass is due */
	if (p->x == NULL || p->y_next == y->count ||
		(p->settled != NULL &&
		 memchr(p->settled, false, p->x->list.count) == NULL))
	{
		if (!next_x(p))
			return false;
		if (p->all_x == y)
		{
			begin_pass(p, p->x);
			return true;
		}
	}
	size = stretch_size(p, y, p->all_x, p->y_next);
	begin_pass(p, load_rows(p, 1, y, p->y_next, size));
	p->y_next += size;
	return true;
}

/*
 * Move those fingerprints of x to the front of its list whose block of the
 * current segment is in the share.  Return their number.
 */
static uint32
gather_members(NearPasses *p)
{
	const Shares *share = p->options.share;
	FingerprintList *list = &p->x->list;
	uint32		count = 0;
	uint32		i;

	for (i = 0; i < list->count; i++)
	{
		uint64		words[HAMMING_MAX_WORDS];

		CHECK_FOR_INTERRUPTS();
		fplist_words(list, i, words);
		if (hamming_share_of(share, words, p->only->number) == share->number)
			fplist_swap(list, i, count++);
	}
	return count;
}

/* Begin to search the fingerprints of the next key; return false after all. */
static bool
next_group(NearPasses *p)
{
	Candidates	all;

	if (p->team.together != NULL ||
		!hamming_sides_next_key(p->x, p->y, p->next_key, &all))
		return false;
	if (p->options.share != NULL)
		all.x_end = gather_members(p);
	if (p->x == p->y)
	{
		all.y_end = all.x_end;
		p->same = all.x;
		/* equal fingerprints agree in the first segment */
		p->same_end = p->only->number == 0 ? all.x_end : all.x;
	}
	/* of one side equal fingerprints are one member: no two are near */
	if (p->options.radius > 0 || p->x != p->y)
		hamming_groups_begin(p->comparison->groups, &all, p->only);
	return true;
}

/* Describe the rows of fingerprint two->x of x, and two->y of y. */
static void
set_pair(const NearPasses *p, const FoundPair *two, NearPair *pair)
{
	pair->x_side = p->x;
	pair->x = pair->x_side->starts[two->x];
	pair->x_end = pair->x_side->starts[two->x + 1];
	pair->y_side = p->y;
	pair->y = pair->y_side->starts[two->y];
	pair->y_end = pair->y_side->starts[two->y + 1];
	pair->is_same = pair->x_side == pair->y_side && two->x == two->y;
	pair->distance = two->distance;
	pair->fingerprint = two->x;
}

/* Get the next rows that share a fingerprint. */
static bool
next_same(NearPasses *p, NearPair *pair)
{
	while (p->same < p->same_end)
	{
		uint32		x = p->x->list.numbers[p->same++];
		FoundPair	two = {x, x, 0};

		CHECK_FOR_INTERRUPTS();
		set_pair(p, &two, pair);
		if (pair->x_end - pair->x > 1)
			return true;
	}
	return false;
}

/* Get the rows of the next two fingerprints that are near each other. */
static bool
next_near(NearPasses *p, NearPair *pair)
{
	FoundPair	two;

	if (p->team.together != NULL
		? !simhash_team_file_read(&p->team.file, &two, sizeof(two))
		: !hamming_compare_next(p->comparison, &two))
		return false;
	set_pair(p, &two, pair);
	return true;
}

/*
 * Is the pair a row and itself?  Where y has one row of that key and
 * fingerprint, and the rows of x are among those of y, this is the only one
 * that x can have.
 */
static bool
is_row_with_itself(const NearPasses *p, const NearPair *pair)
{
	return p->options.are_same_rows && pair->distance == 0 &&
		pair->y_end - pair->y == 1 && p->y->count == p->all_y->count;
}

/* Get the next pair of the pass, if there is a pass; return false after all. */
static bool
next_pair(NearPasses *p, NearPair *pair)
{
	if (p->x == NULL)
		return false;
	do
	{
		CHECK_FOR_INTERRUPTS();
		while (!next_same(p, pair) && !next_near(p, pair))
			if (!next_group(p))
				return false;
	} while (is_row_with_itself(p, pair));
	return true;
}

/*
 * Get the next pair of fingerprints, and their rows: see hamming_pairs_next().
 * Return false after the last.
 */
bool
hamming_passes_next(NearPasses *p, NearPair *pair)
{
	while (!next_pair(p, pair))
	{
		MemoryContext old =
		MemoryContextSwitchTo(GetMemoryChunkContext(p->comparison));
		bool		found = next_pass(p);

		MemoryContextSwitchTo(old);
		if (!found)
			return false;
	}
	return true;
}

/* Free all rows in memory, and end a team. */
void
hamming_passes_end(NearPasses *p)
{
	leave_x(p);
	hamming_side_end(&p->loaded[1]);
	hamming_pass_team_end(&p->team);
}
