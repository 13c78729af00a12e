/*
 * together.c
 *	  A search for the pairs of one list, by a team of processes.
 *
 * The leader searches the list as groups.c does, which all processes see.  The
 * team sorts the list by one segment of the first cut after the other
 * (fplist.c).  While the list is sorted by a segment, nobody writes to it: each
 * process walks slices of it, copies the groups that it finds there to a list
 * of its own, and divides these alone.  Groups that are too large for one
 * process are divided by the team in the same way, with nodes above the first
 * one.
 *
 * The steps of a walk take each pair that the leader alone would take, and no
 * pair more often: each run of the sorted list begins in one slice; and a group
 * that is left as a large one is taken by its own units instead, one for each
 * segment that may divide the group, or else by the leader.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "near/progress.h"
#include "near/together.h"

/* The kinds of steps. */
#define STEP_WALK FPLIST_STEPS	/* slices of the top node */
#define STEP_LARGE (FPLIST_STEPS + 1)	/* hamming_groups_large_units() */
#define STEP_COMPARE (FPLIST_STEPS + 2) /* slices of search->group */

/*
 * Return the size of what all processes see, and set what is in it.  search has
 * the capacities, and may be in memory itself.
 */
static Size
map_memory(Together *together, char *memory, const SharedSearch *search)
{
	Size		at = TYPEALIGN(16, sizeof(SharedSearch));

	together->search = (SharedSearch *) memory;
	at += simhash_fplist_map(&together->list, memory + at, search->capacity);
	together->sets = search->has_sets ? (uint32 *) (memory + at) : NULL;
	at += search->has_sets ? search->capacity * sizeof(uint32) : 0;
	together->pairs = (FoundPair *) (memory + at);
	return at + search->pair_capacity * sizeof(FoundPair);
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
	hamming_groups_begin_whole(groups, &slice);
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

	if (group->x != group->y)
		take_slice(together, from, to, group->y, group->y_end);
	else
	{
		take_slice(together, from, to, from, to);
		take_slice(together, from, to, to, group->y_end);
	}
}

/* Do a unit of a step. */
static void
do_unit(void *arg, const TeamStep *step, uint32 unit)
{
	Together   *together = arg;

	if (step->kind < FPLIST_STEPS)
		simhash_fplist_work(&together->list, step, unit);
	else if (step->kind >= TOGETHER_STEPS)
		together->do_unit(together, step, unit);
	else if (step->kind == STEP_COMPARE)
		compare_slice(together, unit, step->units);
	else
	{
		if (step->kind == STEP_WALK)
			hamming_groups_begin_unit(together->groups, unit, step->units);
		else
			hamming_groups_begin_large(together->groups, unit);
		together->take(together, together->groups);
	}
}

/* Show how much of a step is done, 0 .. 1. */
static void
show_step(void *arg, const TeamStep *step, double done)
{
	Together   *together = arg;

	if (step->kind == STEP_WALK || step->kind == STEP_LARGE)
		hamming_groups_show(together->walked,
							together->walked->depth == 1 ? done : 1);
	else if (step->kind >= STEP_COMPARE)
		simhash_progress_show_share(done);
}

/* Prepare the search of this process. */
static void
begin_own(Together *together)
{
	simhash_fplist_allocate(&together->own, 0);
	together->groups = hamming_groups_make(&together->own, &together->own,
										   together->search->radius);
	together->groups->capacity = 0;
	together->groups->common = &together->search->nodes;
	together->groups->shared = &together->list;
	together->groups->sets = together->sets;
	together->team->work = do_unit;
	together->team->arg = together;
	together->team->show = show_step;
}

/*
 * Let a team search the list for pairs within the radius, with sets of the
 * numbers if has_sets, and with room for pair_capacity pairs.  Workers begin in
 * the function named entry.  Return NULL if one process does as well, or
 * nothing can be shared.  Else list moves to the memory of the team.  The
 * caller sets take, and in the end calls hamming_together_end(); until then
 * this process is in parallel mode.
 */
Together *
hamming_together_begin(FingerprintList *list, int radius, bool has_sets,
					   uint32 pair_capacity, const char *entry)
{
	SharedSearch search = {
		.radius = radius,.has_sets = has_sets,.capacity = list->count,
		.pair_capacity = pair_capacity
	};
	double		count = list->count;
	int			workers =
	simhash_team_workers(hamming_near_cost(count, count, radius));
	Together   *together;

	if (workers == 0)
		return NULL;
	together = palloc0(sizeof(Together));
	together->team = simhash_team_make(map_memory(together, NULL, &search));
	if (together->team == NULL)
	{
		pfree(together);
		return NULL;
	}
	map_memory(together, together->team->memory, &search);
	*together->search = search;
	pg_atomic_init_u64(&together->search->pair_count, 0);
	pg_atomic_init_u32(&together->search->nodes.large_count, 0);
	simhash_fplist_share(list, together->team, (char *) together->list.fps);
	begin_own(together);
	together->entry = entry;
	together->workers = workers;
	hamming_together_launch(together);
	return together;
}

/* Launch workers: the first ones, or others once these were dismissed. */
void
hamming_together_launch(Together *together)
{
	simhash_team_launch(together->team, together->entry, together->workers);
}

/* Have the team walk the top node of groups, and take its large groups. */
static void
walk_together(void *arg, NearGroups *groups)
{
	Together   *together = arg;
	const Candidates *all = &groups->nodes[groups->depth - 1].all;
	TeamStep	step = {.kind = STEP_WALK};

	hamming_groups_publish(groups);
	step.units = hamming_groups_slices(all->x_end - all->x);
	simhash_team_do(together->team, &step);
	step.kind = STEP_LARGE;
	step.units = hamming_groups_large_units(groups);
	if (step.units > 0)
		simhash_team_do(together->team, &step);
}

/*
 * Let the team take all candidates.  The list is that of
 * hamming_together_begin(), and may have become shorter.
 */
void
hamming_together_search(Together *together, FingerprintList *list)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(together));
	NearGroups *groups = hamming_groups_make(list, list,
											 together->search->radius);
	Candidates	all = {0, list->count, 0, list->count};

	together->list.count = list->count;
	groups->sets = together->sets;
	groups->common = &together->search->nodes;
	groups->walk = walk_together;
	groups->done_here = 1;
	together->walked = groups;
	groups->arg = together;
	hamming_groups_begin(groups, &all, NULL, 0);
	/* what no cut divides */
	while (hamming_groups_next(groups, &together->search->group))
	{
		TeamStep	step = {.kind = STEP_COMPARE};

		hamming_groups_publish(groups);
		step.units = hamming_groups_slices(together->search->group.x_end -
										   together->search->group.x);
		if (together->take_large != NULL)
			together->take_large(together);
		else
			simhash_team_do(together->team, &step);
	}
	pfree(groups);
	MemoryContextSwitchTo(old);
}

/* Let the workers end.  The list goes with the memory of the team. */
void
hamming_together_end(Together *together)
{
	simhash_team_dismiss(together->team);
	simhash_team_end(together->team);
	simhash_fplist_free(&together->own);
	pfree(together->groups);
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
	map_memory(together, (char *) search, search);
	begin_own(together);
	return together;
}
