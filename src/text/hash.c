/*
 * hash.c
 *	  The seed of hash tables.
 */
#include "postgres.h"

#include "text/hash.h"

/*
 * A secret number, which stays the same as long as the process runs.  Each
 * process has its own.  What a function returns, or hands to another process,
 * must not depend on it.
 *
 * Error: XX000 if the system has no random numbers.
 */
uint64
simhash_process_seed(void)
{
	static uint64 seed;
	static bool is_chosen = false;

	if (unlikely(!is_chosen))
	{
		if (!pg_strong_random(&seed, sizeof(seed)))
			elog(ERROR, "could not generate a random seed");
		is_chosen = true;
	}
	return seed;
}
