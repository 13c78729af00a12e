/*
 * hash.c
 *	  The seed of hash tables.
 */
#include "postgres.h"

#include "hash.h"

/*
 * A secret number for seeded_hash(), which stays the same as long as the
 * process runs.  Processes have different ones, so that nothing that one hands
 * to another, or returns, may depend on it.
 *
 * Error: XX000 if the system has no random numbers.
 */
uint64
process_seed(void)
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
