/*
 * pairs.c
 *	  The pairs of fingerprints of two lists of entries that are within a
 *	  radius, however long the lists are.
 *
 * Lists that are in memory are joined in one pass.  Lists in files are joined
 * by the pigeonhole principle, as in dedup/join.c: let all bits be cut into
 * radius + 1 parts, then fingerprints within the radius agree in at least one
 * part.  So for each part the entries are divided into partitions, by a hash
 * of the part's bits, and each partition of x is joined with the one of y that
 * has the same hashes.  A pair that agrees in several parts is taken for the
 * first of them only.
 *
 * Where a partition, or its equal on the other side, is too large for memory,
 * each stretch of the one that fits is joined with each stretch of the other.
 * So are lists as a whole that have few stretches, or that no cut divides well.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "near/pairs.h"

/*
 * Rows of both sides in a partition, where memory has room for more.  Joining
 * ten million rows with themselves took a third less time by partitions of
 * 200,000 rows than of three million.
 */
#define PARTITION_ROWS 200000

/* Entries of each list that choose the cut. */
#define SAMPLE_ENTRIES 4096

/* Is the row that has the number settled? */
static inline bool
is_settled_row(const JoinPasses *passes, uint64 number)
{
	return passes->settled_rows != NULL &&
		(passes->settled_rows[number / 8] >> number % 8 & 1);
}

static bool
is_in_memory(const JoinPasses *passes)
{
	return passes->x->file == NULL;
}

/*
 * Begin to pair the entries of x with those of y.  Both lists are in memory, or
 * both are in files.  Lists in memory are joined in one pass.  Else the entries
 * of x and of y that are in memory for a pass are rows_at_once at most, or two.
 * Memory is taken from a child of the current context.
 *
 * settled_rows may be a bit for each row of x, by its number: once the bits of
 * all rows of a fingerprint are set, the caller sets passes->settled[number of
 * the fingerprint], and the pairs of the fingerprint are not needed any more.
 */
JoinPasses *
hamming_passes_begin(EntryList *x, EntryList *y, int radius, Size rows_at_once,
					 const uint8 *settled_rows)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "Hamming join passes",
												  ALLOCSET_DEFAULT_SIZES);
	JoinPasses *passes = MemoryContextAllocZero(context, sizeof(JoinPasses));

	passes->context = context;
	passes->y_context = AllocSetContextCreate(context, "Hamming join pass",
											  ALLOCSET_DEFAULT_SIZES);
	passes->x = x;
	passes->y = y;
	passes->radius = radius;
	passes->rows_at_once = Max(rows_at_once, 2);
	passes->settled_rows = settled_rows;
	passes->part = -1;
	return passes;
}

/* Read entries that are spread evenly over a list in a file. */
static void
read_sample(EntryList *list, FingerprintList *sample)
{
	uint64		count = Min(list->count, SAMPLE_ENTRIES);
	uint64		i;

	simhash_fplist_allocate(sample, count);
	for (i = 0; i < count; i++)
	{
		JoinEntry	entry;

		simhash_entries_seek(list, list->count * i / count);
		simhash_entries_read(list, &entry);
		fplist_append(sample, entry.fp, 0);
	}
}

/*
 * Return how many partitions fit into memory with a third of it to spare, or
 * into a cache.
 */
static int
number_of_partitions(const JoinPasses *passes)
{
	uint64		rows = passes->x->count + passes->y->count;
	uint64		at_once = Min(passes->rows_at_once, PARTITION_ROWS);
	uint64		partitions = rows * 3 / 2 / at_once + 1;

	return (int) Min(partitions, JOIN_MAX_PARTITIONS);
}

/* Return how many of count rows are joined at once with rows of other_count. */
static uint64
stretch_size(const JoinPasses *passes, uint64 count, uint64 other_count)
{
	uint64		half = passes->rows_at_once / 2;
	uint64		left = passes->rows_at_once - Min(other_count, half);

	return Min(count, left);
}

/* Return into how many stretches a list of count entries is cut. */
static double
number_of_stretches(const JoinPasses *passes, uint64 count, uint64 other_count)
{
	return ceil((double) count / stretch_size(passes, count, other_count));
}

/*
 * Are the lists joined sooner stretch by stretch than partition by partition?
 * Then each stretch of one list is read, and sorted by radius + 1 parts, for
 * each stretch of the other.  Partitions take these sorts once, but the entries
 * are divided and written as often.
 */
static bool
prefers_stretches(const JoinPasses *passes)
{
	uint64		x = passes->x->count;
	uint64		y = passes->y->count;

	return x * number_of_stretches(passes, y, x) +
		y * number_of_stretches(passes, x, y) <= 3.0 * (x + y);
}

