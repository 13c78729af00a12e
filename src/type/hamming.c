/*
 * hamming.c
 *	  The least distance from a fingerprint to a bounded set of them, and the
 *	  order of the fingerprints in a ball.
 */
#include "postgres.h"

#include "type/hamming.h"

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
 * The number of words of this many bits within radius of a word: the sum over
 * i <= radius of C(bits, i).  radius is -1 or more.  bits need not be whole.
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

/* Position of the n-th highest of the bits, of which there are so many. */
static int
nth_highest_bit(uint64 bits, int n)
{
	while (--n > 0)
		bits ^= UINT64CONST(1) << pg_leftmost_one_pos64(bits);
	return pg_leftmost_one_pos64(bits);
}

/* What is left of a radius, and of that of the leading block. */
typedef struct Radii
{
	int			whole;
	int			leading;
} Radii;

#define LEADING_BLOCK (~(~UINT64CONST(0) >> HAMMING_BLOCK_BITS))

/*
 * The lowest bit from p on at which x may leave from, where from has 0 and x
 * has 1, if x equals from above it; takes the distances there from the radii.
 * HAMMING_BITS if there is none.
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
		int			leading = hamming_leading_distance(differs);

		if (!(from & bit) && whole <= left->whole && leading <= left->leading)
		{
			left->whole -= whole;
			left->leading -= leading;
			break;
		}
	}
	return i;
}

/* The least word within what is left of the radii of some bits of the centre. */
static uint64
least_word(uint64 bits, Radii left)
{
	uint64		ones = bits;

	while (ones != 0 && left.whole > 0)
	{
		uint64		highest = UINT64CONST(1) << pg_leftmost_one_pos64(ones);

		ones ^= highest;
		if (highest & LEADING_BLOCK)
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
	uint64		differs = from ^ centre;
	Radii		left = {radius, leading_radius};
	uint64		bit;
	int			p = -1;
	int			i;

	if (pg_popcount64(differs) > radius)
		p = nth_highest_bit(differs, radius + 1);
	if (hamming_leading_distance(differs) > leading_radius)
		p = Max(p,
				nth_highest_bit(differs & LEADING_BLOCK, leading_radius + 1));
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
