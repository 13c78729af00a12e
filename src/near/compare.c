/*
 * compare.c
 *	  The pairs of two lists of fingerprints, or of one.
 */
#include "postgres.h"

#include "near/compare.h"

/*
 * Make a comparison: see hamming_groups_make().  The caller gives the groups no
 * sets, begins the comparison, anew once it has come to its end, by
 * hamming_groups_begin(), and leaves the lists alone until the last pair.
 */
Comparison *
hamming_compare_make(FingerprintList *x, FingerprintList *y, int radius)
{
	Comparison *c = palloc0(sizeof(Comparison));

	c->groups = hamming_groups_make(x, y, radius);
	return c;
}

/* Begin to compare all of outer with the piece of inner that begins there. */
static void
begin_piece(Comparison *c, uint32 place)
{
	bool		settles = c->groups->lists.settled != NULL;
	uint32		most = settles ? MATCHES_PIECE : INNER_PIECE;

	CHECK_FOR_INTERRUPTS();
	c->piece = place;
	c->piece_end = place + Min(c->group.y_end - place, most);
	c->i = c->group.x;
}

/* Begin to compare the group, which hamming_groups_next() has set. */
static void
begin_group(Comparison *c)
{
	NearGroups *groups = c->groups;
	Candidates	group = c->group;
	Candidates	swapped = {group.y, group.y_end, group.x, group.x_end};

	c->is_swapped = groups->lists.settled == NULL &&
		group.x_end - group.x > group.y_end - group.y;
	c->outer = c->is_swapped ? groups->lists.y : groups->lists.x;
	c->inner = c->is_swapped ? groups->lists.x : groups->lists.y;
	if (c->is_swapped)
		c->group = swapped;
	c->is_one_stretch = is_one_stretch(&groups->lists, &group);
	begin_piece(c, c->group.y);
}

/* Is the outer one settled? */
static bool
is_settled(const Comparison *c)
{
	const bool *settled = c->groups->lists.settled;

	return settled != NULL && settled[c->outer->numbers[c->i]];
}

/* Go on to the next outer one that is not settled; return false after all. */
static bool
next_element(Comparison *c)
{
	Candidates *group = &c->group;
	uint32		from;

	do
	{
		/* those of one stretch have only later ones for partners */
		if (c->outer != NULL &&
			++c->i < (c->is_one_stretch ? c->piece_end : group->x_end))
			continue;
		if (c->outer != NULL && c->piece_end < group->y_end)
			begin_piece(c, c->piece_end);
		else if (hamming_groups_next(c->groups, group))
			begin_group(c);
		else
		{
			c->outer = NULL;
			matches_begin(&c->matches, c->groups->lists.x, 0, 0, 0, 0);
			return false;
		}
	} while (is_settled(c));
	/* one stretch is compared with later places: so each pair comes once */
	from = c->is_one_stretch ? Max(c->piece, c->i + 1) : c->piece;
	matches_begin(&c->matches, c->inner, from, c->piece_end,
				  c->outer->current[c->i], current_radius(c->groups));
	c->compared += c->piece_end - from;
	return true;
}

/*
 * Get the next pair within the radius: each comes once, but once a number of x
 * is settled, at any time, the number comes in no more pairs.  Return false if
 * there is none left.
 */
bool
hamming_compare_next(Comparison *c, FoundPair *pair)
{
	uint64		difference[HAMMING_MAX_WORDS];
	int			distance;
	uint32		inner;
	uint32		x;
	uint32		y;

	do
	{
		while ((c->outer != NULL && is_settled(c)) ||
			   !matches_next(&c->matches, &inner))
			if (!next_element(c))
				return false;
		/* the match is one by the current word */
		distance = fplist_differ(c->outer, c->i, c->inner, inner,
								 current_word(c->groups), difference);
	} while (distance > c->groups->radius ||
			 !hamming_groups_is_first(c->groups, difference));
	x = c->outer->numbers[c->i];
	y = c->inner->numbers[inner];
	pair->x = c->is_swapped ? y : x;
	pair->y = c->is_swapped ? x : y;
	pair->distance = distance;
	return true;
}
