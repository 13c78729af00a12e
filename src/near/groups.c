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
 * doc/algorithm.md 6 proves that no pair within the radius is lost.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "near/groups.h"
#include "near/progress.h"
#include "near/sets.h"
#include "type/distance_array.h"

/*
 * Pairs that show how much the bits vary.  64, 256 and 1024 took the same time
 * within 6 %: simhash_cluster(fp, 3), a million rows of "one bit in eight set"
 * (bench/hostile.sql).
 */
#define SAMPLE_SIZE 256

/*
 * A group of fewer than WORTH_ESTIMATING is sorted too quickly for the sample
 * of number_needed(), up to 64 looks at a pair and its two sets.
 */
#define WORTH_ESTIMATING 2048

/*
 * A group of fewer than WORTH_ASKING pairs is compared sooner than its sets are
 * looked up, which may be anywhere in memory.  Of 64, 256 and 1024, 64 took the
 * least time: simhash_cluster of a million random fingerprints of 128 bits
 * within 16.
 */
#define WORTH_ASKING 64

/*
 * Units of UNIT_ROWS fingerprints take long enough that a team need not wait
 * for them.  MAX_SLICES leave the last ones short for many processes.
 */
#define UNIT_ROWS 256
#define MAX_SLICES 4096

/* Return what sorting a group by one segment takes, in comparisons. */
static double
cost_of_sort(const NearGroups *groups, const Candidates *group)
{
	double		x = group->x_end - group->x;
	double		y = is_one_stretch(groups, group) ? 0 : group->y_end - group->y;

	return (x + y) * hamming_comparisons();
}

/* Return the bits in which any of the fingerprints differs from one. */
static Fingerprint
find_varying(const Fingerprint *fps, uint32 count, Fingerprint one)
{
	Fingerprint varying = 0;
	uint32		i;

	for (i = 0; i < count; i++)
		varying |= fps[i] ^ one;
	return varying;
}

/* Does the search know of pairs that need no comparison? */
static inline bool
leaves_out_pairs(const NearGroups *groups)
{
	return groups->sets != NULL || groups->settled != NULL;
}

/*
 * Does the pair of the fingerprints at x of groups->x and at y of groups->y
 * need no comparison, as both are in one set, or as x is settled?
 */
static inline bool
is_left_out(const NearGroups *groups, uint32 x, uint32 y)
{
	uint32	   *sets = groups->sets;

	if (groups->settled != NULL)
		return groups->settled[groups->x->numbers[x]];
	return sets != NULL && find_set(sets, groups->x->numbers[x]) ==
		find_set(sets, groups->y->numbers[y]);
}

/* Get pair i of SAMPLE_SIZE; return false if it needs no comparison. */
static bool
sample_pair(const NearGroups *groups, const Candidates *group, int i,
			Fingerprint *difference)
{
	uint64		x_size = group->x_end - group->x;
	uint32		y_size = group->y_end - group->y;

	/*
	 * Both are spread evenly, in unrelated orders.  The factor is a prime
	 * near 2^32 over the golden ratio, as in Knuth's multiplicative hashing.
	 */
	uint32		x = group->x + (uint32) (x_size * i / SAMPLE_SIZE);
	uint32		y = group->y + (i * UINT64CONST(2654435761)) % y_size;

	*difference = groups->x->fps[x] ^ groups->y->fps[y];
	/* within one stretch, a fingerprint may meet itself: that is no pair */
	return !(is_one_stretch(groups, group) && x == y) &&
		!is_left_out(groups, x, y);
}

/*
 * Estimate, above 0, how many pairs of a group need a comparison: all, if an
 * eighth or more of the sample do, as in most groups of most data.
 */
static double
number_needed(const NearGroups *groups, const Candidates *group)
{
	double		pairs = number_of_pairs(groups, group);
	Fingerprint difference;
	int			needed = 0;
	int			i;

	if (!leaves_out_pairs(groups) ||
		group->x_end - group->x < WORTH_ESTIMATING)
		return pairs;
	/* a quarter of the sample will do: it decides by a factor, no more */
	for (i = 0; i < SAMPLE_SIZE; i += 4)
	{
		needed += sample_pair(groups, group, i, &difference);
		if (needed == SAMPLE_SIZE / 4 / 8)
			return pairs;
	}
	return pairs * Max(needed, 0.5) / (SAMPLE_SIZE / 4);
}

