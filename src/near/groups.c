/*
 * groups.c
 *	  Which fingerprints may be within a radius of each other, by the
 *	  pigeonhole principle.
 *
 * A list is sorted by one segment of a cut after the other (cut.c): what
 * agrees in the segment, or nearly, is a group then, and may be divided by
 * further segments, or by a cut of its own.  near/README, claim 1, proves that
 * no pair within the radius is lost.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "near/groups.h"
#include "near/progress.h"

/* Return the bits of the node's cut that come after the current segment. */
static Fingerprint
later_bits(const GroupNode *node)
{
	Fingerprint bits = node->cut.region;
	int			segment;

	for (segment = 0; segment <= node->segment; segment++)
		bits &= ~node->cut.segments[segment];
	return bits;
}

/*
 * Let a smaller group of the node agree in all levels of its cut.  Return in
 * how many later bits a new pair of it may differ: near/README, "New cuts".
 */
static int
radius_later(const GroupNode *node)
{
	const NearCut *cut = &node->cut;
	int			radius = cut->radius - fingerprint_popcount(node->flips);
	int			segment;

	for (segment = 0; segment < node->segment; segment++)
		radius -= cut_near(cut, segment) + 1;

	/*
	 * A chosen segment agrees, and so used up none of the radius: give back 1
	 * for each of the levels - 1 that were chosen before the current one.
	 */
	return radius + cut->levels - 1;
}

/* Return the bits in which all pairs of the node's smaller groups differ. */
static Fingerprint
flipped_below(const GroupNode *node)
{
	return node->flipped | node->flips;
}

/*
 * above is NULL for the group of all.  Else the group is a smaller group of
 * the node above, and agrees in all levels of the cut of above.  Set *cut to a
 * cut of the group that takes the least time.  Return false if no cut pays.
 */
static bool
make_cut(NearGroups *groups, const Candidates *group, const GroupNode *above,
		 NearCut *cut)
{
	Fingerprint flipped;
	int			radius;
	GroupShape	shape;
	double		least;

	if (number_of_pairs(groups, group) <=
		hamming_group_sort_cost(groups, group) * (groups->radius + 1))
		return false;
	flipped = above == NULL ? 0 : flipped_below(above);
	radius = groups->radius - fingerprint_popcount(flipped);
	hamming_group_measure(groups, group, flipped, &shape);
	least = shape.pairs;
	cut->levels = 0;
	hamming_cut_choose(cut, &shape, radius, ~flipped, &least);
	if (above != NULL)
		hamming_cut_choose(cut, &shape, radius_later(above), later_bits(above),
						   &least);
	if (cut->levels == 0)
		return false;
	hamming_cut_bits(cut, &shape);
	return true;
}

/*
 * Push a node that divides the group by segments of the cut, from first on: in
 * level of those up to the last one a pair agrees that is within the radius.
 */
static void
push_node(NearGroups *groups, const Candidates *group, const NearCut *cut,
		  int level, int first)
{
	GroupNode  *node = &groups->nodes[groups->depth];

	Assert(groups->depth < HAMMING_BITS);
	node->flipped = groups->depth == 0 ? 0 : flipped_below(node - 1);
	groups->depth++;
	node->all = *group;
	node->cut = *cut;
	node->level = level;
	node->first = first;
	node->last = cut->segment_count - cut->levels + level - 1;
	node->segment = first - 1;
	/* it is sorted by no segment, and so has no smaller group */
	node->flips = 0;
	node->x = group->x_end;
	node->y = group->y_end;
}

/* Push a node that divides the group; return false if that does not pay. */
static bool
divide(NearGroups *groups, const Candidates *group)
{
	GroupNode  *top = groups->depth == 0 ? NULL
	: &groups->nodes[groups->depth - 1];
	NearCut		cut;

	if (top != NULL && top->level < top->cut.levels)
	{
		if (hamming_group_is_compared_sooner(groups, group,
											 top->cut.radius + top->level -
											 top->segment))
			return false;
		push_node(groups, group, &top->cut, top->level + 1, top->segment + 1);
		return true;
	}
	if (!make_cut(groups, group, top, &cut))
		return false;
	push_node(groups, group, &cut, 1, 0);
	return true;
}

/* Return the bits of the current segment that may differ in a smaller group. */
static Fingerprint
segment_bits(const GroupNode *node)
{
	return node->cut.segments[node->segment] & node->cut.varying;
}

