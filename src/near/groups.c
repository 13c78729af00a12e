/*
 * groups.c
 *	  Exact similarity joins, by the pigeonhole principle.
 *
 * A list is sorted by one part of a cut after the other (join_cut.c): what
 * agrees in the part is a group then, side by side.  Where a cut has levels,
 * a group is sorted by one later part after the other, until groups agree in
 * levels parts.  Where fingerprints may nearly agree, for each choice of up to
 * near bits of the part, what agrees in the part is compared with what differs
 * from it in these bits, and in no other bit of the part.  A group that is too
 * large even then gets a cut of its own, into parts that tell its fingerprints
 * apart equally well.
 *
 * A pair that nearly agrees in an earlier part, too, was found there.  So a new
 * pair differs in each part that was passed over, in near + 1 bits at least.
 * Each such part leaves near + 1 bits less in which the pair may differ later,
 * and the cut of a group may be one of the later bits alone.  doc/algorithm.md
 * 6 proves that no pair within the radius is lost.
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

/* Return how many pairs comparing each with each takes. */
static double
number_of_pairs(const HammingJoin *join, const Candidates *group)
{
	double		x = group->x_end - group->x;

	if (is_one_stretch(join, group))
		return x * (x - 1) / 2;
	return x * (group->y_end - group->y);
}

