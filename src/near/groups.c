/*
 * groups.c
 *	  Which fingerprints may be within a radius of each other, by the
 *	  pigeonhole principle.
 *
 * A list is sorted by one segment of a cut after the other (cut.c): what
 * agrees in the segment, or nearly, is a group then, and may be divided by a
 * cut of its own.  near/README, claim 1, proves that no pair within the radius
 * is lost.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "near/groups.h"
#include "near/progress.h"

/*
 * Return the bits of the node's cut that come after the current segment.  Set
 * *radius to how many of them may differ in a new pair of a smaller group:
 * near/README, "New cuts".
 */
static uint64
later_bits(const GroupNode *node, int *radius)
{
	const NearCut *cut = &node->cut;
	uint64		bits = cut->region & ~cut->segments[node->segment];
	int			segment;

	*radius = cut->radius - pg_popcount64(node->flips);
	for (segment = 0; segment < node->segment; segment++)
	{
		bits &= ~cut->segments[segment];
		*radius -= cut_near(cut, segment) + 1;
	}
	return bits;
}

/*
 * Set flipped to the bits of each word in which all pairs of the current group
 * differ.
 */
static void
find_flipped(const NearGroups *groups, uint64 *flipped)
{
	const GroupNode *top;

	memset(flipped, 0, sizeof(uint64) * HAMMING_MAX_WORDS);
	if (groups->depth == 0)
		return;
	top = &groups->nodes[groups->depth - 1];
	memcpy(flipped, top->flipped, sizeof(top->flipped));
	flipped[top->word] |= top->flips;
}

/* Push a node that divides the group, and has no smaller group yet. */
static GroupNode *
push_node(NearGroups *groups, const Candidates *group, int last)
{
	GroupNode  *node = &groups->nodes[groups->depth];

	Assert(groups->depth < NODES_OF_WORD * groups->word_count);
	find_flipped(groups, node->flipped);
	node->word = current_word(groups);
	node->radius = current_radius(groups);
	groups->depth++;
	node->all = *group;
	node->is_turn = false;
	node->last = last;
	node->segment = -1;
	node->flips = 0;
	node->x = group->x_end;
	node->y = group->y_end;
	return node;
}

/* Push a turn of the group, to each word that has a radius of 0 or more. */
static void
push_turn(NearGroups *groups, const Candidates *group, const int *radii)
{
	int			last = groups->word_count - 1;
	GroupNode  *node;

	while (radii[last] < 0)
		last--;
	node = push_node(groups, group, last);
	node->is_turn = true;
	memcpy(node->radii, radii, groups->word_count * sizeof(int));
}

/* Let the lists have that word in the group. */
static void
turn_group(NearGroups *groups, const Candidates *group, int word)
{
	NearLists  *lists = &groups->lists;

	hamming_fplist_turn(lists->x, group->x, group->x_end, word);
	if (!is_one_stretch(lists, group))
		hamming_fplist_turn(lists->y, group->y, group->y_end, word);
}

/* Set the shape of a word of the group, or of the current one for -1. */
static void
measure(const NearGroups *groups, const Candidates *group, int word,
		uint64 flipped, GroupShape *shape)
{
	hamming_group_measure(&groups->lists, group, word,
						  hamming_group_varying(&groups->lists, group, word) &
						  ~flipped, shape);
}

/*
 * Let a group have the shape current in the current word.  Choose radii of all
 * words: the words of a pair within the radius differ in no more bits than that
 * in one word at least.  Return false if no turn takes less time than *least.
 */
static bool
choose_radii(const NearGroups *groups, const Candidates *group,
			 const GroupShape *current, const uint64 *flipped, int *radii,
			 double *least)
{
	GroupShape	shapes[HAMMING_MAX_WORDS];
	int			radius = groups->radius;
	int			w;

	for (w = 0; w < groups->word_count; w++)
	{
		radius -= pg_popcount64(flipped[w]);
		if (w == current_word(groups))
			shapes[w] = *current;
		else
			measure(groups, group, w, flipped[w], &shapes[w]);
	}
	if (!hamming_radii_choose(shapes, radius, radii, least))
		return false;
	for (w = 0; w < groups->word_count; w++)
		if (radii[w] >= 0)
			radii[w] = Min(radii[w] + pg_popcount64(flipped[w]), 64);
	return true;
}

/*
 * May the group turn to other words?  Not right after a turn; and once for each
 * word is enough.
 */
