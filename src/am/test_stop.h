/*
 * test_stop.h
 *	  Places where a test can hold a process.
 *
 * Only a build with -DSIMHASH_TEST_STOPS has them, for tests in specs/.
 */
#ifndef SIMHASH_TEST_STOP_H
#define SIMHASH_TEST_STOP_H

#ifdef SIMHASH_TEST_STOPS

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"

/*
 * If the session has set simhash_test.stop to the name of this place, wait
 * as long as another session holds the advisory lock 1.  The caller holds no
 * buffer lock: a wait for a lightweight lock could not be canceled.
 */
static inline void
test_stop(const char *place)
{
	const char *wanted = GetConfigOption("simhash_test.stop", true, false);

	if (wanted == NULL || strcmp(wanted, place) != 0)
		return;
	DirectFunctionCall1(pg_advisory_lock_shared_int8, Int64GetDatum(1));
	DirectFunctionCall1(pg_advisory_unlock_shared_int8, Int64GetDatum(1));
}

#else

#define test_stop(place) ((void) 0)

#endif

#endif							/* SIMHASH_TEST_STOP_H */
