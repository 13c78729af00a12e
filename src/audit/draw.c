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

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/nodeHash.h"
#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/tuplesort.h"

#include "audit/audit.h"
#include "near/pairs.h"
#include "near/progress.h"
#include "type/compat.h"

/* Parts of the sample. */
#define ANY_PART 0.5
#define ALIKE_PART 0.375
#define SAME_PART 0.125

/* Of the memory, this part sorts sizes of groups, beside the rows. */
#define SORT_SHARE 4

/*
 * A row, and the size of a group that it is in, as an integer.  Those of a row
 * ascend from the largest group on: first the groups of its bands, and then,
 * with the bit SAME_GROUP, that of its fingerprint.
 */
#define GROUP_SIZE(row, size) ((int64) (row) << 32 | (PG_INT32_MAX - (size)))
#define SAME_GROUP (INT64CONST(1) << 31)

/* How many others a row has: those that seem alike, and its fingerprint's. */
typedef struct Others
{
	float		alike;
	float		same;
} Others;

typedef struct Drawing
{
	AuditRows  *rows;
	Size		memory;			/* of rows, in bytes */
	Tuplesortstate *sizes;		/* see GROUP_SIZE */
	int			rank;			/* see group_rank() */

	/* of the rows in is_near, in their order */
	BufFile    *others;
	uint32		count;
	double		alike;			/* sums */
	double		same;
} Drawing;

/*
 * The rank, from 1 on, of the group of rows of one band whose size says how
 * many texts seem alike, among the groups of all bands, the largest first.  A
 * text of similarity threshold is in threshold ^ band_bins of the groups of a
 * row, on average.
 */
static int
group_rank(const AuditRows *rows)
{
	return Max((int) (0.75 * pow(rows->threshold, rows->band_bins) *
					  rows->band_count), 1);
}

/*
 * Note that the rows of a side from .. end - 1 are in a group of that size.
 * What is in a group with others may be in a pair with them.  kind is 0 or
 * SAME_GROUP.
 */
static void
note_size(Drawing *d, const NearSide *side, uint32 from, uint32 end,
		  uint32 size, int64 kind)
{
	for (; from < end; from++)
	{
		uint64		row = side->payloads[from];

		CHECK_FOR_INTERRUPTS();
		tuplesort_putdatum(d->sizes,
						   Int64GetDatum(GROUP_SIZE(row, size) | kind), false);
		set_bit(d->rows->is_near, row);
	}
}

/*
 * Note the sizes of the groups of rows that have one value, which stands for
 * its fingerprint in side.  A group that memory has no room for is noted in
 * parts.  End the side.
 */
static void
note_groups(Drawing *d, NearSide *side, int64 kind)
{
	NearOptions options = {.radius = 0,.memory = d->memory};
	NearPairs  *pairs = hamming_pairs_begin(side, side, &options);
	NearPair	pair;

	while (hamming_pairs_next(pairs, &pair))
	{
		uint32		others = pair.is_same ? 0 : pair.y_end - pair.y;
		uint32		size = pair.x_end - pair.x + others;

		note_size(d, pair.x_side, pair.x, pair.x_end, size, kind);
		note_size(d, pair.y_side, pair.y, pair.y + others, size, kind);
	}
	hamming_pairs_end(pairs);
	hamming_side_end(side);
}

static void
find_groups(Drawing *d)
{
	AuditRows  *rows = d->rows;
	int			band;
	uint32		i;

	simhash_audit_rewind(rows);
	for (band = 0; band <= rows->band_count; band++)
	{
		NearSide	side;

		simhash_progress_share(band, rows->band_count + 1);
		hamming_side_begin(&side, 1, false, false);
		for (i = 0; i < rows->count; i++)
		{
			NearRow		row = {.payload = i};

			CHECK_FOR_INTERRUPTS();
			BufFileReadExact(rows->bands[band], row.words, sizeof(uint64));
			if (row.words[0] != NO_BAND || band == rows->band_count)
				hamming_side_add_within(&side, &row, d->memory);
		}
		note_groups(d, &side, band == rows->band_count ? SAME_GROUP : 0);
	}
}

/* Set *size to the next size of a group.  Return false if there is none. */
static bool
next_size(Drawing *d, int64 *size)
{
	Datum		value;
	bool		isnull;

	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_getdatum(d->sizes, true, false, &value, &isnull, NULL))
		return false;
	*size = DatumGetInt64(value);
	return true;
}

static void
count_others(Drawing *d)
{
	int64		size;
	bool		has_size;
	uint32		i;

	d->others = BufFileCreateTemp(false);
	tuplesort_performsort(d->sizes);
	has_size = next_size(d, &size);
	for (i = 0; i < d->rows->count; i++)
	{
		Others		row = {0};
		int			rank;

		CHECK_FOR_INTERRUPTS();
		if (!is_bit_set(d->rows->is_near, i))
			continue;
		for (rank = 1; has_size && size >> 32 == i; rank++)
		{
			float		others = PG_INT32_MAX - (size & PG_INT32_MAX) - 1;

			if (size & SAME_GROUP)
				row.same = Max(row.same, others);
			else if (rank == d->rank)
				row.alike = others;
			has_size = next_size(d, &size);
		}
		BufFileWrite(d->others, &row, sizeof(row));
		d->count++;
		d->alike += row.alike;
		d->same += row.same;
	}
	tuplesort_end(d->sizes);
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
		if (!is_bit_set(d->rows->is_near, i))
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
 * There must be a row.  Set the bits of all rows that may be in a pair.  Draw
 * sample rows of these, or all if there are fewer.  Set *count to the number of
 * rows that are drawn, and return them in the order of rows.
 */
Draw *
simhash_audit_draw(AuditRows *rows, int radius, int sample, int *count)
{
	/* a quarter is for what goes with the rows: groups, sets, buffers */
	Drawing		d = {.rows = rows,.memory = get_hash_memory_limit() / 4 * 3};
	Draw	   *draws;

	simhash_progress_phase("grouping rows");
	d.rank = group_rank(rows);
	d.sizes = tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid,
									false,
									Min(d.memory / SORT_SHARE / 1024,
										MAX_KILOBYTES), NULL, TUPLESORT_NONE);
	find_groups(&d);
	simhash_audit_mark_near(rows, radius, d.memory);
	simhash_progress_phase("drawing rows");
	count_others(&d);
	draws = draw_rows(&d, find_scale(&d, sample), sample, count);
	BufFileClose(d.others);
	return draws;
}