static bool
may_turn(const NearGroups *groups)
{
	int			turns = 0;
	int			depth;

	for (depth = 0; depth < groups->depth; depth++)
		turns += groups->nodes[depth].is_turn;
	return turns < groups->word_count && groups->word_count > 1 &&
		!(groups->depth > 0 && groups->nodes[groups->depth - 1].is_turn);
}

/*
 * Push a node with a cut of the group that takes the least time, or a turn.
 * Return false if none pays.
 */
static bool
divide(NearGroups *groups, const Candidates *group)
{
	const GroupNode *above = groups->depth == 0 ? NULL
	: &groups->nodes[groups->depth - 1];
	uint64		flipped[HAMMING_MAX_WORDS];
	int			word = current_word(groups);
	int			radius = current_radius(groups);
	int			radii[HAMMING_MAX_WORDS];
	NearCut		cut = {.segment_count = 0};
	GroupShape	shape;
	double		least;

	if (number_of_pairs(&groups->lists, group) <=
		hamming_group_sort_cost(&groups->lists, group) * (radius + 1))
	{
		if (groups->depth > 0 || !groups->radii_pay)
			return false;
		hamming_radii_share(groups->word_count, groups->radius, radii);
		push_turn(groups, group, radii);
		return true;
	}
	find_flipped(groups, flipped);
	radius -= pg_popcount64(flipped[word]);
	measure(groups, group, -1, flipped[word], &shape);
	least = hamming_comparing_cost(&shape, radius);
	hamming_cut_choose(&cut, &shape, radius, ~flipped[word], &least);
	if (above != NULL && !above->is_turn)
	{
		uint64		later = later_bits(above, &radius);

		hamming_cut_choose(&cut, &shape, radius, later, &least);
	}
	if (may_turn(groups) &&
		choose_radii(groups, group, &shape, flipped, radii, &least))
	{
		push_turn(groups, group, radii);
		return true;
	}
	if (cut.segment_count == 0)
		return false;
	hamming_cut_bits(&cut, &shape);
	push_node(groups, group, cut.segment_count - 1)->cut = cut;
	return true;
}

/* Return the bits of the current segment that may differ in a smaller group. */
static uint64
segment_bits(const GroupNode *node)
{
	return node->cut.segments[node->segment] & node->cut.varying;
}

/*
 * On entry node->segment < node->last.  Sort node->all by the next segment; of
 * a turn, let it have the next word that is searched.
 */
static void
next_segment(NearGroups *groups, GroupNode *node)
{
	const Candidates *all = &node->all;
	NearLists  *lists = &groups->lists;

	node->segment++;
	if (node->is_turn)
	{
		while (node->radii[node->segment] < 0)
			node->segment++;
		node->word = node->segment;
		node->radius = node->radii[node->segment];
		turn_group(groups, all, node->word);
	}
	else
	{
		uint64		bits = segment_bits(node);
		int			low = pg_rightmost_one_pos64(bits);
		int			high = pg_leftmost_one_pos64(bits) + 1;

		hamming_fplist_sort(lists->x, all->x, all->x_end, low, high);
		if (!is_one_stretch(lists, all))
			hamming_fplist_sort(lists->y, all->y, all->y_end, low, high);
	}
	node->flips = 0;
	node->passes = 0;
	node->x = all->x;
	node->y = all->y;
	node->is_walked = false;
}

/*
 * Set node->flips to the next choice of bits of the current segment, at most
 * cut_near() of them, ascending as numbers.  Return false after the last one.
 *
 * To add 1 gives the next choice, where flips has fewer bits than allowed.
 * Else all choices have too many up to the one where the lowest bit of flips is
 * added.  Bits that are not of the segment are 1 in the addition, so that a
 * carry passes over them.
 */
static bool
next_flips(GroupNode *node)
{
	uint64		bits = segment_bits(node);
	uint64		flips = node->flips;
	uint64		step = pg_popcount64(flips) <
	cut_near(&node->cut, node->segment) ? 1 : flips & -flips;

	node->flips = ((flips | ~bits) + step) & bits;
	if (node->flips == 0)
		return false;
	node->passes++;
	node->x = node->all.x;
	node->y = node->all.y;
	return true;
}

/*
 * Get the next smaller group that has a pair, in the current segment and with
 * the current flips.  Where the x of node->all are among its y, those with the
 * lesser key are the x of the smaller group, and their partners the y: so a
 * pair comes once.
 */
