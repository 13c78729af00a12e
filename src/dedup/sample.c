/*
 * sample.c
 *	  simhash_distances(...): the distances in a sample of a column.
 */
#include "postgres.h"

#include "access/table.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/sampling.h"
#include "utils/tuplestore.h"

#include "dedup/user_query.h"
#include "type/catalog.h"
#include "type/distance_array.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_distances);

/* Room for fingerprints that a sample has at first, if it is that large. */
#define RESERVOIR_CAPACITY 1024

/* A uniform sample of the fingerprints received.  Only the sample is kept. */
typedef struct Reservoir
{
	uint64	   *sample;
	int			count;
	int			capacity;		/* of sample; grows up to wanted */
	int			wanted;			/* size of the sample */
	double		received;		/* fingerprints received so far */
	double		skip;			/* how many to leave out before the next one
								 * that is kept; -1 if not yet chosen */
	ReservoirStateData state;	/* chooses skip */
} Reservoir;

/* Add a fingerprint to a sample that is smaller than wanted. */
static void
keep_fingerprint(Reservoir *r, uint64 fingerprint)
{
	if (r->count == r->capacity)
	{
		/* double it, up to wanted: twice as much might overflow an int */
		r->capacity += Min(r->capacity, r->wanted - r->capacity);
		r->sample = repalloc_huge(r->sample, r->capacity * sizeof(uint64));
	}
	r->sample[r->count++] = fingerprint;
}

/* Vitter's algorithm Z (1985), as in ANALYZE: see acquire_sample_rows(). */
static void
receive_fingerprint(TupleTableSlot *slot, void *arg)
{
	Reservoir  *r = arg;
	bool		isnull;
	uint64		fingerprint = DatumGetSimhash(slot_getattr(slot, 1, &isnull));

	if (r->count < r->wanted)
		keep_fingerprint(r, fingerprint);
	else
	{
		if (r->skip < 0)
			r->skip = reservoir_get_next_S(&r->state, r->received, r->wanted);
		if (r->skip <= 0)
		{
			double		fraction = sampler_random_fract(&r->state.randstate);

			r->sample[(int) (r->wanted * fraction)] = fingerprint;
		}
		r->skip--;
	}
	r->received++;
}

static Reservoir *
make_reservoir(int wanted)
{
	Reservoir  *r = palloc0(sizeof(Reservoir));

	r->wanted = wanted;
	r->capacity = Min(wanted, RESERVOIR_CAPACITY);
	r->sample = palloc(r->capacity * sizeof(uint64));
	r->skip = -1;
	reservoir_init_selection_state(&r->state, wanted);
	return r;
}

/* Check that the column has the type fingerprint, or a domain over it. */
static void
check_column(Relation relation, const char *column, Oid fingerprint)
{
	AttrNumber	number = get_attnum(RelationGetRelid(relation), column);
	Oid			type;

	if (number == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, RelationGetRelationName(relation))));
	type = get_atttype(RelationGetRelid(relation), number);
	if (getBaseType(type) != fingerprint)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" is of type %s, "
						"not %s",
						column, RelationGetRelationName(relation),
						format_type_be(type), "simhash64")));
}

/* Nothing in the query depends on the search path. */
static void
read_column(Relation relation, const char *column, Reservoir *r)
{
	const char *schema = get_namespace_name(RelationGetNamespace(relation));
	const char *name = RelationGetRelationName(relation);
	const char *table = quote_qualified_identifier(schema, name);

	column = quote_identifier(column);
	simhash_read_user_query(psprintf("SELECT %s FROM %s WHERE %s IS NOT NULL",
									 column, table, column),
							NULL, receive_fingerprint, r);
}

/*
 * Return a sample of wanted fingerprints of a column, or all if there are
 * fewer.  try_table_open() raises 42809 for a relation without rows.
 */
static Reservoir *
sample_column(Oid oid, const char *column, int wanted, Oid fingerprint)
{
	Reservoir  *r;
	Relation	relation;

	if (wanted < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("sample must be at least 1, not %d", wanted)));
	relation = try_table_open(oid, AccessShareLock);
	if (relation == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						errmsg("relation with OID %u does not exist", oid)));
	check_column(relation, column, fingerprint);
	r = make_reservoir(wanted);
	read_column(relation, column, r);
	table_close(relation, AccessShareLock);
	return r;
}

/* simhash_distances(rel regclass, column_name name, sample int) */
Datum
simhash_distances(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int64		pairs[HAMMING_BITS + 1] = {0};	/* for each distance */
	Reservoir  *r;
	int			i;

	/* the executor frees its own description of the rows, and no other */
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	r = sample_column(PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)),
					  PG_GETARG_INT32(2), simhash_type(fcinfo->flinfo->fn_oid));
	for (i = 0; i < r->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		/* with those after it: so each pair counts once */
		hamming_count(r->sample + i + 1, r->count - i - 1, r->sample[i], pairs);
	}
	for (i = 0; i <= HAMMING_BITS; i++)
	{
		Datum		values[] = {Int32GetDatum(i), Int64GetDatum(pairs[i])};
		bool		nulls[] = {false, false};

		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
