/*
 * together.c
 *	  A search for the pairs of one list, or of stretches of it, by a team of
 *	  processes.
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
#define STEP_KEYS (FPLIST_STEPS + 3)	/* slices of keys */

/* Units of STEP_KEYS. */
#define MOST_KEY_UNITS 4096

/*
 * Return the size of what all processes see, and set what is in it.  options
 * may be in memory itself.
 */
static Size
map_memory(Together *together, char *memory, const SearchOptions *options)
{
	Size		at = TYPEALIGN(16, sizeof(SharedSearch));

	together->search = (SharedSearch *) memory;
	at += hamming_fplist_map(&together->list, memory + at, options->capacity);
	together->sets = options->has_sets ? (uint32 *) (memory + at) : NULL;
	at += options->has_sets ? options->capacity * sizeof(uint32) : 0;
	together->keys = (Candidates *) (memory + at);
	at += options->key_capacity * sizeof(Candidates);
	together->pairs = (FoundPair *) (memory + at);
	at += options->pair_capacity * sizeof(FoundPair);
	together->settled = options->settled_count > 0 ? (bool *) (memory + at)
		: NULL;
	return at + options->settled_count * sizeof(bool);
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

/* Take the pairs of a slice of the keys. */
static void
take_keys(Together *together, uint32 unit, uint32 units)
{
	uint32		count = together->search->key_count;
	uint32		i = team_slice_begin(0, count, unit, units);
	uint32		end = team_slice_begin(0, count, unit + 1, units);

	for (; i < end; i++)
	{
		Candidates	key = together->keys[i];

		hamming_groups_copy(together->groups, &key);
		hamming_groups_begin(together->groups, &key, NULL, 0);
		together->take(together, together->groups);
	}
}

/* Do a unit of a step. */
static void
do_unit(void *arg, const TeamStep *step, uint32 unit)
{
	Together   *together = arg;

	if (step->kind < FPLIST_STEPS)
		hamming_fplist_work(&together->list, step, unit);
	else if (step->kind >= TOGETHER_STEPS)
		together->do_unit(together, step, unit);
	else if (step->kind == STEP_COMPARE)
		compare_slice(together, unit, step->units);
	else if (step->kind == STEP_KEYS)
		take_keys(together, unit, step->units);
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
	else if (step->kind == STEP_KEYS)
		simhash_progress_show_share(together->walked->done_before +
									(1 - together->walked->done_before) * done);
	else if (step->kind >= STEP_COMPARE)
		simhash_progress_show_share(done);
}

/* Prepare the search of this process. */
static void
begin_own(Together *together)
{
	hamming_fplist_allocate(&together->own, 0);
	together->groups = hamming_groups_make(&together->own, &together->own,
										   together->search->options.radius);
	together->groups->capacity = 0;
	together->groups->common = &together->search->nodes;
	together->groups->shared = &together->list;
	together->groups->sets = together->sets;
	together->groups->settled = together->settled;
	together->team->work = do_unit;
	together->team->arg = together;
	together->team->show = show_step;
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
	pg_atomic_init_u64(&together->search->pair_count, 0);
	pg_atomic_init_u64(&together->search->compared, 0);
	pg_atomic_init_u32(&together->search->nodes.large_count, 0);
	begin_own(together);
	return together;
}

/* Have the team walk the top node of groups, and take its large groups. */
static void
walk_together(void *arg, NearGroups *groups)
{
	Together   *together = arg;
	const Candidates *all = &groups->nodes[groups->depth - 1].all;
	TeamStep	step = {.kind = STEP_WALK};

	hamming_groups_publish(groups);
	step.units = hamming_groups_slices(all);
	simhash_team_do(together->team, &step);
	step.kind = STEP_LARGE;
	step.units = hamming_groups_large_units(groups);
	if (step.units > 0)
		simhash_team_do(together->team, &step);
}

/* Let the team take all candidates of the leader's groups. */
static void
search_groups(Together *together, NearGroups *groups, const Candidates *all)
{
	Candidates *group = &together->search->group;

	hamming_groups_begin(groups, all, NULL, 0);
	/* what no cut divides */
	while (hamming_groups_next(groups, group))
	{
		TeamStep	step = {.kind = STEP_COMPARE};

		hamming_groups_publish(groups);
		step.units = hamming_groups_slices(group);
		if (together->take_large != NULL)
			together->take_large(together);
		else
			simhash_team_do(together->team, &step);
	}
	hamming_groups_publish(groups);
}

/*
 * Let the team take all pairs of each of count candidates, which are stretches
 * of the list; there is at least one.  A large one is divided by the team.
 * Each of the others is taken by one process.
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
	groups->sets = together->sets;
	groups->settled = together->settled;
	groups->common = &together->search->nodes;
	groups->walk = walk_together;
	groups->arg = together;
	together->walked = groups;
	for (i = 0; i < count; i++)
		pairs += number_of_pairs(groups, &all[i]);
	for (i = 0; i < count; i++)
	{
		double		these = number_of_pairs(groups, &all[i]);

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
	if (step.units > 0)
		simhash_team_do(together->team, &step);
	pfree(groups);
	MemoryContextSwitchTo(old);
}

/* Let the workers end, and free what they have shared, but for their files. */
void
hamming_together_dismiss(Together *together)
{
	simhash_team_dismiss(together->team);
	simhash_team_free_memory(together->team);
	if (together->groups == NULL)
		return;
	hamming_fplist_free(&together->own);
	pfree(together->groups);
	together->groups = NULL;
}

/* Give back all. */
void
hamming_together_end(Together *together)
{
	hamming_together_dismiss(together);
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
