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

/* Return how many pairs comparing each with each takes. */
static double
number_of_pairs(const NearGroups *groups, const Candidates *group)
{
	double		x = group->x_end - group->x;

	if (is_one_stretch(groups, group))
		return x * (x - 1) / 2;
	return x * (group->y_end - group->y);
}

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
	simhash_fplist_sort(groups->x, all->x, all->x_end, low, high);
	if (!is_one_stretch(groups, all))
		simhash_fplist_sort(groups->y, all->y, all->y_end, low, high);
	node->flips = 0;
	node->x = all->x;
	node->y = all->y;
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
	node->x = node->all.x;
	node->y = node->all.y;
	return true;
}

/*
 * Get the next smaller group that has a pair, in the current segment and with
 * the current flips.  Where node->all is one stretch, those with the lesser
 * key are the x of the smaller group, and their partners the y: so a pair
 * comes once.
 */
static bool
next_group_flipped(const NearGroups *groups, GroupNode *node, Candidates *group)
{
	const Candidates *all = &node->all;
	Fingerprint bits = node->cut->segments[node->segment];
	bool		is_one = is_one_stretch(groups, all);

	while (node->x < all->x_end)
	{
		Fingerprint x_key = groups->x->fps[node->x] & bits;
		Fingerprint y_key = x_key ^ node->flips;

		CHECK_FOR_INTERRUPTS();
		group->x = node->x;
		node->x = fplist_end_of_run(groups->x, node->x, all->x_end, bits);
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
			node->y = simhash_fplist_find(groups->y, all->y, all->y_end,
										  node->y, bits, y_key);
			if (node->y == all->y_end ||
				(groups->y->fps[node->y] & bits) != y_key)
				continue;
			group->y = node->y;
			group->y_end = fplist_end_of_run(groups->y, node->y, all->y_end,
											 bits);
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
 * If x and y are two lists, the caller may set groups->settled: pairs of
 * number n of x need no comparison where settled[n].  The caller may settle
 * more numbers at any time.
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
	groups->depth = 0;
	return groups;
}

/*
 * Begin to search for the pairs of all, which are the lists or stretches of
 * them.  Where x and y are one list, all is one stretch.
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
 * Get the next candidates; return false if there are none left.  All pairs
 * within the radius are among the candidates, but for pairs in one set and
 * those of settled numbers, which may be left out.  A pair may come several
 * times: see hamming_groups_is_first().  Until the next call, the caller may
 * reorder each stretch of the candidates.
 */
bool
hamming_groups_next(NearGroups *groups, Candidates *candidates)
{
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
		if (node->segment >= node->first &&
			next_group(groups, node, candidates))
		{
			if (!is_done(groups, candidates) && !divide(groups, candidates))
				return true;
		}
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