/* Let the lists be divided by a cut, if there is one that pays. */
static void
choose_cut(JoinPasses *passes)
{
	Fingerprint varying = passes->x->varying | passes->y->varying |
	(passes->x->first ^ passes->y->first);
	FingerprintList x;
	FingerprintList y;

	if (prefers_stretches(passes))
		return;
	read_sample(passes->x, &x);
	read_sample(passes->y, &y);
	passes->is_cut = hamming_join_choose_cut(&x, &y, passes->radius, varying,
											 &passes->cut);
	simhash_fplist_free(&x);
	simhash_fplist_free(&y);
}

/* Decide how lists in files are divided. */
static void
begin_parts(JoinPasses *passes)
{
	Size		size;

	choose_cut(passes);
	passes->partitions = passes->is_cut ? number_of_partitions(passes) : 1;
	size = passes->partitions * sizeof(EntryList);
	passes->x_parts = MemoryContextAllocZero(passes->context, size);
	passes->y_parts = MemoryContextAllocZero(passes->context, size);
}

/* Return the partition of a fingerprint, by the current part of the cut. */
static int
partition_of(const JoinPasses *passes, Fingerprint fp)
{
	uint64		hash = hamming_hash(fp & passes->cut.parts[passes->part]);

	return (hash >> 32) % passes->partitions;
}

/* Divide a list into its partitions for the current part. */
static void
divide_list(JoinPasses *passes, EntryList *list, EntryList *parts)
{
	uint64		i;

	for (i = 0; i < (uint64) passes->partitions; i++)
		simhash_entries_to_file(&parts[i]);
	simhash_entries_seek(list, 0);
	for (i = 0; i < list->count; i++)
	{
		JoinEntry	entry;

		CHECK_FOR_INTERRUPTS();
		simhash_entries_read(list, &entry);
		simhash_entries_add(&parts[partition_of(passes, entry.fp)], &entry);
	}
	passes->written += list->count * sizeof(JoinEntry);
}

static void
free_partitions(JoinPasses *passes)
{
	int			i;

	for (i = 0; passes->is_cut && i < passes->partitions; i++)
	{
		simhash_entries_end(&passes->x_parts[i]);
		simhash_entries_end(&passes->y_parts[i]);
	}
}

/*
 * Begin the next part of the cut; return false if there is none.  Lists without
 * a cut have one part, of one partition, which is the list.
 */
static bool
begin_part(JoinPasses *passes)
{
	if (passes->part < 0)
		begin_parts(passes);
	else
		free_partitions(passes);
	if (passes->part == (passes->is_cut ? passes->radius : 0))
		return false;
	passes->part++;
	passes->partition = 0;
	if (passes->is_cut)
	{
		divide_list(passes, passes->x, passes->x_parts);
		divide_list(passes, passes->y, passes->y_parts);
	}
	return true;
}

static EntryList *
current_partition(const JoinPasses *passes, EntryList *whole, EntryList *parts)
{
	return passes->is_cut ? &parts[passes->partition] : whole;
}

/* Load entries from .. from + count - 1 of the list that are not settled. */
static JoinSide *
load_side(JoinPasses *passes, EntryList *list, uint64 from, uint64 count,
		  bool may_be_settled)
{
	JoinSide   *side = simhash_join_side_begin();

	simhash_join_side_number(side);
	simhash_entries_seek(list, from);
	for (; count > 0; count--)
	{
		JoinEntry	entry;

		CHECK_FOR_INTERRUPTS();
		simhash_entries_read(list, &entry);
		if (!may_be_settled || !is_settled_row(passes, entry.number))
			simhash_join_side_add(side, entry.position, entry.number, entry.fp);
	}
	simhash_join_side_group(side);
	return side;
}

static void
end_pass(JoinPasses *passes)
{
	if (passes->pairs != NULL)
		passes->compared += passes->pairs->compared;
	MemoryContextReset(passes->y_context);
	passes->pairs = NULL;
	passes->y_side = NULL;
}

static void
end_x_side(JoinPasses *passes)
{
	end_pass(passes);
	if (!is_in_memory(passes) && passes->x_side != NULL)
		simhash_join_side_end(passes->x_side);
	if (passes->settled != NULL)
		pfree(passes->settled);
	passes->x_side = NULL;
	passes->settled = NULL;
}