/* Do the pairs that need a comparison take no longer than sorts sorts? */
static bool
is_compared_sooner(const NearGroups *groups, const Candidates *group, int sorts)
{
	double		sorting = cost_of_sort(groups, group) * sorts;

	return number_of_pairs(groups, group) <= sorting ||
		number_needed(groups, group) <= sorting;
}

/*
 * Measure the information of each bit by a sample: of n bits of information,
 * one pair in 2^n agrees in the bit.  A bit has some if and only if it varies.
 * Return which fraction of the pairs needs a comparison: it is above 0.  Set
 * *matches to the fraction that is also within the radius.
 */
static double
measure_bits(const NearGroups *groups, const Candidates *group,
			 Fingerprint varying, double *information, double *matches)
{
	int			differ[HAMMING_BITS] = {0};
	int			needed = 0;
	int			within = 0;
	int			bit;
	int			i;

	for (i = 0; i < SAMPLE_SIZE; i++)
	{
		Fingerprint difference;

		if (!sample_pair(groups, group, i, &difference))
			continue;
		needed++;
		within += fingerprint_popcount(difference) <= groups->radius;
		for (bit = 0; bit < HAMMING_BITS; bit++)
			differ[bit] += difference >> bit & 1;
	}
	for (bit = 0; bit < HAMMING_BITS; bit++)
	{
		/* none in the sample is not none at all: so count half a pair more */
		double		agree = (needed - differ[bit] + 0.5) / (needed + 0.5);

		information[bit] = varying >> bit & 1 ? Max(-log2(agree), 1e-3) : 0;
	}
	*matches = (double) within / SAMPLE_SIZE;
	return Max(needed, 0.5) / SAMPLE_SIZE;
}

static void
measure_group(const NearGroups *groups, const Candidates *group,
			  Fingerprint flipped, GroupShape *shape)
{
	const Fingerprint *x = groups->x->fps;
	double		pairs = number_of_pairs(groups, group);

	shape->varying = find_varying(x + group->x, group->x_end - group->x,
								  x[group->x]);
	if (!is_one_stretch(groups, group))
		shape->varying |= find_varying(groups->y->fps + group->y,
									   group->y_end - group->y, x[group->x]);
	shape->varying &= ~flipped;
	shape->sort = cost_of_sort(groups, group);
	shape->pairs = pairs * measure_bits(groups, group, shape->varying,
										shape->information, &shape->matches);
	shape->matches *= pairs;
}

/* Return the bits of the node's cut that come after the current segment. */
static Fingerprint
later_bits(const GroupNode *node)
{
	Fingerprint bits = node->cut->region;
	int			segment;

	for (segment = 0; segment <= node->segment; segment++)
		bits &= ~node->cut->segments[segment];
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
	const NearCut *cut = node->cut;
	int			radius = cut->radius - fingerprint_popcount(node->flips);
	int			segment;

	for (segment = 0; segment < node->segment; segment++)
		radius -= cut_near(cut, segment) + 1;
	/* of these segments, all levels but the last have chosen one each */
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
		cost_of_sort(groups, group) * (groups->radius + 1))
		return false;
	Assert(cut < groups->cuts + HAMMING_BITS);
	flipped = above == NULL ? 0 : flipped_below(above);
	radius = groups->radius - fingerprint_popcount(flipped);
	measure_group(groups, group, flipped, &shape);
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
push_node(NearGroups *groups, const Candidates *group, NearCut *cut, int level,
		  int first)
{
	GroupNode  *node = &groups->nodes[groups->depth];

	node->flipped = groups->depth == 0 ? 0 : flipped_below(node - 1);
	groups->depth++;
	Assert(groups->depth <= HAMMING_BITS);
	node->all = *group;
	node->cut = cut;
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
	NearCut    *cut = top == NULL ? groups->cuts : top->cut;

	if (top != NULL && top->level < cut->levels)
	{
		if (is_compared_sooner(groups, group,
							   cut->radius + top->level - top->segment))
			return false;
		push_node(groups, group, cut, top->level + 1, top->segment + 1);
		return true;
	}
	if (top != NULL)
		cut++;
	if (!make_cut(groups, group, top, cut))
		return false;
	push_node(groups, group, cut, 1, 0);
	return true;
}

