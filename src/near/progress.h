/*
 * progress.h
 *	  Messages that show how far a long call of a function is, or a join.
 */
#ifndef SIMHASH_PROGRESS_H
#define SIMHASH_PROGRESS_H

#include <signal.h>

/* What is to be shown: a share of the phase, or a number of rows. */
extern PGDLLIMPORT volatile sig_atomic_t simhash_progress_due;

extern void simhash_progress_define_options(void);
extern void simhash_progress_begin(const char *function);
extern void simhash_progress_phase(const char *phase);
extern void simhash_progress_workers(int planned, int launched);
extern void simhash_progress_show_share(double done);
extern void simhash_progress_rows(uint64 rows);

/*
 * Show which share of the phase is done, if a message is due.  If whole is 0,
 * show nothing.
 */
static inline void
simhash_progress_share(uint64 part, uint64 whole)
{
	if (unlikely(simhash_progress_due) && whole > 0)
		simhash_progress_show_share((double) part / whole);
}

#endif							/* SIMHASH_PROGRESS_H */
