/*
 * pass_team.c
 *	  A team that finds all pairs of a pass, at once or after a while.
 */
#include "postgres.h"

#include "utils/guc.h"
#include "utils/memutils.h"

#include "near/pairs.h"

/*
 * A process that begins alone goes on by a team after FIRST_PAIRS pairs of
 * fingerprints, or after FIRST_COMPARISONS, which take 0.1 s.
 */
#define FIRST_COMPARISONS 400000000

/*
 * Where rows may be settled, SAMPLE_SETTLED fingerprints of x are compared with
 * all of y before a team is made, or one of SAMPLE_SHARE, if these are fewer.
 */
#define SAMPLE_SETTLED 32
#define SAMPLE_SHARE 64

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
 * Let a team find all pairs of the pass.  If that cannot be, this process
 * begins the pass anew.
 */
static void
search_by_team(NearPairs *pairs)
{
	const NearSide *x = pairs->pass.x;
	const NearSide *y = pairs->pass.y;
	FoundSearch search = {
		.x = &x->list,.y = &y->list,.radius = pairs->options.radius,
		.workers = pairs->pass_workers,
		.settled = pairs->settled,
		.any_pair_settles = pairs->options.any_pair_settles
	};
	Size		most = Min(x->group_count, y->group_count);
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(pairs));

	search.keys = palloc_extended(most * sizeof(Candidates), MCXT_ALLOC_HUGE);
	pairs->x_group = pairs->y_group = 0;
	while (hamming_pairs_next_key(pairs, &search.keys[search.key_count]))
		search.key_count++;
	if (search.key_count > 0)
		pairs->found = hamming_found_search(&search, &pairs->work);
	pfree(search.keys);
	MemoryContextSwitchTo(old);
	if (pairs->found == NULL)
		pairs->x_group = pairs->y_group = 0;
	else if (x == y)
	{
		pairs->same = pairs->same_end;
		pairs->same_end = x->list.count;
	}
}

/* In a new pass: let a team find all pairs, or say when it will. */
void
hamming_pass_team_begin(NearPairs *pairs)
{
	Comparison *c = pairs->comparison;

	if (pairs->found != NULL)
		hamming_found_end(pairs->found);
	pairs->found = NULL;
	pairs->first.count = pairs->first.left = 0;
	pairs->pass_workers = workers_of_pass(pairs);
	c->most = 0;
	if (pairs->pass_workers > 0 && pairs->options.begins_alone)
		c->most = c->compared + FIRST_COMPARISONS;
	else if (pairs->pass_workers > 0)
		search_by_team(pairs);
}

/* For qsort() and bsearch(): by the numbers. */
static int
compare_found(const void *a, const void *b)
{
	const FoundPair *x = a;
	const FoundPair *y = b;

	if (x->x != y->x)
		return x->x < y->x ? -1 : 1;
	return (x->y > y->y) - (x->y < y->y);
}

/*
 * This process, which has begun alone, has returned or compared enough: let a
 * team find all pairs.
 */
void
hamming_pass_team_go_on(NearPairs *pairs)
{
	FirstPairs *first = &pairs->first;
	Comparison *c = pairs->comparison;
	NearGroups *groups = c->groups;
	uint64		compared = c->compared;
	Candidates	none = {0};

	qsort(first->pairs, first->count, sizeof(FoundPair), compare_found);
	first->left = first->count;
	memset(c, 0, sizeof(Comparison));
	c->groups = groups;
	c->compared = compared;
	hamming_groups_begin(groups, &none, NULL, 0);
	search_by_team(pairs);
}

/*
 * There may be a team.  Has the pair come before, from this process alone?
 * Each of these comes once more.  While this process is alone, note the pair.
 */
bool
hamming_pass_team_has_come(NearPairs *pairs, const FoundPair *two)
{
	FirstPairs *first = &pairs->first;
	FoundPair	pair = *two;

	/* of one side, a team may find y and x */
	if (pairs->pass.x == pairs->pass.y && two->y < two->x)
	{
		pair.x = two->y;
		pair.y = two->x;
	}
	if (pairs->comparison->most > 0)
	{
		/* where x may be settled, a pair may come more often */
		if (pairs->settled == NULL)
			first->pairs[first->count++] = pair;
		return false;
	}
	if (first->left == 0 ||
		bsearch(&pair, first->pairs, first->count, sizeof(FoundPair),
				compare_found) == NULL)
		return false;
	first->left--;
	return true;
}