/* Return the bits of the current segment that may differ in a smaller group. */
static Fingerprint
segment_bits(const GroupNode *node)
{
	return node->cut->segments[node->segment] & node->cut->varying;
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
	if (groups->walk == NULL)
		return;
	node->large = pg_atomic_read_u32(&groups->common->large_count);
	groups->walk(groups->arg, groups);
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
	if (count > cut_near(node->cut, node->segment) ||
		fingerprint_popcount(node->flips) < count)
		return false;
	node->passes++;
	node->x = node->all.x;
	node->y = node->all.y;
	return true;
}

/* Are the x of the node's groups among its y? */
static bool
divides_one_stretch(const NearGroups *groups, const GroupNode *node)
{
	const Candidates *all = &node->all;

	return groups->x == groups->y && all->x >= all->y && all->x < all->y_end;
}

/* Does the node divide a list that other processes read, too? */
static inline bool
is_shared(const NearGroups *groups, const GroupNode *node)
{
	return groups->shared != NULL &&
		node == &groups->nodes[groups->common->depth - 1];
}

/* Return the list that the node divides: own, or the shared one. */
static inline const FingerprintList *
list_of(const NearGroups *groups, const GroupNode *node,
		const FingerprintList *own)
{
	return is_shared(groups, node) ? groups->shared : own;
}

/*
 * Get the next smaller group that has a pair, in the current segment and with
 * the current flips.  Where the x of node->all are among its y, those with the
 * lesser key are the x of the smaller group, and their partners the y: so a
 * pair comes once.
 */
static bool
next_group_flipped(const NearGroups *groups, GroupNode *node, Candidates *group)
{
	const Candidates *all = &node->all;
	const FingerprintList *x = list_of(groups, node, groups->x);
	const FingerprintList *y = list_of(groups, node, groups->y);
	Fingerprint bits = node->cut->segments[node->segment];
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

/* Get the next smaller group that has a pair, in the current segment. */
static bool
next_group(const NearGroups *groups, GroupNode *node, Candidates *group)
{
	do
	{
		if (next_group_flipped(groups, node, group))
			return true;
	} while (next_flips(node));
	return false;
}

/*
 * Is it known that no pair of the group needs a comparison?  All are in one set
 * if each x is in the set of the first y, and each y in the set of the first x.
 */
static bool
is_done(const NearGroups *groups, const Candidates *group)
{
	bool		has_y = groups->sets != NULL && !is_one_stretch(groups, group);
	uint32		x;
	uint32		y;

	if (!leaves_out_pairs(groups) ||
		number_of_pairs(groups, group) < WORTH_ASKING)
		return false;
	for (x = group->x; x < group->x_end; x++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_left_out(groups, x, group->y))
			return false;
	}
	for (y = group->y; has_y && y < group->y_end; y++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_left_out(groups, group->x, y))
			return false;
	}
	return true;
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
		is_compared_sooner(groups, &node->all, node->last - node->segment);
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
	groups->common = NULL;
	groups->walk = NULL;
	groups->shared = NULL;
	groups->given = GIVEN_NONE;
	groups->done_before = groups->done_here = 0;
	groups->depth = 0;
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
	groups->all = *all;
	groups->given = GIVEN_NONE;
	groups->depth = -1;
	if (cut == NULL)
		return;
	groups->cuts[0] = *cut;
	groups->depth = 0;
	push_node(groups, all, groups->cuts, 1, 0);
	groups->nodes[0].last = segment;
	groups->nodes[0].segment = segment - 1;
	sort_by_next_segment(groups, &groups->nodes[0]);
}

/*
 * The places begin .. end - 1 are sorted by bits, and place is one of them, or
 * end.  Return where the run ends that place - 1 is in.  If place is begin,
 * return begin.
 */
static uint32
end_of_run_before(const FingerprintList *list, uint32 begin, uint32 place,
				  uint32 end, Fingerprint bits)
{
	return place == begin ? begin
		: fplist_end_of_run(list, place - 1, end, bits);
}

/*
 * Of a node whose cut has another level, return how many segments may divide
 * the node's smaller groups.  Else return 1.
 */
static int
segments_below(const GroupNode *node)
{
	const NearCut *cut = node->cut;

	return node->level == cut->levels ? 1
		: cut->segment_count - cut->levels + node->level - node->segment;
}

