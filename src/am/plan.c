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
 * Return how many values of a word are expected within radius, if they are
 * uniform.  The look-up of the entries of each reads about one leaf of the
 * word's first tree.
 */
static double
look_ups(const HammingShape *shapes, int word, int radius)
{
	return shapes[HAMMING_TREE(word, 1)].leaves * HAMMING_LEAF_CAPACITY *
		hamming_ball_size(64, radius) / ldexp(1, 64);
}

/*
 * Choose radii of the blocks of a word, with which a search finds all values of
 * the word within radius, by the pigeonhole principle, with a radius r(j) of
 * its own for each block (Manku, Jain and Das Sarma 2007; Norouzi, Punjani and
 * Fleet 2012).  r(j) is -1 where the tree of the block need not be searched.
 * Return how many leaves that is expected to read.
 *
 * Any radii will do whose sum of r(j) + 1 is radius + 1: src/README proves it.
 * Each of the radius + 1 steps goes where it adds the fewest leaves.  The first
 * tree wins a tie: in tree 0 the rows are at hand.
 */
static double
plan_word(HammingLayout layout, const HammingShape *shapes, int word,
		  int radius, int16 *block_radius)
{
	double		leaves = look_ups(shapes, word, radius);
	double		visited[HAMMING_MAX_BLOCKS] = {0};
	double		wider[HAMMING_MAX_BLOCKS];
	int			step;
	int			j;

	shapes += HAMMING_TREE(word, 0);
	for (j = 0; j < layout.blocks; j++)
	{
		block_radius[j] = -1;
		wider[j] = leaves_visited(&shapes[j], 0, radius);
	}
	for (step = 0; step <= radius; step++)
	{
		int			best = 0;

		for (j = 1; j < layout.blocks; j++)
			if (wider[j] - visited[j] < wider[best] - visited[best])
				best = j;
		block_radius[best]++;
		leaves += wider[best] - visited[best];
		visited[best] = wider[best];
		wider[best] = leaves_visited(&shapes[best], block_radius[best] + 1,
									 radius);
	}
	return leaves;
}

/*
 * Return how many leaves a search for all values of a word within radius, and
 * for their entries in the word's first tree, is expected to read.  Where there
 * is a choice of words, the search is taken to find a value, as the query is
 * often near one, and it reads all entries of the value: many where a word has
 * few values.
 */
static double
word_leaves(HammingLayout layout, const HammingShape *shapes, int word,
			int radius)
{
	const HammingShape *trees = shapes + HAMMING_TREE(word, 0);
	int16		unused[HAMMING_MAX_BLOCKS];

	return plan_word(layout, shapes, word, radius, unused) +
		trees[0].leaves / (trees[1].leaves * HAMMING_LEAF_CAPACITY);
}

/*
 * Choose radii of the words as those of blocks: the sum of q(g) + 1 is radius +
 * 1, and each step goes where it adds the fewest leaves.  Return false, and no
 * radii, where it is expected to take most leaves or more.
 */
static bool
plan_words(HammingLayout layout, const HammingShape *shapes, int radius,
		   double most, int16 *word_radius)
{
	double		visited[HAMMING_MAX_WORDS] = {0};
	double		wider[HAMMING_MAX_WORDS];
	double		leaves = 0;
	int			step;
	int			g;

	for (g = 0; g < layout.words; g++)
	{
		word_radius[g] = -1;
		wider[g] = word_leaves(layout, shapes, g, 0);
	}
	for (step = 0; step <= radius && leaves < most; step++)
	{
		int			best = 0;

		for (g = 1; g < layout.words; g++)
			if (wider[g] - visited[g] < wider[best] - visited[best])
				best = g;
		leaves += wider[best] - visited[best];
		visited[best] = wider[best];
		word_radius[best]++;
		wider[best] = word_leaves(layout, shapes, best, word_radius[best] + 1);
	}
	return leaves < most;
}

/*
 * Choose how to find all fingerprints within radius, 0 .. all bits: in words
 * and their blocks, or in tree 0 alone, within the whole radius.  shapes are of
 * the block trees, by their numbers.  Both ways find all, whatever the data and
 * the shapes.
 */
HammingPlan
hamming_plan(HammingLayout layout, const HammingShape *shapes, int radius)
{
	HammingPlan plan = {.word_radius = {radius}};
	double		whole = leaves_visited(&shapes[0], radius, radius);
	int			tree;
	int			g;

	memset(plan.block_radius, -1, sizeof(plan.block_radius));
	if (layout.words == 1 ||
		plan_words(layout, shapes, radius, whole, plan.word_radius))
		for (g = 0; g < layout.words; g++)
		{
			int16	   *block_radius = plan.block_radius + HAMMING_TREE(g, 0);

			if (plan.word_radius[g] >= 0)
				plan.leaves += plan_word(layout, shapes, g, plan.word_radius[g],
										 block_radius);
		}
	if (plan.leaves == 0 || plan.leaves >= whole)
	{
		plan.leaves = whole;
		memset(plan.word_radius, -1, sizeof(plan.word_radius));
		memset(plan.block_radius, -1, sizeof(plan.block_radius));
		plan.word_radius[0] = plan.block_radius[0] = radius;
	}
	for (tree = 0; tree < HAMMING_TREES; tree++)
		plan.trees += plan.block_radius[tree] >= 0;
	return plan;
}
