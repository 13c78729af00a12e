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
 * simhash_test.gap, the most steps between two interrupts, less up to a
 * thousand.  It sets simhash_test.cancel_at to the thousand steps at which a
 * cancel comes.
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

/* Steps are added up each time that there are STRIDE, and at an interrupt. */
#define STRIDE 1000

extern void __sanitizer_cov_trace_pc(void);

static int	steps_left = STRIDE;	/* until steps are added up */
static int	thousands = 0;		/* of steps that were added up */
static int	units = 0;			/* and fewer than a thousand more */
static int	cancel_at = 0;
static int	gap = 0;			/* steps added up since the last interrupt */
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

/* Add up steps; place is where the library is. */
static pg_noinline void
add_steps(void *place)
{
	int			steps = STRIDE - steps_left;

	steps_left = STRIDE;
	gap += steps;
	greatest_gap = Max(greatest_gap, gap);
	if (gap >= GAP_LIMIT && gap - steps < GAP_LIMIT)
		report_gap(place);
	if (!InterruptPending)
	{
		/* the step that comes after an interrupt */
		InterruptPending = true;
		gap = 0;
		steps_left--;
	}
	units += steps;
	if (units >= 1000)
	{
		units -= 1000;
		if (++thousands == cancel_at)
			QueryCancelPending = true;
	}
}

/* The library spends most of its time here. */
void
__sanitizer_cov_trace_pc(void)
{
	if (unlikely(!InterruptPending || --steps_left == 0))
		add_steps(__builtin_return_address(0));
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
