/*
 * share.c
 *	  The shares of a search for the pairs of one side, for work on many
 *	  machines.
 *
 * A fingerprint is in the shares of its radius + 1 blocks: near/README,
 * "Shares", proves that each pair comes in one share.
 */
#include "postgres.h"

#include "near/cut.h"

/*
 * The radius is less than HAMMING_BITS.  Return the number of equal blocks
 * that make up all bits.  The first radius + 1 blocks are in shares.  Pairs of
 * the last of these have spent all their differences on the others, and are
 * told apart by the bits behind it: see radius_later() in groups.c.
 *
 * By the model of choose_levels() in cut.c all shares take at most 1.3 times as
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
