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
#include "near/together.h"

/* What a process of the team has. */
typedef struct Found
{
	Comparison	comparison;
	TeamFile	file;			/* has the pairs */
} Found;

/* Return how many other processes are worth their start for the pass. */
static int
workers_of_pass(NearPairs *pairs)
{
	const NearSide *x = pairs->pass.x;
	const NearSide *y = pairs->pass.y;
	double		rows = x->list.count + (y == x ? 0 : y->list.count);
	Cost		cost = 0;
	Candidates	key;

	if (pairs->options.workers == 0 || is_divided(&pairs->division))
		return 0;
	while (hamming_pairs_next_key(pairs, &key))
		cost += hamming_near_cost(key.x_end - key.x, key.y_end - key.y,
								  pairs->options.radius);
	pairs->x_group = pairs->y_group = 0;
	/* of one side each two are compared once */
	if (y == x)
		cost /= 2;
	return Min(simhash_team_workers(cost, rows), pairs->options.workers);
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
 * Where the team has found too many pairs, settle all x, which ends the search
 * of all processes.
 */
static void
write_pairs(Together *together, NearGroups *groups)
{
	Found	   *found = together->arg;
	Comparison *c = &found->comparison;
	SharedSearch *search = together->search;
	FoundPair	pair;

	c->groups = groups;
	while (hamming_compare_next(c, &pair))
	{
		if (search->options.any_pair_settles)
			together->settled[pair.x] = true;
		if (together->settled != NULL &&
			are_too_many(search, pg_atomic_add_fetch_u64(&search->found, 1)))
			memset(together->settled, true, search->options.settled_count);
		simhash_team_file_write(&found->file, &pair, sizeof(pair));
	}
}

static Found *
make_found(Together *together)
{
	Found	   *found = palloc0(sizeof(Found));

	found->file.team = together->team;
	together->take = write_pairs;
	together->arg = found;
	return found;
}

/* What a worker does: PostgreSQL finds this function by its name. */
void
hamming_pass_team_main(dsm_segment *segment, shm_toc *toc)
{
	Together   *together = hamming_together_attach(toc);
	Found	   *found = make_found(together);

	simhash_team_serve(together->team);
	simhash_team_file_finish(&found->file, 0, found->comparison.compared, 0);
	simhash_team_end(together->team);
}

/*
 * Make the memory of a team, and bring the fingerprints of the pass to it: x,
 * and y behind x, if that is another side.  Return NULL if nothing can be
 * shared.
 */
static Together *
share_pass(NearPairs *pairs)
{
	const FingerprintList *x = &pairs->pass.x->list;
	const FingerprintList *y = &pairs->pass.y->list;
	SearchOptions options = {
		.radius = pairs->options.radius,
		.capacity = x->count + (y == x ? 0 : y->count),
		.settled_count = pairs->settled == NULL ? 0 : x->count,
		.any_pair_settles = pairs->options.any_pair_settles,
		.key_capacity = Min(pairs->pass.x->group_count,
							pairs->pass.y->group_count)
	};
	Together   *together = hamming_together_begin(&options);

	if (together == NULL)
		return NULL;
	hamming_fplist_copy(&together->list, x, 0, x->count);
	if (y != x)
		hamming_fplist_copy(&together->list, y, 0, y->count);
	if (pairs->settled != NULL)
		memcpy(together->settled, pairs->settled, x->count * sizeof(bool));
	return together;
}

/*
 * Have the team search the stretches of each key that both sides have.  y of
 * another side begins behind x.
 */
static void
search_keys(NearPairs *pairs, Together *together)
{
	uint32		y_place = pairs->pass.x == pairs->pass.y ? 0
	: pairs->pass.x->list.count;
	Candidates *keys = together->keys;
	uint32		count = 0;

	while (hamming_pairs_next_key(pairs, &keys[count]))
	{
		keys[count].y += y_place;
		keys[count++].y_end += y_place;
	}
	hamming_together_search(together, keys, count);
}

void
hamming_pass_team_end(NearPairs *pairs)
{
	if (pairs->together == NULL)
		return;
	simhash_team_file_close(&pairs->file);
	hamming_together_end(pairs->together);
	pairs->together = NULL;
}

/*
 * Let a team find all pairs of the pass.  On return this process is alone
 * again, and the pairs are to be had.  If nothing can be shared, or if there
 * are too many pairs, this process is to find them.
 */
static void
search_by_team(NearPairs *pairs, int workers)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(pairs));
	Together   *together = share_pass(pairs);

	if (together != NULL)
	{
		Found	   *found = make_found(together);
		bool		stopped;

		simhash_team_launch(together->team,
							CppAsString2(hamming_pass_team_main), workers);
		search_keys(pairs, together);
		stopped = are_too_many(together->search,
							   pg_atomic_read_u64(&together->search->found));
		/* nothing is copied any more, while pairs are read */
		hamming_fplist_free(&together->own);
		hamming_fplist_allocate(&together->own, 0);
		simhash_team_file_finish(&found->file, 0, found->comparison.compared,
								 together->team->size);
		pairs->together = together;
		pairs->file = found->file;
		simhash_team_take_over(&pairs->file, &pairs->work);
		pfree(found);
		if (pairs->pass.x == pairs->pass.y)
			pairs->same_end = pairs->pass.x->list.count;
		if (stopped)
		{
			hamming_pass_team_end(pairs);
			pairs->x_group = pairs->y_group = 0;
			/* other passes would have too many pairs, too */
			pairs->options.workers = 0;
		}
	}
	MemoryContextSwitchTo(old);
}

/* In a new pass: let a team find all pairs, if that is worth it. */
void
hamming_pass_team_begin(NearPairs *pairs)
{
	int			workers;

	hamming_pass_team_end(pairs);
	workers = workers_of_pass(pairs);
	if (workers > 0)
		search_by_team(pairs, workers);
}
