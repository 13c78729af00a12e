/*
 * pairs.c
 *	  All pairs of rows within a radius of each other, of two sides or of one,
 *	  however many rows there are.
 *
 * Sides in memory are paired in one pass.  Sides in files are divided into
 * partitions, and each partition of x is paired with the one of y that has the
 * same number.  If each key has few rows, a hash of its key chooses the
 * partition of a row.
 *
 * Else the pigeonhole principle divides the rows, as in groups.c: let all bits
 * be cut into radius + 1 segments, then fingerprints within the radius agree
 * in at least one segment.  For one segment after the other, a hash of the
 * segment's bits and of the key chooses the partition.  A pair that agrees in
 * several segments is taken for the first of them only.
 *
 * A partition that is too large for memory is paired by stretches, each of x
 * with each of y.  So are sides as a whole that have few stretches, or that no
 * cut divides well.
 *
 * A team finds all pairs of a pass at once (found.c).  Of sides that are
 * divided, it pairs all partitions, one in each process at a time.
 *
 * A share has the cut of its blocks, in memory, too, and only those rows of a
 * segment whose block is in the share.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "near/bits.h"
#include "near/pairs.h"

/*
 * Rows of both sides in a partition, where memory has room for more.  Joining
 * ten million rows with themselves took a third less time by partitions of
 * 200,000 rows than of three million.
 */
#define PARTITION_ROWS 200000

/*
 * Partitions of a segment: each has a buffer of 8 kB for each side.  All
 * buffers take at most 1 / FILE_SHARE of the memory, or those of
 * MIN_PARTITIONS if these take more.
 */
#define MIN_PARTITIONS 32
#define MAX_PARTITIONS 1024
#define FILE_SHARE 4

/*
 * A process that begins alone goes on by a team after FIRST_PAIRS pairs of
 * fingerprints, or after FIRST_COMPARISONS, which take 0.1 s.
 */
#define FIRST_PAIRS 1000
#define FIRST_COMPARISONS 400000000

/* Rows of each side that choose the cut. */
#define SAMPLE_ROWS 4096

/*
 * Where rows may be settled, SAMPLE_SETTLED fingerprints of x are compared with
 * all of y before a team is made, or one of SAMPLE_SHARE, if these are fewer.
 */
#define SAMPLE_SETTLED 32
#define SAMPLE_SHARE 64

static bool
is_in_memory(const NearPairs *pairs)
{
	return pairs->x->file == NULL;
}

/* Are the pairs those of one side? */
static bool
is_of_one_side(const NearPairs *pairs)
{
	return pairs->x == pairs->y;
}

/* Return how many rows of both sides together memory has room for. */
static uint64
rows_at_once(const NearPairs *pairs)
{
	uint64		rows = pairs->options.memory / side_row_bytes(pairs->x);

	return Max(rows, 2);
}

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

	pairs->x = pairs->x_partitions = x;
	pairs->y = pairs->y_partitions = y;
	pairs->partitions = 1;
	pairs->options = *options;
	pairs->segment = -1;
	pairs->cut.segment_count = 1;
	pairs->comparison = hamming_compare_make(&x->list, &y->list,
											 options->radius);
	if (options->share != NULL && options->radius < HAMMING_BITS)
	{
		hamming_shares_cut(&options->share->shares, &pairs->cut);
		pairs->is_cut = true;
	}
	MemoryContextSwitchTo(old);
	return pairs;
}

/*
 * Read rows that are spread evenly over a side in a file: their fingerprints,
 * and as numbers their keys.
 */
static void
read_sample(NearSide *side, FingerprintList *sample)
{
	uint64		count = Min(side->count, SAMPLE_ROWS);
	uint64		i;

	hamming_fplist_allocate(sample, count);
	for (i = 0; i < count; i++)
	{
		NearRow		row;

		hamming_side_seek(side, side->count * i / count);
		hamming_side_read(side, &row);
		fplist_append(sample, row.fp, row.key);
	}
}

/*
 * Return into how many partitions the rows are divided, so that those of both
 * sides fit into two thirds of the memory, or into a cache.
 */
static int
number_of_partitions(const NearPairs *pairs)
{
	uint64		at_once = Min(rows_at_once(pairs), PARTITION_ROWS);
	uint64		rows = pairs->x->count;
	uint64		most = pairs->options.memory / FILE_SHARE / BLCKSZ;

	if (!is_of_one_side(pairs))
	{
		rows += pairs->y->count;
		most /= 2;
	}
	most = Max(MIN_PARTITIONS, Min(most, MAX_PARTITIONS));
	return (int) Min(rows * 3 / 2 / at_once + 1, most);
}

