/*
 * near_rows.c
 *	  Which rows are near another one, by their fingerprints.
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

	hamming_side_begin(x, rows->word_count, true, false);
	hamming_side_begin(y, rows->word_count, true, false);
	simhash_audit_rewind(rows);
	for (i = 0; i < rows->count; i++)
	{
		AuditRow	row;
		NearRow		near = {.number = i};
		NearSide   *side = is_bit_set(rows->is_near, i) ? y : x;

		CHECK_FOR_INTERRUPTS();
		simhash_audit_next_row(rows, &row);
		memcpy(near.words, row.words, sizeof(near.words));
		if (!hamming_side_make_room(side, memory -
									side_memory(side == x ? y : x)))
		{
			hamming_side_to_file(x);
			hamming_side_to_file(y);
		}
		hamming_side_add(side, &near);
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

/* Mark the rows of x that are near a row of y. */
static void
mark_by_others(NearSide *x, NearSide *y, const NearOptions *options,
			   uint8 *is_near)
{
	NearPairs  *pairs = hamming_pairs_begin(x, y, options);
	NearPair	pair;

	while (hamming_pairs_next(pairs, &pair))
	{
		mark_rows(pair.x_side, pair.x, pair.x_end, is_near);
		settle_pair(pairs, &pair);
	}
	hamming_pairs_end(pairs);
}

/*
 * Mark the rows of a side in memory that are near each other.  A fingerprint is
 * connected with another one if, and only if, another one is within the radius.
 */
static void
mark_connected(NearSide *side, int radius, uint8 *is_near)
{
	Together   *together = hamming_connect_begin(&side->list, side->list.count,
												 radius);
	const uint32 *starts;
	uint32	   *sets;
	uint32		count;
	uint32		n;

	hamming_side_group(side);
	starts = side->starts;
	count = side->list.count;
	sets = hamming_connect(&side->list, count, radius, together, NULL);
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
	else
		hamming_together_end(together);
}

/*
 * The bits of some rows in rows->is_near are set.  Set that of each other row
 * that has another row within radius.  Rows take memory bytes at most.
 */
void
simhash_audit_mark_near(AuditRows *rows, int radius, Size memory)
{
	NearOptions options = {
		.radius = radius,.memory = memory,.settled_rows = rows->is_near
	};
	NearSide	x;
	NearSide	y;

	read_sides(rows, &x, &y, memory);
	simhash_progress_phase("comparing fingerprints");
	mark_by_others(&x, &y, &options, rows->is_near);
	hamming_side_end(&y);
	simhash_progress_phase("connecting fingerprints");
	if (x.file == NULL)
		mark_connected(&x, radius, rows->is_near);
	else
	{
		/* the same file, as the other side */
		y = x;
		options.are_same_rows = true;
		mark_by_others(&x, &y, &options, rows->is_near);
	}
	hamming_side_end(&x);
}
