/*
 * bounds.c
 *	  The least distance from a fingerprint to a bounded set of them.
 */
#include "postgres.h"

#include "type/bounds.h"

/*
 * Return the lesser of best and the least distance from q to an x >= lo that
 * respects the masks and equals lo outside the bits of below, which are all
 * the bits under some bit.
 *
 * Such an x is lo itself, or it first leaves lo at some bit j where lo has 0
 * and x has 1.  Above j, x equals lo.  Below j, the masks alone bind x.
 * So the least distance is the least of
 *
 *		distance(lo, q)  and, for each j of below, 0 in lo and 1 in any,
 *		distance(lo, q) above j + (q has 0 at j) + mask distance below j,
 *
 * where the mask distance counts the bits of q that every x must differ in.
 * From the highest j down, the first of the three terms only grows: once that
 * term reaches the best distance so far, no lower j can be better.
 */
static int
one_sided_distance(uint64 lo, uint64 all, uint64 any, uint64 q, uint64 below,
				   int best)
{
	uint64		differs = lo ^ q;
	uint64		forced = (all & ~q) | (~any & q);
	uint64		turns = ~lo & any & below;

	best = Min(best, pg_popcount64(differs));
	while (turns != 0)
	{
		int			j = pg_leftmost_one_pos64(turns);
		uint64		bit = UINT64CONST(1) << j;
		int			above = pg_popcount64(differs & ~(bit | (bit - 1)));

		if (above >= best)
			break;
		above += !(q & bit) + pg_popcount64(forced & (bit - 1));
		best = Min(best, above);
		turns ^= bit;
	}
	return best;
}

/*
 * Return the least distance from q to any value within the bounds, which is
 * exact, and so a lower bound for the distance to every member of a set that
 * they bound.  Where that distance is at least enough, any value from enough
 * up to the exact one may be returned instead.
 *
 * Proof.  Every x within the bounds differs from q in the forced bits of the
 * masks, which is the early return.  Let d be the highest bit in which lo
 * and hi differ: lo has 0 there, and hi 1.  Every x equals both above d.  An
 * x with 0 at d is below hi whatever follows, so only x >= lo binds it; an x
 * with 1 at d is above lo, so only x <= hi binds it.  The second case is the
 * first one with every bit complemented.  If lo = hi there is one value, and
 * as the bounds of that value alone have all = any = lo, the distance of the
 * masks is exact.
 */
int
hamming_bounds_distance(const HammingBounds *b, uint64 q, int enough)
{
	uint64		span = b->lo ^ b->hi;
	uint64		below;
	int			masks;
	int			best;

	masks = pg_popcount64((b->all & ~q) | (~b->any & q));
	if (span == 0 || masks >= enough)
		return masks;

	/* the bits below d, in which x may leave lo or hi */
	below = (UINT64CONST(1) << pg_leftmost_one_pos64(span)) - 1;
	best = one_sided_distance(b->lo, b->all, b->any, q, below, HAMMING_BITS);
	return one_sided_distance(~b->hi, ~b->any, ~b->all, ~q, below, best);
}
