/*
 * together.c
 *	  A search for the pairs of one list, or of stretches of it, by a team of
 *	  processes.
 *
 * The team sorts the list by one segment of the first cut after the other
 * (fplist.c).  While the list is sorted by a segment, nobody writes to it.
 * near/README, "A team of processes", proves that no pair is lost.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "near/together.h"

/* Units of STEP_KEYS. */
#define MOST_KEY_UNITS 4096

/*
 * Units of UNIT_ROWS fingerprints take long enough that a team need not wait
 * for them.  MAX_SLICES leave the last ones short for many processes.
 */
#define UNIT_ROWS 256
#define MAX_SLICES 4096

/*
 * Return the size of what all processes see, and set what is in it.  options
 * may be in memory itself.
 */
static Size
map_memory(Together *together, char *memory, const SearchOptions *options)
{
	Size		at = TYPEALIGN(16, sizeof(SharedSearch));

	together->search = (SharedSearch *) memory;
	at += hamming_fplist_map(&together->list, memory + at, options->word_count,
							 options->capacity);
	together->sets = options->has_sets ? (uint32 *) (memory + at) : NULL;
	at += options->has_sets ? options->capacity * sizeof(uint32) : 0;
	together->keys = (Candidates *) (memory + at);
	at += options->key_capacity * sizeof(Candidates);
	together->settled = options->settled_count > 0 ? (bool *) (memory + at)
		: NULL;
	return at + options->settled_count * sizeof(bool);
}

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
	FingerprintList *own = &together->own;
	bool		is_one = group->x == group->y;
	uint32		x = group->x_end - group->x;
	Size		size = (Size) x + (is_one ? 0 : group->y_end - group->y);

	if (size > together->capacity)
	{
		hamming_fplist_free(own);
		together->capacity = Max(size, 2 * together->capacity);
		hamming_fplist_allocate_beside(own, &together->list,
									   together->capacity);
	}
	own->count = 0;
	hamming_fplist_copy(own, &together->list, group->x, group->x_end);
	if (!is_one)
		hamming_fplist_copy(own, &together->list, group->y, group->y_end);
	group->x = 0;
	group->x_end = x;
	group->y = is_one ? 0 : x;
	group->y_end = size;
}

/* Take the pairs of a group of the shared list, above the leader's nodes. */
static void
take_group(Together *together, Candidates group)
{
	NearGroups *groups = together->groups;

	copy_group(together, &group);
	groups->lists.x = groups->lists.y = &together->own;
	if (!hamming_group_is_done(&groups->lists, &group))
	{
		hamming_groups_begin_above(groups, &group, false);
		together->take(together, groups);
	}
	groups->lists.x = groups->lists.y = &together->list;
}

