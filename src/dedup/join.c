/*
 * join.c
 *	  Exact similarity joins, by the pigeonhole principle.
 *
 * Let all bits be cut into radius + levels parts.  Fingerprints within the
 * radius of each other differ in at most radius parts, and so agree in at
 * least levels parts (Manku, Jain and Das Sarma 2007).  So a list is sorted by
 * one part after the other: what agrees in the part is a group then, side by
 * side.  A group is sorted by one later part after the other, until groups
 * agree in levels parts.  A group that is too large even then gets a cut of
 * its own, into parts that tell its fingerprints apart equally well.
 *
 * A pair that agrees in an earlier part, too, was found there.  So a new pair
 * differs in each part that was passed over, in a bit at least.  Each such part
 * leaves one bit less in which the pair may differ later, and the cut of a
 * group may be one of the later bits alone.  doc/algorithm.md 6 proves that no
 * pair within the radius is lost.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "dedup/join.h"
#include "dedup/sets.h"
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

static inline bool
is_self_join(const HammingJoin *join)
{
	return join->x == join->y;
}

/* Return how many pairs comparing each with each takes. */
static double
number_of_pairs(const HammingJoin *join, const Candidates *group)
{
	double		x = group->x_end - group->x;

	if (is_self_join(join))
		return x * (x - 1) / 2;
	return x * (group->y_end - group->y);
}

