/*
 * pass_team.c
 *	  A team that finds all pairs of a pass.
 *
 * Each process writes what it finds to a file of its own.  Once the search has
 * ended, the leader reads one file after the other.
 *
 * Where rows may be settled, one process alone compares a row no more once the
 * row is settled.  A team finds all pairs before the first row is settled.
 * Where fingerprints lie dense, this takes much longer.  So a team that has
 * found too many pairs stops, and this process finds the pairs alone.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "near/pairs.h"

/* Return how many workers are worth their start for the search. */
static int
useful_workers(const NearSide *x, const NearSide *y, const NearOptions *options)
{
	double		rows = x->list.count + (y == x ? 0 : y->list.count);
	uint32		next[2] = {0};
	Cost		cost = 0;
	Candidates	key;

	if (options->workers == 0)
		return 0;
	while (hamming_sides_next_key(x, y, next, &key))
		cost += hamming_near_cost(x->list.word_count, key.x_end - key.x,
								  key.y_end - key.y, options->radius);
	/* of one side each two are compared once */
	if (y == x)
		cost /= 2;
	return Min(simhash_team_workers(cost, rows), options->workers);
}

/* Are these more pairs of rows that may be settled than a team should find? */
static bool
are_too_many(const SharedSearch *search, uint64 found)
{
	return found > FEW_PAIRS * search->options.settled_count;
}

/*
 * Write the pairs of a search to the file of this process.  Where the first
 * pair of x settles x, other processes may write a pair of x at the same time.
 * To settle all x ends the search of all processes.
 */
static void
write_pairs(Together *together, NearGroups *groups)
{
	PassTeam   *team = together->arg;
	SharedSearch *search = together->search;
	FoundPair	pair;

	team->comparison.groups = groups;
	while (hamming_compare_next(&team->comparison, &pair))
	{
		if (search->options.any_pair_settles)
			together->settled[pair.x] = true;
		if (together->settled != NULL &&
			are_too_many(search, pg_atomic_add_fetch_u64(&search->found, 1)))
			memset(together->settled, true, search->options.settled_count);
		pair.y -= search->options.first_y;
		simhash_team_file_write(&team->file, &pair, sizeof(pair));
	}
}

static void
begin_team(PassTeam *team, Together *together)
{
	memset(team, 0, sizeof(PassTeam));
	team->together = together;
	team->file.team = together->team;
	together->take = write_pairs;
	together->arg = team;
}

/* What a worker does: PostgreSQL finds this function by its name. */
void
hamming_pass_team_main(dsm_segment *segment, shm_toc *toc)
{
	PassTeam   *team = palloc(sizeof(PassTeam));

	begin_team(team, hamming_together_attach(toc));
	simhash_team_serve(team->together->team);
	simhash_team_file_finish(&team->file, 0, team->comparison.compared, 0);
	simhash_team_end(team->together->team);
}

/*
 * Make the memory of a team, and bring the fingerprints to it: x, and y behind
 * x, if that is another side.  There, the numbers of y follow those of x.
 * Return NULL if nothing can be shared.
 */
static Together *
share_sides(const NearSide *x, const NearSide *y, const bool *settled,
			const NearOptions *near)
{
	SearchOptions options = {
		.radius = near->radius,
		.word_count = x->list.word_count,
		.capacity = x->list.count + (y == x ? 0 : y->list.count),
		.first_y = y == x ? 0 : x->list.count,
		.settled_count = settled == NULL ? 0 : x->list.count,
		.any_pair_settles = near->any_pair_settles,
		.key_capacity = Min(x->group_count, y->group_count)
	};
	Together   *together = hamming_together_begin(&options);

	if (together == NULL)
		return NULL;
	hamming_fplist_bring(&together->list, &x->list, x->list.count);
	if (y != x)
		hamming_fplist_bring(&together->list, &y->list, y->list.count);
	if (settled != NULL)
		memcpy(together->settled, settled, x->list.count * sizeof(bool));
	return together;
}

/* Have the team search the stretches of each key that both sides have. */
static void
search_keys(Together *together, const NearSide *x, const NearSide *y)
{
	uint32		first_y = together->search->options.first_y;
	Candidates *keys = together->keys;
	uint32		next[2] = {0};
	uint32		count = 0;

	while (hamming_sides_next_key(x, y, next, &keys[count]))
	{
		keys[count].y += first_y;
		keys[count++].y_end += first_y;
	}
	hamming_together_search(together, keys, count);
}

/* Free all, if there is a team. */
void
hamming_pass_team_end(PassTeam *team)
{
	if (team->together == NULL)
		return;
	simhash_team_file_close(&team->file);
	hamming_together_end(team->together);
	team->together = NULL;
}

/*
 * Let a team find all pairs of two sides that are grouped, if that is worth it,
 * in place of the one that *team has.  On return this process is alone again,
 * and the pairs are to be had.  If nothing can be shared, or if there are too
 * many pairs, there is no team; in the latter case, nor for any other sides.
 */
void
hamming_pass_team_begin(PassTeam *team, const NearSide *x, const NearSide *y,
						const bool *settled, NearOptions *options,
						NearWork *work)
{
	int			workers = useful_workers(x, y, options);
	Together   *together;
	bool		stopped;

	hamming_pass_team_end(team);
	together = workers == 0 ? NULL : share_sides(x, y, settled, options);
	if (together == NULL)
		return;
	begin_team(team, together);
	simhash_team_launch(together->team, CppAsString2(hamming_pass_team_main),
						workers);
	search_keys(together, x, y);
	stopped = are_too_many(together->search,
						   pg_atomic_read_u64(&together->search->found));
	simhash_team_file_finish(&team->file, 0, team->comparison.compared,
							 together->team->size);
	simhash_team_take_over(&team->file, work);
	if (stopped)
	{
		hamming_pass_team_end(team);
		options->workers = 0;
	}
}