/* On entry node->segment < node->last.  Sort node->all by the next segment. */
static void
sort_by_next_segment(NearGroups *groups, GroupNode *node)
{
	const Candidates *all = &node->all;
	Fingerprint bits;
	int			low;
	int			high;

	node->segment++;
	bits = segment_bits(node);
	low = fingerprint_rightmost_one(bits);
	high = fingerprint_leftmost_one(bits) + 1;
	hamming_fplist_sort(groups->x, all->x, all->x_end, low, high);
	if (!is_one_stretch(groups, all))
		hamming_fplist_sort(groups->y, all->y, all->y_end, low, high);
	node->flips = 0;
	node->passes = 0;
	node->x = all->x;
	node->y = all->y;
	node->is_walked = false;
}

/*
 * Set node->flips to the next choice of bits of the current segment, at most
 * cut_near() of them, ascending as numbers.  Return false after the last one.
 *
 * To add 1 gives the next choice, where flips has fewer bits than allowed.
 * Else all choices have too many up to the one where the lowest bit of flips is
 * added.  Bits that are not of the segment are 1 in the addition, so that a
 * carry passes over them.
 */
static bool
next_flips(GroupNode *node)
{
	Fingerprint bits = segment_bits(node);
	Fingerprint flips = node->flips;
	Fingerprint step = fingerprint_popcount(flips) <
	cut_near(&node->cut, node->segment) ? 1 : flips & -flips;

	node->flips = ((flips | ~bits) + step) & bits;
	if (node->flips == 0)
		return false;
	node->passes++;
	node->x = node->all.x;
	node->y = node->all.y;
	return true;
}

/*
 * Get the next smaller group that has a pair, in the current segment and with
 * the current flips.  Where the x of node->all are among its y, those with the
 * lesser key are the x of the smaller group, and their partners the y: so a
 * pair comes once.
 */
static bool
next_flipped(const NearGroups *groups, GroupNode *node, Candidates *group)
{
	const FingerprintList *x = groups->x;
	const FingerprintList *y = groups->y;
	const Candidates *all = &node->all;
	Fingerprint bits = node->cut.segments[node->segment];
	bool		is_one = divides_one_stretch(groups, node);

	while (node->x < all->x_end)
	{
		Fingerprint x_key = x->fps[node->x] & bits;
		Fingerprint y_key = x_key ^ node->flips;

		CHECK_FOR_INTERRUPTS();
		group->x = node->x;
		node->x = fplist_end_of_run(x, node->x, all->x_end, bits);
		group->x_end = node->x;
		if (is_one && y_key < x_key)
			continue;
		if (is_one && y_key == x_key)
		{
			group->y = group->x;
			group->y_end = group->x_end;
		}
		else
		{
			node->y = hamming_fplist_find(y, all->y, all->y_end, node->y, bits,
										  y_key);
			if (node->y == all->y_end || (y->fps[node->y] & bits) != y_key)
				continue;
			group->y = node->y;
			group->y_end = fplist_end_of_run(y, node->y, all->y_end, bits);
		}
		if (number_of_pairs(groups, group) > 0)
			return true;
	}
	return false;
}

/*
 * The lists x and y are sorted by the current segment of the node.  Get the
 * node's next smaller group that has a pair; return false if there is none
 * left.  The lists stay as they are.
 */
bool
hamming_groups_next_smaller(const NearGroups *groups, GroupNode *node,
							Candidates *group)
{
	do
	{
		if (next_flipped(groups, node, group))
			return true;
	} while (next_flips(node));
	return false;
}

/*
 * Make a search for the pairs of the lists x and y, which may be the same
 * list, within radius, 0 .. HAMMING_BITS.  The caller frees the result by
 * pfree(), and until then changes the lists only as hamming_groups_next()
 * allows.  The search changes their order.
 *
 * If x and y are the same list, the caller may set groups->sets to sets (see
 * sets.h) of its numbers: members of one set need no comparison.  The caller
 * may unite sets meanwhile, as a pair that was left out stays in one set.
 *
 * If x and y are two lists, or two stretches of one are searched, the caller
 * may set groups->settled: pairs of number n of x need no comparison where
 * settled[n].  The caller may settle more numbers at any time.
 */
NearGroups *
hamming_groups_make(FingerprintList *x, FingerprintList *y, int radius)
{
	NearGroups *groups = palloc(sizeof(NearGroups));

	memset(groups, 0, offsetof(NearGroups, nodes));
	groups->x = x;
	groups->y = y;
	groups->radius = radius;
	return groups;
}

