/*
 * found.c
 *	  The pairs of two lists, or of one, that a team of processes finds.
 *
 * Each process writes what it finds to a file of its own.  Once the search has
 * ended, the leader reads one file after the other.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "near/found.h"

struct Found
{
	Together   *together;
	Comparison	comparison;
	TeamFile	file;
};

/*
 * Write the pairs of a search to the file of this process.  Where the first pair of x settles x, other
 * processes may write a pair of x at the same time.
 */
static void
write_pairs(Together *together, NearGroups *groups)
{
	Found	   *found = together->arg;
	Comparison *c = &found->comparison;
	bool	   *settled = together->settled;
	uint32		x;
	uint32		y;

	c->groups = groups;
	while (hamming_compare_next(c, &x, &y))
	{
		Fingerprint difference = groups->x->fps[x] ^ groups->y->fps[y];
		FoundPair	pair = {groups->x->numbers[x], groups->y->numbers[y],
		fingerprint_popcount(difference)};

		if (together->search->options.any_pair_settles)
			settled[pair.x] = true;
		else if (!hamming_groups_is_first(groups, difference))
			continue;
		simhash_team_file_write(&found->file, &pair, sizeof(pair));
	}
}

/* Make what a process writes pairs to. */
static Found *
make_found(Together *together)
{
	Found	   *found = palloc0(sizeof(Found));

	found->together = together;
	found->file.team = together->team;
	together->take = write_pairs;
	together->arg = found;
	return found;
}

/* Bring the lists and the keys to the memory of the team. */
static void
share(Together *together, const FoundSearch *search)
{
	uint32		i;

	hamming_fplist_copy(&together->list, search->x);
	if (search->settled != NULL)
		memcpy(together->settled, search->settled,
			   search->x->count * sizeof(bool));
	if (search->y == search->x)
		return;
	for (i = 0; i < search->key_count; i++)
	{
		search->keys[i].y += together->list.count;
		search->keys[i].y_end += together->list.count;
	}
	hamming_fplist_copy(&together->list, search->y);
}

/* The search has ended.  Let the workers end, and add what it took to *work. */
static void
take_over(Found *found, NearWork *work)
{
	Team	   *team = found->together->team;
	int			launched = team->context->nworkers_launched;

	simhash_team_file_finish(&found->file);
	found->file.end = launched + 1;
	simhash_team_dismiss(team);
	work->launched = Max(work->launched, launched);
	work->team_memory = Max(work->team_memory, team->size);
	work->written += simhash_team_written(team);
	work->compared += found->comparison.compared +
		pg_atomic_read_u64(&found->together->search->compared);
	hamming_together_dismiss(found->together);
}

/*
 * Let a team find the pairs of the search.  On return this process is alone
 * again, and the pairs are to be had.  Return NULL if nothing can be shared.
 * Add what the search took to *work.  Memory is taken from the current context.
 */
Found *
hamming_found_search(const FoundSearch *search, NearWork *work)
{
	const FingerprintList *y = search->y == search->x ? NULL : search->y;
	SearchOptions options = {
		.radius = search->radius,
		.capacity = search->x->count + (y == NULL ? 0 : y->count),
		.settled_count = search->settled == NULL ? 0 : search->x->count,
		.any_pair_settles = search->any_pair_settles,
		.key_capacity = search->key_count
	};
	Together   *together = hamming_together_begin(&options);
	Found	   *found;

	if (together == NULL)
		return NULL;
	found = make_found(together);
	share(together, search);
	simhash_team_launch(together->team, CppAsString2(hamming_found_main),
						search->workers);
	hamming_together_search(together, search->keys, search->key_count);
	take_over(found, work);
	return found;
}

/* Get the next pair; return false if there is none left. */
bool
hamming_found_next(Found *found, FoundPair *pair)
{
	/* the caller may be in a context of one row */
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(found));
	bool		result = simhash_team_file_read(&found->file, pair,
												sizeof(*pair));

	MemoryContextSwitchTo(old);
	return result;
}

/* Give back the pairs and the files. */
void
hamming_found_end(Found *found)
{
	simhash_team_file_close(&found->file);
	hamming_together_end(found->together);
	pfree(found);
}

/* What a worker does: PostgreSQL finds this function by its name. */
void
hamming_found_main(dsm_segment *segment, shm_toc *toc)
{
	Together   *together = hamming_together_attach(toc);
	Found	   *found = make_found(together);

	simhash_team_serve(together->team);
	simhash_team_file_finish(&found->file);
	pg_atomic_fetch_add_u64(&together->search->compared,
							found->comparison.compared);
	simhash_team_end(together->team);
}
