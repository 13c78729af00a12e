/*
 * hamming.c
 *	  The least distance from a fingerprint to a bounded set of them, and the
 *	  order of the fingerprints in a ball.
 */
#include "postgres.h"

#include "hamming.h"

/*
 * Least distance from q to an x >= lo that respects the masks and equals lo
 * outside the bits of below (which are all the bits under some bit); best if
 * that is less.
 *
 * Such an x is lo itself, or it first leaves lo at some bit j where lo has 0
 * and x has 1; above j it equals lo, below j it is bound by the masks alone.
 * So the least distance is the least of
 *
 *		distance(lo, q)  and, for each j of below, 0 in lo and 1 in any,
 *		distance(lo, q) above j + (q has 0 at j) + mask distance below j,
 *
 * where the mask distance counts the bits of q that every x must differ in.
 * Going down from the highest bit, the first of the three terms only grows:
 * once it reaches the best so far, no lower j can be better.
 */
static int
one_sided_distance(uint64 lo, uint64 all, uint64 any, uint64 q, uint64 below,
				   int best)
{
	uint64 differs = lo ^ q;
	uint64 forced = (all & ~q) | (~any & q);
	uint64 turns = ~lo & any & below;

	best = Min(best, pg_popcount64(differs));
	while (turns != 0)
	{
		int j = pg_leftmost_one_pos64(turns);
		uint64 bit = UINT64CONST(1) << j;
		int above = pg_popcount64(differs & ~(bit | (bit - 1)));

		if (above >= best)
			break;
		above += !(q & bit) + pg_popcount64(forced & (bit - 1));
		best = Min(best, above);
		turns ^= bit;
	}
	return best;
}

/*
 * Least distance from q to any value within the bounds: exact, and so a
 * lower bound for the distance to every member of a set that they bound.
 * Once it is known to be at least enough, any value from enough up to the
 * exact one may be returned instead.
 *
 * Proof.  Every x within the bounds differs from q in the forced bits of the
 * masks, which is the early return.  Let d be the highest bit in which lo
 * and hi differ: lo has 0 there, and hi 1.  Every x equals both above d.  An
 * x with 0 at d is below hi whatever follows, so only x >= lo binds it; an x
 * with 1 at d is above lo, so only x <= hi binds it.  The second case is the
 * first one with every bit complemented.  If lo = hi there is one value, and
 * as a set of that alone has all = any = lo, its distance is the masks'.
 */
int
hamming_bounds_distance(const HammingBounds *b, uint64 q, int enough)
{
	uint64 span = b->lo ^ b->hi;
	uint64 below;
	int masks;
	int best;

	masks = pg_popcount64((b->all & ~q) | (~b->any & q));
	if (span == 0 || masks >= enough)
		return masks;

	/* the bits below d, in which x may leave lo or hi */
	below = (UINT64CONST(1) << pg_leftmost_one_pos64(span)) - 1;
	best = one_sided_distance(b->lo, b->all, b->any, q, below, 64);
	return one_sided_distance(~b->hi, ~b->any, ~b->all, ~q, below, best);
}

/* Position of the n-th highest of the bits, of which there are so many. */
static int
nth_highest_bit(uint64 bits, int n)
{
	while (--n > 0)
		bits ^= UINT64CONST(1) << pg_leftmost_one_pos64(bits);
	return pg_leftmost_one_pos64(bits);
}

/*
 * The least x >= from that is within radius of the centre and in its leading
 * block within leading_radius; both radii are 0 or more.  False if there is
 * none.
 *
 * Such an x is from itself, or it first leaves it at some bit i where from
 * has 0 and x has 1.  Above i it equals from, and the longer it does the less
 * it is: so the lowest i will do for which the distances above i, and at i
 * itself, are within the radii.  (Below, x can always equal the centre.)
 *
 * Let p be the highest bit at which from, read from the top, exceeds a
 * radius.  Below p no i will do, as x would exceed it, too.
 *
 * Below i the least x has zeros as high as it can: where the centre has 0
 * anyway, and then instead of the highest ones of the centre, each of which
 * takes 1 of what is left of the radii.
 */
bool
hamming_ball_next(uint64 centre, int leading_radius, int radius, uint64 from,
				  uint64 *next)
{
	const uint64 leading = ~(~UINT64CONST(0) >> HAMMING_BLOCK_BITS);
	uint64 differs = from ^ centre;
	uint64 bit;
	uint64 ones;
	int p = -1;
	int i;

	if (pg_popcount64(differs) > radius)
		p = nth_highest_bit(differs, radius + 1);
	if (hamming_leading_distance(differs) > leading_radius)
		p = Max(p, nth_highest_bit(differs & leading, leading_radius + 1));
	*next = from;
	if (p < 0)
		return true;

	for (i = p; i < 64; i++)
	{
		uint64 above;
		int used;
		int leading_used;

		bit = UINT64CONST(1) << i;
		if (from & bit)
			continue;
		above = differs & ~(bit | (bit - 1));
		above |= ~centre & bit;
		used = pg_popcount64(above);
		leading_used = hamming_leading_distance(above);
		if (used <= radius && leading_used <= leading_radius)
		{
			radius -= used;
			leading_radius -= leading_used;
			break;
		}
	}
	if (i == 64)
		return false;

	*next = (from & ~(bit - 1)) | bit;
	ones = centre & (bit - 1);
	*next |= ones;
	while (ones != 0 && radius > 0)
	{
		uint64 highest = UINT64CONST(1) << pg_leftmost_one_pos64(ones);

		ones ^= highest;
		if (highest & leading)
		{
			if (leading_radius == 0)
				continue;
			leading_radius--;
		}
		*next ^= highest;
		radius--;
	}
	return true;
}