/*
 * Return into how many slices a team divides the x of candidates.  A slice has
 * a fingerprint at least, or many where the y are few.
 */
uint32
hamming_groups_slices(const Candidates *all)
{
	uint32		x = all->x_end - all->x;
	uint32		most = Max(x, all->y_end - all->y) / UNIT_ROWS;

	return Max(1, Min(Min(x, most), MAX_SLICES));
}

/* In the leader: let all processes see the nodes. */
void
hamming_groups_publish(const NearGroups *groups)
{
	SharedNodes *common = groups->common;
	int			i;

	common->depth = groups->depth;
	for (i = 0; i < groups->depth; i++)
	{
		const GroupNode *node = &groups->nodes[i];

		common->nodes[i] = *node;
		common->cut_of[i] = node->cut - groups->cuts;
		common->cuts[common->cut_of[i]] = *node->cut;
	}
}

/* In a member: have the nodes that the leader has published. */
static void
copy_nodes(NearGroups *groups)
{
	const SharedNodes *common = groups->common;
	int			i;

	groups->depth = common->depth;
	groups->given = GIVEN_NONE;
	for (i = 0; i < common->depth; i++)
	{
		int			cut = common->cut_of[i];

		groups->nodes[i] = common->nodes[i];
		groups->nodes[i].cut = &groups->cuts[cut];
		groups->cuts[cut] = common->cuts[cut];
	}
}

/*
 * In a member: begin a unit of the top node, which is one of slices.  Runs of
 * the list that agree in the current segment are dealt to the slices: to each
 * those that begin there.
 */
void
hamming_groups_begin_unit(NearGroups *groups, uint32 slice, uint32 slices)
{
	const FingerprintList *shared = groups->shared;
	GroupNode  *node;
	Candidates	all;
	Fingerprint bits;

	copy_nodes(groups);
	node = &groups->nodes[groups->depth - 1];
	all = node->all;
	bits = node->cut->segments[node->segment];
	node->all.x = end_of_run_before(shared, all.x,
									team_slice_begin(all.x, all.x_end, slice,
													 slices),
									all.x_end, bits);
	node->all.x_end = end_of_run_before(shared, all.x,
										team_slice_begin(all.x, all.x_end,
														 slice + 1, slices),
										all.x_end, bits);
	node->x = node->all.x;
	node->y = divides_one_stretch(groups, node) ? node->x : all.y;
}

/* In a member: leave a large group of the top node for later. */
static bool
leave_large(NearGroups *groups, const Candidates *group)
{
	SharedNodes *common = groups->common;
	uint32		place;

	if (number_of_pairs(groups, group) < LARGE_PAIRS)
		return false;
	place = pg_atomic_fetch_add_u32(&common->large_count, 1);
	if (place >= MAX_LARGE)
	{
		pg_atomic_fetch_sub_u32(&common->large_count, 1);
		return false;
	}
	common->large[place].group = *group;
	common->large[place].flips = groups->nodes[groups->depth - 1].flips;
	common->large[place].pairs = number_of_pairs(groups, group);
	return true;
}

/* For qsort(): the one with more pairs comes first. */
static int
compare_large(const void *a, const void *b)
{
	double		x = ((const LargeGroup *) a)->pairs;
	double		y = ((const LargeGroup *) b)->pairs;

	return (x < y) - (x > y);
}

/*
 * In the leader: the top node was walked.  Of its large groups, leave those on
 * the stack that the team is to divide.  The others are behind them, the
 * largest one first.  Return how many units they are.
 */
uint32
hamming_groups_large_units(NearGroups *groups)
{
	SharedNodes *common = groups->common;
	GroupNode  *node = &groups->nodes[groups->depth - 1];
	uint32		end = pg_atomic_read_u32(&common->large_count);
	uint32		first = node->large;
	uint32		i;

	qsort(common->large + first, end - first, sizeof(LargeGroup),
		  compare_large);
	if (groups->depth == 1)
	{
		common->large_pairs = 0;
		for (i = first; i < end; i++)
			common->large_pairs += common->large[i].pairs;
	}
	while (first < end && common->large[first].pairs / segments_below(node) >
		   common->large_pairs / LARGE_SHARE)
		first++;
	common->first_unit = first;
	pg_atomic_write_u32(&common->large_count, first);
	return (end - first) * segments_below(node);
}

