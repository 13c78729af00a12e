/*
 * secret.c
 *	  A secret of the process, for its hash tables.
 */
#include "postgres.h"

#include "type/secret.h"

/*
 * A random number, the same one at each call in a process.  No function may
 * return, store or send anything that depends on this number.
 */
uint64
simhash_secret(void)
{
	static uint64 secret;
	static bool is_drawn = false;

	if (unlikely(!is_drawn))
	{
		if (!pg_strong_random(&secret, sizeof(secret)))
			elog(ERROR, "could not draw a random secret");
		is_drawn = true;
	}
	return secret;
}
