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
 * Half of the sample is of equal chances.  A quarter is of chances that grow
 * with the number of texts that seem alike: so a pair of a large group, and one
 * of two texts, weigh about the same.  A quarter is of chances that grow with
 * the number of rows that have the same fingerprint, alike or not.  The first
 * half bounds the weight of what only seems not alike (Hesterberg 1995,
 * "defensive mixture").
 */
#include "postgres.h"

#include <math.h>

#include "lib/binaryheap.h"
#include "miscadmin.h"

#include "audit/draw.h"
#include "near/fplist.h"
#include "text/hash.h"

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

/* Give each row of list the size of the group of those with its value. */
static void
insert_sizes(FingerprintList *list, uint32 *largest, int rank)
{
	uint32		from;
	uint32		to;
	uint32		i;

	simhash_fplist_sort(list, 0, list->count, 0, 64);
	for (from = 0; from < list->count; from = to)
	{
		CHECK_FOR_INTERRUPTS();
		to = fplist_end_of_run(list, from, list->count, FINGERPRINT_ALL_BITS);
		for (i = from; i < to; i++)
			insert_size(largest + (Size) list->numbers[i] * rank, rank,
						to - from);
	}
}

/*
 * Set largest[row * rank] .. for each row: the sizes of the groups of rows that
 * have a band of it, the largest ones, of all bands.  Set equal[row] to how
 * many rows have its fingerprint.
 */
static void
find_groups(AuditRows *rows, uint32 *largest, int rank, uint32 *equal)
{
	FingerprintList list;
	AuditRow	row;
	int			band;
	uint32		i;

	simhash_fplist_allocate(&list, rows->count);
	simhash_audit_rewind(rows);
	for (band = 0; band < rows->band_count; band++)
	{
		list.count = 0;
		for (i = 0; i < rows->count; i++)
		{
			uint64		value;

			CHECK_FOR_INTERRUPTS();
			value = simhash_audit_next_band(rows, band);
			if (value != NO_BAND)
				fplist_append(&list, value, i);
		}
		insert_sizes(&list, largest, rank);
	}
	list.count = 0;
	for (i = 0; i < rows->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		simhash_audit_next_row(rows, &row);
		fplist_append(&list, seeded_hash(0, row.half, sizeof(row.half)), i);
	}
	insert_sizes(&list, equal, 1);
	simhash_fplist_free(&list);
}

/*
 * Set chances[] to what the comment at the head of the file says: 0 for rows
 * that are not drawn.  Chances are not yet of any scale.
 */
static void
set_chances(AuditRows *rows, bool *is_near, double threshold, float *chances)
{
	int			rank = group_rank(rows, threshold);
	uint32	   *largest;
	uint32	   *equal;
	double		alike = 0;
	double		same = 0;
	double		part;			/* of the sample */
	uint32		with_chance = 0;
	uint32		i;

	largest = palloc_extended((Size) rows->count * rank * sizeof(uint32),
							  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	equal = palloc_extended((Size) rows->count * sizeof(uint32),
							MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	find_groups(rows, largest, rank, equal);
	for (i = 0; i < rows->count; i++)
	{
		const uint32 *sizes = largest + (Size) i * rank;

		is_near[i] |= sizes[0] > 1;
		with_chance += is_near[i];
		alike += others(sizes[rank - 1]);
		same += others(equal[i]);
	}
	part = alike > 0 && same > 0 ? 0.25 : 0.5;
	for (i = 0; i < rows->count; i++)
	{
		const uint32 *sizes = largest + (Size) i * rank;

		chances[i] = 0;
		if (is_near[i])
			chances[i] = (alike > 0 || same > 0 ? 0.5 : 1.0) / with_chance;
		if (alike > 0)
			chances[i] += part * others(sizes[rank - 1]) / alike;
		if (same > 0)
			chances[i] += part * others(equal[i]) / same;
	}
	pfree(largest);
	pfree(equal);
}

/*
 * Scale chances[0 .. count), which add up to 1, so that they add up to sample,
 * and none is above 1.  If no more than sample are above 0, set these to 1.
 */
static void
scale_chances(float *chances, uint32 count, int sample)
{
	uint32		above = 0;
	uint32		reached;		/* 1, in the current round */
	uint32		i;

	for (i = 0; i < count; i++)
		above += chances[i] > 0;
	do
	{
		double		left = sample;
		double		others = 0;
		double		scale;

		CHECK_FOR_INTERRUPTS();
		for (i = 0; i < count; i++)
		{
			if (chances[i] >= 1)
				left--;
			else
				others += chances[i];
		}
		scale = others > 0 ? left / others : 0;
		reached = 0;
		for (i = 0; i < count; i++)
		{
			if (chances[i] == 0 || chances[i] >= 1)
				continue;
			if (above <= (uint32) sample)
				chances[i] = 1;
			else
				chances[i] = Min(chances[i] * scale, 1);
			reached += chances[i] >= 1;
		}
	} while (reached > 0);
}

/* A row, and by what rows are drawn: the least first. */
typedef struct Turn
{
	double		turn;
	uint32		place;
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

/*
 * sample must be below the number of rows.  is_near[row] says whether a row is
 * near another one by its fingerprint; on return, whether it is by fingerprint
 * or band.  Draw sample rows at most.  Set *count to how many there are.
 * Return them in the order of rows.
 */
Draw *
simhash_audit_draw(AuditRows *rows, bool *is_near, double threshold, int sample,
				   int *count)
{
	float	   *chances = palloc_extended((rows->count + 1) * sizeof(float),
										  MCXT_ALLOC_HUGE);
	binaryheap *latest;
	Turn	   *turns;
	Draw	   *draws;
	int			next = 0;
	uint32		i;

	set_chances(rows, is_near, threshold, chances);
	scale_chances(chances, rows->count, sample);

	turns = palloc_extended(sample * sizeof(Turn), MCXT_ALLOC_HUGE);
	latest = binaryheap_allocate(sample, compare_turns, NULL);
	simhash_audit_rewind(rows);
	for (i = 0; i < rows->count; i++)
	{
		AuditRow	row;
		Turn		turn;

		CHECK_FOR_INTERRUPTS();
		simhash_audit_next_row(rows, &row);
		if (chances[i] == 0)
			continue;
		turn.turn = make_turn(&row, chances[i], rows->seed);
		turn.place = i;
		if (next < sample)
		{
			turns[next] = turn;
			binaryheap_add(latest, PointerGetDatum(&turns[next++]));
		}
		else
		{
			Turn	   *last =
			(Turn *) DatumGetPointer(binaryheap_first(latest));

			if (turn.turn >= last->turn)
				continue;
			*last = turn;
			binaryheap_replace_first(latest, PointerGetDatum(last));
		}
	}
	draws = palloc_extended(sample * sizeof(Draw), MCXT_ALLOC_HUGE);
	*count = next;
	for (next = 0; next < *count; next++)
	{
		draws[next].place = turns[next].place;
		draws[next].chance = chances[turns[next].place];
	}
	qsort(draws, *count, sizeof(Draw), compare_draws);
	binaryheap_free(latest);
	pfree(turns);
	pfree(chances);
	return draws;
}
