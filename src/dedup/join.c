/*
 * join.c
 *	  Exact similarity joins, by the pigeonhole principle.
 *
 * Fingerprints within k bits of each other agree in at least l of any k + l
 * parts that the 64 bits are cut into (Manku, Jain and Das Sarma 2007).  So a
 * list is sorted by one part after the other; what agrees in it is a group,
 * side by side, which is sorted by one later part after the other, and so on,
 * until groups agree in l parts.
 *
 * A group that then is still too large for comparing each with each, as it is
 * where many texts share much, is cut again in the same way: into parts of
 * its own, chosen so that each tells its fingerprints apart equally well.  A
 * part has a bit at least that varies in what is cut, so that fewer bits vary
 * in a group.
 *
 * The order within the lists is changed on the way.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "dedup/connect.h"
#include "dedup/join.h"
#include "type/distance_array.h"

/* Pairs that show how much the bits vary. */
#define SAMPLE_SIZE 256

/* From a group of this size on, a sample takes little beside a sort. */
#define WORTH_ESTIMATING 2048

static inline bool
is_self_join(const HammingJoin *join)
{
	return join->x == join->y;
}

/* Comparisons of each with each. */
static double
number_of_pairs(const HammingJoin *join, const Candidates *group)
{
	double		x = group->x_end - group->x;

	return is_self_join(join) ? x * (x - 1) / 2 : x * (group->y_end - group->y);
}

/* What sorting a group by a part takes, in comparisons. */
static double
cost_of_sort(const HammingJoin *join, const Candidates *group)
{
	double		x = group->x_end - group->x;
	double		size = is_self_join(join) ? x : x + (group->y_end - group->y);

	return size * hamming_comparisons();
}

/* The bits that differ between any of the fingerprints and the given one. */
static uint64
find_varying(const uint64 *fps, uint32 count, uint64 from)
{
	uint64		varying = 0;
	uint32		i;

	for (i = 0; i < count; i++)
		varying |= fps[i] ^ from;
	return varying;
}

static inline bool
in_same_set(const HammingJoin *join, uint32 x, uint32 y)
{
	return join->sets != NULL && find_set(join->sets, join->x->ids[x]) ==
		find_set(join->sets, join->y->ids[y]);
}

/* The i-th pair of a sample; false if it needs no comparison. */
static bool
sample_pair(const HammingJoin *join, const Candidates *group, int i,
			uint64 *difference)
{
	uint64		x_size = group->x_end - group->x;
	uint32		y_size = group->y_end - group->y;

	/* spread evenly, in orders that have nothing to do with each other */
	uint32		x = group->x + (uint32) (x_size * i / SAMPLE_SIZE);
	uint32		y = group->y + (i * UINT64CONST(2654435761)) % y_size;

	*difference = join->x->fps[x] ^ join->y->fps[y];
	return !in_same_set(join, x, y);
}

/*
 * About how many pairs of a group need a comparison, and not 0.  Where it is
 * more than an eighth of them, all are said to: most groups of most data are
 * such, and then few pairs need be looked at.
 */
static double
number_needed(const HammingJoin *join, const Candidates *group)
{
	double		pairs = number_of_pairs(join, group);
	uint64		difference;
	int			needed = 0;
	int			i;

	if (join->sets == NULL || group->x_end - group->x < WORTH_ESTIMATING)
		return pairs;
	/* every fourth pair will do */
	for (i = 0; i < SAMPLE_SIZE; i += 4)
	{
		needed += sample_pair(join, group, i, &difference);
		if (needed == SAMPLE_SIZE / 4 / 8)
			return pairs;
	}
	return pairs * Max(needed, 0.5) / (SAMPLE_SIZE / 4);
}

/*
 * Does it take no longer to compare those pairs of the group that need a
 * comparison than to sort the group once for each of the parts?  parts is their
 * number.
 */
static bool
is_compared_sooner(const HammingJoin *join, const Candidates *group, int parts)
{
	double		sorts = cost_of_sort(join, group) * parts;

	return number_of_pairs(join, group) <= sorts ||
		number_needed(join, group) <= sorts;
}

/*
 * The information of each bit: n bits of information leave one of 2^n pairs
 * agreeing in it.  Bits that do not vary have none, the others some.  What
 * counts is a sample of the pairs that need a comparison; returns their share
 * of all.
 */
static double
measure_bits(const HammingJoin *join, const Candidates *group, uint64 varying,
			 double *information)
{
	int			differ[64] = {0};
	int			needed = 0;
	int			bit;
	int			i;

	for (i = 0; i < SAMPLE_SIZE; i++)
	{
		uint64		difference;

		if (!sample_pair(join, group, i, &difference))
			continue;
		needed++;
		for (bit = 0; bit < 64; bit++)
			differ[bit] += difference >> bit & 1;
	}
	for (bit = 0; bit < 64; bit++)
	{
		/* half a pair more, as none in the sample is not none at all */
		double		agree = (needed - differ[bit] + 0.5) / (needed + 0.5);

		information[bit] = varying >> bit & 1 ? Max(-log2(agree), 1e-3) : 0;
	}
	return Max(needed, 0.5) / SAMPLE_SIZE;
}