/*
 * In a member: begin a unit of the large groups.  If the cut has another level,
 * the unit has only the next segment of that level which is number groups->only
 * after the current one.
 */
void
hamming_groups_begin_large(NearGroups *groups, uint32 unit)
{
	const SharedNodes *common = groups->common;
	const LargeGroup *large;
	GroupNode  *node;
	int			segments;

	copy_nodes(groups);
	node = &groups->nodes[groups->depth - 1];
	segments = segments_below(node);
	large = &common->large[common->first_unit + unit / segments];
	groups->only = segments == 1 ? -1 : (int) unit % segments;
	groups->all = large->group;
	groups->given = GIVEN_LARGE;
	node->flips = large->flips;
}

/* In the leader: get a large group of the top node, which the team left. */
static bool
next_large(NearGroups *groups, GroupNode *node, Candidates *group)
{
	SharedNodes *common = groups->common;
	uint32		count = pg_atomic_read_u32(&common->large_count);

	if (count == node->large)
		return false;
	pg_atomic_write_u32(&common->large_count, --count);
	*group = common->large[count].group;
	node->flips = common->large[count].flips;
	return true;
}

/* In a member: copy a group from the shared list to that of this process. */
void
hamming_groups_copy(NearGroups *groups, Candidates *group)
{
	const FingerprintList *from = groups->shared;
	FingerprintList *to = groups->x;
	uint32		x = group->x_end - group->x;
	uint32		y = group->y == group->x ? 0 : group->y_end - group->y;
	Size		size = (Size) x + y;

	if (size > groups->capacity)
	{
		hamming_fplist_free(to);
		groups->capacity = Max(size, 2 * groups->capacity);
		hamming_fplist_allocate(to, groups->capacity);
	}
	memcpy(to->fps, from->fps + group->x, x * sizeof(Fingerprint));
	memcpy(to->numbers, from->numbers + group->x, x * sizeof(uint32));
	memcpy(to->fps + x, from->fps + group->y, y * sizeof(Fingerprint));
	memcpy(to->numbers + x, from->numbers + group->y, y * sizeof(uint32));
	to->count = size;
	group->x = 0;
	group->x_end = x;
	group->y = y == 0 ? 0 : x;
	group->y_end = size;
}

/*
 * In a member: the group is a smaller one of the top node, and the unit has but
 * one segment of those that may divide the group.  Divide it by this segment,
 * or, if each segment would take longer than all pairs, return true for the
 * first segment, to have them compared.  All processes decide this alike, by
 * numbers that no process changes meanwhile.
 */
static bool
divide_by_one(NearGroups *groups, const Candidates *group)
{
	GroupNode  *top = &groups->nodes[groups->depth - 1];
	GroupNode  *node = top + 1;

	if (number_of_pairs(groups, group) <=
		cost_of_sort(groups, group) * segments_below(top))
		return groups->only == 0;
	push_node(groups, group, top->cut, top->level + 1, top->segment + 1);
	node->segment += groups->only;
	node->last = node->segment + 1;
	sort_by_next_segment(groups, node);
	return false;
}

/*
 * In a member: take a group of the top node.  Return true if it is to be
 * compared.
 */
static bool
take_shared(NearGroups *groups, Candidates *group)
{
	if (groups->given == GIVEN_NONE && leave_large(groups, group))
		return false;
	hamming_groups_copy(groups, group);
	if (is_done(groups, group))
		return false;
	return groups->given == GIVEN_DONE && groups->only >= 0
		? divide_by_one(groups, group) : !divide(groups, group);
}

/* Get the next smaller group of the node, unless others take it. */
static bool
next_smaller(NearGroups *groups, GroupNode *node, Candidates *group)
{
	if (node->segment < node->first ||
		(is_shared(groups, node) && groups->given != GIVEN_NONE))
		return false;
	return groups->walk != NULL ? next_large(groups, node, group)
		: next_group(groups, node, group);
}

/* Return in how many ways count of size can be chosen. */
static double
number_of_choices(int size, int count)
{
	double		choices = 1;
	int			i;

	for (i = 0; i < count; i++)
		choices *= (double) (size - i) / (i + 1);
	return choices;
}

/* Return how many passes over a list sorted by the segment there are. */
static double
passes_of_segment(const NearCut *cut, int segment)
{
	int			bits = fingerprint_popcount(cut->segments[segment] &
											cut->varying);
	double		passes = 0;
	int			near;

	for (near = 0; near <= cut_near(cut, segment); near++)
		passes += number_of_choices(bits, near);
	return passes;
}

