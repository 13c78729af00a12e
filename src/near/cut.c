/*
 * cut.c
 *	  Cuts of a word into segments, by the pigeonhole principle, and the radii
 *	  of words, by the same; the shares of all pairs.
 *
 * A cut has radius + 1 segments or fewer.  With radius + 1 segments, a pair
 * within the radius agrees in one of them (Manku, Jain and Das Sarma 2007).
 * With fewer and longer segments, it may differ in some bits of that one
 * (Norouzi, Punjani and Fleet 2014), which pays where the radius is large.  The
 * cut is chosen that takes the search the least time.  near/README, claim 1,
 * proves that no cut loses a pair.
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

/*
 * What it takes to pass over a group for one choice of bits that differ, in
 * sorts: each fingerprint is compared with a few others.  Of 1 million random
 * fingerprints within 7, 5 segments took .83 times as long as 4.
 */
#define PASS 1.5

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
 * On entry *least is a time, in comparisons.  Choose the number of segments
 * that takes the least time, and set *least to that time.  Return 0 if no
 * number takes less than *least.  varying is the number of varying bits, and
 * information what they have in all.
 *
 * A pair within the radius comes once at least, and where bits may differ maybe
 * once for each segment.  Of several words, most pairs within the radius of one
 * are farther apart.
 */
static int
choose_segments(const GroupShape *shape, int radius, double information,
				int varying, double *least)
{
	double		odds = odds_of_bits(information, varying);
	int			best = 0;
	int			segments;

	for (segments = radius / (CUT_MAX_NEAR + 1) + 1;
		 segments <= Min(radius + 1, varying); segments++)
	{
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
		cost = (segments + PASS * (passes - segments)) * shape->sort +
			shape->pairs * segments * hamming_ways_to_differ(bits, near, odds) *
			exp2(-each);
		if (segments <= radius)
			cost += shape->within[radius] * segments *
				(shape->word_count > 1 ? CHECK : MATCH);
		else if (shape->word_count > 1)
			cost += CHECK * (shape->within[radius] +
							 shape->within[radius / 2] * segments / 2);
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
	int			segments = choose_segments(shape, radius,
										   sum_information(shape, region),
										   pg_popcount64(varying), least);

	if (segments > 0)
		cut_begin(cut, radius, segments, region, varying);
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

	if (segments > 64 || segments * exp2(-total / segments) > 0.5)
		return false;
	cut_begin(cut, radius, segments, PG_UINT64_MAX, PG_UINT64_MAX);
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
			choose_segments(shape, q, information, bits, &cost);
			cost += shape->sort;
		}
		costs[q + 1] = cost < most && q <= 64 ? cost : INFINITY;
	}
}

/*
 * The same as hamming_radii_share() of two words, but choose other radii where
 * these take clearly less time, as where a word tells little.  shapes has those
 * of the words.  Return false if no radii take less than *least, else set
 * *least to their time.
 */
bool
hamming_radii_choose(const GroupShape *shapes, int radius, int *radii,
					 double *least)
{
	double		costs[2][64 * HAMMING_MAX_WORDS + 2];
	double		best = INFINITY;
	double		shared;
	int			first = -1;		/* the best radius of word 0 */
	int			q;

	StaticAssertStmt(HAMMING_MAX_WORDS == 2, "two words share the radius");
	find_costs(&shapes[0], radius, *least, costs[0]);
	find_costs(&shapes[1], radius, *least, costs[1]);
	for (q = radius; q >= -1; q--)
	{
		if (costs[0][q + 1] + costs[1][radius - q] < best)
		{
			best = costs[0][q + 1] + costs[1][radius - q];
			first = q;
		}
	}
	hamming_radii_share(2, radius, radii);
	shared = costs[0][radii[0] + 1] + costs[1][radii[1] + 1];
	if (best < shared * CLEARLY_LESS)
	{
		shared = best;
		radii[0] = first;
		radii[1] = radius - 1 - first;
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

		choose_segments(&shape, radii[w], 64, 64, &least);
		cost += least;
	}
	return (w == 0 ? shape.pairs : Min(cost, shape.pairs)) * COMPARISON *
		cpu_operator_cost;
}

/*
 * Set up count shares, 1 or more.  If the radius is the number of all bits, any
 * two fingerprints are a pair, and need agree in nothing: so all are in share
 * 0, by one block without bits.
 *
 * A word is cut into blocks of equal length, which cover all of its bits.  Two
 * words differ in 64 bits at most.  The first radius + 1 blocks are in shares.
 * Pairs of the last of these have spent all their differences on the others,
 * and are told apart by the bits behind it: see later_bits() in groups.c.  By
 * a model, all shares take at most 1.3 times as long as one search with its
 * cuts, within 1 to 16.  With no block behind the others, or with one more,
 * they would take up to 1.7 to 3.8 times as long.  For a large radius one
 * search has fewer segments, and may take a fifth of the time of all shares.
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
	{
		int			q = Max(segments->radii[w], 0);

		cut_begin(&segments->cuts[w], q, q + 1, PG_UINT64_MAX, PG_UINT64_MAX);
	}
	while (segments->is_cut && segments->number + 1 < segments->count)
	{
		ShareBlock *block = &shares->blocks[segments->number + 1];
		int			blocks;

		segments_next(segments);
		blocks = segments->radii[segments->word];
		blocks = Min(blocks + (blocks < 4 ? 1 : 3), 64);
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
