/*
 * pair_rows.c
 *	  The pairs of rows whose fingerprints are within a radius of each other,
 *	  for fingerprints of one width.
 */
#include "postgres.h"

#include <float.h>

#include "miscadmin.h"

#include "dedup/dedup.h"
#include "near/pairs.h"

struct PairRows
{
	NearSide	rows;			/* their payloads are ids */
	NearOptions options;
	Shares		shares;
	NearPairs  *pairs;			/* NULL while rows are added */
	NearPair	pair;			/* the current two fingerprints */
	uint32		a;				/* of these, the next two rows: see */
	uint32		b;				/* find_rows() */
};

/*
 * Begin without rows.  The pairs are those of a part, 0 .. parts - 1, or all if
 * parts is 1.  If needs_all, the caller wants all of them, and a team may find
 * all before the first one is returned.  Error: 22023 for a max_distance out of
 * range.
 */
static PairRows *
begin(int max_distance, int part, int parts, bool needs_all)
{
	PairRows   *rows = palloc0(sizeof(PairRows));

	rows->options.radius = simhash_check_range("max_distance", max_distance, 0,
											   HAMMING_BITS);
	if (parts == 1 && needs_all)
		rows->options.workers = simhash_team_workers(DBL_MAX, 0);
	rows->options.memory = simhash_team_memory(rows->options.workers);
	if (parts > 1)
	{
		hamming_shares_begin(&rows->shares, rows->options.radius, parts);
		rows->shares.number = part;
		rows->options.share = &rows->shares;
	}
	hamming_side_begin(&rows->rows, false, false);
	return rows;
}

/* Add a row, unless its fingerprint is not in the share. */
static void
add(PairRows *rows, int64 id, Datum fingerprint)
{
	NearRow		row = {.fp = DatumGetSimhash(fingerprint),.payload = id};

	if (rows->options.share != NULL &&
		!is_in_share(rows->options.share, row.fp))
		return;
	hamming_side_add_within(&rows->rows, &row, rows->options.memory);
}

static void
begin_pairs(PairRows *rows)
{
	/* the caller may be in a context of one row */
	MemoryContext old = MemoryContextSwitchTo(rows->rows.context);
	Cost		cost = hamming_near_cost(rows->rows.count, rows->rows.count,
										 rows->options.radius) / 2;

	rows->options.workers = Min(rows->options.workers,
								simhash_team_workers(cost, 0));
	rows->pairs = hamming_pairs_begin(&rows->rows, &rows->rows,
									  &rows->options);
	MemoryContextSwitchTo(old);
}

/*
 * Set values to the ids of two rows, the lesser one first, and to their
 * distance.  Each pair of rows comes once, in no particular order.  Rows with
 * the same id are no pair.  Return false after the last pair.
 */
static bool
next(PairRows *rows, Datum *values)
{
	NearPair   *pair = &rows->pair;
	int64		x;
	int64		y;

	if (rows->pairs == NULL)
		begin_pairs(rows);
	do
	{
		CHECK_FOR_INTERRUPTS();
		while (!find_rows(pair, &rows->a, &rows->b))
		{
			if (!hamming_pairs_next(rows->pairs, pair))
				return false;
			rows->a = pair->x;
			rows->b = pair->y;
		}
		x = pair->x_side->payloads[rows->a];
		y = pair->y_side->payloads[rows->b++];
	} while (x == y);
	values[0] = Int64GetDatum(Min(x, y));
	values[1] = Int64GetDatum(Max(x, y));
	values[2] = Int32GetDatum(pair->distance);
	return true;
}

/* Memory goes with that of begin(). */
static void
end(PairRows *rows)
{
	if (rows->pairs != NULL)
		hamming_pairs_end(rows->pairs);
	hamming_side_end(&rows->rows);
}

const PairMethods
WIDE(simhash_pair_methods) =
{
	begin, add, next, end
};