/* Return what sorting a group by one part takes, in comparisons. */
static double
cost_of_sort(const HammingJoin *join, const Candidates *group)
{
	double		x = group->x_end - group->x;
	double		y = is_self_join(join) ? 0 : group->y_end - group->y;

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
	return !is_left_out(join, x, y);
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
 * Return the share of the pairs that need a comparison, which is above 0.
 */
static double
measure_bits(const HammingJoin *join, const Candidates *group,
			 Fingerprint varying, double *information)
{
	int			differ[HAMMING_BITS] = {0};
	int			needed = 0;
	int			bit;
	int			i;

	for (i = 0; i < SAMPLE_SIZE; i++)
	{
		Fingerprint difference;

		if (!sample_pair(join, group, i, &difference))
			continue;
		needed++;
		for (bit = 0; bit < HAMMING_BITS; bit++)
			differ[bit] += difference >> bit & 1;
	}
	for (bit = 0; bit < HAMMING_BITS; bit++)
	{
		/* none in the sample is not none at all: so count half a pair more */
		double		agree = (needed - differ[bit] + 0.5) / (needed + 0.5);

		information[bit] = varying >> bit & 1 ? Max(-log2(agree), 1e-3) : 0;
	}
	return Max(needed, 0.5) / SAMPLE_SIZE;
}

/* What is known of a group that may be cut. */
typedef struct GroupShape
{
	double		pairs;			/* that need a comparison */
	double		sort;			/* time of a sort by one part, in comparisons */
	Fingerprint varying;		/* bits that are not the same in all of it */
	double		information[HAMMING_BITS];
} GroupShape;

/* Return the information of all bits of a region. */
static double
sum_information(const GroupShape *shape, Fingerprint region)
{
	double		total = 0;
	int			bit;

	for (bit = 0; bit < HAMMING_BITS; bit++)
		if (region >> bit & 1)
			total += shape->information[bit];
	return total;
}

/*
 * cut->varying must have a bit for each of the parts of the cut.  Cut its
 * region into parts of about the same information.  Each part gets a varying
 * bit: the next part begins here at the latest if the parts that are to come
 * need all varying bits that are left.
 */
static void
cut_bits(JoinCut *cut, const GroupShape *shape)
{
	int			parts = cut->radius + cut->levels;
	const double *information = shape->information;
	double		total = sum_information(shape, cut->region);
	int			varying_left = fingerprint_popcount(cut->varying);
	int			varying_in_part = 0;
	double		in_part = 0;
	int			part = 0;
	int			bit;

	memset(cut->parts, 0, sizeof(cut->parts));
	for (bit = 0; bit < HAMMING_BITS; bit++)
	{
		if ((cut->region >> bit & 1) == 0)
			continue;
		if (cut->varying >> bit & 1)
		{
			int			later = parts - part - 1;

			if (varying_in_part > 0 && later > 0 &&
				(varying_left <= later ||
				 in_part + information[bit] / 2 > total / (later + 1)))
			{
				total -= in_part;
				in_part = 0;
				varying_in_part = 0;
				part++;
			}
			in_part += information[bit];
			varying_in_part++;
			varying_left--;
		}
		cut->parts[part] |= fingerprint_bit(bit);
	}
}

/*
 * On entry *least is a time, in comparisons.  Choose the number of levels that
 * takes the least time, and set *least to that time.  Return 0 if no number
 * takes less than *least, or if there are fewer varying bits than parts.  pairs
 * is the number of pairs that need a comparison, sort the time of a sort by one
 * part, in comparisons, and information the sum over all bits.
 *
 * Of the parts in which a pair agrees, the first is among the first
 * radius + 1 parts, the second among the first radius + 2, and so on.  So l of
 * the radius + l parts are chosen, in C(radius + l, l) ways.  Each way takes a
 * sort.
 */
static int
choose_levels(int radius, double pairs, double sort, double information,
			  int varying, double *least)
{
	double		sorting = 0;
	double		ways = 1;
	int			best = 0;
	int			levels;

	for (levels = 1; levels <= JOIN_MAX_LEVELS && radius + levels <= varying;
		 levels++)
	{
		double		cost;

		ways *= (double) (radius + levels) / levels;
		sorting += ways * sort;
		cost = sorting +
			pairs * ways * exp2(-information * levels / (radius + levels));
		if (cost < *least)
		{
			*least = cost;
			best = levels;
		}
	}
	return best;
}

static void
measure_group(const HammingJoin *join, const Candidates *group,
			  GroupShape *shape)
{
	const Fingerprint *x = join->x->fps;

	shape->varying = find_varying(x + group->x, group->x_end - group->x,
								  x[group->x]);
	if (!is_self_join(join))
		shape->varying |= find_varying(join->y->fps + group->y,
									   group->y_end - group->y, x[group->x]);
	shape->sort = cost_of_sort(join, group);
	shape->pairs = number_of_pairs(join, group) *
		measure_bits(join, group, shape->varying, shape->information);
}

/*
 * Pairs that are wanted must differ in at most radius bits of region.  Where a
 * cut of the region takes less time than *least, let it be the cut, and set
 * *least to its time.
 */
static void
consider_cut(JoinCut *cut, const GroupShape *shape, int radius,
			 Fingerprint region, double *least)
{
	Fingerprint varying = shape->varying & region;
	int			levels = choose_levels(radius, shape->pairs, shape->sort,
									   sum_information(shape, region),
									   fingerprint_popcount(varying), least);

	if (levels > 0)
		join_cut_begin(cut, levels, radius, region, varying);
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
 * of this group be new: it agrees in none of the parts up to node->part but
 * the chosen ones, one for each level.  Return in how many bits that come later
 * the pair may differ: it differs in a bit at least of each part not chosen.
 */
static int
radius_later(const JoinNode *node)
{
	return node->cut->radius - (node->part + 1 - node->cut->levels);
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
	GroupShape	shape;
	double		least;

	if (number_of_pairs(join, group) <=
		cost_of_sort(join, group) * (join->radius + 1))
		return false;
	Assert(cut < join->cuts + HAMMING_BITS);
	measure_group(join, group, &shape);
	least = shape.pairs;
	cut->levels = 0;
	consider_cut(cut, &shape, join->radius, FINGERPRINT_ALL_BITS, &least);
	if (above != NULL)
		consider_cut(cut, &shape, radius_later(above), later_bits(above),
					 &least);
	if (cut->levels == 0)
		return false;
	cut_bits(cut, &shape);
	return true;
}

/*
 * Push a node that divides the group by the parts first .. radius + level - 1
 * of the cut: a pair that differs in radius bits of the region at most agrees
 * in level of the parts up to that one.
 */
static void
push_node(HammingJoin *join, const Candidates *group, JoinCut *cut, int level,
		  int first)
{
	JoinNode   *node = &join->nodes[join->depth++];

	Assert(join->depth <= HAMMING_BITS);
	node->all = *group;
	node->cut = cut;
	node->level = level;
	node->first = first;
	node->last = cut->radius + level - 1;
	node->part = first - 1;
	/* it is sorted by no part, and so has no smaller group */
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

/* On entry node->part < node->last.  Sort node->all by the next part. */
static void
sort_by_next_part(HammingJoin *join, JoinNode *node)
{
	Fingerprint bits = node->cut->parts[++node->part] & node->cut->varying;
	int			low = fingerprint_rightmost_one(bits);
	int			high = fingerprint_leftmost_one(bits) + 1;

	simhash_fplist_sort(join->x, node->all.x, node->all.x_end, low, high);
	if (!is_self_join(join))
		simhash_fplist_sort(join->y, node->all.y, node->all.y_end, low, high);
	node->x = node->all.x;
	node->y = node->all.y;
}

/* Get the next smaller group that has a pair, in the current part. */
static bool
next_group(const HammingJoin *join, JoinNode *node, Candidates *group)
{
	Fingerprint bits = node->cut->parts[node->part];
	uint32		x_end = node->all.x_end;
	uint32		y_end = node->all.y_end;

	while (node->x < x_end && node->y < y_end)
	{
		Fingerprint x_key = join->x->fps[node->x] & bits;
		Fingerprint y_key = join->y->fps[node->y] & bits;

		group->x = node->x;
		group->y = node->y;
		if (x_key <= y_key)
			node->x = fplist_end_of_run(join->x, node->x, x_end, bits);
		if (is_self_join(join))
			node->y = node->x;
		else if (y_key <= x_key)
			node->y = fplist_end_of_run(join->y, node->y, y_end, bits);
		group->x_end = node->x;
		group->y_end = node->y;
		if (x_key == y_key && number_of_pairs(join, group) > 0)
			return true;
	}
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

/*
 * The join must have no sets.  Where it has settled numbers, a pair may get
 * true twice.  A pair of the current candidates differs in difference, and is
 * within the radius: a farther pair may get false each time.  Is this the first
 * time that the pair is among the candidates?  A pair was before if and only
 * if, for some node, it agrees in a part that the node went through before the
 * current one (doc/algorithm.md 6).
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
			if ((difference & node->cut->parts[part]) == 0)
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

	measure_bits(join, &all, varying, shape.information);
	pfree(join);
	total = sum_information(&shape, FINGERPRINT_ALL_BITS);
	if (fingerprint_popcount(varying) < parts ||
		parts * exp2(-total / parts) > 0.5)
		return false;
	join_cut_begin(cut, 1, radius, FINGERPRINT_ALL_BITS, varying);
	cut_bits(cut, &shape);
	return true;
}

/*
 * Return how long a join of x and of y random fingerprints takes, in
 * comparisons of two.
 */
double
hamming_join_comparisons(double x, double y, int radius)
{
	double		least = x * y;

	choose_levels(radius, x * y, (x + y) * hamming_comparisons(), HAMMING_BITS,
				  HAMMING_BITS, &least);
	return least;
}
