/*
 * near_rows.c
 *	  Which rows are near, by their fingerprints of one width.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "audit/audit.h"
#include "dedup/dedup.h"
#include "near/pairs.h"
#include "near/progress.h"
#include "near/sets.h"

/*
 * Read the rows: those whose bits are set to y, and the others to x.  Both
 * sides are in memory, if that has room for both.
 */
static void
read_sides(AuditRows *rows, NearSide *x, NearSide *y, Size memory)
{
	uint32		i;

	hamming_side_begin(x, true, false);
	hamming_side_begin(y, true, false);
	simhash_audit_rewind(rows);
	for (i = 0; i < rows->count; i++)
	{
		AuditRow	row;
		NearRow		near = {.number = i};
		bool		is_y = is_bit_set(rows->is_near, i);

		CHECK_FOR_INTERRUPTS();
		simhash_audit_next_row(rows, &row);
		near.fp = fingerprint_from_words(row.half);
		if (!hamming_side_make_room(is_y ? y : x, memory -
									side_memory(is_y ? x : y)))
		{
			hamming_side_to_file(x);
			hamming_side_to_file(y);
		}
		hamming_side_add(is_y ? y : x, &near);
	}
}

static void
mark_rows(const NearSide *side, uint32 from, uint32 end, uint8 *is_near)
{
	for (; from < end; from++)
	{
		CHECK_FOR_INTERRUPTS();
		set_bit(is_near, side->numbers[from]);
	}
}

/*
 * Mark the rows of a pass of one side that are near each other.  A fingerprint
 * is connected with another one if, and only if, another one is within the
 * radius.
 */
static void
mark_connected(const NearPass *pass, int radius, Together *together,
			   uint8 *is_near)
{
	NearSide   *side = pass->x;
	const uint32 *starts = side->starts;
	uint32		count = side->list.count;
	uint32	   *sets = hamming_connect(&side->list, radius, together, NULL,
									   pass->cut, pass->segment);
	uint32		n;

	for (n = 0; n < count; n++)
	{
		uint32		root = find_set(sets, n);

		CHECK_FOR_INTERRUPTS();
		if (root != n)
			mark_rows(side, starts[root], starts[root + 1], is_near);
		if (root != n || starts[n + 1] - starts[n] > 1)
			mark_rows(side, starts[n], starts[n + 1], is_near);
	}
	if (together == NULL)
		pfree(sets);
}

/* Mark the rows of x that are near a row of y. */
static void
mark_by_others(NearSide *x, NearSide *y, NearOptions options, uint8 *is_near)
{
	NearPairs  *pairs;
	NearPair	pair;

	options.settled_rows = is_near;
	pairs = hamming_pairs_begin(x, y, &options);
	while (hamming_pairs_next(pairs, &pair))
	{
		mark_rows(pair.x_side, pair.x, pair.x_end, is_near);
		settle_pair(pairs, &pair);
	}
	hamming_pairs_end(pairs);
}

/* Mark the rows of the side that are near each other. */
static void
mark_each_other(NearSide *side, const NearOptions *options, uint8 *is_near)
{
	Together   *together = side->file != NULL ? NULL
	: hamming_connect_begin(&side->list, options->radius);
	NearPairs  *pairs = hamming_pairs_begin(side, side, options);
	const NearPass *pass;

	while ((pass = hamming_pairs_next_pass(pairs)) != NULL)
	{
		NearPair	pair;

		if (unlikely(simhash_progress_due))
			simhash_progress_show_share(pass->done);
		if (pass->x == pass->y)
			mark_connected(pass, options->radius, together, is_near);
		else
			while (hamming_pairs_next_of_pass(pairs, &pair))
			{
				mark_rows(pair.x_side, pair.x, pair.x_end, is_near);
				mark_rows(pair.y_side, pair.y, pair.y_end, is_near);
			}
	}
	hamming_pairs_end(pairs);
	if (together != NULL)
		hamming_together_end(together);
}

/*
 * The bits of some rows in rows->is_near are set.  Set that of each other row
 * that has a row within radius.  Rows take memory bytes at most.
 */
static void
mark_near(AuditRows *rows, int radius, Size memory)
{
	NearOptions options = {.radius = radius,.memory = memory};
	NearSide	x;
	NearSide	y;

	read_sides(rows, &x, &y, memory);
	simhash_progress_phase("comparing fingerprints");
	mark_by_others(&x, &y, options, rows->is_near);
	simhash_progress_phase("connecting fingerprints");
	mark_each_other(&x, &options, rows->is_near);
	hamming_side_end(&x);
	hamming_side_end(&y);
}

/* Set fingerprint number i of an array to that of row. */
static void
set(void *fingerprints, int i, const AuditRow *row)
{
	((Fingerprint *) fingerprints)[i] = fingerprint_from_words(row->half);
}

/*
 * Set matches[] to the numbers of those of fingerprints[0 .. count) that are
 * within radius of that of row.  Return how many these are.  count is 65536 at
 * most.
 */
static int
match(const void *fingerprints, int count, const AuditRow *row, int radius,
	  uint16 *matches)
{
	return hamming_match(fingerprints, count, fingerprint_from_words(row->half),
						 radius, matches);
}

const AuditMethods
WIDE(simhash_audit_methods) =
{
	HAMMING_BITS, mark_near, set, match
};