/* Return what sorting a group by one part takes, in comparisons. */
static double
cost_of_sort(const HammingJoin *join, const Candidates *group)
{
	double		x = group->x_end - group->x;
	double		y = is_one_stretch(join, group) ? 0 : group->y_end - group->y;

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

/* Does the join know of pairs that need no comparison? */
static inline bool
leaves_out_pairs(const HammingJoin *join)
{
	return join->sets != NULL || join->settled != NULL;
}

/*
 * Does the pair of the fingerprints at x of join->x and at y of join->y need
 * no comparison, as both are in one set, or as x is settled?
 */
static inline bool
is_left_out(const HammingJoin *join, uint32 x, uint32 y)
{
	uint32	   *sets = join->sets;

	if (join->settled != NULL)
		return join->settled[join->x->ids[x]];
	return sets != NULL && find_set(sets, join->x->ids[x]) ==
		find_set(sets, join->y->ids[y]);
}

/* Get pair i of SAMPLE_SIZE; return false if it needs no comparison. */
static bool
sample_pair(const HammingJoin *join, const Candidates *group, int i,
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

	*difference = join->x->fps[x] ^ join->y->fps[y];
	/* within one stretch, a fingerprint may meet itself: that is no pair */
	return !(is_one_stretch(join, group) && x == y) &&
		!is_left_out(join, x, y);
}

/*
 * Estimate, above 0, how many pairs of a group need a comparison: all, if an
 * eighth or more of the sample do, as in most groups of most data.
 */
static double
number_needed(const HammingJoin *join, const Candidates *group)
{
	double		pairs = number_of_pairs(join, group);
	Fingerprint difference;
	int			needed = 0;
	int			i;

	if (!leaves_out_pairs(join) ||
		group->x_end - group->x < WORTH_ESTIMATING)
		return pairs;
	/* a quarter of the sample will do: it decides by a factor, no more */
	for (i = 0; i < SAMPLE_SIZE; i += 4)
	{
		needed += sample_pair(join, group, i, &difference);
		if (needed == SAMPLE_SIZE / 4 / 8)
			return pairs;
	}
	return pairs * Max(needed, 0.5) / (SAMPLE_SIZE / 4);
}

/* Do the pairs that need a comparison take no longer than parts sorts? */
static bool
is_compared_sooner(const HammingJoin *join, const Candidates *group, int parts)
{
	double		sorts = cost_of_sort(join, group) * parts;

	return number_of_pairs(join, group) <= sorts ||
		number_needed(join, group) <= sorts;
}

/*
 * Measure the information of each bit by a sample: of n bits of information,
 * one pair in 2^n agrees in the bit.  A bit has some if and only if it varies.
 * Return the share of the pairs that need a comparison, which is above 0.  Set
 * *matches to the share of those that are also within the radius.
 */
static double
measure_bits(const HammingJoin *join, const Candidates *group,
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

		if (!sample_pair(join, group, i, &difference))
			continue;
		needed++;
		within += fingerprint_popcount(difference) <= join->radius;
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
measure_group(const HammingJoin *join, const Candidates *group,
			  Fingerprint flipped, GroupShape *shape)
{
	const Fingerprint *x = join->x->fps;
	double		pairs = number_of_pairs(join, group);

	shape->varying = find_varying(x + group->x, group->x_end - group->x,
								  x[group->x]);
	if (!is_one_stretch(join, group))
		shape->varying |= find_varying(join->y->fps + group->y,
									   group->y_end - group->y, x[group->x]);
	shape->varying &= ~flipped;
	shape->sort = cost_of_sort(join, group);
	shape->pairs = pairs * measure_bits(join, group, shape->varying,
										shape->information, &shape->matches);
	shape->matches *= pairs;
}

/* Return the bits of the node's cut that are in no part up to node->part. */
static Fingerprint
later_bits(const JoinNode *node)
{
	Fingerprint bits = node->cut->region;
	int			part;

	for (part = 0; part <= node->part; part++)
		bits &= ~node->cut->parts[part];
	return bits;
}

/*
 * A smaller group of the node must agree in all levels of its cut.  Let a pair
 * of this group be new: it nearly agrees in none of the parts up to node->part
 * but the chosen ones, one for each level.  Return in how many bits that come
 * later the pair may differ.
 */
static int
radius_later(const JoinNode *node)
{
	const JoinCut *cut = node->cut;
	int			radius = cut->radius - fingerprint_popcount(node->flips);
	int			part;

	for (part = 0; part < node->part; part++)
		radius -= join_cut_near(cut, part) + 1;
	/* of these parts, all levels but the last have chosen one each */
	return radius + cut->levels - 1;
}

/* Return the bits in which all pairs of the node's smaller groups differ. */
static Fingerprint
flipped_below(const JoinNode *node)
{
	return node->flipped | node->flips;
}

/*
 * above is NULL for the group of all.  Else the group is a smaller group of the
 * node above, and agrees in all levels of the cut of above.  Set *cut to a cut
 * of the group that takes the least time.  Return false if no cut pays.
 */
static bool
make_cut(HammingJoin *join, const Candidates *group, const JoinNode *above,
		 JoinCut *cut)
{
	bool		may_be_near = join->sets == NULL;
	Fingerprint flipped;
	int			radius;
	GroupShape	shape;
	double		least;

	if (number_of_pairs(join, group) <=
		cost_of_sort(join, group) * (join->radius + 1))
		return false;
	Assert(cut < join->cuts + HAMMING_BITS);
	flipped = above == NULL ? 0 : flipped_below(above);
	radius = join->radius - fingerprint_popcount(flipped);
	measure_group(join, group, flipped, &shape);
	least = shape.pairs;
	cut->levels = 0;
	hamming_cut_choose(cut, &shape, radius, ~flipped, may_be_near, &least);
	if (above != NULL)
		hamming_cut_choose(cut, &shape, radius_later(above), later_bits(above),
						   may_be_near, &least);
	if (cut->levels == 0)
		return false;
	hamming_cut_bits(cut, &shape);
	return true;
}

/*
 * Push a node that divides the group by parts of the cut, from first on.  If
 * the cut has levels, the last part is radius + level - 1: a pair that differs
 * in radius bits of the region at most agrees in level of the parts up to that
 * one.
 */
static void
push_node(HammingJoin *join, const Candidates *group, JoinCut *cut, int level,
		  int first)
{
	JoinNode   *node = &join->nodes[join->depth];

	node->flipped = join->depth == 0 ? 0 : flipped_below(node - 1);
	join->depth++;
	Assert(join->depth <= HAMMING_BITS);
	node->all = *group;
	node->cut = cut;
	node->level = level;
	node->first = first;
	node->last = cut->part_count - cut->levels + level - 1;
	node->part = first - 1;
	/* it is sorted by no part, and so has no smaller group */
	node->flips = 0;
	node->x = group->x_end;
	node->y = group->y_end;
}

/* Push a node that divides the group; return false if that does not pay. */
static bool
divide(HammingJoin *join, const Candidates *group)
{
	JoinNode   *top = join->depth == 0 ? NULL : &join->nodes[join->depth - 1];
	JoinCut    *cut = top == NULL ? join->cuts : top->cut;

	if (top != NULL && top->level < cut->levels)
	{
		if (is_compared_sooner(join, group,
							   cut->radius + top->level - top->part))
			return false;
		push_node(join, group, cut, top->level + 1, top->part + 1);
		return true;
	}
	if (top != NULL)
		cut++;
	if (!make_cut(join, group, top, cut))
		return false;
	push_node(join, group, cut, 1, 0);
	return true;
}

/* Return the bits of the current part that may differ in a smaller group. */
static Fingerprint
part_bits(const JoinNode *node)
{
	return node->cut->parts[node->part] & node->cut->varying;
}

/* On entry node->part < node->last.  Sort node->all by the next part. */
static void
sort_by_next_part(HammingJoin *join, JoinNode *node)
{
	const Candidates *all = &node->all;
	Fingerprint bits;
	int			low;
	int			high;

	node->part++;
	bits = part_bits(node);
	low = fingerprint_rightmost_one(bits);
	high = fingerprint_leftmost_one(bits) + 1;
	simhash_fplist_sort(join->x, all->x, all->x_end, low, high);
	if (!is_one_stretch(join, all))
		simhash_fplist_sort(join->y, all->y, all->y_end, low, high);
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
 * Set node->flips to the next choice of bits of the current part: first those
 * of one bit, then those of two, and so on.  Return false after the last one of
 * join_cut_near() bits.
 *
 * Choices of the same number of bits come in ascending order, as numbers.  The
 * next one is found by an addition: the lowest bit of flips is added to flips.
 * The carry clears the lowest run of chosen bits and sets the bit above the
 * run.  The bits that the carry has cleared too many become the lowest ones of
 * the part.  Bits that are not of the part are 1 in the addition: so the carry
 * passes over these.
 */
static bool
next_flips(JoinNode *node)
{
	Fingerprint bits = part_bits(node);
	Fingerprint flips = node->flips;
	int			count = fingerprint_popcount(flips);
	Fingerprint moved = ((flips | ~bits) + (flips & -flips)) & bits;

	if (flips == 0 || moved == 0)
		node->flips = lowest_bits(bits, ++count);
	else
		node->flips = moved |
			lowest_bits(bits, count - fingerprint_popcount(moved));
	if (count > join_cut_near(node->cut, node->part) ||
		fingerprint_popcount(node->flips) < count)
		return false;
	node->x = node->all.x;
	node->y = node->all.y;
	return true;
}

/*
 * Get the next smaller group that has a pair, in the current part and with the
 * current flips.  Where node->all is one stretch, those with the lesser key are
 * the x of the smaller group, and their partners the y: so a pair comes once.
 */
static bool
next_group_flipped(const HammingJoin *join, JoinNode *node, Candidates *group)
{
	const Candidates *all = &node->all;
	Fingerprint bits = node->cut->parts[node->part];
	bool		is_one = is_one_stretch(join, all);

	while (node->x < all->x_end)
	{
		Fingerprint x_key = join->x->fps[node->x] & bits;
		Fingerprint y_key = x_key ^ node->flips;

		CHECK_FOR_INTERRUPTS();
		group->x = node->x;
		node->x = fplist_end_of_run(join->x, node->x, all->x_end, bits);
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
			node->y = simhash_fplist_find(join->y, all->y, all->y_end,
										  node->y, bits, y_key);
			if (node->y == all->y_end ||
				(join->y->fps[node->y] & bits) != y_key)
				continue;
			group->y = node->y;
			group->y_end = fplist_end_of_run(join->y, node->y, all->y_end,
											 bits);
		}
		if (number_of_pairs(join, group) > 0)
			return true;
	}
	return false;
}

/* Get the next smaller group that has a pair, in the current part. */
static bool
next_group(const HammingJoin *join, JoinNode *node, Candidates *group)
{
	do
	{
		if (next_group_flipped(join, node, group))
			return true;
	} while (next_flips(node));
	return false;
}

/*
 * Does no pair of the group need a comparison?  All are in one set if each y is
 * in that of the first x.
 */
static bool
is_done(const HammingJoin *join, const Candidates *group)
{
	uint32		x;
	uint32		y;

	if (!leaves_out_pairs(join))
		return false;
	for (x = group->x; join->settled != NULL && x < group->x_end; x++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_left_out(join, x, group->y))
			return false;
	}
	for (y = group->y; join->sets != NULL && y < group->y_end; y++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_left_out(join, group->x, y))
			return false;
	}
	return true;
}

