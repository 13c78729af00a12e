/*
 * progress.c
 *	  Messages that show how far a long call of a function is, or a join.
 *
 * A timer asks for a message every few seconds.  What takes long asks in its
 * loop whether one is due.  Workers show none.
 */
#include "postgres.h"

#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "near/progress.h"

/* Time between two messages, in milliseconds. */
#define INTERVAL 3000

/* Less than such a share of a phase does not show how long the rest takes. */
#define LEAST_SHARE 0.01

/*
 * A call of a function.  Others may have begun before, and not ended: calls
 * that this one is within, or cursors.  What began last is shown.
 */
typedef struct Progress
{
	MemoryContextCallback callback; /* when it ends */
	struct Progress *before;
	const char *function;
	const char *phase;
	TimestampTz phase_start;
} Progress;

volatile	sig_atomic_t simhash_progress_due = false;

static bool report_progress = false;
static TimeoutId timer = MAX_TIMEOUTS;
static TimestampTz next_message;
static Progress *current = NULL;

void
simhash_progress_define_options(void)
{
	DefineCustomBoolVariable("simhash.report_progress",
							 "Shows the progress of deduplication as notices.",
							 "Otherwise it is shown at level DEBUG1.",
							 &report_progress, false, PGC_USERSET, 0,
							 NULL, NULL, NULL);
}

static void
ask_for_message(void)
{
	simhash_progress_due = true;
}

/* A callback of the call's memory, which also goes where the call fails. */
static void
end_call(void *arg)
{
	Progress  **call = &current;

	while (*call != arg)
		call = &(*call)->before;
	*call = (*call)->before;
}

/*
 * Ask for a message at next_message, or when the timer of an earlier call goes
 * off.  To stop that timer and to start another for each partition of a window
 * function would take longer than small partitions do.
 */
static void
start_timer(void)
{
	simhash_progress_due = false;
	if (!get_timeout_active(timer))
		enable_timeout_at(timer, next_message);
}

/* The timer went off.  Return whether a message is due; start the timer. */
static bool
is_due(void)
{
	TimestampTz now = GetCurrentTimestamp();
	bool		due = now >= next_message;

	if (current == NULL)
	{
		simhash_progress_due = false;
		return false;
	}
	if (due)
		next_message = TimestampTzPlusMilliseconds(now, INTERVAL);
	start_timer();
	return due;
}

/*
 * Begin to show the progress of a call, as long as the current memory context
 * lasts.
 */
void
simhash_progress_begin(const char *function)
{
	Progress   *call;

	if (timer == MAX_TIMEOUTS)
		timer = RegisterTimeout(USER_TIMEOUT, ask_for_message);
	call = palloc0(sizeof(Progress));
	call->function = function;
	call->before = current;
	call->callback.func = end_call;
	call->callback.arg = call;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &call->callback);
	current = call;
	next_message = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), INTERVAL);
	start_timer();
}

static void
show(const char *message)
{
	if (current != NULL && current->phase != NULL)
		ereport(report_progress ? NOTICE : DEBUG1,
				(errmsg("%s: %s%s", current->function, current->phase,
						message)));
}

void
simhash_progress_phase(const char *phase)
{
	if (current == NULL)
		return;
	current->phase = phase;
	current->phase_start = GetCurrentTimestamp();
	show("");
}

/* Show how many workers a team wanted, and how many PostgreSQL granted. */
void
simhash_progress_workers(int planned, int launched)
{
	show(psprintf(": %d workers planned, %d launched", planned, launched));
}

void
simhash_progress_show_share(double done)
{
	double		seconds;

	if (!is_due())
		return;
	seconds = (GetCurrentTimestamp() - current->phase_start) / 1e6;
	done = Min(done, 1);
	if (done < LEAST_SHARE)
		show(": 0 % done");
	else
		show(psprintf(": %.0f %% done, about %.0f s left", 100 * done,
					  seconds / done * (1 - done)));
}

/* Show the number of rows that are done, if a message is due. */
void
simhash_progress_rows(uint64 rows)
{
	if (unlikely(simhash_progress_due) && is_due())
		show(psprintf(": " UINT64_FORMAT " rows so far", rows));
}
