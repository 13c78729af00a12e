/*
 * compare.c
 *	  The pairs of a similarity join, one at a time.
 */
#include "postgres.h"

#include "near/compare.h"

/* See hamming_join_begin().  The caller leaves x and y alone meanwhile. */
JoinPairs *
hamming_join_pairs_begin(FingerprintList *x, FingerprintList *y, int radius)
{
	/* all zero: so the first call gets a group */
	JoinPairs  *pairs = palloc0(sizeof(JoinPairs));

	pairs->join = hamming_join_begin(x, y, radius, NULL);
	return pairs;
}

/*
 * See hamming_join_settle().  Once a number of x is settled, at any time, it
 * comes in no more pairs.
 */
void
hamming_join_pairs_settle(JoinPairs *pairs, const bool *settled)
{
	hamming_join_settle(pairs->join, settled);
}

/* See hamming_join_restrict(). */
void
hamming_join_pairs_restrict(JoinPairs *pairs, const JoinCut *cut, int part)
{
	hamming_join_restrict(pairs->join, cut, part);
}

/* Free a join, which need not have come to its end. */
void
hamming_join_pairs_end(JoinPairs *pairs)
{
	pfree(pairs->join);
	pfree(pairs);
}

static void
begin_group(JoinPairs *pairs, const Candidates *group)
{
	HammingJoin *join = pairs->join;

	pairs->is_swapped = join->settled == NULL &&
		group->x_end - group->x > group->y_end - group->y;
	pairs->outer = pairs->is_swapped ? join->y : join->x;
	pairs->i = pairs->is_swapped ? group->y : group->x;
	pairs->outer_end = pairs->is_swapped ? group->y_end : group->x_end;
	pairs->inner = pairs->is_swapped ? join->x : join->y;
	pairs->inner_from = pairs->is_swapped ? group->x : group->y;
	pairs->inner_end = pairs->is_swapped ? group->x_end : group->y_end;
	pairs->is_one_stretch = is_one_stretch(join, group);
}

/* One stretch is compared with later places: so each pair comes once. */
static void
begin_element(JoinPairs *pairs)
{
	uint32		from = pairs->is_one_stretch ? pairs->i + 1
	: pairs->inner_from;

	matches_begin(&pairs->matches, pairs->inner, from, pairs->inner_end,
				  pairs->outer->fps[pairs->i], pairs->join->radius);
	pairs->compared += pairs->inner_end - from;
}

/* Is the outer one settled? */
static bool
is_settled(const JoinPairs *pairs)
{
	const bool *settled = pairs->join->settled;

	return settled != NULL && settled[pairs->outer->ids[pairs->i]];
}

static bool
next_element(JoinPairs *pairs)
{
	Candidates	group;

	do
	{
		if (pairs->i + 1 < pairs->outer_end)
			pairs->i++;
		else if (hamming_join_next(pairs->join, &group))
			begin_group(pairs, &group);
		else
			return false;
	} while (is_settled(pairs));
	begin_element(pairs);
	return true;
}

/*
 * Get the places of the next pair, *x in the list x and *y in the list y.  The
 * places hold until the next call.  A pair may come more than once: see
 * hamming_join_pairs_is_first().
 */
bool
hamming_join_pairs_next(JoinPairs *pairs, uint32 *x, uint32 *y)
{
	uint32		inner;

	while ((pairs->outer != NULL && is_settled(pairs)) ||
		   !matches_next(&pairs->matches, &inner))
		if (!next_element(pairs))
			return false;
	*x = pairs->is_swapped ? inner : pairs->i;
	*y = pairs->is_swapped ? pairs->i : inner;
	return true;
}

/* See hamming_join_is_first(). */
bool
hamming_join_pairs_is_first(const JoinPairs *pairs, Fingerprint difference)
{
	return hamming_join_is_first(pairs->join, difference);
}
