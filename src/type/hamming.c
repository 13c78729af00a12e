/*
 * hamming.c
 *	  How many words are in a ball, and their order.
 */
#include "postgres.h"

#include "type/hamming.h"

/*
 * radius is -1 or more.  Return how many numbers of that many bits are within
 * radius of one of them: the sum over i <= radius of C(bits, i).  bits need not
 * be whole.
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

/*
 * Return mask without the highest *n of those that are set, or 0 if fewer are.
 * Subtract from *n how many were cleared.
 */
static uint64
clear_highest(uint64 mask, int *n)
{
	for (; mask != 0 && *n > 0; (*n)--)
		mask ^= UINT64CONST(1) << pg_leftmost_one_pos64(mask);
	return mask;
}

/* Return the number of the n-th highest bit of mask, which has n or more. */
static int
nth_highest_bit(uint64 mask, int n)
{
	n--;
	return pg_leftmost_one_pos64(clear_highest(mask, &n));
}

/* Distances that are allowed. */
typedef struct Radii
{
	int			whole;			/* in all bits */
	int			leading;		/* in the bits of block */
	uint64		block;			/* the bits of the leading block */
} Radii;

/*
 * Find the lowest bit i >= p at which an x within the radii *left may leave
 * from: from has 0 at i, x has 1, and x equals from above i.  Return i, and
 * subtract from *left the distances of x to the centre above i and at i.
 * Return 64 if there is no such bit.
 */
static int
lowest_turn(uint64 centre, uint64 from, int p, Radii *left)
{
	uint64		differs = from ^ centre;
	uint64		bit = UINT64CONST(1) << p;
	uint64		above = differs & ~(bit | (bit - 1));
	int			whole = pg_popcount64(above);
	int			leading = pg_popcount64(above & left->block);
	int			i;

	/* whole and leading are the distances above i */
	for (i = p; i < 64; i++)
	{
		int			leads = (left->block & bit) != 0;
		int			turn = (centre & bit) == 0; /* the distance at i */

		if (i > p && (differs & bit) != 0)
		{
			whole--;
			leading -= leads;
		}
		if ((from & bit) == 0 && whole + turn <= left->whole &&
			leading + (turn & leads) <= left->leading)
		{
			left->whole -= whole + turn;
			left->leading -= leading + (turn & leads);
			break;
		}
		bit <<= 1;
	}
	return i;
}

/*
 * bits are those of the centre below the turn.  Return the least number whose
 * distance to bits is within the radii left: clear the highest bits that are
 * set, as long as the radii allow it.
 */
static uint64
least_within(uint64 bits, Radii left)
{
	int			leading = Min(left.leading, left.whole);
	int			rest = left.whole - leading;
	uint64		block = clear_highest(bits & left.block, &leading);

	rest += leading;
	return block | clear_highest(bits & ~left.block, &rest);
}

/*
 * Both radii are 0 or more.  Set *next to the least x >= from that is within
 * radius of the centre, and within leading_radius in the bits that leading has
 * set.  Return false if there is none.
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
hamming_ball_next(uint64 centre, uint64 leading, int leading_radius,
				  int radius, uint64 from, uint64 *next)
{
	uint64		differs = from ^ centre;
	Radii		left = {radius, leading_radius, leading};
	uint64		bit;
	int			p = -1;
	int			i;

	if (pg_popcount64(differs & leading) > leading_radius)
	{
		p = nth_highest_bit(differs & leading, leading_radius + 1);
		bit = UINT64CONST(1) << p;
		differs &= ~(bit | (bit - 1));
	}
	if (pg_popcount64(differs) > radius)
		p = nth_highest_bit(differs, radius + 1);
	*next = from;
	if (p < 0)
		return true;

	i = lowest_turn(centre, from, p, &left);
	if (i == 64)
		return false;
	bit = UINT64CONST(1) << i;
	*next = (from & ~(bit - 1)) | bit | least_within(centre & (bit - 1), left);
	return true;
}

/*
 * Return how many sorted words to put left of a cut, least .. most: where the
 * two words beside the cut differ in the highest bit, or in the middle if all
 * are equal.  So the members of each side have many leading bits in common.
 * words has a word at each stride-th place, and more than most.  least is at
 * least 1.
 *
 * One place alone has the highest bit of all: between two places that differ in
 * the same bit is one that differs in a higher bit.
 */
int
hamming_choose_cut(const uint64 *words, int stride, int least, int most)
{
	int			best = (least + most) / 2;
	uint64		best_difference = 0;
	int			i;

	for (i = least; i <= most; i++)
	{
		uint64		difference = words[(i - 1) * stride] ^ words[i * stride];

		if (difference > best_difference)
		{
			best = i;
			best_difference = difference;
		}
	}
	return best;
}
