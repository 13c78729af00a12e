/*
 * join_pairs.c
 *	  The pairs of a similarity join, one at a time.
 */
#include "postgres.h"

#include "dedup/join_pairs.h"

/*
 * Begin a join of the lists x and y, which may be the same list, within
 * radius, 0 .. HAMMING_BITS.  Until the end of the join the caller leaves the
 * lists alone, and the join changes their order.
 */
JoinPairs *
hamming_join_pairs_begin(FingerprintList *x, FingerprintList *y, int radius)
{
	/* all zero: nothing is being compared, so the first call gets a group */
	JoinPairs  *pairs = palloc0(sizeof(JoinPairs));

	pairs->join = hamming_join_begin(x, y, radius, NULL);
	return pairs;
}

/* Free a join, which need not have come to its end. */
void
hamming_join_pairs_end(JoinPairs *pairs)
{
	pfree(pairs->join);
	pfree(pairs);
}

/* Take the shorter stretch of the group as the outer one. */
static void
begin_group(JoinPairs *pairs, const Candidates *group)
{
	HammingJoin *join = pairs->join;

	pairs->is_swapped = group->x_end - group->x > group->y_end - group->y;
	pairs->outer = pairs->is_swapped ? join->y : join->x;
	pairs->i = pairs->is_swapped ? group->y : group->x;
	pairs->outer_end = pairs->is_swapped ? group->y_end : group->x_end;
	pairs->inner = pairs->is_swapped ? join->x : join->y;
	pairs->inner_from = pairs->is_swapped ? group->x : group->y;
	pairs->inner_end = pairs->is_swapped ? group->x_end : group->y_end;
}

/*
 * Begin to compare the fingerprint at pairs->i.  In the join of a list with
 * itself it is compared with what comes after it: so each pair of places comes
 * once, and none with itself.
 */
static void
begin_element(JoinPairs *pairs)
{
	uint32		from = pairs->outer == pairs->inner ? pairs->i + 1
	: pairs->inner_from;

	matches_begin(&pairs->matches, pairs->inner, from, pairs->inner_end,
				  pairs->outer->fps[pairs->i], pairs->join->radius);
}

/* Go on to the next one to be compared; return false if there is none. */
static bool
next_element(JoinPairs *pairs)
{
	Candidates	group;

	if (pairs->i + 1 < pairs->outer_end)
		pairs->i++;
	else if (hamming_join_next(pairs->join, &group))
		begin_group(pairs, &group);
	else
		return false;
	begin_element(pairs);
	return true;
}

/*
 * Get the places of the next pair, *x in the list x and *y in the list y, in
 * no particular order; return false if there is none.  The places hold until
 * the next call.  A pair may come more than once: see
 * hamming_join_pairs_is_first().
 */
bool
hamming_join_pairs_next(JoinPairs *pairs, uint32 *x, uint32 *y)
{
	uint32		inner;

	while (!matches_next(&pairs->matches, &inner))
		if (!next_element(pairs))
			return false;
	*x = pairs->is_swapped ? inner : pairs->i;
	*y = pairs->is_swapped ? pairs->i : inner;
	return true;
}

/*
 * Is this the first time that the join has returned the current pair?
 * difference has the bits in which its fingerprints differ.
 */
bool
hamming_join_pairs_is_first(const JoinPairs *pairs, uint64 difference)
{
	return hamming_join_is_first(pairs->join, difference);
}
