/*
 * draw.c
 *	  Which rows are compared with all others: a random sample, by chances that
 *	  differ from row to row.
 *
 * Where near-duplicates are rare, few rows have any, and a sample of equal
 * chances would hold next to none of these.  So a row has a chance only if
 * another one is near it by fingerprint, or has a band in common with it (see
 * rows.c).  Of what precision and recall count nothing is lost, but for
 * the pairs of alike texts that are neither: fewer than MISSED_PART of all.
 *
 * Half of the sample is of equal chances.  Three eighths are of chances that
 * grow with the number of texts that seem alike: so a pair of a large group,
 * and one of two texts, weigh about the same.  An eighth is of chances that
 * grow with the number of rows that have the same fingerprint, alike or not.
 * The first half bounds the weight of what only seems not alike (Hesterberg
 * 1995, "defensive mixture").
 */
#include "postgres.h"

#include <math.h>

#include "lib/binaryheap.h"
#include "miscadmin.h"

#include "audit/draw.h"
#include "near/bits.h"
#include "near/pairs.h"
#include "near/progress.h"
#include "text/hash.h"
#include "type/compat.h"

/* Parts of the sample. */
#define ANY_PART 0.5
#define ALIKE_PART 0.375
#define SAME_PART 0.125

/*
 * The sizes of groups are put together window by window.  The rows of a window
 * take 1 / WINDOW_SHARE of the memory, or more where there are many rows: the
 * buffers of the windows' files, of 8 kB each, take at most 1 / FILE_SHARE.
 */
#define WINDOW_SHARE 2
#define FILE_SHARE 8

/* So many rows have a band, or the fingerprint, of a row: see Window. */
typedef struct GroupSize
{
	uint32		row;
	uint32		size;
	uint32		place;			/* 0 for a band, rank for the fingerprint */
} GroupSize;

/* Rows side by side, and the sizes that were found for any of them. */
typedef struct Window
{
	BufFile    *file;			/* of GroupSize */
	uint64		count;			/* of these */
} Window;

/* How many others a row has: those that seem alike, and its fingerprint's. */
typedef struct Others
{
	float		alike;
	float		same;
} Others;

struct Drawing
{
	AuditRows  *rows;
	uint8	   *is_near;
	Size		memory;
	int			rank;			/* see group_rank() */
	uint32		window_rows;
	int			window_count;
	Window	   *windows;

	/* of the rows in is_near, in their order */
	BufFile    *others;
	uint32		count;
	double		alike;			/* sums */
	double		same;
};

/*
 * The rank, from 1 on, of the group of rows of one band whose size says how
 * many texts seem alike, among the groups of all bands, the largest first.  A
 * text of similarity threshold is in threshold ^ band_bins of the groups of a
 * row, on average.
 */
static int
group_rank(const AuditRows *rows, double threshold)
{
	return Max((int) (0.75 * pow(threshold, rows->band_bins) *
					  rows->band_count), 1);
}

/* Insert size into largest[0 .. rank), which are descending. */
static inline void
insert_size(uint32 *largest, int rank, uint32 size)
{
	int			i;

	if (size <= largest[rank - 1])
		return;
	for (i = rank - 1; i > 0 && largest[i - 1] < size; i--)
		largest[i] = largest[i - 1];
	largest[i] = size;
}

/* Return how many others each row of a group has.  size may be 0. */
static inline double
others(uint32 size)
{
	return size > 1 ? size - 1 : 0;
}

/* Begin the windows, which no size has been found for. */
static void
begin_windows(Drawing *d)
{
	Size		row_bytes = (d->rank + 1) * sizeof(uint32);
	uint32		files = Max(d->memory / FILE_SHARE / BLCKSZ, 1);
	int			i;

	d->window_rows = Max(d->memory / WINDOW_SHARE / row_bytes,
						 d->rows->count / files + 1);
	d->window_count = (d->rows->count - 1) / d->window_rows + 1;
	d->windows = palloc0(d->window_count * sizeof(Window));
	for (i = 0; i < d->window_count; i++)
		d->windows[i].file = BufFileCreateTemp(false);
}

/*
 * Note that the rows of a side from .. end - 1 are in a group of that size.
 * What is in a group with others may be in a pair with them.
 */
static void
note_size(Drawing *d, const NearSide *side, uint32 from, uint32 end,
		  uint32 size, uint32 place)
{
	CHECK_FOR_INTERRUPTS();
	if (size == 1)
		return;
	for (; from < end; from++)
	{
		GroupSize	group = {side->payloads[from], size, place};
		Window	   *window = &d->windows[group.row / d->window_rows];

		CHECK_FOR_INTERRUPTS();
		BufFileWrite(window->file, &group, sizeof(group));
		window->count++;
		set_bit(d->is_near, group.row);
	}
}

