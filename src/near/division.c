/*
 * division.c
 *	  The partitions of sides in files, of which memory has room for some rows
 *	  only.
 *
 * Each partition of x is paired with the one of y that has the same number: a
 * hash of the key chooses it, and of a segment of a cut, for one segment after
 * the other.  near/README, "Sides", proves that no pair is lost.  A share has
 * the cut of its blocks, in memory, too.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "near/pairs.h"

/*
 * Rows of both sides in a partition, where memory has room for more.  Joining
 * ten million rows with themselves took a third less time by partitions of
 * 200,000 rows than of three million.
 */
#define PARTITION_ROWS 200000

/*
 * All buffers of partitions take at most 1 / FILE_SHARE of the memory, or those
 * of MIN_PARTITIONS if these take more.
 */
#define MIN_PARTITIONS 32
#define FILE_SHARE 4

/* Rows of each side that choose the cut. */
#define SAMPLE_ROWS 4096

/* Begin with sides that are not divided; with a share, by its blocks' cut. */
void
hamming_division_begin(Division *division, NearSide *x, NearSide *y,
					   const Shares *share)
{
	int			i;

	memset(division, 0, sizeof(Division));
	division->x = division->x_partitions = x;
	division->y = division->y_partitions = y;
	division->partitions = 1;
	division->segment = -1;
	division->cut.segment_count = 1;
	division->share = share;
	if (share == NULL || share->radius == HAMMING_BITS)
		return;
	/* whose first segments are the blocks */
	cut_begin(&division->cut, 1, share->radius, FINGERPRINT_ALL_BITS,
			  FINGERPRINT_ALL_BITS);
	for (i = 0; i < share->block_count; i++)
		division->cut.segments[i] = share->blocks[i].mask;
	division->is_cut = true;
}

/* Read fingerprints, and as numbers keys, spread evenly over a side. */
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
number_of_partitions(const Division *division, Size memory)
{
	uint64		at_once = Min(side_rows_within(division->x, memory),
							  PARTITION_ROWS);
	uint64		rows = division->x->count;
	uint64		most = memory / FILE_SHARE / BLCKSZ;

	if (division->x != division->y)
	{
		rows += division->y->count;
		most /= 2;
	}
	most = Max(MIN_PARTITIONS, Min(most, MAX_PARTITIONS));
	return (int) Min(rows * 3 / 2 / at_once + 1, most);
}

/*
 * Memory has room for at_once rows.  Return how many of count rows of a side in
 * a file make a stretch, beside a stretch of a side of other_count rows.
 */
double
hamming_division_stretch(double count, double other_count, double at_once)
{
	return Min(count, at_once - Min(other_count, floor(at_once / 2)));
}

/*
 * Memory has room for at_once rows.  Are sides of x and of y rows in files
 * paired sooner stretch by stretch than partition by partition?  Then each
 * stretch of one side is read, and sorted by radius + 1 segments, for each
 * stretch of the other.  Partitions take these sorts once, but the rows are
 * divided and written as often.
 */
bool
hamming_prefers_stretches(double x, double y, double at_once)
{
	return x * ceil(y / hamming_division_stretch(y, x, at_once)) +
		y * ceil(x / hamming_division_stretch(x, y, at_once)) <= 3 * (x + y);
}

