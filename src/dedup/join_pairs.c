/*
 * join_pairs.c
 *	  The pairs of a similarity join, one at a time.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "type/distance_array.h"
#include "dedup/join_pairs.h"

/* Begin a join of two lists, or of a list with itself. */
JoinPairs *
hamming_join_pairs_begin(FingerprintList *x, FingerprintList *y, int radius)
{
	JoinPairs  *near = palloc0(sizeof(JoinPairs));

	near->join = hamming_join_begin(x, y, radius, NULL);
	return near;
}

void
hamming_join_pairs_end(JoinPairs *near)
{
	pfree(near->join);
	pfree(near);
}

/* Prepare to compare each of the shorter stretch with the longer one. */
static void
begin_group(JoinPairs *near, const Candidates *group)
{
	HammingJoin *join = near->join;

	near->is_swapped = group->x_end - group->x > group->y_end - group->y;
	near->outer = near->is_swapped ? join->y : join->x;
	near->i = near->is_swapped ? group->y : group->x;
	near->end = near->is_swapped ? group->y_end : group->x_end;
	near->inner = near->is_swapped ? join->x : join->y;
	near->inner_from = near->is_swapped ? group->x : group->y;
	near->inner_end = near->is_swapped ? group->x_end : group->y_end;
}

/* Each pair of a list once, and none with itself. */
static void
begin_element(JoinPairs *near)
{
	near->next_stretch = near->outer == near->inner ? near->i + 1
		: near->inner_from;
}

/* Find the matches in the next stretch; false if there is none. */
static bool
match_stretch(JoinPairs *near)
{
	Candidates	group;

	CHECK_FOR_INTERRUPTS();
	while (near->next_stretch >= near->inner_end)
	{
		if (near->i + 1 < near->end)
			near->i++;
		else if (hamming_join_next(near->join, &group))
			begin_group(near, &group);
		else
			return false;
		begin_element(near);
	}
	near->stretch = near->next_stretch;
	near->next_stretch += Min(near->inner_end - near->stretch,
							  JOIN_PAIRS_STRETCH);
	near->count = hamming_match(
								near->inner->fps + near->stretch, near->next_stretch - near->stretch,
								near->outer->fps[near->i], near->join->radius, near->matches);
	near->next = 0;
	return true;
}

/*
 * The next pair, by its places in the lists.  Some come more than once: see
 * hamming_join_is_first.
 */
bool
hamming_join_pairs_next(JoinPairs *near, uint32 *x, uint32 *y)
{
	uint32		inner;

	while (near->next == near->count)
		if (!match_stretch(near))
			return false;
	inner = near->stretch + near->matches[near->next++];
	*x = near->is_swapped ? inner : near->i;
	*y = near->is_swapped ? near->i : inner;
	return true;
}