/* Cut into parts of about the same information, each with a varying bit. */
static void
cut_bits(JoinCut *cut, int parts, const double *information, double total)
{
	int			varying_left = pg_popcount64(cut->varying);
	int			varying_in_part = 0;
	double		in_part = 0;
	int			part = 0;
	int			bit;

	memset(cut->parts, 0, sizeof(cut->parts));
	for (bit = 0; bit < 64; bit++)
	{
		if (cut->varying >> bit & 1)
		{
			int			later = parts - part - 1;

			if (varying_in_part > 0 && later > 0 &&
				(varying_left <= later ||
				 in_part + information[bit] / 2 > total / (later + 1)))
			{
				total -= in_part;
				in_part = 0;
				varying_in_part = 0;
				part++;
			}
			in_part += information[bit];
			varying_in_part++;
			varying_left--;
		}
		cut->parts[part] |= UINT64CONST(1) << bit;
	}
}

/*
 * Choose the number of levels that takes the fewest comparisons, where
 * sorting all by a part takes as long as sort of them: 0 if comparing each
 * pair takes no more.
 *
 * The first part that agrees is among the first radius + 1, the second among
 * the first radius + 2, and so on: there are C(radius + l, l) ways to choose
 * l of them, each of which takes a sort.
 */
static int
choose_levels(int radius, double pairs, double sort, double information,
			  int varying)
{
	double		least = pairs;
	double		sorting = 0;
	double		ways = 1;
	int			best = 0;
	int			levels;

	for (levels = 1; levels <= JOIN_MAX_LEVELS && radius + levels <= varying;
		 levels++)
	{
		double		cost;

		ways *= (double) (radius + levels) / levels;
		sorting += ways * sort;
		cost = sorting +
			pairs * ways * exp2(-information * levels / (radius + levels));
		if (cost < least)
		{
			least = cost;
			best = levels;
		}
	}
	return best;
}

/* Cut a group into parts of its own; false if that does not pay. */
static bool
make_cut(HammingJoin *join, const Candidates *group, JoinCut *cut)
{
	double		sort = cost_of_sort(join, group);
	double		pairs = number_of_pairs(join, group);
	const uint64 *x = join->x->fps;
	double		information[64];
	double		total = 0;
	int			bit;

	if (pairs <= sort * (join->radius + 1))
		return false;
	cut->varying = find_varying(x + group->x, group->x_end - group->x,
								x[group->x]);
	if (!is_self_join(join))
		cut->varying |= find_varying(join->y->fps + group->y,
									 group->y_end - group->y, x[group->x]);
	pairs *= measure_bits(join, group, cut->varying, information);
	for (bit = 0; bit < 64; bit++)
		total += information[bit];
	cut->levels = choose_levels(join->radius, pairs, sort, total,
								pg_popcount64(cut->varying));
	if (cut->levels == 0)
		return false;
	cut_bits(cut, join->radius + cut->levels, information, total);
	return true;
}

/* Push a node whose groups agree in a part of the cut from first on. */
static void
push_node(HammingJoin *join, const Candidates *group, JoinCut *cut, int level,
		  int first)
{
	JoinNode   *node = &join->nodes[join->depth++];

	node->all = *group;
	node->cut = cut;
	node->level = level;
	node->first = first;
	node->last = join->radius + level - 1;
	node->part = first - 1;
	/* sorted by no part, it has no group left */
	node->x = group->x_end;
	node->y = group->y_end;
}

/*
 * If it takes less time than comparing each with each, divide a group of the
 * node on top further.
 */
static bool
divide(HammingJoin *join, const Candidates *group)
{
	JoinNode   *top = join->depth == 0 ? NULL : &join->nodes[join->depth - 1];
	JoinCut    *cut = top == NULL ? join->cuts : top->cut;

	if (top != NULL && top->level < cut->levels)
	{
		if (is_compared_sooner(join, group,
							   join->radius + top->level - top->part))
			return false;
		push_node(join, group, cut, top->level + 1, top->part + 1);
		return true;
	}
	if (top != NULL)
		cut++;
	if (!make_cut(join, group, cut))
		return false;
	push_node(join, group, cut, 1, 0);
	return true;
}

