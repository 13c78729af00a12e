/*
 * compare.c
 *	  The pairs of two lists of fingerprints, or of one, by their places.
 */
#include "postgres.h"

#include "near/compare.h"

/*
 * Make a comparison: see hamming_groups_make().  The caller begins it, anew
 * once it has come to its end, by hamming_groups_begin(), and until the last
 * pair leaves the lists alone.
 */
Comparison *
hamming_compare_make(FingerprintList *x, FingerprintList *y, int radius)
{
	Comparison *c = palloc0(sizeof(Comparison));

	c->groups = hamming_groups_make(x, y, radius);
	return c;
}

static void
begin_group(Comparison *c, const Candidates *group)
{
	NearGroups *groups = c->groups;

	c->is_swapped = groups->settled == NULL &&
		group->x_end - group->x > group->y_end - group->y;
	c->outer = c->is_swapped ? groups->y : groups->x;
	c->i = c->is_swapped ? group->y : group->x;
	c->outer_end = c->is_swapped ? group->y_end : group->x_end;
	c->inner = c->is_swapped ? groups->x : groups->y;
	c->inner_from = c->is_swapped ? group->x : group->y;
	c->inner_end = c->is_swapped ? group->x_end : group->y_end;
	c->is_one_stretch = is_one_stretch(groups, group);
}

/* Is the outer one settled? */
static bool
is_settled(const Comparison *c)
{
	const bool *settled = c->groups->settled;

	return settled != NULL && settled[c->outer->numbers[c->i]];
}

static bool
next_element(Comparison *c)
{
	Candidates	group;
	uint32		from;

	if (c->most > 0 && c->compared >= c->most)
		return false;
	do
	{
		if (c->i + 1 < c->outer_end)
			c->i++;
		else if (hamming_groups_next(c->groups, &group))
			begin_group(c, &group);
		else
		{
			c->outer = NULL;
			c->i = c->outer_end = 0;
			matches_begin(&c->matches, c->groups->x, 0, 0, 0, 0);
			return false;
		}
	} while (is_settled(c));
	/* one stretch is compared with later places: so each pair comes once */
	from = c->is_one_stretch ? c->i + 1 : c->inner_from;
	matches_begin(&c->matches, c->inner, from, c->inner_end,
				  c->outer->fps[c->i], c->groups->radius);
	c->compared += c->inner_end - from;
	return true;
}

/*
 * Get the places of the next pair, *x in the list x and *y in the list y.  The
 * places hold until the next call.  A pair may come more than once: see
 * hamming_groups_is_first().  Once a number of x is settled, at any time, the
 * number comes in no more pairs.  Return false if there is none left, or
 * c->most has come.
 */
bool
hamming_compare_next(Comparison *c, uint32 *x, uint32 *y)
{
	uint32		inner;

	while ((c->outer != NULL && is_settled(c)) ||
		   !matches_next(&c->matches, &inner))
		if (!next_element(c))
			return false;
	*x = c->is_swapped ? inner : c->i;
	*y = c->is_swapped ? c->i : inner;
	return true;
}