/*
 * Return how many of count rows make a stretch: all of a side in memory, and
 * all of one side that memory has room for.  Of another side in a file, what
 * memory has room for beside a stretch of a side of other_count rows.
 */
static uint64
stretch_size(const NearPairs *pairs, uint64 count, uint64 other_count)
{
	uint64		at_once = rows_at_once(pairs);
	uint64		left = at_once - Min(other_count, at_once / 2);

	if (is_in_memory(pairs) || (is_of_one_side(pairs) && count <= at_once))
		return count;
	return Min(count, left);
}

/* Return into how many stretches a side of count rows in a file is cut. */
static double
number_of_stretches(double count, double other_count, double at_once)
{
	double		left = at_once - Min(other_count, floor(at_once / 2));

	return ceil(count / Min(count, left));
}

/*
 * Memory has room for at_once rows.  Are sides of x and of y rows in files
 * paired sooner stretch by stretch than partition by partition?  Then each
 * stretch of one side is read, and sorted by radius + 1 segments, for each
 * stretch of the other.  Partitions take these sorts once, but the rows are
 * divided and written as often.
 */
bool
hamming_pairs_prefer_stretches(double x, double y, double at_once)
{
	return x * number_of_stretches(y, x, at_once) +
		y * number_of_stretches(x, y, at_once) <= 3 * (x + y);
}

/* For qsort(). */
static int
compare_keys(const void *a, const void *b)
{
	uint32		x = *(const uint32 *) a;
	uint32		y = *(const uint32 *) b;

	return (x > y) - (x < y);
}

/* Estimate how many of rows have the most frequent key, by a sample of them. */
static double
rows_of_one_key(const FingerprintList *sample, uint64 rows)
{
	uint32		most = 0;
	uint32		begin = 0;
	uint32		i;

	qsort(sample->numbers, sample->count, sizeof(uint32), compare_keys);
	for (i = 0; i < sample->count; i++)
	{
		if (sample->numbers[i] != sample->numbers[begin])
			begin = i;
		most = Max(most, i + 1 - begin);
	}
	return (double) rows * most / sample->count;
}

/*
 * x and y are samples of the sides.  Does each key have so few rows that they
 * fit into half of the memory?
 */
static bool
has_small_keys(const NearPairs *pairs, const FingerprintList *x,
			   const FingerprintList *y)
{
	double		most = rows_of_one_key(x, pairs->x->count);

	if (!is_of_one_side(pairs))
		most += rows_of_one_key(y, pairs->y->count);
	return pairs->x->keeps_keys && most <= rows_at_once(pairs) / 2;
}

/*
 * Are sides in files to be divided into partitions?  If so by segments, set the
 * cut.
 */
static bool
choose_division(NearPairs *pairs)
{
	bool		has_small;
	Fingerprint varying = pairs->x->varying | pairs->y->varying |
	(pairs->x->first ^ pairs->y->first);
	FingerprintList x;
	FingerprintList y;

	if (pairs->is_cut ||
		hamming_pairs_prefer_stretches(pairs->x->count, pairs->y->count,
									   rows_at_once(pairs)))
		return pairs->is_cut;
	read_sample(pairs->x, &x);
	read_sample(pairs->y, &y);
	has_small = has_small_keys(pairs, &x, &y);
	pairs->is_cut = !has_small &&
		hamming_groups_choose_cut(&x, &y, pairs->options.radius, varying,
								  &pairs->cut);
	hamming_fplist_free(&x);
	hamming_fplist_free(&y);
	return has_small || pairs->is_cut;
}

/* Is the block of the current segment in the share, if there is one? */
static bool
is_in_segment(const NearPairs *pairs, Fingerprint fp)
{
	const Share *share = pairs->options.share;

	return share == NULL || is_block_in_share(share, fp, pairs->segment);
}

/* Return the partition of a row, by its key and the current segment. */
static int
partition_of(const NearPairs *pairs, const NearRow *row)
{
	uint64		hash = spread_key(row->key);

	if (pairs->is_cut)
		hash ^= hamming_hash(row->fp & pairs->cut.segments[pairs->segment]);
	return (hash >> 32) % pairs->partitions;
}

/* Return the name of a file that a team shares, of x if side is 0, or of y. */
static const char *
file_name(int side, uint32 partition)
{
	return psprintf("%d.%u", side, partition);
}

