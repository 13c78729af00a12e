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

#include "storage/buffile.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "near/found.h"
#include "type/compat.h"

struct Found
{
	Together   *together;
	Comparison	comparison;
	int			workers;		/* that have run */
	FoundPair  *pairs;			/* that had room in shared memory */
	uint64		pair_count;
	uint64		read;			/* of these, that were read */
	int			next;			/* number of the next file to be read */
	BufFile    *file;			/* that is written, or read; or NULL */
};

/* Has a pair had room neither in shared memory nor in a file? */
static bool
is_full(const Found *found)
{
	SharedSearch *search = found->together->search;

	return temp_file_limit >= 0 &&
		pg_atomic_read_u64(&search->pair_count) > search->pair_capacity;
}

/* Keep a pair in shared memory, or else in the file of this process. */
static void
keep_pair(Found *found, FoundPair *pair)
{
	Together   *together = found->together;
	SharedSearch *search = together->search;
	uint64		place = pg_atomic_read_u64(&search->pair_count);

	if (place <= search->pair_capacity)
		place = pg_atomic_fetch_add_u64(&search->pair_count, 1);
	if (place < search->pair_capacity)
		together->pairs[place] = *pair;
	else if (temp_file_limit < 0)
	{
		if (found->file == NULL)
			found->file =
				BufFileCreateFileSet(&together->team->files->fs,
									 psprintf("%d", ParallelWorkerNumber + 1));
		BufFileWrite(found->file, pair, sizeof(*pair));
	}
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

		if (together->search->any_pair_settles)
			settled[pair.x] = true;
		else if (!hamming_groups_is_first(groups, difference))
			continue;
		keep_pair(found, &pair);
	}
}

/* Let other processes read the file of this one. */
static void
finish_file(Found *found)
{
	if (found->file == NULL)
		return;
	BufFileExportFileSet(found->file);
	BufFileClose(found->file);
	found->file = NULL;
}

/* Bring the lists and the keys to the memory of the team. */
static void
share(Together *together, const FoundSearch *search)
{
	uint32		i;

	simhash_fplist_copy(&together->list, search->x);
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
	simhash_fplist_copy(&together->list, search->y);
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

	finish_file(found);
	found->workers = together->team->context->nworkers_launched;
	simhash_team_dismiss(together->team);
	work->launched = found->workers;
	work->memory = together->team->size;
	work->compared = found->comparison.compared +
		pg_atomic_read_u64(&search->compared);
	found->pair_count = Min(pg_atomic_read_u64(&search->pair_count),
							search->pair_capacity);
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
	SharedSearch shared = {
		.radius = search->radius,
		.capacity = search->x->count + (y == NULL ? 0 : y->count),
		.settled_count = search->settled == NULL ? 0 : search->x->count,
		.any_pair_settles = search->any_pair_settles,
		.key_capacity = search->key_count,
		.pair_capacity = temp_file_limit < 0 ? 0 : search->x->count
	};
	Together   *together = hamming_together_begin(&shared);
	Found	   *found;
	bool		is_complete;

	memset(work, 0, sizeof(FoundWork));
	if (together == NULL)
		return NULL;
	found = palloc0(sizeof(Found));
	found->together = together;
	together->take = keep_pairs;
	together->arg = found;
	share(together, search);
	hamming_together_launch(together, CppAsString2(hamming_found_main),
							search->workers);
	hamming_together_search(together, search->keys, search->key_count);
	is_complete = !is_full(found);
	take_over(found, work);
	if (is_complete)
		return found;
	hamming_found_end(found);
	return NULL;
}

/* Open the next file that a process has written, if there is one. */
static bool
open_next_file(Found *found)
{
	/* the caller may be in a context of one row */
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(found));

	while (found->file == NULL && found->next <= found->workers)
		found->file = BufFileOpenFileSet(&found->together->team->files->fs,
										 psprintf("%d", found->next++),
										 O_RDONLY, true);
	MemoryContextSwitchTo(old);
	return found->file != NULL;
}

/* Get the next pair; return false if there is none left. */
bool
hamming_found_next(Found *found, FoundPair *pair)
{
	if (found->read < found->pair_count)
	{
		*pair = found->pairs[found->read++];
		return true;
	}
	while (open_next_file(found))
	{
		if (BufFileRead(found->file, pair, sizeof(*pair)) > 0)
			return true;
		BufFileClose(found->file);
		found->file = NULL;
	}
	return false;
}

/* Give back the pairs and the files. */
void
hamming_found_end(Found *found)
{
	if (found->file != NULL)
		BufFileClose(found->file);
	hamming_together_end(found->together);
	pfree(found->pairs);
	pfree(found);
}

/* What a worker does: PostgreSQL finds this function by its name. */
void
hamming_found_main(dsm_segment *segment, shm_toc *toc)
{
	Together   *together = hamming_together_attach(toc);
	Found	   *found = palloc0(sizeof(Found));

	found->together = together;
	together->take = keep_pairs;
	together->arg = found;
	simhash_team_serve(together->team);
	finish_file(found);
	pg_atomic_fetch_add_u64(&together->search->compared,
							found->comparison.compared);
	simhash_team_end(together->team);
}