/*
 * Do the pairs of the node that need a comparison take no longer than its
 * other sorts?  If so, the caller hands out node->all, where the groups of the
 * other parts lie.  A pair may come twice, which hamming_join_is_first()
 * cannot tell: so the answer is false for a join that leaves out no pairs.
 */
static bool
is_nearly_done(const HammingJoin *join, const JoinNode *node)
{
	return leaves_out_pairs(join) && node->part >= node->first &&
		is_compared_sooner(join, &node->all, node->last - node->part);
}

/*
 * Begin a join of the lists x and y, which may be the same list, within
 * radius, 0 .. HAMMING_BITS.  The caller frees the join by pfree(), and until
 * then changes the lists only as hamming_join_next() allows.  The join changes
 * their order.
 *
 * If x and y are the same list, sets may be sets (see sets.h) of its numbers:
 * members of one set need no comparison.  The caller may unite sets meanwhile,
 * as a pair that was left out stays in one set.
 */
HammingJoin *
hamming_join_begin(FingerprintList *x, FingerprintList *y, int radius,
				   uint32 *sets)
{
	HammingJoin *join = palloc(sizeof(HammingJoin));

	join->x = x;
	join->y = y;
	join->radius = radius;
	join->sets = sets;
	join->settled = NULL;
	join->depth = -1;
	return join;
}