/* Take x_side for one or more passes. */
static void
begin_x_side(JoinPasses *passes, JoinSide *side)
{
	passes->x_side = side;
	if (passes->settled_rows != NULL)
		passes->settled =
			MemoryContextAllocExtended(passes->context,
									   Max(side->list.count, 1) * sizeof(bool),
									   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Begin a pass of x_side and y_side, in the context y_context. */
static void
begin_pass(JoinPasses *passes, JoinSide *y_side)
{
	passes->y_side = y_side;
	passes->pairs = hamming_join_pairs_begin(&passes->x_side->list,
											 &y_side->list, passes->radius);
	if (passes->settled != NULL)
		hamming_join_pairs_settle(passes->pairs, passes->settled);
	if (passes->is_cut)
		hamming_join_pairs_restrict(passes->pairs, &passes->cut, passes->part);
	passes->passes++;
}

/* Are all fingerprints of x_side settled, so that it needs no other pass? */
static bool
is_x_side_settled(const JoinPasses *passes)
{
	uint32		count = passes->x_side->list.count;
	uint32		i;

	if (passes->settled == NULL)
		return false;
	for (i = 0; i < count; i++)
		if (!passes->settled[i])
			return false;
	return true;
}

/* Begin the next pass of the current partition; return false after the last. */
static bool
next_stretches(JoinPasses *passes)
{
	EntryList  *x = current_partition(passes, passes->x, passes->x_parts);
	EntryList  *y = current_partition(passes, passes->y, passes->y_parts);
	uint64		x_size = stretch_size(passes, x->count, y->count);
	uint64		y_size = stretch_size(passes, y->count, x->count);
	MemoryContext old;

	end_pass(passes);
	if (passes->x_side == NULL || passes->y_next == y->count ||
		is_x_side_settled(passes))
	{
		end_x_side(passes);
		if (passes->x_next == x->count || y->count == 0)
			return false;
		x_size = Min(x_size, x->count - passes->x_next);
		old = MemoryContextSwitchTo(passes->context);
		begin_x_side(passes,
					 load_side(passes, x, passes->x_next, x_size, true));
		MemoryContextSwitchTo(old);
		passes->x_next += x_size;
		passes->y_next = 0;
	}
	y_size = Min(y_size, y->count - passes->y_next);
	old = MemoryContextSwitchTo(passes->y_context);
	begin_pass(passes, load_side(passes, y, passes->y_next, y_size, false));
	MemoryContextSwitchTo(old);
	passes->y_next += y_size;
	return true;
}

/* The same where the lists are in memory. */
static bool
only_pass(JoinPasses *passes)
{
	MemoryContext old;

	if (passes->x_side != NULL || passes->x->count == 0 ||
		passes->y->count == 0)
		return false;
	if (passes->x->side->starts == NULL)
		simhash_join_side_group(passes->x->side);
	if (passes->y->side->starts == NULL)
		simhash_join_side_group(passes->y->side);
	begin_x_side(passes, passes->x->side);
	old = MemoryContextSwitchTo(passes->y_context);
	begin_pass(passes, passes->y->side);
	MemoryContextSwitchTo(old);
	return true;
}

static bool
next_pass(JoinPasses *passes)
{
	if (is_in_memory(passes))
		return only_pass(passes);
	if (passes->x->count == 0 || passes->y->count == 0)
		return false;
	for (;;)
	{
		if (passes->part >= 0 && passes->partition < passes->partitions)
		{
			if (next_stretches(passes))
				return true;
			passes->partition++;
		}
		else if (!begin_part(passes))
			return false;
		passes->x_next = 0;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Get the next pair: number *x of passes->x_side, and *y of passes->y_side,
 * whose rows have ids, numbers and starts there (join_side.h).  A pair of
 * fingerprints comes once in all passes where no row is settled, and maybe more
 * often where rows are, or where lists are too long for memory: then with other
 * rows each time.
 */
bool
hamming_passes_next(JoinPasses *passes, uint32 *x, uint32 *y)
{
	uint32		x_place;
	uint32		y_place;

	for (;;)
	{
		if (passes->pairs == NULL ||
			!hamming_join_pairs_next(passes->pairs, &x_place, &y_place))
		{
			if (!next_pass(passes))
				return false;
			continue;
		}
		if (!hamming_join_pairs_is_first(passes->pairs,
										 passes->x_side->list.fps[x_place] ^
										 passes->y_side->list.fps[y_place]))
			continue;
		*x = passes->x_side->list.ids[x_place];
		*y = passes->y_side->list.ids[y_place];
		return true;
	}
}

/* Free all, but for the lists of entries. */
void
hamming_passes_end(JoinPasses *passes)
{
	end_x_side(passes);
	if (passes->x_parts != NULL)
		free_partitions(passes);
	MemoryContextDelete(passes->context);
}
