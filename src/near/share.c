/*
 * share.c
 *	  The shares of a search for the pairs of one side, for work on many
 *	  machines.
 *
 * Let the first bits of a fingerprint be cut into radius + 1 blocks.  By the
 * pigeonhole principle, fingerprints within the radius agree in at least one
 * block.  So each value of each block is in one of the shares, and a
 * fingerprint is in the shares of its radius + 1 values.  A pair belongs to
 * the share of the first block in which the pair agrees: each pair comes in
 * one share.
 *
 * From a radius of HAMMING_BITS / 16 on, blocks leave some bits behind them.
 * The pairs of the last block have spent all their differences on the other
 * blocks, and these bits are what still tells them apart: see radius_later()
 * in groups.c.  So for a small radius the shares together take about the time
 * of one search.  doc/scaling.md has figures.
 */
#include "postgres.h"

#include "near/share.h"

/*
 * The radius is less than HAMMING_BITS.  Return the number of equal blocks
 * that make up all bits.  The first radius + 1 blocks are in shares.
 *
 * These are times of all shares, compared with one search whose cuts are those
 * of choose_levels() in cut.c, by the model there, for 10^7 to 8 * 10^9 random
 * fingerprints.  Of 64 bits and a radius of 1 to 16 they take at most 1.23
 * times as long.  With no block behind the others they would take up to 1.7
 * times as long for radius 4 to 9, and with two up to 2.8 times for radius 1
 * and 2.  Of 128 bits and a radius of 0 to 24 all shares take at most 1.3
 * times as long; with two blocks behind the others up to 3.8 times for radius
 * 4 to 7.
 *
 * For a large radius one search has the cuts of choose_near_segments(), which
 * the shares cannot have: then it may take a fifth of the time of all shares.
 */
static int
all_blocks(int radius)
{
	return Min(radius + (radius < HAMMING_BITS / 16 ? 1 : 3), HAMMING_BITS);
}

/*
 * Set up count shares, 1 or more.  If the radius is HAMMING_BITS, any two
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

/*
 * The radius of the shares is less than HAMMING_BITS.  Set the cut whose first
 * segments are the blocks.
 */
void
hamming_shares_cut(const Shares *shares, NearCut *cut)
{
	int			i;

	cut_begin(cut, 1, shares->radius, FINGERPRINT_ALL_BITS,
			  FINGERPRINT_ALL_BITS);
	for (i = 0; i < shares->block_count; i++)
		cut->segments[i] = shares->blocks[i].mask;
}
