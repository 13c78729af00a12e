/*
 * hash.c
 *	  The seed of hash tables.
 */
#include "postgres.h"

#include "text/hash.h"

/*
 * A secret random number, the same one at each call in a process.  No function
 * may return, store or send anything that depends on this number.
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
