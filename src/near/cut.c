/*
 * cut.c
 *	  Cuts of a word into segments, by the pigeonhole principle, and the radii
 *	  of words, by the same; the shares of all pairs.
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
#define COMPARISON 0.02

/*
 * What it takes to hand out a pair within the radius, in comparisons: 32 ns,
 * where a comparison takes 0.25 ns.
 */
#define MATCH 128

/*
 * What it takes to learn from other words that a pair is farther apart than the
 * radius, in comparisons.
 */
#define CHECK 64

/* Times are estimates: a choice by less is one by chance. */
#define CLEARLY_LESS 0.7

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

static double
sum_information(const GroupShape *shape, uint64 region)
{
	double		total = 0;
	int			bit;

	for (bit = 0; bit < 64; bit++)
		if (region >> bit & 1)
			total += shape->information[bit];
	return total;
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
	int			varying_left = pg_popcount64(cut->varying);
	double		worth = worth_of_near((double) varying_left /
									  cut->segment_count, cut->near,
									  odds_of_bits(total, varying_left));
	double		in_segment = 0; /* above 0 once it has a varying bit */
	int			segment = 0;
	int			bit;

	memset(cut->segments, 0, sizeof(cut->segments));
	for (bit = 0; bit < 64; bit++)
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
		cut->segments[segment] |= UINT64CONST(1) << bit;
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
 *
 * Of several words, most pairs within the radius of one are farther apart.  All
 * come once at least; one that agrees in half of the segments, in about 1 of
 * 2^l ways.
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
		if (shape->word_count > 1)
			cost += CHECK * (shape->within[radius] +
							 shape->within[radius / 2] * ldexp(ways, -levels));
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
 * A pair within the radius may come once for each segment.
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
			exp2(-each) + shape->within[radius] * segments *
			(shape->word_count > 1 ? CHECK : MATCH);
		if (cost < *least)
		{
			*least = cost;
			best = segments;
		}
	}
	return best;
}

/*
 * Pairs that are wanted must differ in at most radius bits of region, 0 .. 64.
 * Where a cut of the region takes less time than *least, let it be the cut, and
 * set *least to its time.
 */
