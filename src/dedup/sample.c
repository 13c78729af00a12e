/*
 * sample.c
 *	  The distances in a sample of the fingerprints of a query.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/sampling.h"
#include "utils/tuplestore.h"

#include "dedup/sample.h"
#include "dedup/user_query.h"
#include "type/distance_array.h"
#include "type/simhash.h"

/* Room for fingerprints that a sample has at first, if it is that large. */
#define RESERVOIR_CAPACITY 1024

/* A uniform sample of the fingerprints received.  Only the sample is kept. */
typedef struct Reservoir
{
	Fingerprint *sample;
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
keep_fingerprint(Reservoir *r, Fingerprint fingerprint)
{
	if (r->count == r->capacity)
	{
		/* double it, up to wanted: twice as much might overflow an int */
		r->capacity += Min(r->capacity, r->wanted - r->capacity);
		r->sample = repalloc_huge(r->sample, r->capacity * sizeof(Fingerprint));
	}
	r->sample[r->count++] = fingerprint;
}

/*
 * Vitter's algorithm Z (1985), as in ANALYZE: see acquire_sample_rows().  A
 * NULL comes in spite of the query where the column is computed by a function
 * that is IMMUTABLE by name only.
 */
static void
receive_fingerprint(TupleTableSlot *slot, void *arg)
{
	Reservoir  *r = arg;
	bool		isnull;
	Datum		value = slot_getattr(slot, 1, &isnull);
	Fingerprint fingerprint;

	if (isnull)
		return;
	fingerprint = DatumGetSimhash(value);
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
	r->sample = palloc(r->capacity * sizeof(Fingerprint));
	r->skip = -1;
	reservoir_init_selection_state(&r->state, wanted);
	return r;
}

/*
 * Run query, which returns fingerprints.  Return how many pairs of a sample of
 * wanted of them, or of all if there are fewer, are at each distance: as rows
 * of fcinfo.
 */
void
WIDE(simhash_count_distances) (const char *query, int wanted,
							   FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int64		pairs[HAMMING_BITS + 1] = {0};	/* for each distance */
	Reservoir  *r = make_reservoir(wanted);
	int			i;

	simhash_read_user_query(query, NULL, receive_fingerprint, r);
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
}
