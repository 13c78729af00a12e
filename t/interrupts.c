/*
 * interrupts.c
 *	  How much does the library do between two interrupts?
 *
 * script/test links this into a build with -fsanitize-coverage=trace-pc, where
 * the compiler has each basic block of the library call
 * __sanitizer_cov_trace_pc(): a step.  Steps are counted rather than time, so
 * that neither the speed of a machine nor what else it does matters.
 *
 * Each step leaves InterruptPending set.  If the next one finds it cleared, a
 * CHECK_FOR_INTERRUPTS() came in between, ours or PostgreSQL's, at which a
 * cancel would have taken effect.  One while interrupts are held off does not
 * clear it.
 *
 * A session reads these settings, and sets them to 0, before and after a
 * statement: simhash_test.steps, how many thousand steps there were, and
 * simhash_test.gap, the most steps between two interrupts.  It sets
 * simhash_test.cancel_at to the thousand steps at which a cancel comes.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <limits.h>

#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"

/*
 * More steps than that between two interrupts are a fault: 64 kB of text take
 * 6 million, about 10 ms without the counting.
 */
#define GAP_LIMIT 10000000

extern void __sanitizer_cov_trace_pc(void);

static int	thousands = 0;		/* of steps */
static int	units = 0;			/* and fewer than a thousand more */
static int	cancel_at = 0;
static int	gap = 0;			/* steps since the last interrupt */
static int	greatest_gap = 0;

/* The server's log shows where a gap became too large: see addr2line. */
static void
report_gap(void *place)
{
	Dl_info		library;

	if (dladdr(place, &library) == 0)
		return;
	fprintf(stderr, "too many steps without an interrupt: +0x%lx in \"%s\"\n",
			(unsigned long) ((char *) place - (char *) library.dli_fbase),
			debug_query_string ? debug_query_string : "");
}

void
__sanitizer_cov_trace_pc(void)
{
	if (!InterruptPending)
	{
		InterruptPending = true;
		gap = 0;
	}
	if (++gap == GAP_LIMIT)
		report_gap(__builtin_return_address(0));
	greatest_gap = Max(greatest_gap, gap);
	if (++units == 1000)
	{
		units = 0;
		if (++thousands == cancel_at)
			QueryCancelPending = true;
	}
}

/* Runs when the library is loaded. */
static void
__attribute__((constructor))
define_settings(void)
{
	DefineCustomIntVariable("simhash_test.steps", "Thousands of steps.", NULL,
							&thousands, 0, 0, INT_MAX, PGC_USERSET, 0,
							NULL, NULL, NULL);
	DefineCustomIntVariable("simhash_test.gap",
							"The most steps between two interrupts.", NULL,
							&greatest_gap, 0, 0, INT_MAX, PGC_USERSET, 0,
							NULL, NULL, NULL);
	DefineCustomIntVariable("simhash_test.cancel_at",
							"Thousands of steps at which a cancel comes.", NULL,
							&cancel_at, 0, 0, INT_MAX, PGC_USERSET, 0,
							NULL, NULL, NULL);
}
