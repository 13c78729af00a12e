/*
 * plan.c
 *	  Which trees a search looks in, and how many leaves that takes.
 */
#include "postgres.h"

#include <math.h>

#include "am/am.h"

/*
 * Return how many leaves of a tree are expected to have in their range a key
 * within radius of the centre, and within leading_radius of the centre in the
 * leading block.
 *
 * The keys are taken as uniform in the bits by which leaves are told apart.  So
 * the range of each leaf is a prefix of log2(leaves) of these bits.  A leaf is
 * counted where its prefix is within the two radii: the bits of a key beyond
 * the prefix may be those of the centre.  Of the prefix leading_bits lie in the
 * leading block.  In i of them it differs from the centre, and shell is the
 * number of ways to do so, C(leading_bits, i).
 */
static double
leaves_visited(const HammingShape *shape, int leading_radius, int radius)
{
	double		bits = log2(shape->leaves);
	double		leading_bits = Min(bits, shape->leading_bits);
	double		shell = 1;
	double		visited = 0;
	int			i;

	for (i = 0; i <= Min(leading_radius, radius) && shell > 0; i++)
	{
		visited += shell * hamming_ball_size(bits - leading_bits, radius - i);
		shell *= Max(leading_bits - i, 0) / (i + 1);
	}
	return Min(visited, shape->leaves);
}

/*
 * Return how many fingerprints of uniform data are expected within radius.  The
 * look-up of the rows of each fingerprint reads about one leaf of tree 0.
 */
static double
look_ups(const HammingShape *shapes, int radius)
{
	return shapes[1].leaves * HAMMING_LEAF_CAPACITY *
		hamming_ball_size(HAMMING_BITS, radius) / ldexp(1, HAMMING_BITS);
}

/*
 * Return radii of blocks within which a search for all fingerprints within
 * radius finds all, by the pigeonhole principle, with a radius r(j) of its own
 * for each block (Manku, Jain and Das Sarma 2007; Norouzi, Punjani and Fleet
 * 2012).  r(j) is -1 where the tree of the block need not be searched.
 *
 * Any radii will do whose sum of r(j) + 1 is radius + 1: src/README proves it.
 * Each of the radius + 1 steps goes where it adds the fewest leaves.  The first
 * tree wins a tie: in tree 0 the rows are at hand.
 */
static HammingPlan
plan_blocks(int blocks, const HammingShape *shapes, int radius)
{
	HammingPlan plan = {.leaves = look_ups(shapes, radius)};
	double		visited[HAMMING_MAX_BLOCKS] = {0};
	double		wider[HAMMING_MAX_BLOCKS];
	int			step;
	int			j;

	for (j = 0; j < blocks; j++)
	{
		plan.block_radius[j] = -1;
		wider[j] = leaves_visited(&shapes[j], 0, radius);
	}
	for (step = 0; step <= radius; step++)
	{
		int			best = 0;

		for (j = 1; j < blocks; j++)
			if (wider[j] - visited[j] < wider[best] - visited[best])
				best = j;
		plan.trees += plan.block_radius[best]++ < 0;
		plan.leaves += wider[best] - visited[best];
		visited[best] = wider[best];
		wider[best] = leaves_visited(&shapes[best],
									 plan.block_radius[best] + 1, radius);
	}
	return plan;
}

/*
 * Choose how to find all fingerprints within radius, 0 .. HAMMING_BITS: in
 * blocks, or in tree 0 alone, within the whole radius.  shapes[j] is the shape
 * of block tree j.  Both ways find all, whatever the data and the shapes.
 */
HammingPlan
hamming_plan(int blocks, const HammingShape *shapes, int radius)
{
	HammingPlan plan = plan_blocks(blocks, shapes, radius);
	double		whole = leaves_visited(&shapes[0], radius, radius);
	int			j;

	if (plan.leaves < whole)
		return plan;
	plan.leaves = whole;
	plan.trees = 1;
	plan.block_radius[0] = radius;
	for (j = 1; j < blocks; j++)
		plan.block_radius[j] = -1;
	return plan;
}