/*
 * Show what the search has done so far, if of_segment of the current segment of
 * nodes[0] is done, 0 .. 1.  Each way to choose segments of the cut counts
 * alike, and each pass over a segment does.
 */
void
hamming_groups_show(const NearGroups *groups, double of_segment)
{
	const GroupNode *node = &groups->nodes[0];
	const NearCut *cut = node->cut;
	double		done = 0;
	double		all = 0;
	int			segment;

	if (groups->done_here == 0 || groups->depth < 1)
		return;
	for (segment = 0; segment <= node->last; segment++)
	{
		double		work = passes_of_segment(cut, segment) *
		number_of_choices(cut->segment_count - segment - 1, cut->levels - 1);

		all += work;
		if (segment < node->segment)
			done += work;
		else if (segment == node->segment)
			done += work * of_segment;
	}
	simhash_progress_show_share(groups->done_before +
								groups->done_here * done / all);
}

/* Show what the search has done so far, in this process alone. */
static void
show_alone(const NearGroups *groups)
{
	const GroupNode *node = &groups->nodes[0];

	if (groups->depth > 0 && node->segment >= node->first)
		hamming_groups_show(groups,
							(node->passes + (double) (node->x - node->all.x) /
							 (node->all.x_end - node->all.x)) /
							passes_of_segment(node->cut, node->segment));
}

/*
 * In a member: let all be the only candidates, of the shared list.  The leader
 * has published the nodes above.
 */
void
hamming_groups_begin_whole(NearGroups *groups, const Candidates *all)
{
	copy_nodes(groups);
	groups->all = *all;
	groups->given = GIVEN_WHOLE;
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
	if (groups->given == GIVEN_WHOLE || groups->given == GIVEN_LARGE)
	{
		bool		is_whole = groups->given == GIVEN_WHOLE;

		*candidates = groups->all;
		groups->given = GIVEN_DONE;
		if (is_whole ? number_of_pairs(groups, candidates) > 0
			: take_shared(groups, candidates))
			return true;
	}
	if (groups->depth < 0)
	{
		*candidates = groups->all;
		groups->depth = 0;
		if (!divide(groups, candidates))
			return number_of_pairs(groups, candidates) > 0;
	}
	while (groups->depth > 0)
	{
		GroupNode  *node = &groups->nodes[groups->depth - 1];

		CHECK_FOR_INTERRUPTS();
		if (unlikely(simhash_progress_due))
			show_alone(groups);
		if (next_smaller(groups, node, candidates))
		{
			if (is_shared(groups, node)
				? take_shared(groups, candidates)
				: !is_done(groups, candidates) && !divide(groups, candidates))
				return true;
		}
		else if (is_shared(groups, node))
			return false;
		else if (node->segment == node->last || is_done(groups, &node->all))
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
 * (doc/algorithm.md 6).
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
			if (nearly_agrees(difference & node->cut->segments[segment],
							  cut_near(node->cut, segment)))
				return false;
	}
	return true;
}

/*
 * Choose a cut into radius + 1 segments, for a search segment by segment: two
 * fingerprints within radius agree in at least one segment.  x and y are
 * samples of the lists, and varying has the bits in which fingerprints of the
 * lists differ.
 *
 * Return false if no cut pays.  Such a search compares a pair once for each
 * segment in which the pair agrees.  A cut pays if a random pair agrees in
 * half a segment at most, on average.
 */
bool
hamming_groups_choose_cut(FingerprintList *x, FingerprintList *y, int radius,
						  Fingerprint varying, NearCut *cut)
{
	int			segments = radius + 1;
	NearGroups *groups = hamming_groups_make(x, y, radius);
	Candidates	all = {0, x->count, 0, y->count};
	GroupShape	shape;
	double		total;

	measure_bits(groups, &all, varying, shape.information, &shape.matches);
	pfree(groups);
	total = sum_information(&shape, FINGERPRINT_ALL_BITS);
	if (fingerprint_popcount(varying) < segments ||
		segments * exp2(-total / segments) > 0.5)
		return false;
	cut_begin(cut, 1, radius, FINGERPRINT_ALL_BITS, varying);
	hamming_cut_bits(cut, &shape);
	return true;
}