/* Estimate how many of rows have the most frequent key, by a sample of them. */
static double
rows_of_one_key(const FingerprintList *sample, uint64 rows)
{
	uint32		most = 0;
	uint32		begin = 0;
	uint32		i;

	qsort(sample->numbers, sample->count, sizeof(uint32), oid_cmp);
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
has_small_keys(const Division *division, const FingerprintList *x,
			   const FingerprintList *y, Size memory)
{
	double		most = rows_of_one_key(x, division->x->count);

	if (division->x != division->y)
		most += rows_of_one_key(y, division->y->count);
	return division->x->keeps_keys &&
		most <= side_rows_within(division->x, memory) / 2;
}

/*
 * Are the sides, which are in files, to be divided into partitions?  If so by
 * segments, set the cut.
 */
bool
hamming_division_choose(Division *division, const NearOptions *options)
{
	const NearSide *x = division->x;
	const NearSide *y = division->y;
	Fingerprint varying = x->varying | y->varying | (x->first ^ y->first);
	FingerprintList x_sample;
	FingerprintList y_sample;
	bool		has_small;

	if (division->is_cut ||
		(!options->are_same_rows &&
		 hamming_prefers_stretches(x->count, y->count,
								   side_rows_within(x, options->memory))))
		return division->is_cut;
	read_sample(division->x, &x_sample);
	read_sample(division->y, &y_sample);
	has_small = has_small_keys(division, &x_sample, &y_sample,
							   options->memory);
	division->is_cut = !has_small &&
		hamming_groups_choose_cut(&x_sample, &y_sample, options->radius,
								  varying, &division->cut);
	hamming_fplist_free(&x_sample);
	hamming_fplist_free(&y_sample);
	return has_small || division->is_cut;
}

void
hamming_division_make(Division *division, Size memory)
{
	Size		size;

	division->partitions = number_of_partitions(division, memory);
	size = division->partitions * sizeof(NearSide);
	division->x_partitions = division->y_partitions = palloc0(size);
	if (division->x != division->y)
		division->y_partitions = palloc0(size);
}

static int
partition_of(const Division *division, const NearRow *row)
{
	/* spread over 64 bits; 0 for the key 0, that of a row without */
	uint64		hash = row->key * UINT64CONST(0x9E3779B97F4A7C15);

	if (division->is_cut)
		hash ^= hamming_hash(row->fp &
							 division->cut.segments[division->segment]);
	return (hash >> 32) % division->partitions;
}

/* Return the name of a file that a team shares, of x if side is 0, or of y. */
const char *
hamming_division_file(int side, uint32 partition)
{
	return psprintf("%d.%u", side, partition);
}

/* Divide a side for the current segment.  Return how many rows that has. */
static uint64
divide_side(Division *division, NearSide *side, NearSide *partitions,
			SharedFileSet *files)
{
	int			number = partitions == division->x_partitions ? 0 : 1;
	uint64		rows = 0;
	uint64		i;

	for (i = 0; i < (uint64) division->partitions; i++)
	{
		hamming_side_begin(&partitions[i], side->keeps_numbers,
						   side->keeps_keys);
		if (files != NULL)
			partitions[i].file =
				BufFileCreateFileSet(&files->fs,
									 hamming_division_file(number, i));
		else
			hamming_side_to_file(&partitions[i]);
	}
	hamming_side_seek(side, 0);
	for (i = 0; i < side->count; i++)
	{
		NearRow		row;

		CHECK_FOR_INTERRUPTS();
		hamming_side_read(side, &row);
		if (!is_in_segment(division, row.fp))
			continue;
		hamming_side_add(&partitions[partition_of(division, &row)], &row);
		rows++;
	}
	return rows;
}

/*
 * The partitions have no rows.  Go on to the next segment, and divide the sides
 * for it, or the one, if they are divided.  If files is not NULL, the
 * partitions are among the files of a team.  Note in work what they take.
 */
void
hamming_division_next(Division *division, SharedFileSet *files, NearWork *work)
{
	uint64		rows;

	division->segment++;
	if (!is_divided(division))
		return;
	rows = divide_side(division, division->x, division->x_partitions, files);
	if (division->y != division->x)
		rows += divide_side(division, division->y, division->y_partitions,
							files);
	work->partition_bytes = Max(work->partition_bytes,
								rows * sizeof(NearRow));
}

/* Free the rows of partitions. */
void
hamming_division_end(Division *division)
{
	int			i;

	for (i = 0; is_divided(division) && i < division->partitions; i++)
	{
		hamming_side_end(&division->x_partitions[i]);
		hamming_side_end(&division->y_partitions[i]);
	}
}
