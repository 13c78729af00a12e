/*
 * analyze.c
 *	  What ANALYZE finds out about a column of fingerprints.
 *
 * Beside what it finds out about every column: the part of the pairs of rows
 * that is within each radius of each other.  Most common values and a histogram
 * do not show how dense fingerprints lie: nearly all are distinct, and as
 * numbers they are everywhere.
 */
#include "postgres.h"

#include "commands/vacuum.h"
#include "miscadmin.h"
#include "utils/sampling.h"

#include "type/distance_array.h"
#include "type/selectivity.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(SIMHASH_FUNCTION(analyze));

/*
 * The most rows of the sample of ANALYZE whose distances are counted.  Each is
 * compared with each other: that takes 50 ms.  If one pair of rows in 5,000,000
 * is within a radius, the sample is expected to have ten such pairs.
 */
#define MAX_ROWS 10000

/* What PostgreSQL has prepared for a column of any type. */
typedef struct StandardAnalysis
{
	AnalyzeAttrComputeStatsFunc compute;
	void	   *extra_data;
}			StandardAnalysis;

/*
 * Set fingerprints[0 .. n) to those of a random choice of MAX_ROWS rows of the
 * sample, or of all rows if there are fewer, and return n.  A row without a
 * fingerprint may be chosen.  (Knuth's algorithm S: The Art of Computer
 * Programming 2, 3.4.2.)
 */
static int
choose_fingerprints(VacAttrStats * stats, AnalyzeAttrFetchFunc fetch, int rows,
					Fingerprint *fingerprints)
{
	pg_prng_state state;
	int			wanted = MAX_ROWS;
	int			count = 0;
	int			row;

	sampler_random_init_state(0, &state);
	for (row = 0; row < rows; row++)
	{
		bool		isnull;
		Datum		value;

		if ((rows - row) * sampler_random_fract(&state) >= wanted)
			continue;
		wanted--;
		value = fetch(stats, row, &isnull);
		if (!isnull)
			fingerprints[count++] = DatumGetSimhash(value);
	}
	return count;
}

/*
 * Store the part of the pairs of count fingerprints, 2 or more, that is within
 * each radius, 0 .. HAMMING_BITS, in a slot that has no other statistics.
 */
static void
store_densities(VacAttrStats * stats, const Fingerprint *fingerprints, int count)
{
	int64		pairs[HAMMING_BITS + 1] = {0};	/* at each distance */
	double		all = (double) count * (count - 1) / 2;
	double		within = 0;
	float4	   *densities = MemoryContextAlloc(stats->anl_context,
											   lengthof(pairs) * sizeof(float4));
	int			slot = 0;
	int			i;

	for (i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		hamming_count(fingerprints + i + 1, count - i - 1, fingerprints[i],
					  pairs);
	}
	for (i = 0; i <= HAMMING_BITS; i++)
	{
		within += pairs[i];
		densities[i] = within / all;
	}
	while (stats->stakind[slot] != 0)
		slot++;
	stats->stakind[slot] = SIMHASH_STATISTIC_KIND;
	stats->staop[slot] = InvalidOid;
	stats->stacoll[slot] = InvalidOid;
	stats->stanumbers[slot] = densities;
	stats->numnumbers[slot] = lengthof(pairs);
}

/*
 * AnalyzeAttrComputeStatsFunc.  PostgreSQL uses three of the five slots for a
 * column of a type that has an order.
 */
static void
compute_statistics(VacAttrStats * stats, AnalyzeAttrFetchFunc fetch, int rows,
				   double total_rows)
{
	StandardAnalysis *standard = stats->extra_data;
	Fingerprint *fingerprints = palloc(MAX_ROWS * sizeof(Fingerprint));
	int			count;

	stats->extra_data = standard->extra_data;
	standard->compute(stats, fetch, rows, total_rows);
	stats->extra_data = standard;

	count = choose_fingerprints(stats, fetch, rows, fingerprints);
	if (count >= 2)
		store_densities(stats, fingerprints, count);
	pfree(fingerprints);
}

/* The typanalyze function of the type. */
Datum
SIMHASH_FUNCTION(analyze) (PG_FUNCTION_ARGS)
{
	VacAttrStats *stats = (VacAttrStats *) PG_GETARG_POINTER(0);
	StandardAnalysis *standard;

	if (!std_typanalyze(stats))
		PG_RETURN_BOOL(false);
	standard = palloc(sizeof(StandardAnalysis));
	standard->compute = stats->compute_stats;
	standard->extra_data = stats->extra_data;
	stats->compute_stats = compute_statistics;
	stats->extra_data = standard;
	PG_RETURN_BOOL(true);
}