/* Divide a side into its partitions for the current segment. */
static void
divide_side(NearPairs *pairs, NearSide *side, NearSide *partitions)
{
	int			number = partitions == pairs->x_partitions ? 0 : 1;
	uint64		i;

	for (i = 0; i < (uint64) pairs->partitions; i++)
	{
		hamming_side_begin(&partitions[i], side->keeps_numbers,
						   side->keeps_keys);
		if (pairs->team != NULL)
			hamming_side_share(&partitions[i], pairs->team->files,
							   file_name(number, i));
		else
			hamming_side_to_file(&partitions[i]);
	}
	hamming_side_seek(side, 0);
	for (i = 0; i < side->count; i++)
	{
		NearRow		row;

		CHECK_FOR_INTERRUPTS();
		hamming_side_read(side, &row);
		if (!is_in_segment(pairs, row.fp))
			continue;
		hamming_side_add(&partitions[partition_of(pairs, &row)], &row);
		pairs->written += sizeof(NearRow);
	}
}

static void
free_partitions(NearPairs *pairs)
{
	int			i;

	for (i = 0; pairs->is_divided && i < pairs->partitions; i++)
	{
		hamming_side_end(&pairs->x_partitions[i]);
		hamming_side_end(&pairs->y_partitions[i]);
	}
}

/* Have room for the partitions of sides in files. */
static void
begin_partitions(NearPairs *pairs)
{
	Size		size;

	pairs->is_divided = true;
	pairs->partitions = number_of_partitions(pairs);
	size = pairs->partitions * sizeof(NearSide);
	pairs->x_partitions = pairs->y_partitions = palloc0(size);
	if (!is_of_one_side(pairs))
		pairs->y_partitions = palloc0(size);
}

