/*
 * cut.c
 *	  Cuts of fingerprints into segments, by the pigeonhole principle.
 *
 * A level cut has radius + levels segments (Manku, Jain and Das Sarma 2007).
 * A near cut has fewer and longer ones, in which some bits may differ (Norouzi,
 * Punjani and Fleet 2014): that pays where the radius is large.  A cut is
 * chosen by the time that the join will take.  near/README, claim 1, proves
 * that no pair is lost, whichever is chosen.
 */
#include "postgres.h"

#include <math.h>

#include "optimizer/optimizer.h"

#include "near/cut.h"

/* The cost of a comparison, times cpu_operator_cost: see src/join/cost.c. */
#define COMPARISON (0.02 * FINGERPRINT_WORDS)

/*
 * What it takes to hand out a pair within the radius, in comparisons: 32 ns,
 * where a comparison takes 0.25 ns.
 */
#define MATCH 128

/*
 * Of varying bits, which have some information in all, return the odds that
 * one differs: of pairs that differ in it to those that agree.
 */
static double
odds_of_bits(double information, int varying)
{
	return exp2(information / varying) - 1;
}

/*
 * Return in how many ways fingerprints may differ in at most near bits of a
 * segment.  A way counts odds for each bit that differs: of odds_of_bits(), the
 * result is how many pairs nearly agree for each pair that agrees.
 */
double
hamming_ways_to_differ(double bits, int near, double odds)
{
	double		ways = 1;
	double		sum = 1;
	int			i;

	for (i = 0; i < near; i++)
	{
		ways *= Max(bits - i, 0) / (i + 1) * odds;
		sum += ways;
	}
	return sum;
}

/*
 * Let two segments have a number of bits each.  Let near bits of one segment
 * differ at most, and near + 1 of the other.  Return how much more information
 * the other one needs, so that equally many pairs nearly agree in both.
 */
static double
worth_of_near(double bits, int near, double odds)
{
	return log2(hamming_ways_to_differ(bits, near + 1, odds) /
				hamming_ways_to_differ(bits, near, odds));
}

/*
 * cut->varying must have a bit for each of the segments of the cut.  Cut its
 * region into segments in which about equally many pairs nearly agree.  Each
 * segment gets a varying bit: the next segment begins here at the latest if
 * the segments that are to come need all varying bits that are left.
 */
void
hamming_cut_bits(NearCut *cut, const GroupShape *shape)
{
	const double *information = shape->information;
	double		total = sum_information(shape, cut->region);
	int			varying_left = fingerprint_popcount(cut->varying);
	double		worth = worth_of_near((double) varying_left /
									  cut->segment_count, cut->near,
									  odds_of_bits(total, varying_left));
	double		in_segment = 0; /* above 0 once it has a varying bit */
	int			segment = 0;
	int			bit;

	memset(cut->segments, 0, sizeof(cut->segments));
	for (bit = 0; bit < HAMMING_BITS; bit++)
	{
		if ((cut->region >> bit & 1) == 0)
			continue;
		if (cut->varying >> bit & 1)
		{
			int			later = cut->segment_count - segment - 1;
			double		more = segment < cut->nearer ?
			worth * (cut->segment_count - cut->nearer) : 0;
			double		wanted = (total + more) / (later + 1);

			if (in_segment > 0 && later > 0 &&
				(varying_left <= later ||
				 in_segment + information[bit] / 2 > wanted))
			{
				total -= in_segment;
				in_segment = 0;
				segment++;
			}
			in_segment += information[bit];
			varying_left--;
		}
		cut->segments[segment] |= fingerprint_bit(bit);
	}
}

/*
 * On entry *least is a time, in comparisons.  Choose the number of levels that
 * takes the least time, and set *least to that time.  Return 0 if no number
 * takes less than *least, or if there are fewer varying bits than segments.
 * varying is the number of varying bits, and information what they have in all.
 *
 * By the bound of near/README, l of the radius + l segments are chosen in
 * C(radius + l, l) ways.  Each way takes a sort.
 */
static int
choose_levels(const GroupShape *shape, int radius, double information,
			  int varying, double *least)
{
	double		sorting = 0;
	double		ways = 1;
	int			best = 0;
	int			levels;

	for (levels = 1; levels <= CUT_MAX_LEVELS && radius + levels <= varying;
		 levels++)
	{
		double		cost;

		ways *= (double) (radius + levels) / levels;
		sorting += ways * shape->sort;
		cost = sorting + shape->pairs * ways *
			exp2(-information * levels / (radius + levels));
		if (cost < *least)
		{
			*least = cost;
			best = levels;
		}
	}
	return best;
}