/*
 * The join must have no sets, and two lists.  From now on pairs of fingerprint
 * number n of x need no comparison where settled[n].  The caller may settle
 * more numbers at any time, and keeps settled until the end of the join.
 */
void
hamming_join_settle(HammingJoin *join, const bool *settled)
{
	join->settled = settled;
}

/*
 * Before the first hamming_join_next(): restrict the join to pairs that agree
 * in part number part of the cut, of one level and the radius of the join, and
 * in none before.  Pairs that agree in an earlier part may be among the
 * candidates or not: hamming_join_is_first() is false for them.  So joins that
 * are restricted to each of the radius + 1 parts of one cut find each pair
 * within the radius, and one of them finds it first.
 */
void
hamming_join_restrict(HammingJoin *join, const JoinCut *cut, int part)
{
	Candidates	all = {0, join->x->count, 0, join->y->count};

	join->cuts[0] = *cut;
	join->depth = 0;
	push_node(join, &all, join->cuts, 1, 0);
	join->nodes[0].last = part;
	join->nodes[0].part = part - 1;
	sort_by_next_part(join, &join->nodes[0]);
}

/*
 * All pairs within the radius are among the candidates, but for pairs in one
 * set, which may be left out.  A pair may come several times: see
 * hamming_join_is_first().  Until the next call, the caller may reorder each
 * stretch of the candidates.
 */
bool
hamming_join_next(HammingJoin *join, Candidates *candidates)
{
	if (join->depth < 0)
	{
		candidates->x = 0;
		candidates->x_end = join->x->count;
		candidates->y = 0;
		candidates->y_end = join->y->count;
		join->depth = 0;
		if (!divide(join, candidates))
			return number_of_pairs(join, candidates) > 0;
	}
	while (join->depth > 0)
	{
		JoinNode   *node = &join->nodes[join->depth - 1];

		CHECK_FOR_INTERRUPTS();
		if (node->part >= node->first && next_group(join, node, candidates))
		{
			if (!is_done(join, candidates) && !divide(join, candidates))
				return true;
		}
		else if (node->part == node->last || is_done(join, &node->all))
			join->depth--;
		else if (is_nearly_done(join, node))
		{
			*candidates = node->all;
			join->depth--;
			return true;
		}
		else
			sort_by_next_part(join, node);
	}
	return false;
}

/* Do fingerprints nearly agree in a part whose bits differ in difference? */
static inline bool
nearly_agrees(Fingerprint difference, int near)
{
	return difference == 0 ||
		(near > 0 && fingerprint_popcount(difference) <= near);
}

/*
 * The join must have no sets.  Where it has settled numbers, a pair may get
 * true twice.  A pair of the current candidates differs in difference, and is
 * within the radius: a farther pair may get false each time.  Is this the first
 * time that the pair is among the candidates?  A pair was before if and only
 * if, for some node, it nearly agrees in a part that the node went through
 * before the current one (doc/algorithm.md 6).
 */
bool
hamming_join_is_first(const HammingJoin *join, Fingerprint difference)
{
	int			depth;
	int			part;

	for (depth = 0; depth < join->depth; depth++)
	{
		const JoinNode *node = &join->nodes[depth];

		for (part = node->first; part < node->part; part++)
			if (nearly_agrees(difference & node->cut->parts[part],
							  join_cut_near(node->cut, part)))
				return false;
	}
	return true;
}

/*
 * x and y are samples of two lists.  varying has the bits in which fingerprints
 * of the lists differ.  Choose a cut into radius + 1 parts: two fingerprints
 * within radius agree in at least one part.
 *
 * Return false if no cut pays.  A join part by part compares a pair once for
 * each part in which the pair agrees.  A cut pays if a random pair agrees in
 * half a part at most, on average.
 */
bool
hamming_join_choose_cut(FingerprintList *x, FingerprintList *y, int radius,
						Fingerprint varying, JoinCut *cut)
{
	int			parts = radius + 1;
	HammingJoin *join = hamming_join_begin(x, y, radius, NULL);
	Candidates	all = {0, x->count, 0, y->count};
	GroupShape	shape;
	double		total;

	measure_bits(join, &all, varying, shape.information, &shape.matches);
	pfree(join);
	total = sum_information(&shape, FINGERPRINT_ALL_BITS);
	if (fingerprint_popcount(varying) < parts ||
		parts * exp2(-total / parts) > 0.5)
		return false;
	join_cut_begin(cut, 1, radius, FINGERPRINT_ALL_BITS, varying);
	hamming_cut_bits(cut, &shape);
	return true;
}