/*
 * Begin to search for the pairs of all, which are the lists or stretches of
 * them.  Where x and y are one list, all is one stretch, or two that have no
 * place in common.
 *
 * If cut is not NULL, which has one level and the radius of the search, then
 * restrict the search to pairs that agree in the segment of that number, and
 * in none before.  Pairs that agree in an earlier segment may be among the
 * candidates or not: hamming_groups_is_first() is false for them.  So searches
 * that are restricted to each of the radius + 1 segments of one cut find each
 * pair within the radius, and one of them finds it first.
 */
void
hamming_groups_begin(NearGroups *groups, const Candidates *all,
					 const NearCut *cut, int segment)
{
	GroupNode  *node = &groups->nodes[0];

	groups->base = 0;
	hamming_groups_begin_above(groups, all, false);
	if (cut == NULL)
		return;
	groups->is_fresh = false;
	push_node(groups, all, cut, 1, 0);
	node->last = segment;
	node->segment = segment - 1;
	sort_by_next_segment(groups, node);
}

/*
 * In a process of a team, where groups->nodes has the leader's base nodes:
 * begin to search all, which is a smaller group of the top one, or what the
 * leader hands out.  If is_whole, all is handed out as it is.
 */
void
hamming_groups_begin_above(NearGroups *groups, const Candidates *all,
						   bool is_whole)
{
	groups->depth = groups->base;
	groups->all = *all;
	groups->is_fresh = true;
	groups->is_whole = is_whole;
}

/*
 * Return which share of the phase is done, if of_segment of the current segment
 * of nodes[0] is, 0 .. 1.  Each segment counts alike.
 */
double
hamming_groups_done(const NearGroups *groups, double of_segment)
{
	const GroupNode *node = &groups->nodes[0];

	return groups->done_before +
		groups->done_here * (node->segment + of_segment) / (node->last + 1);
}

/* Show how much of a search by this process alone is done. */
static void
show_done(const NearGroups *groups)
{
	const GroupNode *node = &groups->nodes[0];
	double		passes;
	double		done;

	if (groups->done_here == 0 || node->segment < node->first)
		return;
	passes = hamming_ways_to_differ(fingerprint_popcount(segment_bits(node)),
									cut_near(&node->cut, node->segment), 1);
	done = node->passes + (double) (node->x - node->all.x) /
		(node->all.x_end - node->all.x);
	simhash_progress_show_share(hamming_groups_done(groups, done / passes));
}

/*
 * Get the next candidates; return false if there are none left.  All pairs
 * within the radius are among the candidates, but for pairs in one set and
 * those of settled numbers, which may be left out.  A pair may come several
 * times: see hamming_groups_is_first().  Until the next call, the caller may
 * reorder each stretch of the candidates.
 */
bool
hamming_groups_next(NearGroups *groups, Candidates *candidates)
{
	if (groups->is_fresh)
	{
		groups->is_fresh = false;
		*candidates = groups->all;
		if (groups->is_whole || !divide(groups, candidates))
			return number_of_pairs(groups, candidates) > 0;
	}
	while (groups->depth > groups->base)
	{
		GroupNode  *node = &groups->nodes[groups->depth - 1];
		bool		found = node->segment >= node->first;

		CHECK_FOR_INTERRUPTS();
		if (unlikely(simhash_progress_due))
			show_done(groups);
		if (found)
			found = groups->next_left != NULL
				? groups->next_left(groups->arg, groups, candidates)
				: hamming_groups_next_smaller(groups, node, candidates);
		if (found)
		{
			if (!hamming_group_is_done(groups, candidates) &&
				!divide(groups, candidates))
				return true;
		}
		else if (node->segment == node->last ||
				 hamming_group_is_done(groups, &node->all))
			groups->depth--;
		else
			sort_by_next_segment(groups, node);
	}
	return false;
}

/*
 * Do fingerprints nearly agree in a segment, of whose bits they differ in
 * difference?
 */
static inline bool
nearly_agrees(Fingerprint difference, int near)
{
	return difference == 0 ||
		(near > 0 && fingerprint_popcount(difference) <= near);
}

/*
 * Is a pair of the current candidates, which differs in difference, among the
 * candidates for the first time (README, claim 3)?  The pair must be within the
 * radius: a farther one may get false each time.  In a search with sets that
 * time may be left out, but only for a pair in one set.
 */
bool
hamming_groups_is_first(const NearGroups *groups, Fingerprint difference)
{
	int			depth;
	int			segment;

	for (depth = 0; depth < groups->depth; depth++)
	{
		const GroupNode *node = &groups->nodes[depth];

		for (segment = node->first; segment < node->segment; segment++)
			if (nearly_agrees(difference & node->cut.segments[segment],
							  cut_near(&node->cut, segment)))
				return false;
	}
	return true;
}
