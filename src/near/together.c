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
 * that is left as a large one is taken by its own unit instead, or else by the
 * leader.
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
	at += hamming_fplist_map(&together->list, memory + at, options->capacity);
	together->sets = options->has_sets ? (uint32 *) (memory + at) : NULL;
	at += options->has_sets ? options->capacity * sizeof(uint32) : 0;
	together->keys = (Candidates *) (memory + at);
	at += options->key_capacity * sizeof(Candidates);
	together->settled = options->settled_count > 0 ? (bool *) (memory + at)
		: NULL;
	return at + options->settled_count * sizeof(bool);
}

static void
begin_own(Together *together)
{
	hamming_fplist_allocate(&together->own, 0);
	together->groups = hamming_groups_make(&together->own, &together->own,
										   together->search->options.radius);
	together->groups->sets = together->sets;
	together->groups->settled = together->settled;
	together->team->work = hamming_together_do_unit;
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
	pg_atomic_init_u64(&together->search->compared, 0);
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
	if (search->depth == 1)
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

/* Say which share of the phase the steps are that come. */
static void
set_done(Together *together, double before, double after)
{
	together->team->done_before = before;
	together->team->done_after = after;
}

/* Have the team take the smaller groups of the node, but for the largest. */
static void
walk_together(Together *together, NearGroups *groups, GroupNode *node)
{
	SharedSearch *search = together->search;
	TeamStep	step = {.kind = STEP_WALK,
		.units = number_of_slices(&node->all)
	};

	if (groups->depth == 1)
		set_done(together, hamming_groups_done(groups, 0),
				 hamming_groups_done(groups, 1));
	node->is_walked = true;
	node->large = pg_atomic_read_u32(&search->large_count);
	publish_nodes(search, groups);
	simhash_team_do(together->team, &step);
	step.kind = STEP_LARGE;
	step.units = prepare_large(search, node);
	if (step.units > 0)
		simhash_team_do(together->team, &step);
	set_done(together, together->team->done_after, together->team->done_after);
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

	hamming_groups_begin(groups, all, NULL, 0);
	/* what no cut divides */
	while (hamming_groups_next(groups, group))
	{
		TeamStep	step = {.kind = STEP_COMPARE,
			.units = number_of_slices(group)
		};

		if (groups->depth == 0)
			set_done(together, groups->done_before,
					 groups->done_before + groups->done_here);
		publish_nodes(together->search, groups);
		if (together->take_large != NULL)
			together->take_large(together);
		else
			simhash_team_do(together->team, &step);
	}
}

/*
 * Let the team take all pairs of each of count candidates, which are stretches
 * of the list.  A large one is divided by the team.  Each of the others is
 * taken by one process.  all may be together->keys.
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
	groups->next_left = next_left;
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
	set_done(together, groups->done_before, 1);
	if (step.units > 0)
		simhash_team_do(together->team, &step);
	/* a later phase shows its own steps */
	set_done(together, 0, 1);
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
