/*
 * am_plan.c
 *	  Which tables a search looks in, and how many leaves that takes.
 */
#include "postgres.h"

#include <math.h>

#include "am/am.h"

/*
 * leaves is the number of leaves of a table, at least 1.  Return how many
 * leaves are expected to have in their range a key within radius of the
 * centre, and within leading_radius of the centre in the leading block.
 *
 * The keys are taken as uniform.  So the range of each leaf is a prefix of
 * log2(leaves) bits.  A leaf is counted where its prefix is within the two
 * radii: the bits of a key beyond the prefix may be those of the centre.  i
 * goes through the differences in the part of the prefix that lies in the
 * leading block; shell is the number of such parts, C(leading_bits, i).
 */
static double
leaves_visited(double leaves, int leading_radius, int radius)
{
	double		bits = log2(leaves);
	double		leading_bits = Min(bits, HAMMING_BLOCK_BITS);
	double		shell = 1;
	double		visited = 0;
	int			i;

	for (i = 0; i <= Min(leading_radius, radius) && shell > 0; i++)
	{
		visited += shell * hamming_ball_size(bits - leading_bits, radius - i);
		shell *= Max(leading_bits - i, 0) / (i + 1);
	}
	return Min(visited, leaves);
}

/*
 * Choose how to find all fingerprints within radius, 0 .. HAMMING_BITS.
 * leaves, at least 1, is the number of leaves of a block table.
 *
 * One way searches each block table within hamming_block_radius().  The other
 * searches table 0 within the whole radius.  Both find all, whatever the
 * data.  Only the expected number of leaves, by which the way is chosen, is
 * that for uniform data.
 */
HammingPlan
hamming_plan(double leaves, int radius)
{
	HammingPlan blocks = {.tables = HAMMING_BLOCKS};
	HammingPlan whole = {.tables = 1,.block_radius = {HAMMING_BLOCK_BITS}};
	int			j;

	for (j = 0; j < HAMMING_BLOCKS; j++)
	{
		blocks.block_radius[j] = hamming_block_radius(radius, j);
		if (blocks.block_radius[j] >= 0)
			blocks.leaves += leaves_visited(leaves, blocks.block_radius[j],
											radius);
	}
	whole.leaves = leaves_visited(leaves, HAMMING_BLOCK_BITS, radius);
	return blocks.leaves < whole.leaves ? blocks : whole;
}