/* Leave a large group of the top node for later; return false if it is none. */
static bool
leave_large(Together *together, const GroupNode *node, const Candidates *group)
{
	SharedSearch *search = together->search;
	double		pairs = number_of_pairs(&together->groups->lists, group);
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
	uint64		bits;
	uint32		from;
	uint32		to;

	copy_nodes(together);
	node = &groups->nodes[groups->base - 1];
	all = node->all;
	bits = node->cut.segments[node->segment];
	from = team_slice_begin(all.x, all.x_end, slice, slices);
	to = team_slice_begin(all.x, all.x_end, slice + 1, slices);
	if (from > all.x)
		node->all.x = fplist_end_of_run(list, from - 1, all.x_end, bits);
	node->all.x_end = fplist_end_of_run(list, to - 1, all.x_end, bits);
	node->x = node->all.x;
	node->y = divides_one_stretch(groups, node) ? node->x : all.y;
	while (hamming_groups_next_smaller(groups, node, &group))
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

	hamming_groups_begin_above(groups, &slice, true);
	together->take(together, groups);
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
	uint32		y = group->y;

	copy_nodes(together);
	if (group->x == group->y)
	{
		take_slice(together, from, to, from, to);
		y = to;
	}
	take_slice(together, from, to, y, group->y_end);
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

/* Do one unit of a step, as each process of the team does. */
static void
do_unit(void *arg, const TeamStep *step, uint32 unit)
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

static void
begin_own(Together *together)
{
	hamming_fplist_allocate_beside(&together->own, &together->list, 0);
	together->groups = hamming_groups_make(&together->list, &together->list,
										   together->search->options.radius);
	together->groups->lists.sets = together->sets;
	together->groups->lists.settled = together->settled;
	together->team->work = do_unit;
	together->team->arg = together;
}

/*
 * Make a team of this process alone for a search.  Return NULL if nothing can
 * be shared.  The caller brings the list, settled and take, launches workers of
 * the team, and in the end calls hamming_together_end().
 */
Together *
hamming_together_begin(const SearchOptions *options)
{
	Together   *together = palloc0(sizeof(Together));

	together->team = simhash_team_make(map_memory(together, NULL, options));
	if (together->team == NULL)
	{
		pfree(together);
		return NULL;
	}
	map_memory(together, together->team->memory, options);
	memset(together->search, 0, sizeof(SharedSearch));
	together->search->options = *options;
	pg_atomic_init_u64(&together->search->found, 0);
	pg_atomic_init_u32(&together->search->large_count, 0);
	begin_own(together);
	return together;
}

/*
 * Return into how many slices a team divides the x of candidates.  A slice has
 * a fingerprint at least, or many where the y are few.
 */
static uint32
number_of_slices(const Candidates *all)
{
	uint32		x = all->x_end - all->x;
	uint32		most = Max(x, all->y_end - all->y) / UNIT_ROWS;

	return Max(1, Min(Min(x, most), MAX_SLICES));
}

static void
publish_nodes(SharedSearch *search, const NearGroups *groups)
{
	search->depth = groups->depth;
	memcpy(search->nodes, groups->nodes, groups->depth * sizeof(GroupNode));
}

static int
compare_large(const void *a, const void *b)
{
	double		x = ((const LargeGroup *) a)->pairs;
	double		y = ((const LargeGroup *) b)->pairs;

	return (x < y) - (x > y);
}

/*
 * The top node was walked.  Of its large groups, leave those on the stack that
 * the team is to divide.  The others are behind them, the largest one first.
 * Return how many units they are.
 */
static uint32
prepare_large(SharedSearch *search, const GroupNode *node)
{
	uint32		end = pg_atomic_read_u32(&search->large_count);
	uint32		first = node->large;
	uint32		i;

	qsort(search->large + first, end - first, sizeof(LargeGroup),
		  compare_large);
	/* the lowest node that is no turn */
	if (search->depth == 1 + search->nodes[0].is_turn)
	{
		search->large_pairs = 0;
		for (i = first; i < end; i++)
			search->large_pairs += search->large[i].pairs;
	}
	while (first < end &&
		   search->large[first].pairs > search->large_pairs / LARGE_SHARE)
		first++;
	search->first_unit = first;
	pg_atomic_write_u32(&search->large_count, first);
	return end - first;
}

/* Have the team take the smaller groups of the node, but for the largest. */
static void
walk_together(Together *together, NearGroups *groups, GroupNode *node)
{
	SharedSearch *search = together->search;
	TeamStep	step = {.kind = STEP_WALK,
		.units = number_of_slices(&node->all)
	};

	node->is_walked = true;
	node->large = pg_atomic_read_u32(&search->large_count);
	publish_nodes(search, groups);
	simhash_team_do(together->team, &step);
	step.kind = STEP_LARGE;
	step.units = prepare_large(search, node);
	simhash_team_do(together->team, &step);
}

/* NearGroups.next_left: one of the largest groups. */
static bool
next_left(void *arg, NearGroups *groups, Candidates *group)
{
	Together   *together = arg;
	SharedSearch *search = together->search;
	GroupNode  *node = &groups->nodes[groups->depth - 1];
	uint32		count;

	if (!node->is_walked)
		walk_together(together, groups, node);
	count = pg_atomic_read_u32(&search->large_count);
	if (count == node->large)
		return false;
	pg_atomic_write_u32(&search->large_count, --count);
	*group = search->large[count].group;
	node->flips = search->large[count].flips;
	return true;
}

/* Let the team take all candidates of the leader's groups. */
static void
search_groups(Together *together, NearGroups *groups, const Candidates *all)
{
	Candidates *group = &together->search->group;
	TeamStep	step = {.kind = STEP_COMPARE};

	hamming_groups_begin(groups, all, NULL);
	/* what no cut divides */
	while (hamming_groups_next(groups, group))
	{
		/* sets spare comparisons of a group as a whole */
		step.units = together->sets != NULL ? 1 : number_of_slices(group);
		publish_nodes(together->search, groups);
		simhash_team_do(together->team, &step);
	}
}

/*
 * Let the team take all pairs of each of count candidates, which are stretches
 * of the list.  A large one is divided by the team.  Each of the others is
 * taken by one process.  all may be together->keys.  This is the only search of
 * the team.
 */
void
hamming_together_search(Together *together, const Candidates *all,
						uint32 count)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(together));
	FingerprintList list = together->list;
	NearGroups *groups = hamming_groups_make(&list, &list,
											 together->groups->radius);
	TeamStep	step = {.kind = STEP_KEYS};
	double		pairs = 0;
	uint32		i;

	/* of that of a unit, which may be a bucket, one process sorts all */
	list.team = together->team;
	groups->lists.sets = together->sets;
	groups->lists.settled = together->settled;
	groups->next_left = next_left;
	groups->arg = together;
	for (i = 0; i < count; i++)
		pairs += number_of_pairs(&groups->lists, &all[i]);
	for (i = 0; i < count; i++)
	{
		double		these = number_of_pairs(&groups->lists, &all[i]);

		if (count > 1 &&
			(these < LARGE_PAIRS || these < pairs / LARGE_SHARE))
		{
			together->keys[together->search->key_count++] = all[i];
			continue;
		}
		groups->done_here = these / Max(pairs, 1);
		search_groups(together, groups, &all[i]);
		groups->done_before += groups->done_here;
	}
	step.units = Min(together->search->key_count, MOST_KEY_UNITS);
	simhash_team_do(together->team, &step);
	/* nothing is copied any more */
	hamming_fplist_free(&together->own);
	pfree(groups);
	MemoryContextSwitchTo(old);
}

/* After the search: let the workers end, if there are any, and free all. */
void
hamming_together_end(Together *together)
{
	pfree(together->groups);
	simhash_team_end(together->team);
	pfree(together);
}

/* In a worker: join the search.  The caller sets take() and its arg. */
Together *
hamming_together_attach(shm_toc *toc)
{
	Together   *together = palloc0(sizeof(Together));
	SharedSearch *search;

	together->team = simhash_team_attach(toc);
	search = (SharedSearch *) together->team->memory;
	map_memory(together, (char *) search, &search->options);
	begin_own(together);
	return together;
}