static bool
next_flipped(const NearGroups *groups, GroupNode *node, Candidates *group)
{
	const FingerprintList *x = groups->lists.x;
	const FingerprintList *y = groups->lists.y;
	const Candidates *all = &node->all;
	uint64		bits = node->cut.segments[node->segment];
	bool		is_one = divides_one_stretch(groups, node);

	while (node->x < all->x_end)
	{
		uint64		x_key = x->current[node->x] & bits;
		uint64		y_key = x_key ^ node->flips;

		CHECK_FOR_INTERRUPTS();
		group->x = node->x;
		node->x = fplist_end_of_run(x, node->x, all->x_end, bits);
		group->x_end = node->x;
		if (is_one && y_key < x_key)
			continue;
		if (is_one && y_key == x_key)
		{
			group->y = group->x;
			group->y_end = group->x_end;
		}
		else
		{
			node->y = hamming_fplist_find(y, all->y, all->y_end, node->y, bits,
										  y_key);
			if (node->y == all->y_end || (y->current[node->y] & bits) != y_key)
				continue;
			group->y = node->y;
			group->y_end = fplist_end_of_run(y, node->y, all->y_end, bits);
		}
		if (number_of_pairs(&groups->lists, group) > 0)
			return true;
	}
	return false;
}

/*
 * The lists x and y are sorted by the current segment of the node.  Get the
 * node's next smaller group that has a pair; return false if there is none
 * left.  The lists stay as they are.
 */
bool
hamming_groups_next_smaller(const NearGroups *groups, GroupNode *node,
							Candidates *group)
{
	if (node->is_turn)
	{
		/* the whole group, once for each word */
		bool		is_next = node->x < node->all.x_end;

		*group = node->all;
		node->x = group->x_end;
		return is_next;
	}
	do
	{
		if (next_flipped(groups, node, group))
			return true;
	} while (next_flips(node));
	return false;
}

/*
 * Make a search for the pairs of the lists x and y, which may be the same
 * list, within radius, 0 .. all bits.  The caller frees the result by pfree(),
 * and until then changes the lists only as hamming_groups_next() allows.  The
 * search changes their order, and the word that they have: at the end it is
 * word 0.
 *
 * If x and y are the same list, the caller may set lists.sets to sets (see
 * sets.h) of its numbers: members of one set need no comparison.  The caller
 * may unite sets meanwhile, as a pair that was left out stays in one set.
 *
 * If x and y are two lists, or two stretches of one are searched, the caller
 * may set lists.settled: pairs of number n of x need no comparison where
 * settled[n].  The caller may settle more numbers at any time.
 */
NearGroups *
hamming_groups_make(FingerprintList *x, FingerprintList *y, int radius)
{
	NearGroups *groups = palloc(offsetof(NearGroups, nodes) +
								x->word_count * NODES_OF_WORD *
								sizeof(GroupNode));

	memset(groups, 0, offsetof(NearGroups, nodes));
	groups->lists.x = x;
	groups->lists.y = y;
	groups->word_count = x->word_count;
	groups->radius = radius;
	groups->radii_pay = x->word_count > 1 &&
		hamming_radii_pay(x->word_count, radius);
	return groups;
}

/*
 * Begin to search for the pairs of all, which are the lists or stretches of
 * them.  Where x and y are one list, all is one stretch, or two that have no
 * place in common.  A search before may have left any word to the lists.
 *
 * If only->is_cut, restrict the search to pairs that are within the radius of
 * the word of the current segment, and agree in this segment, and in none
 * before.  only->radii must be for the radius of the search.  Pairs that
 * agree in an earlier segment of the word may be among the candidates or not:
 * hamming_groups_is_first() is false for them.
 */
void
hamming_groups_begin(NearGroups *groups, const Candidates *all,
					 const Segments *only)
{
	GroupNode  *node;

	groups->base = 0;
	hamming_groups_begin_above(groups, all, false);
	turn_group(groups, all, 0);
	if (only == NULL || !only->is_cut)
		return;
	groups->is_fresh = false;
	if (groups->word_count > 1)
	{
		push_turn(groups, all, only->radii);
		node = &groups->nodes[0];
		node->last = only->word;
		node->segment = only->word - 1;
		next_segment(groups, node);
		node->x = all->x_end;
	}
	node = push_node(groups, all, only->segment);
	node->cut = only->cuts[only->word];
	node->segment = only->segment - 1;
	next_segment(groups, node);
}