/*
 * Note the sizes of the groups of rows that have one value, which stands for
 * its fingerprint in side.  A group that memory has no room for is noted in
 * parts.  End the side.
 */
static void
note_groups(Drawing *d, NearSide *side, uint32 place)
{
	NearOptions options = {.radius = 0,.memory = d->memory};
	NearPairs  *pairs = hamming_pairs_begin(side, side, &options);
	const NearPass *pass;

	while ((pass = hamming_pairs_next_pass(pairs)) != NULL)
	{
		const NearSide *x = pass->x;
		NearPair	pair;
		uint32		n;

		for (n = 0; x == pass->y && n < x->list.count; n++)
			note_size(d, x, x->starts[n], x->starts[n + 1],
					  x->starts[n + 1] - x->starts[n], place);
		while (x != pass->y && hamming_pairs_next_of_pass(pairs, &pair))
		{
			uint32		size = pair.x_end - pair.x + pair.y_end - pair.y;

			note_size(d, x, pair.x, pair.x_end, size, place);
			note_size(d, pair.y_side, pair.y, pair.y_end, size, place);
		}
	}
	hamming_pairs_end(pairs);
	hamming_side_end(side);
}

static void
add_value(Drawing *d, NearSide *side, uint64 value, uint32 row)
{
	NearRow		near = {.fp = value,.payload = row};

	hamming_side_add_within(side, &near, d->memory);
}

/* Note the sizes of all groups: of each band, and of equal fingerprints. */
static void
find_groups(Drawing *d)
{
	AuditRows  *rows = d->rows;
	NearSide	side;
	AuditRow	row;
	int			band;
	uint32		i;

	simhash_audit_rewind(rows);
	for (band = 0; band < rows->band_count; band++)
	{
		simhash_progress_share(band, rows->band_count + 1);
		hamming_side_begin(&side, false, false);
		for (i = 0; i < rows->count; i++)
		{
			uint64		value;

			CHECK_FOR_INTERRUPTS();
			value = simhash_audit_next_band(rows, band);
			if (value != NO_BAND)
				add_value(d, &side, value, i);
		}
		note_groups(d, &side, 0);
	}
	hamming_side_begin(&side, false, false);
	for (i = 0; i < rows->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		simhash_audit_next_row(rows, &row);
		add_value(d, &side, seeded_hash(0, row.half, sizeof(row.half)), i);
	}
	note_groups(d, &side, d->rank);
}

/*
 * Sum up the sizes of the groups of the rows of window number number.  sizes
 * has room for them.
 */
static void
count_window(Drawing *d, int number, uint32 *sizes)
{
	Window	   *window = &d->windows[number];
	uint32		first = number * d->window_rows;
	uint32		count = Min(d->window_rows, d->rows->count - first);
	uint64		i;

	memset(sizes, 0, (Size) count * (d->rank + 1) * sizeof(uint32));
	simhash_audit_seek(window->file, 0, 0);
	for (i = 0; i < window->count; i++)
	{
		GroupSize	group;
		uint32	   *largest;

		CHECK_FOR_INTERRUPTS();
		BufFileReadExact(window->file, &group, sizeof(group));
		largest = sizes + (Size) (group.row - first) * (d->rank + 1);
		insert_size(largest + group.place, group.place == 0 ? d->rank : 1,
					group.size);
	}
	for (i = 0; i < count; i++, sizes += d->rank + 1)
	{
		Others		row = {others(sizes[d->rank - 1]), others(sizes[d->rank])};

		CHECK_FOR_INTERRUPTS();
		if (!is_bit_set(d->is_near, first + i))
			continue;
		BufFileWrite(d->others, &row, sizeof(row));
		d->count++;
		d->alike += row.alike;
		d->same += row.same;
	}
	BufFileClose(window->file);
}

static void
count_others(Drawing *d)
{
	uint32	   *sizes = palloc_extended((Size) Min(d->window_rows,
												   d->rows->count) *
										(d->rank + 1) * sizeof(uint32),
										MCXT_ALLOC_HUGE);
	int			i;

	d->others = BufFileCreateTemp(false);
	for (i = 0; i < d->window_count; i++)
		count_window(d, i, sizes);
	pfree(sizes);
}

/*
 * Return the chance of a row that is in is_near, of any scale: see the comment
 * at the head of the file.
 */
static double
get_chance(const Drawing *d, const Others *row)
{
	double		chance = ANY_PART / d->count;

	if (d->alike > 0)
		chance += ALIKE_PART * row->alike / d->alike;
	if (d->same > 0)
		chance += SAME_PART * row->same / d->same;
	return chance;
}

/*
 * Return by what chances are to be multiplied, so that they add up to sample
 * where those above 1 count as 1.  If there are no more rows than sample, that
 * is infinite.
 */
