/*
 * am_plan.c
 *	  Which tables a search looks in, and how many leaves that takes.
 */
#include "postgres.h"

#include <math.h>

#include "am/am.h"

/*
 * Expected number of leaves, out of so many that part the key space evenly,
 * with a key within radius of the centre and within leading_radius in its
 * leading block.  Such a leaf is a prefix, of as many bits as tell the leaves
 * apart.
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
 * How to find what is within a radius, 0 .. 64, where a table has so many
 * leaves: each block in its table, or all of it in the first one, whichever
 * reads fewer pages.  Both are right for any data; it is for uniform data that
 * the choice is the better one.
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