/* Divide both sides, or the one, for the next segment. */
static void
divide(NearPairs *pairs)
{
	pairs->segment++;
	if (!pairs->is_divided)
		return;
	divide_side(pairs, pairs->x, pairs->x_partitions);
	if (!is_of_one_side(pairs))
		divide_side(pairs, pairs->y, pairs->y_partitions);
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

/* End the passes of x_pass. */
static void
end_x(NearPairs *pairs)
{
	hamming_side_end(&pairs->loaded[0]);
	if (pairs->settled != NULL)
		pfree(pairs->settled);
	pairs->x_pass = pairs->y_pass = NULL;
	pairs->settled = NULL;
}

/* Let side be x_pass, for one or more passes. */
static void
begin_x(NearPairs *pairs, NearSide *side)
{
	hamming_side_group(side);
	pairs->x_pass = side;
	if (pairs->options.settled_rows != NULL)
		pairs->settled = palloc_extended(Max(side->list.count, 1) *
										 sizeof(bool),
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/*
 * Move those fingerprints of x_pass to the front of its list whose block of
 * the current segment is in the share.  Return their number.
 */
static uint32
gather_members(NearPairs *pairs)
{
	FingerprintList *list = &pairs->x_pass->list;
	uint32		count = 0;
	uint32		i;

	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (is_in_segment(pairs, list->fps[i]))
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
static bool
next_key(NearPairs *pairs, Candidates *all)
{
	const NearSide *x = pairs->x_pass;
	const NearSide *y = pairs->y_pass;

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

/*
 * Begin to compare the fingerprints of one key.  Each segment is as much of the
 * work, and each partition of one.
 */
static void
begin_groups(NearPairs *pairs, const Candidates *all)
{
	NearGroups *groups = pairs->comparison->groups;
	double		segments = pairs->is_cut ? pairs->cut.segment_count : 1;

	groups->done_here = 1 / segments / pairs->partitions;
	groups->done_before = pairs->segment / segments +
		pairs->partition * groups->done_here;
	hamming_groups_begin(groups, all, pairs->is_cut ? &pairs->cut : NULL,
						 pairs->segment);
}

/* Begin to compare the fingerprints of the next key of the pass. */
static bool
next_group(NearPairs *pairs)
{
	Candidates	all;

	if (pairs->y_pass == NULL || !next_key(pairs, &all))
		return false;
	if (pairs->options.share != NULL)
		all.x_end = gather_members(pairs);
	if (pairs->x_pass == pairs->y_pass)
	{
		all.y_end = all.x_end;
		/* what was returned before a search begins anew is so no more */
		pairs->same = Max(all.x, pairs->same_end);
		/* equal fingerprints agree in the first segment */
		pairs->same_end = pairs->segment == 0 ? Max(all.x_end, pairs->same)
			: pairs->same;
	}
	begin_groups(pairs, &all);
	return true;
}

/*
 * Rows of x may be settled.  Estimate which part of the search a team would
 * have to do, 0 .. 1: once a fingerprint of x is settled, it is compared no
 * more.
 */
static double
part_for_team(NearPairs *pairs)
{
	FingerprintList *x = &pairs->x_pass->list;
	FingerprintList *y = &pairs->y_pass->list;
	Matches    *matches = &pairs->comparison->matches;
	uint32		count = Min(SAMPLE_SETTLED, x->count / SAMPLE_SHARE + 1);
	uint32		have_pairs = 0;
	uint64		found = 0;
	uint32		i;

	for (i = 0; i < count; i++)
	{
		uint64		before = found;
		uint32		place;

		matches_begin(matches, y, 0, y->count,
					  x->fps[(uint64) x->count * i / count],
					  pairs->options.radius);
		while (matches_next(matches, &place))
			found++;
		have_pairs += found > before;
	}
	if (pairs->options.any_pair_settles)
		return 1 - (double) have_pairs / count;
	return found <= FEW_PAIRS * count ? 1 : 0;
}

/*
 * Return how many other processes are worth their start for the current pass.
 * Each key is taken for as large as any other.
 */
static int
workers_of_pass(NearPairs *pairs)
{
	const NearSide *x = pairs->x_pass;
	const NearSide *y = pairs->y_pass;
	double		keys = Max(Min(x->group_count, y->group_count), 1);
	double		rows = x->list.count + (y == x ? 0 : y->list.count);
	double		cost;
	int			workers;

	if (pairs->options.workers == 0 || pairs->options.share != NULL ||
		pairs->is_divided)
		return 0;
	cost = keys * hamming_near_cost(x->list.count / keys, y->list.count / keys,
									pairs->options.radius);
	/* of one side each two are compared once */
	if (y == x)
		cost /= 2;
	workers = simhash_team_workers(cost, rows);
	/* by keys most of y are compared with none of x */
	if (workers > 0 && pairs->settled != NULL && !x->keeps_keys)
		workers = simhash_team_workers(cost * part_for_team(pairs), rows);
	return Min(workers, pairs->options.workers);
}

/*
 * Let a team find all pairs of the pass.  If that cannot be, this process
 * begins the pass anew.
 */
static void
search_by_team(NearPairs *pairs)
{
	const NearSide *x = pairs->x_pass;
	const NearSide *y = pairs->y_pass;
	FoundSearch search = {
		.x = &x->list,.y = &y->list,.radius = pairs->options.radius,
		.workers = pairs->pass_workers,
		.settled = pairs->settled,
		.any_pair_settles = pairs->options.any_pair_settles
	};
	FoundWork	work;
	Size		most = Min(x->group_count, y->group_count);
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(pairs));

	search.keys = palloc_extended(most * sizeof(Candidates), MCXT_ALLOC_HUGE);
	pairs->x_group = pairs->y_group = 0;
	while (next_key(pairs, &search.keys[search.key_count]))
		search.key_count++;
	if (search.key_count > 0)
	{
		pairs->found = hamming_found_search(&search, &work);
		pairs->work.compared += work.compared;
		pairs->work.memory = Max(pairs->work.memory, work.memory);
		pairs->work.launched = Max(pairs->work.launched, work.launched);
		pairs->written += work.written;
	}
	pfree(search.keys);
	MemoryContextSwitchTo(old);
	if (pairs->found == NULL)
		pairs->x_group = pairs->y_group = 0;
	else if (x == y)
	{
		pairs->same = pairs->same_end;
		pairs->same_end = x->list.count;
	}
}

/* For qsort() and bsearch(): by the numbers. */
static int
compare_found(const void *a, const void *b)
{
	const FoundPair *x = a;
	const FoundPair *y = b;

	if (x->x != y->x)
		return x->x < y->x ? -1 : 1;
	return (x->y > y->y) - (x->y < y->y);
}

/* Has this process, which has begun alone, returned or compared enough? */
static bool
is_stopped(const NearPairs *pairs)
{
	const Comparison *c = pairs->comparison;

	return c->most > 0 &&
		(pairs->first_count == FIRST_PAIRS ||
		 (c->compared >= c->most && c->outer != NULL));
}

/*
 * This process, which has begun alone, has returned or compared enough: let a
 * team find all pairs.
 */
static void
go_on_by_team(NearPairs *pairs)
{
	Comparison *c = pairs->comparison;
	NearGroups *groups = c->groups;
	uint64		compared = c->compared;
	Candidates	none = {0};

	qsort(pairs->first_pairs, pairs->first_count, sizeof(FoundPair),
		  compare_found);
	pairs->first_left = pairs->first_count;
	memset(c, 0, sizeof(Comparison));
	c->groups = groups;
	c->compared = compared;
	hamming_groups_begin(groups, &none, NULL, 0);
	search_by_team(pairs);
}

/* Begin a pass of x_pass and y_side.  A team finds its pairs at once. */
static void
begin_pass(NearPairs *pairs, NearSide *y_side)
{
	NearGroups *groups = pairs->comparison->groups;

	hamming_side_group(y_side);
	pairs->y_pass = y_side;
	pairs->x_group = pairs->y_group = 0;
	pairs->same = pairs->same_end = 0;
	groups->x = &pairs->x_pass->list;
	groups->y = &y_side->list;
	groups->settled = pairs->settled;
	pairs->passes++;
	pairs->most_memory = Max(pairs->most_memory,
							 side_memory(&pairs->loaded[0]) +
							 side_memory(&pairs->loaded[1]));
	if (pairs->found != NULL)
		hamming_found_end(pairs->found);
	pairs->found = NULL;
	pairs->comparison->most = 0;
	pairs->first_count = pairs->first_left = 0;
	pairs->pass_workers = workers_of_pass(pairs);
	if (pairs->pass_workers > 0 && !pairs->options.begins_alone)
		search_by_team(pairs);
	else if (pairs->pass_workers > 0)
	{
		pairs->comparison->most = pairs->comparison->compared +
			FIRST_COMPARISONS;
		if (pairs->first_pairs == NULL)
			pairs->first_pairs =
				MemoryContextAlloc(GetMemoryChunkContext(pairs),
								   FIRST_PAIRS * sizeof(FoundPair));
	}
}

/* Are all fingerprints of x in memory settled, so that no other pass is due? */
static bool
is_x_settled(const NearPairs *pairs)
{
	uint32		count = pairs->x_pass->list.count;
	uint32		i = 0;

	while (pairs->settled != NULL && i < count && pairs->settled[i])
		i++;
	return pairs->settled != NULL && i == count;
}

/* Begin the next pass of the current partition; return false after the last. */
static bool
next_stretches(NearPairs *pairs)
{
	NearSide   *x = &pairs->x_partitions[pairs->partition];
	NearSide   *y = &pairs->y_partitions[pairs->partition];
	uint64		size;

	hamming_side_end(&pairs->loaded[1]);
	if (pairs->x_pass == NULL || pairs->y_next == y->count ||
		is_x_settled(pairs))
	{
		end_x(pairs);
		if (pairs->x_next == x->count || y->count == 0)
			return false;
		size = Min(stretch_size(pairs, x->count, y->count),
				   x->count - pairs->x_next);
		begin_x(pairs, load_rows(pairs, 0, x, pairs->x_next, size));
		pairs->x_next += size;
		/* of one side, each two stretches once, in this order */
		pairs->y_next = is_of_one_side(pairs) ? pairs->x_next : 0;
		if (is_of_one_side(pairs))
		{
			begin_pass(pairs, pairs->x_pass);
			return true;
		}
	}
	size = Min(stretch_size(pairs, y->count, x->count),
			   y->count - pairs->y_next);
	begin_pass(pairs, load_rows(pairs, 1, y, pairs->y_next, size));
	pairs->y_next += size;
	return true;
}

/* What a team sees that pairs the partitions of sides in files. */
typedef struct SharedPartitions
{
	int			radius;
	Size		memory;			/* bytes for rows, of each process */
	bool		keeps_numbers;
	bool		keeps_keys;
	bool		is_of_one_side;
	bool		is_cut;
	NearCut		cut;
	int			segment;		/* the current one */
	int			partitions;
	uint64		counts[2][MAX_PARTITIONS];	/* rows of x and of y */

	/* what processes have done */
	pg_atomic_uint64 passes;
	pg_atomic_uint64 compared;
	pg_atomic_uint64 memory_taken;
} SharedPartitions;

/* What a process of such a team has. */
typedef struct PartitionWork
{
	Team	   *team;
	SharedPartitions *shared;
	NearPairs  *pairs;			/* of the partition of a unit */
	FoundRows	rows;			/* that are written */
} PartitionWork;

static void
open_partition(PartitionWork *work, int side, uint32 partition)
{
	NearSide   *sides = side == 0 ? work->pairs->x_partitions
	: work->pairs->y_partitions;

	hamming_side_begin(&sides[partition], work->shared->keeps_numbers,
					   work->shared->keeps_keys);
	hamming_side_open(&sides[partition], work->team->files,
					  file_name(side, partition),
					  work->shared->counts[side][partition]);
}

/* Do a unit of the team: write the pairs of a partition. */
static void
pair_partition(void *arg, const TeamStep *step, uint32 unit)
{
	PartitionWork *work = arg;
	NearPairs  *pairs = work->pairs;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(pairs));
	NearPair	pair;

	open_partition(work, 0, unit);
	if (!work->shared->is_of_one_side)
		open_partition(work, 1, unit);
	pairs->x = &pairs->x_partitions[unit];
	pairs->y = &pairs->y_partitions[unit];
	pairs->segment = work->shared->segment;
	pairs->partition = unit;
	pairs->x_next = 0;
	while (pairs->x->count > 0 && next_stretches(pairs))
		while (hamming_pairs_next_of_pass(pairs, &pair))
			hamming_rows_write(&work->rows, &pair);
	end_x(pairs);
	hamming_side_end(pairs->x);
	hamming_side_end(pairs->y);
	MemoryContextSwitchTo(old);
}

/* Begin what each process of the team does. */
static PartitionWork *
begin_partition_work(Team *team)
{
	PartitionWork *work = palloc0(sizeof(PartitionWork));
	SharedPartitions *shared = (SharedPartitions *) team->memory;
	NearOptions options = {.radius = shared->radius,.memory = shared->memory};
	Size		size = shared->partitions * sizeof(NearSide);
	NearSide   *x = palloc0(size);
	NearSide   *y = shared->is_of_one_side ? x : palloc0(size);

	hamming_side_begin(x, shared->keeps_numbers, shared->keeps_keys);
	work->team = team;
	work->shared = shared;
	work->pairs = hamming_pairs_begin(x, y, &options);
	work->pairs->is_cut = shared->is_cut;
	work->pairs->cut = shared->cut;
	work->pairs->partitions = shared->partitions;
	work->rows.file.team = team;
	team->work = pair_partition;
	team->arg = work;
	return work;
}

/* Tell what this process has done, and let others read its file. */
static void
end_partition_work(PartitionWork *work)
{
	NearPairs  *pairs = work->pairs;
	SharedPartitions *shared = work->shared;

	simhash_team_file_finish(&work->rows.file);
	pg_atomic_fetch_add_u64(&shared->passes, pairs->passes);
	pg_atomic_fetch_add_u64(&shared->compared, pairs->comparison->compared);
	pg_atomic_fetch_add_u64(&shared->memory_taken, pairs->most_memory);
	hamming_pairs_end(pairs);
}

/* What a worker does: PostgreSQL finds this function by its name. */
void
hamming_pairs_main(dsm_segment *segment, shm_toc *toc)
{
	Team	   *team = simhash_team_attach(toc);
	PartitionWork *work = begin_partition_work(team);

	simhash_team_serve(team);
	end_partition_work(work);
	simhash_team_end(team);
}

/* Have all partitions of the current segment paired. */
static void
pair_segment(NearPairs *pairs, PartitionWork *work)
{
	TeamStep	step = {.units = pairs->partitions};
	NearSide   *sides[2] = {pairs->x_partitions, pairs->y_partitions};
	int			count = is_of_one_side(pairs) ? 1 : 2;
	int			side;
	int			i;

	for (side = 0; side < count; side++)
	{
		for (i = 0; i < pairs->partitions; i++)
		{
			work->shared->counts[side][i] = sides[side][i].count;
			hamming_side_close(&sides[side][i]);
		}
	}
	work->shared->segment = pairs->segment;
	simhash_team_do(work->team, &step);
	for (side = 0; side < count; side++)
		for (i = 0; i < pairs->partitions; i++)
			BufFileDeleteFileSet(&work->team->files->fs, file_name(side, i),
								 false);
}

/*
 * The team has paired all partitions.  Let the workers end.  Prepare
 * pairs->rows for reading, and add the work of all processes to pairs->work.
 */
static void
take_over(NearPairs *pairs, PartitionWork *work)
{
	SharedPartitions *shared = work->shared;
	FoundRows  *rows = &pairs->rows;
	int			side;

	pairs->work.launched = work->team->context->nworkers_launched;
	end_partition_work(work);
	simhash_team_dismiss(work->team);
	pairs->passes += pg_atomic_read_u64(&shared->passes);
	pairs->work.compared += pg_atomic_read_u64(&shared->compared);
	pairs->work.memory = pg_atomic_read_u64(&shared->memory_taken);
	pairs->written += simhash_team_written(work->team);
	simhash_team_free_memory(work->team);
	rows->file.team = work->team;
	rows->file.end = pairs->work.launched + 1;
	for (side = 0; side < 2; side++)
		hamming_side_begin(&rows->sides[side], pairs->x->keeps_numbers, false);
	pfree(work);
}

/*
 * Return how many other processes are worth their start for sides in files that
 * are divided.  Where few pairs may be wanted, and where rows may be settled,
 * which others would not know of, that is left to this process.
 */
static int
workers_of_partitions(const NearPairs *pairs)
{
	double		cost = hamming_near_cost(pairs->x->count, pairs->y->count,
										 pairs->options.radius);

	if (temp_file_limit >= 0 || pairs->options.share != NULL ||
		pairs->options.settled_rows != NULL || pairs->options.begins_alone)
		return 0;
	return Min(simhash_team_workers(cost, 0), pairs->options.workers);
}

/*
 * Let a team pair all partitions of all segments, each process in its part of
 * the memory.  Return false if nothing can be shared: then the caller does so.
 */
static bool
pair_partitions(NearPairs *pairs, int workers)
{
	SharedPartitions *shared;
	PartitionWork *work;

	pairs->team = simhash_team_make(sizeof(SharedPartitions));
	if (pairs->team == NULL)
		return false;
	pairs->options.memory /= workers + 1;
	begin_partitions(pairs);
	shared = (SharedPartitions *) pairs->team->memory;
	memset(shared, 0, sizeof(SharedPartitions));
	shared->radius = pairs->options.radius;
	shared->memory = pairs->options.memory;
	shared->keeps_numbers = pairs->x->keeps_numbers;
	shared->keeps_keys = pairs->x->keeps_keys;
	shared->is_of_one_side = is_of_one_side(pairs);
	shared->is_cut = pairs->is_cut;
	shared->cut = pairs->cut;
	shared->partitions = pairs->partitions;
	pg_atomic_init_u64(&shared->passes, 0);
	pg_atomic_init_u64(&shared->compared, 0);
	pg_atomic_init_u64(&shared->memory_taken, 0);
	work = begin_partition_work(pairs->team);
	simhash_team_launch(pairs->team, CppAsString2(hamming_pairs_main),
						workers);
	while (pairs->segment + 1 < pairs->cut.segment_count)
	{
		divide(pairs);
		pair_segment(pairs, work);
	}
	take_over(pairs, work);
	pairs->partition = pairs->partitions;
	return true;
}

/*
 * Begin the next segment of the cut; return false if there is none.  Of sides
 * in files a team may pair all of them at once.
 */
static bool
next_segment(NearPairs *pairs)
{
	if (pairs->segment < 0 && !is_in_memory(pairs) && choose_division(pairs))
	{
		int			workers = workers_of_partitions(pairs);

		if (workers > 0 && pair_partitions(pairs, workers))
			return true;
		begin_partitions(pairs);
	}
	free_partitions(pairs);
	if (pairs->segment + 1 == pairs->cut.segment_count)
		return false;
	divide(pairs);
	pairs->partition = 0;
	pairs->x_next = 0;
	return true;
}

/*
 * Begin the next pass; return false after the last.  Each pair of rows within
 * the radius is in at least one pass: in x_pass, if y_pass is the same side;
 * else one of its rows is in x_pass, and the other one is in y_pass.
 */
bool
hamming_pairs_next_pass(NearPairs *pairs)
{
	MemoryContext old =
	MemoryContextSwitchTo(GetMemoryChunkContext(pairs));
	bool		found = pairs->x->count > 0 && pairs->y->count > 0;

	while (found)
	{
		CHECK_FOR_INTERRUPTS();
		if (pairs->segment >= 0 && pairs->partition < pairs->partitions)
		{
			if (next_stretches(pairs))
				break;
			pairs->partition++;
			pairs->x_next = 0;
		}
		else
		{
			found = next_segment(pairs);
			if (pairs->team != NULL)
				break;
		}
	}
	MemoryContextSwitchTo(old);
	return found;
}

/* Describe the rows of fingerprint x of x_pass, and of y of y_pass. */
static void
set_pair(const NearPairs *pairs, uint32 x, uint32 y, NearPair *pair)
{
	pair->x_side = pairs->x_pass;
	pair->x = pair->x_side->starts[x];
	pair->x_end = pair->x_side->starts[x + 1];
	pair->y_side = pairs->y_pass;
	pair->y = pair->y_side->starts[y];
	pair->y_end = pair->y_side->starts[y + 1];
	pair->fingerprint = x;
}

/* Get the next rows that have one fingerprint, to be paired with each other. */
static bool
next_same(NearPairs *pairs, NearPair *pair)
{
	while (pairs->same < pairs->same_end)
	{
		uint32		x = pairs->x_pass->list.numbers[pairs->same++];

		CHECK_FOR_INTERRUPTS();
		set_pair(pairs, x, x, pair);
		pair->is_same = true;
		pair->distance = 0;
		if (pair->x_end - pair->x > 1)
			return true;
	}
	return false;
}

/* Return the pair, which in a search of one side stands for that of y and x. */
static FoundPair
first_pair(const NearPairs *pairs, uint32 x, uint32 y)
{
	FoundPair	pair = {.x = x,.y = y};

	if (pairs->x_pass == pairs->y_pass && y < x)
	{
		pair.x = y;
		pair.y = x;
	}
	return pair;
}

/* Note a pair that this process returns before it goes on by a team. */
static void
note_first_pair(NearPairs *pairs, uint32 x, uint32 y)
{
	pairs->first_pairs[pairs->first_count++] = first_pair(pairs, x, y);
}

/* Was the pair noted by note_first_pair()?  Each of these comes once more. */
static bool
is_first_pair(NearPairs *pairs, uint32 x, uint32 y)
{
	FoundPair	first = first_pair(pairs, x, y);

	if (pairs->first_left == 0 ||
		bsearch(&first, pairs->first_pairs, pairs->first_count,
				sizeof(FoundPair), compare_found) == NULL)
		return false;
	pairs->first_left--;
	return true;
}

/* Get the rows of the next two fingerprints of the current pass. */
static bool
next_two(NearPairs *pairs, NearPair *pair)
{
	Comparison *c = pairs->comparison;
	uint32		x;
	uint32		y;

	while (!is_stopped(pairs) && hamming_compare_next(c, &x, &y))
	{
		Fingerprint difference = pairs->x_pass->list.fps[x] ^
		pairs->y_pass->list.fps[y];

		if (!hamming_groups_is_first(c->groups, difference))
			continue;
		x = pairs->x_pass->list.numbers[x];
		y = pairs->y_pass->list.numbers[y];
		if (is_first_pair(pairs, x, y))
			continue;
		set_pair(pairs, x, y, pair);
		pair->is_same = false;
		pair->distance = fingerprint_popcount(difference);
		/* where x may be settled, a pair may come more often */
		if (c->most > 0 && pairs->settled == NULL)
			note_first_pair(pairs, x, y);
		return true;
	}
	return false;
}

/* Do the same for what a team has found. */
static bool
next_found(NearPairs *pairs, NearPair *pair)
{
	FoundPair	found;

	do
	{
		if (!hamming_found_next(pairs->found, &found))
			return false;
	} while (is_first_pair(pairs, found.x, found.y));
	set_pair(pairs, found.x, found.y, pair);
	pair->is_same = false;
	pair->distance = found.distance;
	return true;
}

/*
 * Do what hamming_pairs_next() does, for the pairs of the current pass only:
 * before the first pass there are none.
 */
bool
hamming_pairs_next_of_pass(NearPairs *pairs, NearPair *pair)
{
	if (pairs->team != NULL)
		return hamming_rows_next(&pairs->rows, pair);
	while (!next_same(pairs, pair) &&
		   !(pairs->found != NULL ? next_found(pairs, pair)
			 : next_two(pairs, pair)))
	{
		if (is_stopped(pairs))
			go_on_by_team(pairs);
		else if (!next_group(pairs))
			return false;
	}
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

/*
 * Note that all rows of x are settled in the pair that hamming_pairs_next()
 * returned last: their fingerprint needs no pairs any more, in this pass.
 */
void
hamming_pairs_settle(NearPairs *pairs, const NearPair *pair)
{
	pairs->settled[pair->fingerprint] = true;
}

/* Free all, but for the sides. */
void
hamming_pairs_end(NearPairs *pairs)
{
	hamming_side_end(&pairs->loaded[0]);
	hamming_side_end(&pairs->loaded[1]);
	free_partitions(pairs);
	if (pairs->found != NULL)
		hamming_found_end(pairs->found);
	simhash_team_file_close(&pairs->rows.file);
	if (pairs->team != NULL)
		simhash_team_end(pairs->team);
	MemoryContextDelete(GetMemoryChunkContext(pairs));
}
