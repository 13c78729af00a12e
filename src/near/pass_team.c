/*
 * pass_team.c
 *	  A team that finds all pairs of a pass.
 *
 * Each process writes what it finds to a file of its own.  Once the search has
 * ended, the leader reads one file after the other.
 */
#include "postgres.h"

#include "utils/guc.h"
#include "utils/memutils.h"

#include "near/pairs.h"
#include "near/together.h"

/*
 * Where rows may be settled, SAMPLE_SETTLED fingerprints of x are compared with
 * all of y before a team is made, or one of SAMPLE_SHARE, if these are fewer.
 */
#define SAMPLE_SETTLED 32
#define SAMPLE_SHARE 64

/* What a process of the team has. */
typedef struct Found
{
	Comparison	comparison;
	TeamFile	file;			/* has the pairs */
} Found;

/*
 * Rows of x may be settled.  Estimate which part of the search a team would
 * have to do, 0 .. 1: once a fingerprint of x is settled, it is compared no
 * more.
 */
static double
part_for_team(NearPairs *pairs)
{
	FingerprintList *x = &pairs->pass.x->list;
	FingerprintList *y = &pairs->pass.y->list;
	Matches    *matches = &pairs->comparison->matches;
	uint32		count = Min(SAMPLE_SETTLED, x->count / SAMPLE_SHARE + 1);
	uint32		have_pairs = 0;
	uint64		found = 0;
	uint32		i;

	for (i = 0; i < count; i++)
	{
		uint64		before = found;
		uint32		place;

		matches_begin(matches, y, 0, y->count,
					  x->fps[(uint64) x->count * i / count],
					  pairs->options.radius);
		while (matches_next(matches, &place))
			found++;
		have_pairs += found > before;
	}
	if (pairs->options.any_pair_settles)
		return 1 - (double) have_pairs / count;
	return found <= FEW_PAIRS * count ? 1 : 0;
}

/*
 * Return how many other processes are worth their start for the current pass.
 * Each key is taken for as large as any other.
 *
 * A team writes its pairs to files, which temp_file_limit may not have room
 * for.  One process alone keeps no pairs, and needs no file.
 */
static int
workers_of_pass(NearPairs *pairs)
{
	const NearSide *x = pairs->pass.x;
	const NearSide *y = pairs->pass.y;
	double		keys = Max(Min(x->group_count, y->group_count), 1);
	double		rows = x->list.count + (y == x ? 0 : y->list.count);
	double		cost;
	int			workers;

	if (pairs->options.workers == 0 || pairs->options.share != NULL ||
		is_divided(&pairs->division) || temp_file_limit >= 0)
		return 0;
	cost = keys * hamming_near_cost(x->list.count / keys, y->list.count / keys,
									pairs->options.radius);
	/* of one side each two are compared once */
	if (y == x)
		cost /= 2;
	workers = simhash_team_workers(cost, rows);
	/* by keys most of y are compared with none of x */
	if (workers > 0 && pairs->settled != NULL && !x->keeps_keys)
		workers = simhash_team_workers(cost * part_for_team(pairs), rows);
	return Min(workers, pairs->options.workers);
}

/*
 * Write the pairs of a search to the file of this process.  Where the first
 * pair of x settles x, other processes may write a pair of x at the same time.
 */
static void
write_pairs(Together *together, NearGroups *groups)
{
	Found	   *found = together->arg;
	Comparison *c = &found->comparison;
	FoundPair	pair;

	c->groups = groups;
	while (hamming_compare_next(c, &pair))
	{
		if (together->search->options.any_pair_settles)
			together->settled[pair.x] = true;
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

/*
 * Let a team find all pairs of the pass.  On return this process is alone
 * again, and the pairs are to be had.  If nothing can be shared, this process
 * is to find them.
 */
static void
search_by_team(NearPairs *pairs, int workers)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(pairs));
	Together   *together = share_pass(pairs);

	if (together != NULL)
	{
		Found	   *found = make_found(together);

		simhash_team_launch(together->team,
							CppAsString2(hamming_pass_team_main), workers);
		search_keys(pairs, together);
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
	}
	MemoryContextSwitchTo(old);
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
