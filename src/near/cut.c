/*
 * cut.c
 *	  Cuts of fingerprints into parts, by the pigeonhole principle.
 *
 * Let all bits be cut into radius + levels parts.  Fingerprints within the
 * radius of each other differ in at most radius parts, and so agree in at
 * least levels parts (Manku, Jain and Das Sarma 2007).
 *
 * Or let all bits be cut into fewer parts, and let each part be given a number
 * of bits that may differ, near.  Let the sum of near + 1 over all parts be
 * radius + 1.  Then fingerprints within the radius differ in at most near bits
 * of some part: they nearly agree in it (Norouzi, Punjani and Fleet 2014).
 * Parts are fewer and longer, but have more partners.  That pays where the
 * radius is large.
 *
 * A cut is chosen by the time that the join will take.  doc/algorithm.md 6
 * proves that no pair is lost, whichever is chosen.
 */
#include "postgres.h"

#include <math.h>

#include "near/cut.h"
#include "type/distance_array.h"

/*
 * What it takes to hand out a pair within the radius, in comparisons: 32 ns,
 * where a comparison takes 0.25 ns.
 */
#define MATCH 128

/*
 * Of varying bits, which have some information in all, return the odds that one
 * differs: of pairs that differ in it to those that agree.
 */
static double
odds_of_bits(double information, int varying)
{
	return exp2(information / varying) - 1;
}

/*
 * Return in how many ways fingerprints that nearly agree in a part may differ:
 * in at most near of its bits.  A way counts odds for each bit that differs.
 * If odds are those of odds_of_bits(), the result is how many pairs nearly
 * agree in the part for each pair that agrees in it.
 */
static double
ways_to_differ(double bits, int near, double odds)
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
 * Let two parts have a number of bits each.  Let near bits of one part differ
 * at most, and near + 1 of the other.  Return how much more information the
 * other one needs, so that equally many pairs nearly agree in both.
 */
static double
worth_of_near(double bits, int near, double odds)
{
	return log2(ways_to_differ(bits, near + 1, odds) /
				ways_to_differ(bits, near, odds));
}

/*
 * cut->varying must have a bit for each of the parts of the cut.  Cut its
 * region into parts in which about equally many pairs nearly agree.  Each part
 * gets a varying bit: the next part begins here at the latest if the parts that
 * are to come need all varying bits that are left.
 */
void
hamming_cut_bits(JoinCut *cut, const GroupShape *shape)
{
	int			parts = cut->part_count;
	const double *information = shape->information;
	double		total = sum_information(shape, cut->region);
	int			varying_left = fingerprint_popcount(cut->varying);
	double		worth = worth_of_near((double) varying_left / parts, cut->near,
									  odds_of_bits(total, varying_left));
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
			double		more = part < cut->nearer ?
			worth * (parts - cut->nearer) : 0;
			double		share = (total + more) / (later + 1);

			if (varying_in_part > 0 && later > 0 &&
				(varying_left <= later ||
				 in_part + information[bit] / 2 > share))
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

/*
 * parts is 1 .. radius + 1.  Share out radius + 1 among the parts: near + 1 for
 * each part, and one more for each of the first nearer parts.
 */
static void
share_out(int radius, int parts, int *near, int *nearer)
{
	*near = (radius + 1) / parts - 1;
	*nearer = (radius + 1) % parts;
}

/*
 * The same for a cut of one level into fewer parts than radius + 1: choose the
 * number of parts.
 *
 * Parts are those of hamming_cut_bits().  For each choice of bits that differ,
 * the group is passed over: each of its fingerprints is compared with a few
 * others.  That takes about as long as a sort.  Measured with simhash_pairs of
 * 10^6 random fingerprints: of 128 bits within 16, 8, 9 and 10 parts took 1.3,
 * 0.57 and 0.65 times as long as the best levels; of 64 bits within 8, 4 and 5
 * parts took 1.3 and 0.8 to 1.0 times.
 *
 * matches is the number of pairs within the radius.  Such a pair may come once
 * for each part, and takes MATCH each time.
 */
static int
choose_near_parts(int radius, double pairs, double matches, double sort,
				  double information, int varying, double *least)
{
	int			best = 0;
	int			parts;

	for (parts = radius / (JOIN_MAX_NEAR + 1) + 1;
		 parts <= Min(radius, varying); parts++)
	{
		double		odds = odds_of_bits(information, varying);
		double		bits = (double) varying / parts;
		int			near;
		int			nearer;
		double		share;
		double		passes;
		double		cost;

		share_out(radius, parts, &near, &nearer);
		share = (information -
				 nearer * worth_of_near(bits, near, odds)) / parts;
		passes = (parts - nearer) * ways_to_differ(bits, near, 1) +
			nearer * ways_to_differ(bits, near + 1, 1);
		cost = passes * sort +
			pairs * parts * ways_to_differ(bits, near, odds) * exp2(-share) +
			matches * parts * MATCH;
		if (cost < *least)
		{
			*least = cost;
			best = parts;
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
hamming_cut_choose(JoinCut *cut, const GroupShape *shape, int radius,
				   Fingerprint region, bool may_be_near, double *least)
{
	Fingerprint varying = shape->varying & region;
	double		information = sum_information(shape, region);
	int			bits = fingerprint_popcount(varying);
	int			levels = choose_levels(radius, shape->pairs, shape->sort,
									   information, bits, least);
	int			parts = 0;

	if (may_be_near)
		parts = choose_near_parts(radius, shape->pairs, shape->matches,
								  shape->sort, information, bits, least);
	if (parts > 0)
	{
		join_cut_begin(cut, 1, radius, region, varying);
		cut->part_count = parts;
		share_out(radius, parts, &cut->near, &cut->nearer);
	}
	else if (levels > 0)
		join_cut_begin(cut, levels, radius, region, varying);
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
	choose_near_parts(radius, x * y, 0, (x + y) * hamming_comparisons(),
					  HAMMING_BITS, HAMMING_BITS, &least);
	return least;
}
