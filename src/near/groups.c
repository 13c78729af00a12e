/*
 * groups.c
 *	  Which fingerprints may be within a radius of each other, by the
 *	  pigeonhole principle.
 *
 * A list is sorted by one segment of a cut after the other (cut.c): what
 * agrees in the segment is a group then, side by side.  Where a cut has
 * levels, a group is sorted by one later segment after the other, until groups
 * agree in levels segments.  Where fingerprints may nearly agree, for each
 * choice of up to near bits of the segment, what agrees in the segment is
 * compared with what differs from it in these bits, and in no other bit of the
 * segment.  A group that is too large even then gets a cut of its own, into
 * segments that tell its fingerprints apart equally well.
 *
 * A pair that nearly agrees in an earlier segment, too, was found there.  So a
 * new pair differs in each segment that was passed over, in near + 1 bits at
 * least.  Each such segment leaves near + 1 bits less in which the pair may
 * differ later, and the cut of a group may be one of the later bits alone.
 * README, claim 1, proves that no pair within the radius is lost.
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
 * A smaller group of the node must agree in all levels of its cut.  Let a pair
 * of this group be new: it nearly agrees in none of the segments up to
 * node->segment but the chosen ones, one for each level.  Return in how many
 * bits that come later the pair may differ.
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
 * Push a node that divides the group by segments of the cut, from first on.
 * If the cut has levels, the last segment is radius + level - 1: a pair that
 * differs in radius bits of the region at most agrees in level of the segments
 * up to that one.
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

/* Return the lowest count of the bits. */
static Fingerprint
lowest_bits(Fingerprint bits, int count)
{
	Fingerprint result = 0;

	for (; count > 0; count--)
	{
		result |= bits & -bits;
		bits &= bits - 1;
	}
	return result;
}

/*
 * Set node->flips to the next choice of bits of the current segment: first
 * those of one bit, then those of two, and so on.  Return false after the last
 * one of cut_near() bits.
 *
 * Choices of the same number of bits come in ascending order, as numbers.  The
 * next one is found by an addition (Gosper's hack, over the bits of a mask):
 * the lowest bit of flips is added to flips.  The carry clears the lowest run
 * of chosen bits and sets the bit above the run.  The bits that the carry has
 * cleared too many become the lowest ones of the segment.  Bits that are not
 * of the segment are 1 in the addition: so the carry passes over these.
 */
static bool
next_flips(GroupNode *node)
{
	Fingerprint bits = segment_bits(node);
	Fingerprint flips = node->flips;
	int			count = fingerprint_popcount(flips);
	Fingerprint moved = ((flips | ~bits) + (flips & -flips)) & bits;

	if (flips == 0 || moved == 0)
		node->flips = lowest_bits(bits, ++count);
	else
		node->flips = moved |
			lowest_bits(bits, count - fingerprint_popcount(moved));
	if (count > cut_near(&node->cut, node->segment) ||
		fingerprint_popcount(node->flips) < count)
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
next_flipped(const NearGroups *groups, const FingerprintList *x,
			 const FingerprintList *y, GroupNode *node, Candidates *group)
{
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
hamming_groups_next_smaller(const NearGroups *groups, const FingerprintList *x,
							const FingerprintList *y, GroupNode *node,
							Candidates *group)
{
	do
	{
		if (next_flipped(groups, x, y, node, group))
			return true;
	} while (next_flips(node));
	return false;
}

/*
 * Do the pairs of the node that need a comparison take no longer than its
 * other sorts?  If so, the caller hands out node->all, where the groups of the
 * other segments lie.  A pair may come twice, which hamming_groups_is_first()
 * cannot see: so the answer is false for a search that leaves out no pairs.
 */
static bool
is_nearly_done(const NearGroups *groups, const GroupNode *node)
{
	return leaves_out_pairs(groups) && node->segment >= node->first &&
		hamming_group_is_compared_sooner(groups, &node->all,
										 node->last - node->segment);
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

	groups->x = x;
	groups->y = y;
	groups->radius = radius;
	groups->sets = NULL;
	groups->settled = NULL;
	groups->next_left = NULL;
	groups->done_before = groups->done_here = 0;
	groups->is_fresh = false;
	groups->base = groups->depth = 0;
	return groups;
}

/* Search all by that segment only: see push_node(). */
static void
begin_segment(NearGroups *groups, const Candidates *all, const NearCut *cut,
			  int level, int first, int segment)
{
	GroupNode  *node = &groups->nodes[groups->depth];

	groups->is_fresh = false;
	push_node(groups, all, cut, level, first);
	node->last = segment;
	node->segment = segment - 1;
	sort_by_next_segment(groups, node);
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
	groups->base = groups->depth = 0;
	if (cut == NULL)
		hamming_groups_begin_above(groups, all, false);
	else
		begin_segment(groups, all, cut, 1, 0, segment);
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
 * Of a node whose cut has another level, return how many segments may divide
 * the node's smaller groups.  Else return 1.
 */
int
hamming_groups_segments_below(const GroupNode *node)
{
	const NearCut *cut = &node->cut;

	return node->level == cut->levels ? 1
		: cut->segment_count - cut->levels + node->level - node->segment;
}

/*
 * The same as hamming_groups_begin_above(), but search all by one segment only,
 * the one of that number among hamming_groups_segments_below(), which must be
 * more than 1.  If to divide all by all segments would take longer than its
 * pairs, the search for number 0 hands out all instead, and the others nothing.
 * All processes decide this alike, by numbers that no process changes
 * meanwhile.
 */
void
hamming_groups_begin_segment(NearGroups *groups, const Candidates *all,
							 int number)
{
	const GroupNode *top = &groups->nodes[groups->base - 1];

	hamming_groups_begin_above(groups, all, true);
	if (number_of_pairs(groups, all) <= hamming_group_sort_cost(groups, all) *
		hamming_groups_segments_below(top))
		groups->is_fresh = number == 0;
	else
		begin_segment(groups, all, &top->cut, top->level + 1, top->segment + 1,
					  top->segment + 1 + number);
}

/* Get the next smaller group of the top node that this process takes. */
static bool
next_smaller(NearGroups *groups, GroupNode *node, Candidates *group)
{
	if (node->segment < node->first)
		return false;
	return groups->next_left != NULL
		? groups->next_left(groups->arg, groups, group)
		: hamming_groups_next_smaller(groups, groups->x, groups->y, node,
									  group);
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

		CHECK_FOR_INTERRUPTS();
		if (unlikely(simhash_progress_due))
			hamming_groups_show_alone(groups);
		if (next_smaller(groups, node, candidates))
		{
			if (!hamming_group_is_done(groups, candidates) &&
				!divide(groups, candidates))
				return true;
		}
		else if (node->segment == node->last ||
				 hamming_group_is_done(groups, &node->all))
			groups->depth--;
		else if (is_nearly_done(groups, node))
		{
			*candidates = node->all;
			groups->depth--;
			return true;
		}
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
 * candidates for the first time?  The pair must be within the radius: a
 * farther one may get false each time.  The search must have no sets.  Where
 * it has settled numbers, a pair may get true twice.
 *
 * A pair was among the candidates before if and only if, for some node, it
 * nearly agrees in a segment that the node went through before the current one
 * (README, claim 3).
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