void
hamming_cut_choose(NearCut *cut, const GroupShape *shape, int radius,
				   uint64 region, double *least)
{
	uint64		varying = shape->varying & region;
	double		information = sum_information(shape, region);
	int			bits = pg_popcount64(varying);
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

/*
 * Let the cut be one into radius + 1 segments of all bits, for a search segment
 * by segment.  Such a search compares a pair once for each segment in which the
 * pair agrees.  Return false if it does not pay: a random pair agrees in more
 * than half a segment, on average.
 */
bool
hamming_cut_pays(NearCut *cut, const GroupShape *shape, int radius)
{
	int			segments = radius + 1;
	double		total = sum_information(shape, PG_UINT64_MAX);

	if (pg_popcount64(shape->varying) < segments ||
		segments * exp2(-total / segments) > 0.5)
		return false;
	cut_begin(cut, 1, radius, PG_UINT64_MAX, shape->varying);
	hamming_cut_bits(cut, shape);
	return true;
}

/*
 * Return what it takes to compare all pairs of a group by a word, 0 .. 64 of
 * whose bits may differ, in comparisons.
 */
double
hamming_comparing_cost(const GroupShape *shape, int radius)
{
	return shape->pairs +
		(shape->word_count > 1 ? shape->within[radius] * CHECK : 0);
}

/*
 * Fingerprints within radius are within radii[w] in some word w: the sum of
 * radii[w] + 1 is radius + 1.  Let the radii be equal, or differ by one.  Where
 * one is -1, the word is not searched.
 */
void
hamming_radii_share(int word_count, int radius, int *radii)
{
	int			w;

	for (w = 0; w < word_count; w++)
		radii[w] = (radius + word_count - w) / word_count - 1;
}

/*
 * Are random pairs compared sooner by each word, within these radii, than by
 * one word within radius?
 */
bool
hamming_radii_pay(int word_count, int radius)
{
	double		within = hamming_ball_size(64, Min(radius, 64));

	return ldexp(within, -64) * CHECK > word_count - 1;
}

/*
 * Set costs[q + 1] to what the search by a word takes within q, up to radius.
 * What is not less than most is infinite.
 */
static void
find_costs(const GroupShape *shape, int radius, double most, double *costs)
{
	double		information = sum_information(shape, PG_UINT64_MAX);
	int			bits = pg_popcount64(shape->varying);
	double		cost = 0;
	int			q;

	costs[0] = 0;
	for (q = 0; q <= radius; q++)
	{
		/* all are turned to the word, and back: about as long as a sort */
		if (cost < most && q <= 64)
		{
			cost = hamming_comparing_cost(shape, q);
			choose_levels(shape, q, information, bits, &cost);
			choose_near_segments(shape, q, information, bits, &cost);
			cost += shape->sort;
		}
		costs[q + 1] = cost < most && q <= 64 ? cost : INFINITY;
	}
}

/*
 * The same as hamming_radii_share(), but choose other radii where these take
 * clearly less time, as where a word tells little.  shapes has those of the
 * words.  Return false if no radii take less than *least, else set *least to
 * their time.
 *
 * best[m] is the least time in which words before w are searched, where the sum
 * of their radii + 1 is m.
 */
bool
hamming_radii_choose(const GroupShape *shapes, int radius, int *radii,
					 double *least)
{
	int			word_count = shapes[0].word_count;
	double		best[64 * HAMMING_MAX_WORDS + 2] = {0};
	int			chosen[HAMMING_MAX_WORDS][64 * HAMMING_MAX_WORDS + 2];
	double		shared = 0;
	int			w;
	int			m;

	hamming_radii_share(word_count, radius, radii);
	for (m = 1; m <= radius + 1; m++)
		best[m] = INFINITY;
	for (w = 0; w < word_count; w++)
	{
		double		costs[64 * HAMMING_MAX_WORDS + 2];

		find_costs(&shapes[w], radius, *least, costs);
		shared += costs[radii[w] + 1];
		for (m = radius + 1; m >= 0; m--)
		{
			int			i;

			chosen[w][m] = -1;
			for (i = 1; i <= m; i++)
			{
				if (best[m - i] + costs[i] < best[m])
				{
					best[m] = best[m - i] + costs[i];
					chosen[w][m] = i - 1;
				}
			}
		}
	}
	if (best[radius + 1] < shared * CLEARLY_LESS)
	{
		shared = best[radius + 1];
		for (m = radius + 1; w-- > 0; m -= radii[w] + 1)
			radii[w] = chosen[w][m];
	}
	if (shared >= *least)
		return false;
	*least = shared;
	return true;
}

/*
 * Return what a join of x and of y random fingerprints of word_count words
 * costs, within radius, 0 or more.
 */
double
hamming_near_cost(int word_count, double x, double y, int radius)
{
	GroupShape	shape = {
		.word_count = word_count,.pairs = x * y,
		.sort = (x + y) * hamming_comparisons()
	};
	int			radii[HAMMING_MAX_WORDS];
	double		cost = 0;
	int			w;

	hamming_radii_share(word_count, radius, radii);
	/* each cut takes a sort at least */
	for (w = 0; w < word_count && radii[w] >= 0 && shape.pairs > shape.sort;
		 w++)
	{
		double		least = shape.pairs;

		choose_levels(&shape, radii[w], 64, 64, &least);
		choose_near_segments(&shape, radii[w], 64, 64, &least);
		cost += least;
	}
	return (w == 0 ? shape.pairs : Min(cost, shape.pairs)) * COMPARISON *
		cpu_operator_cost;
}

/*
 * Return the number of equal blocks that make up all bits of a word, 64 of
 * which at most differ.  The first radius + 1 blocks are in shares.  Pairs of
 * the last of these have spent all their differences on the others, and are
 * told apart by the bits behind it: see radius_later() in groups.c.
 *
 * By the model of choose_levels() all shares take at most 1.3 times as long as
 * one search with its cuts, within 1 to 16.  With no block behind the others,
 * or with one more, they would take up to 1.7 to 3.8 times as long.  For a
 * large radius one search has near cuts, and may take a fifth of the time of
 * all shares.
 */
static int
all_blocks(int radius)
{
	return Min(radius + (radius < 4 ? 1 : 3), 64);
}

/*
 * Set up count shares, 1 or more.  If the radius is the number of all bits, any
 * two fingerprints are a pair, and need agree in nothing: so all are in share
 * 0, by one block without bits.
 */
void
hamming_shares_begin(Shares *shares, int word_count, int radius, int count)
{
	Segments   *segments = &shares->segments;
	int			w;

	memset(shares, 0, sizeof(Shares));
	shares->radius = radius;
	shares->count = count;
	segments->is_cut = radius < 64 * word_count;
	segments->word_count = word_count;
	segments->count = segments->is_cut ? radius + 1 : 1;
	segments->number = -1;
	hamming_radii_share(word_count, radius, segments->radii);
	for (w = 0; w < word_count; w++)
		cut_begin(&segments->cuts[w], 1, Max(segments->radii[w], 0),
				  PG_UINT64_MAX, PG_UINT64_MAX);
	while (segments->is_cut && segments->number + 1 < segments->count)
	{
		ShareBlock *block = &shares->blocks[segments->number + 1];
		int			blocks;

		segments_next(segments);
		blocks = all_blocks(segments->radii[segments->word]);
		block->word = segments->word;
		block->mask = hamming_block_mask(blocks, segments->segment);
		block->low = pg_rightmost_one_pos64(block->mask);
		block->unused = 64 - pg_popcount64(block->mask);
		block->offset = (UINT64CONST(1) << block->unused) / segments->count *
			segments->number;
		segments->cuts[block->word].segments[segments->segment] = block->mask;
	}
	segments->number = -1;
}
