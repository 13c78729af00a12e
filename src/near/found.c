/*
 * found.c
 *	  The pairs of one list that a team of processes finds, in files.
 *
 * Each process writes what it finds to a file of its own.  Once the search has
 * ended, the leader reads one file after the other.
 */
#include "postgres.h"

#include "storage/buffile.h"
#include "utils/memutils.h"

#include "near/found.h"
#include "type/compat.h"

struct Found
{
	Together   *together;		/* of the leader; NULL in a worker */
	Comparison	comparison;
	int			workers;		/* that have run; -1 before the search */
	int			next;			/* number of the next file to be read */
	BufFile    *file;			/* that is written, or read; or NULL */
};

/* Write the pairs of a search to the file of this process. */
static void
write_pairs(Together *together, NearGroups *groups)
{
	Found	   *found = together->arg;
	Comparison *c = &found->comparison;
	uint32		x;
	uint32		y;

	c->groups = groups;
	while (hamming_compare_next(c, &x, &y))
	{
		Fingerprint difference = groups->x->fps[x] ^ groups->y->fps[y];
		FoundPair	pair = {groups->x->numbers[x], groups->y->numbers[y],
		fingerprint_popcount(difference)};

		if (!hamming_groups_is_first(groups, difference))
			continue;
		if (found->file == NULL)
			found->file =
				BufFileCreateFileSet(&together->team->files->fs,
									 psprintf("%d", ParallelWorkerNumber + 1));
		BufFileWrite(found->file, &pair, sizeof(pair));
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
	Together   *together = hamming_together_begin(list, radius, false, entry);
	Found	   *found;

	if (together == NULL)
		return NULL;
	found = palloc0(sizeof(Found));
	found->together = together;
	found->workers = -1;
	together->take = write_pairs;
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
 * have become shorter.  The workers end.
 */
void
hamming_found_search(Found *found, FingerprintList *list)
{
	Together   *together = found->together;

	if (together->team->context == NULL)
		hamming_together_launch(together);
	hamming_together_search(together, list);
	finish_file(found);
	found->workers = together->team->context->nworkers_launched;
	simhash_team_dismiss(together->team);
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

	together->take = write_pairs;
	together->arg = found;
	simhash_team_serve(together->team);
	finish_file(found);
	simhash_team_end(together->team);
}
