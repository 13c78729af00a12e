/*
 * user_query.c
 *	  The rows of a query that a user gives as a text.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "parser/parse_coerce.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "dedup/user_query.h"
#include "type/catalog.h"

typedef struct QueryReceiver
{
	DestReceiver receiver;		/* must be first: the executor has no more */
	void		(*check) (TupleDesc, void *);
	void		(*receive) (TupleTableSlot *, void *);
	void	   *arg;
	bool		has_begun;		/* has a statement begun to return rows? */
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
 * Run query with the rights, the snapshot and the search path of the caller.
 * Call check(columns, arg) first, unless check is NULL, then receive(row, arg)
 * for each row, which is valid until receive() returns.  What both allocate in
 * the current memory context is freed with the query.  Errors: 0A000 if the
 * query does more than read, 42601 if it is not one statement that returns
 * rows.
 */
void
simhash_read_user_query(const char *query, void (*check) (TupleDesc, void *),
						void (*receive) (TupleTableSlot *, void *), void *arg)
{
	QueryReceiver r = {0};
	SPIExecuteOptions options = {0};
	int			result;

	r.receiver.receiveSlot = receive_row;
	r.receiver.rStartup = begin_rows;
	r.receiver.rShutdown = end_rows;
	r.receiver.rDestroy = end_rows;
	/* of core's destinations the nearest one: nothing is sent to a client */
	r.receiver.mydest = DestTuplestore;
	r.check = check;
	r.receive = receive;
	r.arg = arg;
	options.read_only = true;
	options.dest = &r.receiver;

	SPI_connect();
	result = SPI_execute_extended(query, &options);
	if (result < 0)				/* for instance COPY or COMMIT */
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("query must be read-only"),
						errdetail("%s", SPI_result_code_string(result))));
	SPI_finish();
	if (!r.has_begun)
		ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR),
						errmsg("query must be a statement that returns rows")));
}

/* Return a hint for a column of type, which ids cannot have. */
static const char *
id_hint(Oid type)
{
	if (TypeCategory(type) == TYPCATEGORY_NUMERIC)
		return "Cast it to bigint.";
	return "Return row_number() OVER (ORDER BY key) instead, and join the "
		"result to the keys by this number.";
}

/*
 * Return the type of the ids in a column, which is counted from 0: of a domain
 * its base type.  Raise 42804 if that is none of ids, with hint unless hint is
 * NULL.
 */
Oid
simhash_check_id_column(TupleDesc description, int column, const char *hint)
{
	static const char *const names[] = {"first", "second"};
	Oid			type = TupleDescAttr(description, column)->atttypid;
	Oid			base = getBaseType(type);

	if (base != INT8OID && base != INT4OID && base != INT2OID)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("%s column of query must be of type bigint, "
							   "integer or smallint, not %s",
							   names[column], format_type_be(type)),
						errhint("%s", hint != NULL ? hint : id_hint(base))));
	return base;
}

/*
 * description must have two columns or more: an id and a fingerprint come
 * first.  Set *id to the type of the ids.  Return how many bits a fingerprint
 * has.  function is the SQL function that is called.  Error: 42804 for another
 * type of either column.
 */
int
simhash_check_fingerprint_columns(TupleDesc description, Oid function, Oid *id)
{
	Oid			first = TupleDescAttr(description, 0)->atttypid;
	Oid			second = TupleDescAttr(description, 1)->atttypid;
	int			bits;

	*id = simhash_check_id_column(description, 0,
								  simhash_bits(function, first) > 0 ?
								  "Return the id before the fingerprint." :
								  NULL);
	bits = simhash_bits(function, getBaseType(second));
	if (bits == 0)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("second column of query must be of type "
							   "simhash64 or simhash128, not %s",
							   format_type_be(second)),
						errhint("For a text, return minhash(text) or "
								"simhash(text). If the column contains "
								"fingerprints, cast it to simhash64 or "
								"simhash128.")));
	return bits;
}