static double
find_scale(const Drawing *d, int sample)
{
	double		scale = 0;
	uint32		certain = PG_UINT32_MAX;
	uint32		before;
	uint32		i;

	if (d->count <= (uint32) sample)
		return INFINITY;
	do
	{
		double		sum = 0;	/* of those that are not certain */

		before = certain;
		certain = 0;
		simhash_audit_seek(d->others, 0, 0);
		for (i = 0; i < d->count; i++)
		{
			Others		row;
			double		chance;

			CHECK_FOR_INTERRUPTS();
			BufFileReadExact(d->others, &row, sizeof(row));
			chance = get_chance(d, &row);
			if (chance * scale >= 1)
				certain++;
			else
				sum += chance;
		}
		/* with a larger scale, no row ceases to be certain */
		scale = Max(scale, ((double) sample - certain) / sum);
	} while (certain != before);
	return scale;
}

/* A row, and by what rows are drawn: the least first. */
typedef struct Turn
{
	double		turn;
	Draw		draw;
} Turn;

static int
compare_turns(Datum a, Datum b, void *arg)
{
	double		x = ((Turn *) DatumGetPointer(a))->turn;
	double		y = ((Turn *) DatumGetPointer(b))->turn;

	return (x > y) - (x < y);
}

static int
compare_draws(const void *a, const void *b)
{
	uint32		x = ((const Draw *) a)->place;
	uint32		y = ((const Draw *) b)->place;

	return (x > y) - (x < y);
}

/*
 * The turn of a row in Pareto sampling (Rosen 1997), which draws about by
 * chance.  The random number is a hash of the row: so the order in which the
 * query returns its rows does not matter.
 */
static double
make_turn(const AuditRow *row, double chance, uint64 seed)
{
	uint64		hash = seeded_hash(seed, row, offsetof(AuditRow, file));
	double		random = ldexp(hash >> 11, -53);

	return chance >= 1 ? -1 : random / (1 - random) * (1 - chance) / chance;
}

/* Draw sample rows at most, whose chances are multiplied by scale. */
static Draw *
draw_rows(Drawing *d, double scale, int sample, int *count)
{
	binaryheap *latest = binaryheap_allocate(sample, compare_turns, NULL);
	Turn	   *turns = palloc_extended(sample * sizeof(Turn),
										MCXT_ALLOC_HUGE);
	Draw	   *draws;
	int			next = 0;
	uint32		i;

	simhash_audit_rewind(d->rows);
	simhash_audit_seek(d->others, 0, 0);
	for (i = 0; i < d->rows->count; i++)
	{
		AuditRow	row;
		Others		others;
		Turn		turn = {.draw.place = i};
		Turn	   *last;

		CHECK_FOR_INTERRUPTS();
		simhash_audit_next_row(d->rows, &row);
		if (!is_bit_set(d->is_near, i))
			continue;
		BufFileReadExact(d->others, &others, sizeof(others));
		turn.draw.chance = Min(get_chance(d, &others) * scale, 1);
		turn.turn = make_turn(&row, turn.draw.chance, d->rows->seed);
		if (next < sample)
		{
			turns[next] = turn;
			binaryheap_add(latest, PointerGetDatum(&turns[next++]));
			continue;
		}
		last = (Turn *) DatumGetPointer(binaryheap_first(latest));
		if (turn.turn >= last->turn)
			continue;
		*last = turn;
		binaryheap_replace_first(latest, PointerGetDatum(last));
	}
	draws = palloc_extended(sample * sizeof(Draw), MCXT_ALLOC_HUGE);
	*count = next;
	for (next = 0; next < *count; next++)
		draws[next] = turns[next].draw;
	qsort(draws, *count, sizeof(Draw), compare_draws);
	binaryheap_free(latest);
	pfree(turns);
	return draws;
}

/*
 * Find which rows have a band, or the fingerprint, of another one, and set
 * their bits in is_near.  There must be rows.  Rows take memory bytes at most.
 */
Drawing *
simhash_audit_find_groups(AuditRows *rows, uint8 *is_near, double threshold,
						  Size memory)
{
	Drawing    *d = palloc0(sizeof(Drawing));

	d->rows = rows;
	d->is_near = is_near;
	d->memory = memory;
	d->rank = group_rank(rows, threshold);
	begin_windows(d);
	find_groups(d);
	return d;
}

/*
 * The bits of all rows that may be in a pair must be set.  Draw sample rows of
 * these, or all if there are fewer.  Set *count to how many there are.  Return
 * them in the order of rows, and free d.
 */
Draw *
simhash_audit_draw(Drawing *d, int sample, int *count)
{
	Draw	   *draws;

	count_others(d);
	draws = draw_rows(d, find_scale(d, sample), sample, count);
	BufFileClose(d->others);
	pfree(d->windows);
	pfree(d);
	return draws;
}
