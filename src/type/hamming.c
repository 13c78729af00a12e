/*
 * hamming.c
 *	  The least distance from a fingerprint to a bounded set of them, and the
 *	  order of the fingerprints in a ball.
 */
#include "postgres.h"

#include "type/hamming.h"

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

/*
 * Return the number of words of length bits within radius, -1 or more, of a
 * word: the sum over i <= radius of C(bits, i).  bits need not be whole.
 */
double
hamming_ball_size(double bits, int radius)
{
	double		shell = 1;		/* C(bits, i) */
	double		size = 0;
	int			i;

	for (i = 0; i <= radius && shell > 0; i++)
	{
		size += shell;
		shell = shell * Max(bits - i, 0) / (i + 1);
	}
	return size;
}

/* bits has n bits set or more.  Return the place of the n-th highest. */
static int
nth_highest_bit(uint64 bits, int n)
{
	while (--n > 0)
		bits ^= UINT64CONST(1) << pg_leftmost_one_pos64(bits);
	return pg_leftmost_one_pos64(bits);
}

/* Distances that are allowed: the whole one, and that in the leading block. */
typedef struct Radii
{
	int			whole;
	int			leading;
	uint64		block;			/* the bits of the leading block */
} Radii;

/*
 * Find the lowest bit i >= p at which a word x within the radii may leave
 * from: from has 0 at i, x has 1, and x equals from above i.  Return i, and
 * subtract from *left the distances of x to the centre above i and at i.
 * Return HAMMING_BITS if there is no such bit.
 */
static int
lowest_turn(uint64 centre, uint64 from, int p, Radii *left)
{
	int			i;

	for (i = p; i < HAMMING_BITS; i++)
	{
		uint64		bit = UINT64CONST(1) << i;
		uint64		differs = ((from ^ centre) & ~(bit | (bit - 1))) |
		(~centre & bit);
		int			whole = pg_popcount64(differs);
		int			leading = pg_popcount64(differs & left->block);

		if (!(from & bit) && whole <= left->whole && leading <= left->leading)
		{
			left->whole -= whole;
			left->leading -= leading;
			break;
		}
	}
	return i;
}

/*
 * Return the least word within the radii left of bits, which are the bits of
 * the centre below the turn: clear the highest bits that are set while the
 * radii allow it.
 */
static uint64
least_word(uint64 bits, Radii left)
{
	uint64		ones = bits;

	while (ones != 0 && left.whole > 0)
	{
		uint64		highest = UINT64CONST(1) << pg_leftmost_one_pos64(ones);

		ones ^= highest;
		if (highest & left.block)
		{
			if (left.leading == 0)
				continue;
			left.leading--;
		}
		left.whole--;
		bits ^= highest;
	}
	return bits;
}

/*
 * Set *next to the least x >= from that is within radius of the centre, and in
 * the bits of the leading block, which leading has, within leading_radius; both
 * radii are 0 or more.  Return false if there is none.
 *
 * Such an x is from itself, or it first leaves from at some bit i where from
 * has 0 and x has 1.  Above i, x equals from.  The lower i is, the less x is:
 * so the lowest i is right for which the distances above i, and at i itself,
 * are within the radii.  (Below i, x can always equal the centre.)
 *
 * Let p be the highest bit at which the distance of from to the centre,
 * counted from the top, exceeds a radius.  No i below p is right: x would
 * equal from at p and above, and exceed that radius, too.
 *
 * Below i the least x has zeros as high as it can.  Where the centre has 0, a
 * zero costs nothing.  Where the centre has 1, a zero takes 1 of the radii
 * that are left: these zeros go to the highest ones.
 */
bool
hamming_ball_next(uint64 centre, uint64 leading, int leading_radius, int radius,
				  uint64 from, uint64 *next)
{
	uint64		differs = from ^ centre;
	Radii		left = {radius, leading_radius, leading};
	uint64		bit;
	int			p = -1;
	int			i;

	if (pg_popcount64(differs) > radius)
		p = nth_highest_bit(differs, radius + 1);
	if (pg_popcount64(differs & leading) > leading_radius)
		p = Max(p, nth_highest_bit(differs & leading, leading_radius + 1));
	*next = from;
	if (p < 0)
		return true;

	i = lowest_turn(centre, from, p, &left);
	if (i == HAMMING_BITS)
		return false;
	bit = UINT64CONST(1) << i;
	*next = (from & ~(bit - 1)) | bit | least_word(centre & (bit - 1), left);
	return true;
}
