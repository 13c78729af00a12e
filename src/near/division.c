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

/* Begin with sides that are not divided; with a share, by its blocks. */
void
hamming_division_begin(Division *division, NearSide *x, NearSide *y,
					   const Shares *share)
{
	Segments	uncut = {.count = 1,.number = -1};

	memset(division, 0, sizeof(Division));
	division->x = division->x_partitions = x;
	division->y = division->y_partitions = y;
	division->partitions = 1;
	division->share = share;
	division->segments = share != NULL ? share->segments : uncut;
}

/* Read fingerprints, and as spare numbers keys, spread evenly over a side. */
static void
read_sample(NearSide *side, FingerprintList *sample)
{
	uint64		count = Min(side->count, SAMPLE_ROWS);
	uint64		i;

	hamming_fplist_allocate(sample, side->list.word_count, count);
	for (i = 0; i < count; i++)
	{
		NearRow		row;

		hamming_side_seek(side, side->count * i / count);
		hamming_side_read(side, &row);
		sample->spare_numbers[i] = row.key;
		fplist_append(sample, row.words, i);
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

/* Estimate how many of rows have the most frequent key, by a sample of them. */
static double
rows_of_one_key(const FingerprintList *sample, uint64 rows)
{
	uint32	   *keys = sample->spare_numbers;
	uint32		most = 0;
	uint32		begin = 0;
	uint32		i;

	qsort(keys, sample->count, sizeof(uint32), oid_cmp);
	for (i = 0; i < sample->count; i++)
	{
		if (keys[i] != keys[begin])
			begin = i;
		most = Max(most, i + 1 - begin);
	}
	return (double) rows * most / sample->count;
}

/*
 * Cut each word into its radius + 1 segments, by the shapes of samples.  Return
 * false if that does not pay for a word.
 */
static bool
cut_words(Segments *segments, const GroupShape *shapes)
{
	int			w;

	for (w = 0; w < segments->word_count; w++)
		if (segments->radii[w] >= 0 &&
			!hamming_cut_pays(&segments->cuts[w], &shapes[w],
							  segments->radii[w]))
			return false;
	return true;
}

/*
 * x and y are samples of the sides.  If it pays, cut the segments for a search
 * within radius, segment by segment: of all words, or of one, where others tell
 * too little.
 */
static void
choose_cuts(Division *division, FingerprintList *x, FingerprintList *y,
			int radius)
{
	int			words = x->word_count;
	Segments	segments = {
		.is_cut = true,.word_count = words,.count = radius + 1,.number = -1
	};
	NearLists	lists = {.x = x,.y = y};
	Candidates	all = {0, x->count, 0, y->count};
	GroupShape	shapes[HAMMING_MAX_WORDS];
	bool		pays;
	int			w;

	for (w = 0; w < words; w++)
		hamming_group_measure(&lists, &all, words == 1 ? -1 : w, PG_UINT64_MAX,
							  &shapes[w]);
	hamming_radii_share(words, radius, segments.radii);
	pays = cut_words(&segments, shapes);
	for (w = 0; !pays && words > 1 && w < words; w++)
	{
		memset(segments.radii, -1, sizeof(segments.radii));
		segments.radii[w] = radius;
		pays = cut_words(&segments, shapes);
	}
	if (pays)
		division->segments = segments;
}

/*
 * Are the sides, which are in files, to be divided into partitions?  Divide by
 * keys alone if each has so few rows that they fit into half of the memory.  If
 * by segments, set the cuts.
 */
bool
hamming_division_choose(Division *division, const NearOptions *options)
{
	NearSide   *x = division->x;
	NearSide   *y = division->y;
	Segments   *segments = &division->segments;
	FingerprintList x_sample;
	FingerprintList y_sample;
	double		most;
	bool		has_small;

	if (segments->is_cut ||
		(!options->are_same_rows &&
		 hamming_prefers_stretches(x->count, y->count,
								   side_rows_within(x, options->memory))))
		return segments->is_cut;
	read_sample(x, &x_sample);
	read_sample(y, &y_sample);
	most = rows_of_one_key(&x_sample, x->count) +
		(x == y ? 0 : rows_of_one_key(&y_sample, y->count));
	has_small = x->keeps_keys &&
		most <= side_rows_within(x, options->memory) / 2;
	if (!has_small)
		choose_cuts(division, &x_sample, &y_sample, options->radius);
	hamming_fplist_free(&x_sample);
	hamming_fplist_free(&y_sample);
	return has_small || segments->is_cut;
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

static bool
is_divided(const Division *division)
{
	return division->x_partitions != division->x;
}

static int
partition_of(const Division *division, const NearRow *row)
{
	const Segments *segments = &division->segments;
	const NearCut *cut = &segments->cuts[segments->word];

	/* spread over 64 bits; 0 for the key 0, that of a row without */
	uint64		hash = row->key * UINT64CONST(0x9E3779B97F4A7C15);

	/* 0 of a segment without bits */
	hash ^= hamming_hash(row->words[segments->word] &
						 cut->segments[segments->segment]);
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
		hamming_side_begin(&partitions[i], side->list.word_count,
						   side->keeps_numbers, side->keeps_keys);
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
		if (division->share != NULL &&
			hamming_share_of(division->share, row.words,
							 division->segments.number) !=
			division->share->number)
			continue;
		hamming_side_add(&partitions[partition_of(division, &row)], &row);
		rows++;
	}
	return rows;
}

/*
 * Go on to the next segment, and divide the sides for it, or the one, if they
 * are divided.  If files is not NULL, the partitions are among the files of a
 * team.  Note in work what they take.  Return false if there is no segment.
 */
bool
hamming_division_next(Division *division, SharedFileSet *files, NearWork *work)
{
	uint64		rows;

	hamming_division_end(division);
	if (division->segments.number + 1 == division->segments.count)
		return false;
	segments_next(&division->segments);
	if (!is_divided(division))
		return true;
	rows = divide_side(division, division->x, division->x_partitions, files);
	if (division->y != division->x)
		rows += divide_side(division, division->y, division->y_partitions,
							files);
	work->partition_bytes =
		Max(work->partition_bytes,
			rows * near_row_bytes(division->x->list.word_count));
	return true;
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
