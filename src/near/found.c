/*
 * found.c
 *	  The pairs of one list that a team of processes finds, in files or in
 *	  shared memory.
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
	int			workers;		/* that have run; -1 before the search */
	uint32		read;			/* pairs read from memory */
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

/* Keep the pairs of a search. */
static void
keep_pairs(Together *together, NearGroups *groups)
{
	Found	   *found = together->arg;
	Comparison *c = &found->comparison;
	uint32		x;
	uint32		y;

	c->groups = groups;
	while (!is_full(found) && hamming_compare_next(c, &x, &y))
	{
		Fingerprint difference = groups->x->fps[x] ^ groups->y->fps[y];
		FoundPair	pair = {groups->x->numbers[x], groups->y->numbers[y],
		fingerprint_popcount(difference)};

		if (hamming_groups_is_first(groups, difference))
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

/*
 * Let a team search the list, if that is worth it, and move the list to the
 * team's memory.  Else return NULL.
 */
Found *
hamming_found_begin(FingerprintList *list, int radius)
{
	const char *entry = CppAsString2(hamming_found_main);
	Together   *together;
	Found	   *found;

	together = hamming_together_begin(list, radius, false,
									  temp_file_limit < 0 ? 0 : list->count,
									  entry);
	if (together == NULL)
		return NULL;
	found = palloc0(sizeof(Found));
	found->together = together;
	found->workers = -1;
	together->take = keep_pairs;
	together->arg = found;
	return found;
}

/* Let the workers end until the search, so that the caller may return rows. */
void
hamming_found_pause(Found *found)
{
	simhash_team_dismiss(found->together->team);
}

/* Has the search ended, so that there are pairs to get? */
bool
hamming_found_is_ready(const Found *found)
{
	return found != NULL && found->workers >= 0;
}

/*
 * Find all pairs of the list, which is that of hamming_found_begin(), and may
 * have become shorter.  The order of the list changes.  The workers end.
 * Return false if the pairs have no room: hamming_found_is_ready() stays false
 * then.
 */
bool
hamming_found_search(Found *found, FingerprintList *list)
{
	Together   *together = found->together;

	if (together->team->context == NULL)
		hamming_together_launch(together);
	hamming_together_search(together, list);
	finish_file(found);
	if (!is_full(found))
		found->workers = together->team->context->nworkers_launched;
	simhash_team_dismiss(together->team);
	return hamming_found_is_ready(found);
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
	SharedSearch *search = found->together->search;

	if (found->read < Min(pg_atomic_read_u64(&search->pair_count),
						  search->pair_capacity))
	{
		*pair = found->together->pairs[found->read++];
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

/* Give back the files, and the memory of the list. */
void
hamming_found_end(Found *found)
{
	if (found->file != NULL)
		BufFileClose(found->file);
	hamming_together_end(found->together);
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
	simhash_team_end(together->team);
}