/*
 * The same for a near cut: choose the number of segments.
 *
 * For each choice of bits that differ, the group is passed over: each of its
 * fingerprints is compared with a few others.  That takes about as long as a
 * sort.  Measured with simhash_pairs of 10^6 random fingerprints: of 128 bits
 * within 16, 8, 9 and 10 segments took 1.3, 0.57 and 0.65 times as long as the
 * best levels; of 64 bits within 8, 4 and 5 segments took 1.3 and 0.8 to 1.0
 * times.
 *
 * A pair within the radius may come once for each segment, and takes MATCH each
 * time.
 */
static int
choose_near_segments(const GroupShape *shape, int radius, double information,
					 int varying, double *least)
{
	int			best = 0;
	int			segments;

	for (segments = radius / (CUT_MAX_NEAR + 1) + 1;
		 segments <= Min(radius, varying); segments++)
	{
		double		odds = odds_of_bits(information, varying);
		double		bits = (double) varying / segments;
		int			near = (radius + 1) / segments - 1;
		int			nearer = (radius + 1) % segments;
		double		worth = worth_of_near(bits, near, odds);
		double		each = (information - nearer * worth) / segments;
		double		more;
		double		passes;
		double		cost;

		/* the bits of a segment that leaves near bits, and of one with more */
		bits = each * varying / information;
		more = bits + worth * varying / information;
		passes = (segments - nearer) * hamming_ways_to_differ(bits, near, 1) +
			nearer * hamming_ways_to_differ(more, near + 1, 1);
		cost = passes * shape->sort +
			shape->pairs * segments * hamming_ways_to_differ(bits, near, odds) *
			exp2(-each) + shape->matches * segments * MATCH;
		if (cost < *least)
		{
			*least = cost;
			best = segments;
		}
	}
	return best;
}

/*
 * Pairs that are wanted must differ in at most radius bits of region.  Where a
 * cut of the region takes less time than *least, let it be the cut, and set
 * *least to its time.
 */
void
hamming_cut_choose(NearCut *cut, const GroupShape *shape, int radius,
				   Fingerprint region, double *least)
{
	Fingerprint varying = shape->varying & region;
	double		information = sum_information(shape, region);
	int			bits = fingerprint_popcount(varying);
	int			levels = choose_levels(shape, radius, information, bits, least);
	int			segments = choose_near_segments(shape, radius, information,
												bits, least);

	if (segments > 0)
	{
		cut_begin(cut, 1, radius, region, varying);
		cut->segment_count = segments;
		cut->near = (radius + 1) / segments - 1;
		cut->nearer = (radius + 1) % segments;
	}
	else if (levels > 0)
		cut_begin(cut, levels, radius, region, varying);
}

/* Return what a join of x and of y random fingerprints costs. */
double
hamming_near_cost(double x, double y, int radius)
{
	GroupShape	shape = {.pairs = x * y,
		.sort = (x + y) * hamming_comparisons()
	};
	double		least = shape.pairs;

	/* each cut takes a sort at least */
	if (shape.pairs > shape.sort)
	{
		choose_levels(&shape, radius, HAMMING_BITS, HAMMING_BITS, &least);
		choose_near_segments(&shape, radius, HAMMING_BITS, HAMMING_BITS,
							 &least);
	}
	return least * COMPARISON * cpu_operator_cost;
}

/*
 * The radius is less than HAMMING_BITS.  Return the number of equal blocks
 * that make up all bits.  The first radius + 1 blocks are in shares.  Pairs of
 * the last of these have spent all their differences on the others, and are
 * told apart by the bits behind it: see radius_later() in groups.c.
 *
 * By the model of choose_levels() all shares take at most 1.3 times as
 * long as one search with its cuts: of 64 bits and a radius of 1 to 16, and of
 * 128 and 0 to 24.  With no block behind the others, or with one more, they
 * would take up to 1.7 to 3.8 times as long.  For a large radius one search has
 * near cuts, and may take a fifth of the time of all shares.
 */
static int
all_blocks(int radius)
{
	return Min(radius + (radius < HAMMING_BITS / 16 ? 1 : 3), HAMMING_BITS);
}

/*
 * Set up count shares, 1 or more: near/README, "Shares", proves that each pair
 * comes in one.  If the radius is HAMMING_BITS, any two
 * fingerprints are a pair, and need agree in nothing: so all are in share 0,
 * by one block without bits.
 */
void
hamming_shares_begin(Shares *shares, int radius, int count)
{
	int			blocks;
	int			i;

	memset(shares, 0, sizeof(Shares));
	shares->radius = radius;
	shares->count = count;
	shares->block_count = 1;
	if (radius == HAMMING_BITS)
		return;
	shares->block_count = radius + 1;
	blocks = all_blocks(radius);
	for (i = 0; i < shares->block_count; i++)
	{
		ShareBlock *block = &shares->blocks[i];
		int			width = hamming_block_width(blocks, i);

		block->mask = hamming_block_mask(blocks, i);
		block->low = fingerprint_rightmost_one(block->mask);
		block->unused = 64 - Min(width, 64);
		block->offset = (UINT64CONST(1) << block->unused) / (radius + 1) * i;
	}
}
