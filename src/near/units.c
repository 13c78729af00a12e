/*
 * units.c
 *	  What each process of a team does in a search for the pairs of one list:
 *	  see together.c.
 */
#include "postgres.h"

#include "near/together.h"

static void
copy_nodes(Together *together)
{
	const SharedSearch *search = together->search;

	memcpy(together->groups->nodes, search->nodes,
		   search->depth * sizeof(GroupNode));
	together->groups->base = search->depth;
}

/* Copy a group of the shared list to the list of this process. */
static void
copy_group(Together *together, Candidates *group)
{
	const FingerprintList *from = &together->list;
	FingerprintList *to = &together->own;
	uint32		x = group->x_end - group->x;
	uint32		y = group->y == group->x ? 0 : group->y_end - group->y;
	Size		size = (Size) x + y;

	if (size > together->capacity)
	{
		hamming_fplist_free(to);
		together->capacity = Max(size, 2 * together->capacity);
		hamming_fplist_allocate(to, together->capacity);
	}
	memcpy(to->fps, from->fps + group->x, x * sizeof(Fingerprint));
	memcpy(to->numbers, from->numbers + group->x, x * sizeof(uint32));
	memcpy(to->fps + x, from->fps + group->y, y * sizeof(Fingerprint));
	memcpy(to->numbers + x, from->numbers + group->y, y * sizeof(uint32));
	to->count = size;
	group->x = 0;
	group->x_end = x;
	group->y = y == 0 ? 0 : x;
	group->y_end = size;
}

/* Take the pairs of a group of the shared list, above the leader's nodes. */
static void
take_group(Together *together, Candidates group)
{
	NearGroups *groups = together->groups;

	copy_group(together, &group);
	if (hamming_group_is_done(groups, &group))
		return;
	hamming_groups_begin_above(groups, &group, false);
	together->take(together, groups);
}

/* Leave a large group of the top node for later; return false if it is none. */
static bool
leave_large(Together *together, const GroupNode *node, const Candidates *group)
{
	SharedSearch *search = together->search;
	double		pairs = number_of_pairs(together->groups, group);
	uint32		place;

	if (pairs < LARGE_PAIRS)
		return false;
	place = pg_atomic_fetch_add_u32(&search->large_count, 1);
	if (place >= MAX_LARGE)
	{
		pg_atomic_fetch_sub_u32(&search->large_count, 1);
		return false;
	}
	search->large[place].group = *group;
	search->large[place].flips = node->flips;
	search->large[place].pairs = pairs;
	return true;
}

/*
 * The places begin .. end - 1 are sorted by bits, and place is one of them, or
 * end.  Return where the run ends that place - 1 is in.  If place is begin,
 * return begin.
 */
static uint32
end_of_run_before(const FingerprintList *list, uint32 begin, uint32 place,
				  uint32 end, Fingerprint bits)
{
	return place == begin ? begin
		: fplist_end_of_run(list, place - 1, end, bits);
}

/*
 * Take the smaller groups of a slice of the top node, but for large ones.  Runs
 * of the list that agree in the current segment are dealt to the slices: to
 * each those that begin there.
 */
static void
walk_slice(Together *together, uint32 slice, uint32 slices)
{
	const FingerprintList *list = &together->list;
	NearGroups *groups = together->groups;
	GroupNode  *node;
	Candidates	all;
	Candidates	group;
	Fingerprint bits;
	uint32		from;
	uint32		to;

	copy_nodes(together);
	node = &groups->nodes[groups->base - 1];
	all = node->all;
	bits = node->cut.segments[node->segment];
	from = team_slice_begin(all.x, all.x_end, slice, slices);
	to = team_slice_begin(all.x, all.x_end, slice + 1, slices);
	node->all.x = end_of_run_before(list, all.x, from, all.x_end, bits);
	node->all.x_end = end_of_run_before(list, all.x, to, all.x_end, bits);
	node->x = node->all.x;
	node->y = divides_one_stretch(groups, node) ? node->x : all.y;
	while (hamming_groups_next_smaller(groups, list, list, node, &group))
		if (!leave_large(together, node, &group))
			take_group(together, group);
}

/* Take one of the large groups of the top node. */
static void
take_large(Together *together, uint32 unit)
{
	const SharedSearch *search = together->search;
	const LargeGroup *large = &search->large[search->first_unit + unit];

	copy_nodes(together);
	together->groups->nodes[search->depth - 1].flips = large->flips;
	take_group(together, large->group);
}

/*
 * Take the pairs of the stretches x .. x_end - 1 and y .. y_end - 1 of the
 * list, whose order stays.
 */
static void
take_slice(Together *together, uint32 x, uint32 x_end, uint32 y, uint32 y_end)
{
	NearGroups *groups = together->groups;
	Candidates	slice = {x, x_end, y, y_end};

	groups->x = groups->y = &together->list;
	hamming_groups_begin_above(groups, &slice, true);
	together->take(together, groups);
	groups->x = groups->y = &together->own;
}

/*
 * Take the pairs of slice number unit of the x of search->group.  If the group
 * is one stretch, compare the slice with itself and with all later slices.
 * Else compare the slice with all y.
 */
static void
compare_slice(Together *together, uint32 unit, uint32 units)
{
	const Candidates *group = &together->search->group;
	uint32		from = team_slice_begin(group->x, group->x_end, unit, units);
	uint32		to = team_slice_begin(group->x, group->x_end, unit + 1, units);

	copy_nodes(together);
	if (group->x != group->y)
		take_slice(together, from, to, group->y, group->y_end);
	else
	{
		take_slice(together, from, to, from, to);
		take_slice(together, from, to, to, group->y_end);
	}
}

static void
take_keys(Together *together, uint32 unit, uint32 units)
{
	uint32		count = together->search->key_count;
	uint32		i = team_slice_begin(0, count, unit, units);
	uint32		end = team_slice_begin(0, count, unit + 1, units);

	together->groups->base = 0;
	for (; i < end; i++)
		take_group(together, together->keys[i]);
}

void
hamming_together_do_unit(void *arg, const TeamStep *step, uint32 unit)
{
	Together   *together = arg;

	if (step->kind < FPLIST_STEPS)
		hamming_fplist_work(&together->list, step, unit);
	else if (step->kind == STEP_WALK)
		walk_slice(together, unit, step->units);
	else if (step->kind == STEP_LARGE)
		take_large(together, unit);
	else if (step->kind == STEP_COMPARE)
		compare_slice(together, unit, step->units);
	else
		take_keys(together, unit, step->units);
}