static void
sort_by_next_part(HammingJoin *join, JoinNode *node)
{
	uint64		bits = node->cut->parts[++node->part] & node->cut->varying;
	int			low = pg_rightmost_one_pos64(bits);
	int			high = pg_leftmost_one_pos64(bits) + 1;

	simhash_fplist_sort(join->x, node->all.x, node->all.x_end, low, high);
	if (!is_self_join(join))
		simhash_fplist_sort(join->y, node->all.y, node->all.y_end, low, high);
	node->x = node->all.x;
	node->y = node->all.y;
}

/* The end of the fingerprints that agree with the first in some bits. */
static inline uint32
end_of_group(const uint64 *fps, uint32 from, uint32 end, uint64 bits)
{
	uint32		i = from + 1;

	while (i < end && ((fps[i] ^ fps[from]) & bits) == 0)
		i++;
	return i;
}

/* The next group that agrees in the part which the node is sorted by. */
static bool
next_group(const HammingJoin *join, JoinNode *node, Candidates *group)
{
	uint64		bits = node->cut->parts[node->part];
	const uint64 *x = join->x->fps;
	const uint64 *y = join->y->fps;

	while (node->x < node->all.x_end && node->y < node->all.y_end)
	{
		uint64		x_key = x[node->x] & bits;
		uint64		y_key = y[node->y] & bits;

		group->x = node->x;
		group->y = node->y;
		if (x_key <= y_key)
			node->x = end_of_group(x, node->x, node->all.x_end, bits);
		if (is_self_join(join))
			node->y = node->x;
		else if (y_key <= x_key)
			node->y = end_of_group(y, node->y, node->all.y_end, bits);
		group->x_end = node->x;
		group->y_end = node->y;
		if (x_key == y_key && number_of_pairs(join, group) > 0)
			return true;
	}
	return false;
}

/* Does no pair of the group need a comparison? */
static bool
is_done(const HammingJoin *join, const Candidates *group)
{
	uint32		y;

	if (join->sets == NULL)
		return false;
	for (y = group->y; y < group->y_end; y++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!in_same_set(join, group->x, y))
			return false;
	}
	return true;
}

/*
 * Does it take no longer to compare all pairs of the node that still need it
 * than to sort the node by its other parts?  As sets are united on the way,
 * fewer and fewer pairs need a comparison.
 *
 * All of the node as candidates loses no pair: the groups of the other parts
 * lie within the node.  Some pairs are among the candidates a second time.
 * Unions of sets do not mind, but hamming_join_is_first() would be wrong: so
 * this is for joins with sets only.
 */
static bool
is_nearly_done(const HammingJoin *join, const JoinNode *node)
{
	return join->sets != NULL && node->part >= node->first &&
		is_compared_sooner(join, &node->all, node->last - node->part);
}

/*
 * Begin a join of two lists, or, where both are the same, of a list with
 * itself.  The radius is 0 .. 64.  A list that is joined with itself may have
 * sets, see components.h, whose members need no comparison with each other;
 * they may be united on the way.
 */
HammingJoin *
hamming_join_begin(FingerprintList *x, FingerprintList *y, int radius,
				   uint32 *sets)
{
	HammingJoin *join = palloc(sizeof(HammingJoin));

	join->x = x;
	join->y = y;
	join->radius = radius;
	join->sets = sets;
	join->depth = -1;
	return join;
}

/*
 * The next candidates; false if there are no more.  All pairs within the
 * radius are among them, some several times: see hamming_join_is_first.  The
 * caller may sort the stretches, until the next call.
 */
bool
hamming_join_next(HammingJoin *join, Candidates *candidates)
{
	if (join->depth < 0)
	{
		candidates->x = 0;
		candidates->x_end = join->x->count;
		candidates->y = 0;
		candidates->y_end = join->y->count;
		join->depth = 0;
		if (!divide(join, candidates))
			return number_of_pairs(join, candidates) > 0;
	}
	while (join->depth > 0)
	{
		JoinNode   *node = &join->nodes[join->depth - 1];

		CHECK_FOR_INTERRUPTS();
		if (node->part >= node->first && next_group(join, node, candidates))
		{
			if (!is_done(join, candidates) && !divide(join, candidates))
				return true;
		}
		else if (node->part == node->last || is_done(join, &node->all))
			join->depth--;
		else if (is_nearly_done(join, node))
		{
			*candidates = node->all;
			join->depth--;
			return true;
		}
		else
			sort_by_next_part(join, node);
	}
	return false;
}

/*
 * Is this the first time that a pair with such a difference is among the
 * candidates?  It is in those of the first parts in which it agrees.
 */
bool
hamming_join_is_first(const HammingJoin *join, uint64 difference)
{
	int			depth;
	int			part;

	for (depth = 0; depth < join->depth; depth++)
	{
		const JoinNode *node = &join->nodes[depth];

		for (part = node->first; part < node->part; part++)
			if ((difference & node->cut->parts[part]) == 0)
				return false;
	}
	return true;
}
