/*
 * user_query.c
 *	  The rows of a query that a user gives as a text.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
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

#include "dedup/dedup.h"
#include "near/progress.h"
#include "type/catalog.h"

/* The receiver of the rows of a query. */
typedef struct QueryReceiver
{
	DestReceiver receiver;		/* must be first: the executor has no more */
	Oid			function;		/* SQL function that takes the query */
	const char *text;
	const UserQuery *query;
	void	   *arg;			/* of its functions */
	Oid			types[USER_COLUMNS];	/* of ids: see check_id_column() */
	uint64		rows;			/* so far */
} QueryReceiver;

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

/* Return the type, or base type, of the ids in a column.  Error: 42804. */
static Oid
check_id_column(const QueryReceiver *r, TupleDesc description, int column)
{
	Oid			type = TupleDescAttr(description, column)->atttypid;
	Oid			base = base_type(type);
	const char *hint = "Return row_number() OVER (ORDER BY key) instead, and "
	"join the result to the keys by this number.";

	if (base == INT8OID || base == INT4OID || base == INT2OID)
		return base;
	if (r->query->ids == 1 && simhash_bits(r->function, type) > 0)
		hint = "Return the id before the fingerprint.";
	else if (TypeCategory(base) == TYPCATEGORY_NUMERIC)
		hint = "Cast it to bigint.";
	ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
					errmsg("%s column of query must be of type bigint, "
						   "integer or smallint, not %s",
						   column == 0 ? "first" : "second",
						   format_type_be(type)),
					errhint("%s", hint)));
}

/* Return how many bits the fingerprint has.  Error: 42804. */
static int
check_fingerprint_column(const QueryReceiver *r, TupleDesc description)
{
	Oid			type = TupleDescAttr(description, 1)->atttypid;
	int			bits = simhash_bits(r->function, base_type(type));

	if (bits == 0)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("second column of query must be of type "
							   "simhash64 or simhash128, not %s",
							   format_type_be(type)),
						errhint("For a text, return minhash(text) or "
								"simhash(text). If the column contains "
								"fingerprints, cast it to simhash64 or "
								"simhash128.")));
	return bits;
}

static void
begin_rows(DestReceiver *self, int operation, TupleDesc description)
{
	QueryReceiver *r = (QueryReceiver *) self;
	const UserQuery *query = r->query;
	int			bits = 0;
	int			i;

	if (description->natts != query->count)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("query must return %d columns (%s), not %d",
							   query->count, query->columns,
							   description->natts)));
	for (i = 0; i < query->ids; i++)
		r->types[i] = check_id_column(r, description, i);
	if (query->ids == 1)
		bits = check_fingerprint_column(r, description);
	if (query->begin != NULL)
		query->begin(description, bits, r->arg);
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	QueryReceiver *r = (QueryReceiver *) self;
	Datum		values[USER_COLUMNS];
	int			i;

	simhash_progress_rows(++r->rows);
	slot_getallattrs(slot);
	for (i = 0; i < r->query->count; i++)
	{
		if (slot->tts_isnull[i])
			return true;
		values[i] = slot->tts_values[i];
	}
	for (i = 0; i < r->query->ids; i++)
	{
		if (r->types[i] == INT2OID)
			values[i] = Int64GetDatum(DatumGetInt16(values[i]));
		else if (r->types[i] == INT4OID)
			values[i] = Int64GetDatum(DatumGetInt32(values[i]));
	}
	r->query->receive(values, r->arg);
	return true;
}

static void
end_rows(DestReceiver *self)
{
}

/* Is text one word, which may be the name of a table? */
static bool
is_name(const char *text)
{
	List	   *parts;

	return strlen(text) < 2 * NAMEDATALEN &&
		strpbrk(text, " \t\r\n;,()") == NULL &&
		SplitIdentifierString(pstrdup(text), '.', &parts);
}

/* A callback of an error in a query that is_name(). */
static void
hint_at_table(void *arg)
{
	const QueryReceiver *r = arg;

	if (geterrcode() == ERRCODE_SYNTAX_ERROR)
		errhint("Write SELECT %s FROM %s.", r->query->columns, r->text);
}

/* Parse the query, which must be a SELECT, VALUES or TABLE. */
static SPIPlanPtr
prepare(QueryReceiver *r)
{
	ErrorContextCallback callback = {error_context_stack, hint_at_table, r};
	SPIPlanPtr	plan;
	List	   *statements;
	CachedPlanSource *statement;

	if (is_name(r->text))
		error_context_stack = &callback;
	plan = SPI_prepare_cursor(r->text, 0, NULL, CURSOR_OPT_PARALLEL_OK);
	error_context_stack = callback.previous;
	statements = SPI_plan_get_plan_sources(plan);
	if (list_length(statements) != 1)
		ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR),
						errmsg("query must be one statement, not %d",
							   list_length(statements)),
						errhint("Write SELECT %s FROM ...",
								r->query->columns)));
	statement = linitial(statements);
	if (!IsA(statement->raw_parse_tree->stmt, SelectStmt))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("query must be a SELECT, not %s",
							   GetCommandTagName(statement->commandTag)),
						errhint("Write SELECT %s FROM ...",
								r->query->columns)));
	return plan;
}

/*
 * Run the query that is the first argument of fcinfo, with the rights, the
 * snapshot and the search path of the caller.  What the functions of query
 * allocate in the current memory context is freed with it.  Errors: 0A000 if
 * the text is no SELECT, or does more than read; 42601 if it is not one
 * statement; 42804 if it returns other columns.
 */
void
simhash_read_user_query(FunctionCallInfo fcinfo, const UserQuery *query,
						void *arg)
{
	QueryReceiver r = {
		.function = fcinfo->flinfo->fn_oid,
		.text = text_to_cstring(PG_GETARG_TEXT_PP(0)),
		.query = query,.arg = arg
	};
	SPIExecuteOptions options = {.read_only = true,.dest = &r.receiver};

	r.receiver.receiveSlot = receive_row;
	r.receiver.rStartup = begin_rows;
	r.receiver.rShutdown = end_rows;
	r.receiver.rDestroy = end_rows;
	/* of core's destinations the nearest one: nothing is sent to a client */
	r.receiver.mydest = DestTuplestore;
	simhash_progress_phase("reading rows");
	SPI_connect();
	SPI_execute_plan_extended(prepare(&r), &options);
	SPI_finish();
}
