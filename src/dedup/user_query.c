/*
 * user_query.c
 *	  The rows of a query that a user gives as a text.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "nodes/parsenodes.h"
#include "parser/parse_coerce.h"
#include "tcop/cmdtag.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "dedup/user_query.h"
#include "type/catalog.h"

/* A user's query, and the receiver of its rows. */
typedef struct QueryReceiver
{
	DestReceiver receiver;		/* must be first: the executor has no more */
	const char *query;
	const char *columns;		/* their names, for messages */
	int			count;			/* of columns */
	void		(*check) (TupleDesc, void *);
	void		(*receive) (TupleTableSlot *, void *);
	void	   *arg;
} QueryReceiver;

static void
begin_rows(DestReceiver *self, int operation, TupleDesc description)
{
	QueryReceiver *r = (QueryReceiver *) self;

	if (description->natts != r->count)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("query must return %d columns (%s), not %d",
							   r->count, r->columns, description->natts)));
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

/* Is query one word, which may be the name of a table? */
static bool
is_name(const char *query)
{
	List	   *parts;

	return strlen(query) < 2 * NAMEDATALEN &&
		strpbrk(query, " \t\r\n;,()") == NULL &&
		SplitIdentifierString(pstrdup(query), '.', &parts);
}

/* A callback of an error in a query that is_name(). */
static void
hint_at_table(void *arg)
{
	const QueryReceiver *r = arg;

	if (geterrcode() == ERRCODE_SYNTAX_ERROR)
		errhint("Write SELECT %s FROM %s.", r->columns, r->query);
}

/* Parse the query, which must be a SELECT, VALUES or TABLE. */
static SPIPlanPtr
prepare(QueryReceiver *r)
{
	ErrorContextCallback callback = {error_context_stack, hint_at_table, r};
	SPIPlanPtr	plan;
	List	   *statements;
	CachedPlanSource *statement;

	if (is_name(r->query))
		error_context_stack = &callback;
	plan = SPI_prepare_cursor(r->query, 0, NULL, CURSOR_OPT_PARALLEL_OK);
	error_context_stack = callback.previous;
	statements = SPI_plan_get_plan_sources(plan);
	if (list_length(statements) != 1)
		ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR),
						errmsg("query must be one statement, not %d",
							   list_length(statements)),
						errhint("Write SELECT %s FROM ...", r->columns)));
	statement = linitial(statements);
	if (!IsA(statement->raw_parse_tree->stmt, SelectStmt))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("query must be a SELECT, not %s",
							   GetCommandTagName(statement->commandTag)),
						errhint("Write SELECT %s FROM ...", r->columns)));
	return plan;
}

/*
 * Run query, which must return count columns, with the rights, the snapshot and
 * the search path of the caller.  columns names them in messages.  Call
 * check(description, arg) first, then receive(row, arg) for each row, which is
 * valid until receive() returns.  What both allocate in the current memory
 * context is freed with the query.  Errors: 0A000 if the query is no SELECT, or
 * does more than read; 42601 if it is not one statement; 42804 if it returns
 * other columns.
 */
void
simhash_read_user_query(const char *query, const char *columns, int count,
						void (*check) (TupleDesc, void *),
						void (*receive) (TupleTableSlot *, void *), void *arg)
{
	QueryReceiver r = {
		.query = query,.columns = columns,.count = count,.check = check,
		.receive = receive,.arg = arg
	};
	SPIExecuteOptions options = {.read_only = true,.dest = &r.receiver};

	r.receiver.receiveSlot = receive_row;
	r.receiver.rStartup = begin_rows;
	r.receiver.rShutdown = end_rows;
	r.receiver.rDestroy = end_rows;
	/* of core's destinations the nearest one: nothing is sent to a client */
	r.receiver.mydest = DestTuplestore;
	SPI_connect();
	SPI_execute_plan_extended(prepare(&r), &options);
	SPI_finish();
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
 * Return the base type of a domain, and any other type as it is.  Error: 42704
 * if the type has been dropped since the query was parsed.
 */
static Oid
base_type(Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type,
											  TYPECACHE_DOMAIN_BASE_INFO);

	return entry->typtype == TYPTYPE_DOMAIN ? entry->domainBaseType : type;
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
	Oid			base = base_type(type);

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
	bits = simhash_bits(function, base_type(second));
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
