/*
 * user_query.c
 *	  The rows of a query that a user gives as a text.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "tcop/dest.h"

#include "dedup/user_query.h"

typedef struct QueryReceiver
{
	DestReceiver receiver;		/* first: the executor knows only this */
	void		(*check) (TupleDesc, void *);
	void		(*receive) (TupleTableSlot *, void *);
	void	   *arg;
	bool		has_begun;
} QueryReceiver;

static void
begin_rows(DestReceiver *self, int operation, TupleDesc description)
{
	QueryReceiver *r = (QueryReceiver *) self;

	if (r->has_begun)
		ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR),
						errmsg("query must be one statement, not several")));
	r->has_begun = true;
	if (r->check != NULL)
		r->check(description, r->arg);
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	QueryReceiver *r = (QueryReceiver *) self;

	r->receive(slot, r->arg);
	return true;
}

static void
end_rows(DestReceiver *self)
{
}

/*
 * Run a query with the rights, the snapshot and the search path of the
 * caller; check, if there is one, is told what its columns are before receive
 * gets any row.
 * Errors: 0A000 if it is more than reading, 42601 if it is not one statement,
 * and whatever running it may raise.
 */
void
simhash_read_user_query(const char *query, void (*check) (TupleDesc, void *),
						void (*receive) (TupleTableSlot *, void *), void *arg)
{
	QueryReceiver r = {.receiver = {.receiveSlot = receive_row,
			.rStartup = begin_rows,
			.rShutdown = end_rows,
			.rDestroy = end_rows,
			/* the nearest: nothing is sent */
	.mydest = DestTuplestore},
	.check = check,
	.receive = receive,
	.arg = arg};
	SPIExecuteOptions options = {.read_only = true,.dest = &r.receiver};
	int			result;

	SPI_connect();
	result = SPI_execute_extended(query, &options);
	if (result < 0)				/* COPY or COMMIT, say */
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("query must be one that only reads"),
						errdetail("%s", SPI_result_code_string(result))));
	SPI_finish();
	if (!r.has_begun)
		ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR),
						errmsg("query must be a statement that returns rows")));
}
