/*
 * found.c
 *	  The pairs of two lists, or of one, that a team of processes finds.
 *
 * Each process writes what it finds to a file of its own.  Once the search has
 * ended, the leader reads one file after the other.
 *
 * One process alone keeps no pairs, and needs no file.  So there are no files
 * where temp_file_limit is set, which may be too low for them: then shared
 * memory has room for a pair a fingerprint.  A search that finds more ends, and
 * the caller searches alone.
 */
#include "postgres.h"

#include "utils/guc.h"
#include "utils/memutils.h"

#include "near/found.h"

struct Found
{
	Together   *together;
	Comparison	comparison;
	FoundPair  *pairs;			/* that had room in shared memory */
	uint64		pair_count;
	uint64		read;			/* of these, that were read */
	TeamFile	file;
};

/* Has a pair had room neither in shared memory nor in a file? */
static bool
is_full(const Found *found)
{
	SharedSearch *search = found->together->search;

	return temp_file_limit >= 0 && pg_atomic_read_u64(&search->pair_count) >
		search->options.pair_capacity;
}

/* Keep a pair in shared memory, or else in the file of this process. */
static void
keep_pair(Found *found, FoundPair *pair)
{
	Together   *together = found->together;
	SharedSearch *search = together->search;
	uint64		place = pg_atomic_read_u64(&search->pair_count);

	if (place <= search->options.pair_capacity)
		place = pg_atomic_fetch_add_u64(&search->pair_count, 1);
	if (place < search->options.pair_capacity)
		together->pairs[place] = *pair;
	else if (temp_file_limit < 0)
		simhash_team_file_write(&found->file, pair, sizeof(*pair));
}

/*
 * Keep the pairs of a search.  Where the first pair of x settles x, other
 * processes may keep a pair of x at the same time.
 */
static void
keep_pairs(Together *together, NearGroups *groups)
{
	Found	   *found = together->arg;
	Comparison *c = &found->comparison;
	bool	   *settled = together->settled;
	uint32		x;
	uint32		y;

	c->groups = groups;
	while (!is_full(found) && hamming_compare_next(c, &x, &y))
	{
		Fingerprint difference = groups->x->fps[x] ^ groups->y->fps[y];
		FoundPair	pair = {groups->x->numbers[x], groups->y->numbers[y],
		fingerprint_popcount(difference)};

		if (together->search->options.any_pair_settles)
			settled[pair.x] = true;
		else if (!hamming_groups_is_first(groups, difference))
			continue;
		keep_pair(found, &pair);
	}
}

/* Make what a process keeps pairs in. */
static Found *
make_found(Together *together)
{
	Found	   *found = palloc0(sizeof(Found));

	found->together = together;
	found->file.team = together->team;
	together->take = keep_pairs;
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

/*
 * The search has ended.  Let the workers end, and bring the pairs from shared
 * memory to our own.
 */
static void
take_over(Found *found, FoundWork *work)
{
	Together   *together = found->together;
	SharedSearch *search = together->search;
	Size		size;

	simhash_team_file_finish(&found->file);
	work->launched = together->team->context->nworkers_launched;
	found->file.end = work->launched + 1;
	simhash_team_dismiss(together->team);
	work->memory = together->team->size;
	work->written = simhash_team_written(together->team);
	work->compared = found->comparison.compared +
		pg_atomic_read_u64(&search->compared);
	found->pair_count = Min(pg_atomic_read_u64(&search->pair_count),
							search->options.pair_capacity);
	size = found->pair_count * sizeof(FoundPair);
	found->pairs = palloc_extended(Max(size, 1), MCXT_ALLOC_HUGE);
	memcpy(found->pairs, together->pairs, size);
	hamming_together_dismiss(together);
}

/*
 * Let a team find the pairs of the search.  On return this process is alone
 * again, and the pairs are to be had.  Return NULL if nothing can be shared, or
 * if the pairs have no room.  Set *work to what was done.  Memory is taken from
 * the current context.
 */
Found *
hamming_found_search(const FoundSearch *search, FoundWork *work)
{
	const FingerprintList *y = search->y == search->x ? NULL : search->y;
	SearchOptions options = {
		.radius = search->radius,
		.capacity = search->x->count + (y == NULL ? 0 : y->count),
		.settled_count = search->settled == NULL ? 0 : search->x->count,
		.any_pair_settles = search->any_pair_settles,
		.key_capacity = search->key_count,
		.pair_capacity = temp_file_limit < 0 ? 0 : search->x->count
	};
	Together   *together = hamming_together_begin(&options);
	Found	   *found;
	bool		is_complete;

	memset(work, 0, sizeof(FoundWork));
	if (together == NULL)
		return NULL;
	found = make_found(together);
	share(together, search);
	simhash_team_launch(together->team, CppAsString2(hamming_found_main),
						search->workers);
	hamming_together_search(together, search->keys, search->key_count);
	is_complete = !is_full(found);
	take_over(found, work);
	if (is_complete)
		return found;
	hamming_found_end(found);
	return NULL;
}

/* Get the next pair; return false if there is none left. */
bool
hamming_found_next(Found *found, FoundPair *pair)
{
	MemoryContext old;
	bool		result;

	if (found->read < found->pair_count)
	{
		*pair = found->pairs[found->read++];
		return true;
	}
	/* the caller may be in a context of one row */
	old = MemoryContextSwitchTo(GetMemoryChunkContext(found));
	result = simhash_team_file_read(&found->file, pair, sizeof(*pair));
	MemoryContextSwitchTo(old);
	return result;
}

/* Give back the pairs and the files. */
void
hamming_found_end(Found *found)
{
	simhash_team_file_close(&found->file);
	hamming_together_end(found->together);
	pfree(found->pairs);
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
