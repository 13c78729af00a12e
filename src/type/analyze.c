/*
 * analyze.c
 *	  What ANALYZE finds out about a column of fingerprints.
 *
 * Beside what it finds out about every column: which part of the pairs of rows
 * is within each radius, and which part of the rows has such a pair.  Most
 * common values and a histogram do not show how dense fingerprints lie: nearly
 * all are distinct, and as numbers they are everywhere.
 */
#include "postgres.h"

#include "commands/vacuum.h"
#include "utils/sampling.h"

#include "type/selectivity.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(SIMHASH_FUNCTION(analyze));

/* What PostgreSQL has prepared for a column of any type. */
typedef struct StandardAnalysis
{
	AnalyzeAttrComputeStatsFunc compute;
	void	   *extra_data;
} StandardAnalysis;

/*
 * Set fingerprints[0 .. n) to those of a random choice of
 * SIMHASH_STATISTIC_ROWS rows of the sample that have a fingerprint, or of all
 * of these if they are fewer, and return n.  (Algorithm R of Vitter 1985.)
 */
static int
choose_fingerprints(VacAttrStats *stats, AnalyzeAttrFetchFunc fetch, int rows,
					Fingerprint *fingerprints)
{
	pg_prng_state state;
	int			seen = 0;
	int			row;

	sampler_random_init_state(0, &state);
	for (row = 0; row < rows; row++)
	{
		bool		isnull;
		Datum		value = fetch(stats, row, &isnull);
		int			place = seen;

		vacuum_delay_point(true);
		if (isnull)
			continue;
		seen++;
		if (place >= SIMHASH_STATISTIC_ROWS)
			place = seen * sampler_random_fract(&state);
		if (place < SIMHASH_STATISTIC_ROWS)
			fingerprints[place] = DatumGetSimhash(value);
	}
	return Min(seen, SIMHASH_STATISTIC_ROWS);
}

/*
 * Store the statistics of SIMHASH_STATISTIC_KIND of count fingerprints, 2 or
 * more, in a slot that has no others.
 */
static void
store_densities(VacAttrStats *stats, const Fingerprint *fingerprints,
				int count)
{
	double		pairs[HAMMING_BITS + 1] = {0};	/* at each distance */
	int			nearest[HAMMING_BITS + 1] = {0};	/* rows whose nearest
													 * other row is there */
	Size		size = SIMHASH_STATISTICS * sizeof(float4);
	float4	   *numbers = MemoryContextAlloc(stats->anl_context, size);
	double		possible = (double) count * (count - 1);
	double		all_pairs = 0;
	double		all_rows = 0;
	int			slot = 0;
	int			i;
	int			d;

	for (i = 0; i < count; i++)
	{
		int64		others[HAMMING_BITS + 1] = {0};

		vacuum_delay_point(true);
		hamming_count(fingerprints, count, fingerprints[i], others);
		others[0]--;			/* itself */
		for (d = 0; others[d] == 0; d++)
			;
		nearest[d]++;
		for (; d <= HAMMING_BITS; d++)
			pairs[d] += others[d];
	}
	for (d = 0; d <= HAMMING_BITS; d++)
	{
		all_pairs += pairs[d];
		all_rows += nearest[d];
		SIMHASH_DENSITY(numbers, d) = all_pairs / possible;
		SIMHASH_PARTNERED(numbers, d) = all_rows / count;
	}
	while (stats->stakind[slot] != 0)
		slot++;
	Assert(slot < STATISTIC_NUM_SLOTS);
	stats->stakind[slot] = SIMHASH_STATISTIC_KIND;
	stats->staop[slot] = InvalidOid;
	stats->stacoll[slot] = InvalidOid;
	stats->stanumbers[slot] = numbers;
	stats->numnumbers[slot] = SIMHASH_STATISTICS;
}

/*
 * An AnalyzeAttrComputeStatsFunc.  For a column of a type that has an order,
 * PostgreSQL uses three of the five slots of statistics.
 */
static void
compute_statistics(VacAttrStats *stats, AnalyzeAttrFetchFunc fetch, int rows,
				   double total_rows)
{
	StandardAnalysis *standard = stats->extra_data;
	Fingerprint *fingerprints = palloc(SIMHASH_STATISTIC_ROWS *
									   sizeof(Fingerprint));
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