/*
 * In a process of a team, where groups->nodes has the leader's base nodes:
 * begin to search all, which is a smaller group of the top one, or what the
 * leader hands out.  If is_whole, all is handed out as it is.
 */
void
hamming_groups_begin_above(NearGroups *groups, const Candidates *all,
						   bool is_whole)
{
	groups->depth = groups->base;
	groups->all = *all;
	groups->is_fresh = true;
	groups->is_whole = is_whole;
}

/*
 * Show how much of a search is done, if a message is due.  Each word counts
 * alike, and so does each segment of a cut.
 */
static void
show_done(const NearGroups *groups)
{
	double		done = 0;
	double		part = groups->done_here;	/* of a segment of the node */
	int			depth;

	if (likely(!simhash_progress_due) || part == 0)
		return;
	for (depth = 0; depth < groups->depth; depth++)
	{
		const GroupNode *node = &groups->nodes[depth];
		double		size = node->all.x_end - node->all.x;

		part /= node->last + 1;
		if (node->segment < 0)
			break;
		done += part * node->segment;
		if (node->is_turn)
			continue;
		done += part /
			hamming_ways_to_differ(pg_popcount64(segment_bits(node)),
								   cut_near(&node->cut, node->segment), 1) *
			(node->passes + (double) (node->x - node->all.x) / size);
		break;
	}
	simhash_progress_show_share(groups->done_before + done);
}

/*
 * Get the next candidates; return false if there are none left.  All pairs
 * within the radius are among the candidates, but for pairs in one set and
 * those of settled numbers, which may be left out.  A pair may come several
 * times: see hamming_groups_is_first().  Until the next call, the caller may
 * reorder each stretch of the candidates.
 */
bool
hamming_groups_next(NearGroups *groups, Candidates *candidates)
{
	if (groups->is_fresh)
	{
		groups->is_fresh = false;
		*candidates = groups->all;
		if (groups->is_whole || !divide(groups, candidates))
			return number_of_pairs(&groups->lists, candidates) > 0;
	}
	while (groups->depth > groups->base)
	{
		GroupNode  *node = &groups->nodes[groups->depth - 1];
		bool		found = node->segment >= 0;

		CHECK_FOR_INTERRUPTS();
		show_done(groups);
		if (found)
			found = groups->next_left != NULL && !node->is_turn
				? groups->next_left(groups->arg, groups, candidates)
				: hamming_groups_next_smaller(groups, node, candidates);
		if (found)
		{
			if (!hamming_group_is_done(&groups->lists, candidates) &&
				!divide(groups, candidates))
				return true;
		}
		else if (node->segment == node->last ||
				 hamming_group_is_done(&groups->lists, &node->all))
		{
			groups->depth--;
			if (node->is_turn)
				turn_group(groups, &node->all, current_word(groups));
		}
		else
			next_segment(groups, node);
	}
	return false;
}

/*
 * Is the pair, which differs in these bits of each word, to be taken elsewhere:
 * in a word that the turn has searched before, or not in the current one?
 */
static bool
is_of_other_word(const GroupNode *turn, const uint64 *difference)
{
	int			w;

	for (w = 0; w < turn->segment; w++)
		if (turn->radii[w] >= 0 &&
			pg_popcount64(difference[w]) <= turn->radii[w])
			return true;
	return pg_popcount64(difference[turn->word]) > turn->radius;
}

/*
 * Is a pair of the current candidates, which differs in difference[w] in each
 * word w, among the candidates for the first time (README, claim 3)?  The pair
 * must be within the radius: a farther one may get false each time.  In a
 * search with sets that time may be left out, but only for a pair in one set.
 */
bool
hamming_groups_is_first(const NearGroups *groups, const uint64 *difference)
{
	int			depth;
	int			segment;

	for (depth = 0; depth < groups->depth; depth++)
	{
		const GroupNode *node = &groups->nodes[depth];
		uint64		of_word = difference[node->word];

		if (node->is_turn)
		{
			if (is_of_other_word(node, difference))
				return false;
			continue;
		}
		for (segment = 0; segment < node->segment; segment++)
		{
			uint64		differ = of_word & node->cut.segments[segment];
			int			near = cut_near(&node->cut, segment);

			if (differ == 0 || (near > 0 && pg_popcount64(differ) <= near))
				return false;
		}
	}
	return true;
}
