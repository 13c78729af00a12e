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

/* What PostgreSQL has prepared for a column of any type. */
typedef struct StandardAnalysis
{
	AnalyzeAttrComputeStatsFunc compute;
	void	   *extra_data;
	int			words;			/* of a fingerprint */
} StandardAnalysis;

/* One word of each of the fingerprints whose distances are counted. */
typedef uint64 SampleWord[SIMHASH_STATISTIC_ROWS];

/*
 * Set sample[i][0 .. n) to word i of the fingerprints of a random choice of
 * SIMHASH_STATISTIC_ROWS of the rows that have one, or of all of these if they
 * are fewer, and return n.  (Algorithm R of Vitter 1985.)
 */
static int
choose_fingerprints(VacAttrStats *stats, AnalyzeAttrFetchFunc fetch, int rows,
					SampleWord *sample, int words)
{
	pg_prng_state state;
	int			seen = 0;
	int			row;
	int			i;

	sampler_random_init_state(0, &state);
	for (row = 0; row < rows; row++)
	{
		bool		isnull;
		Datum		value = fetch(stats, row, &isnull);
		int			place = seen;
		uint64		fingerprint[HAMMING_MAX_WORDS];

		vacuum_delay_point(true);
		if (isnull)
			continue;
		seen++;
		if (place >= SIMHASH_STATISTIC_ROWS)
			place = seen * sampler_random_fract(&state);
		if (place >= SIMHASH_STATISTIC_ROWS)
			continue;
		simhash_datum_words(value, fingerprint, words);
		for (i = 0; i < words; i++)
			sample[i][place] = fingerprint[i];
	}
	return Min(seen, SIMHASH_STATISTIC_ROWS);
}

/*
 * Add to pairs[d] how many pairs of the rows, two or more, have the distance d,
 * and to nearest[d] how many rows have their nearest other row there.
 */
static void
count_distances(SampleWord *sample, int words, int rows, int64 *pairs,
				int *nearest)
{
	uint16		least[SIMHASH_STATISTIC_ROWS];	/* of each row */
	int			i;
	int			j;

	/* each row with those before it */
	for (i = 0; i < rows; i++)
	{
		uint16		distances[SIMHASH_STATISTIC_ROWS];
		uint16		least_of_row = words * 64;

		vacuum_delay_point(true);
		memset(distances, 0, i * sizeof(uint16));
		for (j = 0; j < words; j++)
			hamming_add_distances(sample[j], i, sample[j][i], distances);
		for (j = 0; j < i; j++)
			pairs[distances[j]]++;
		for (j = 0; j < i; j++)
		{
			least[j] = Min(least[j], distances[j]);
			least_of_row = Min(least_of_row, distances[j]);
		}
		least[i] = least_of_row;
	}
	for (i = 0; i < rows; i++)
		nearest[least[i]]++;
}

/*
 * Store the statistics of SIMHASH_STATISTIC_KIND of the rows, two or more, in a
 * slot that has no others.
 */
static void
store_densities(VacAttrStats *stats, SampleWord *sample, int words, int rows)
{
	int			bits = words * 64;
	int64		pairs[HAMMING_MAX_WORDS * 64 + 1] = {0};
	int			nearest[HAMMING_MAX_WORDS * 64 + 1] = {0};
	float4	   *numbers = MemoryContextAlloc(stats->anl_context,
											 SIMHASH_STATISTICS(bits) *
											 sizeof(float4));
	double		possible = (double) rows * (rows - 1) / 2;
	double		all_pairs = 0;
	double		all_rows = 0;
	int			slot = 0;
	int			d;

	count_distances(sample, words, rows, pairs, nearest);
	for (d = 0; d <= bits; d++)
	{
		all_pairs += pairs[d];
		all_rows += nearest[d];
		SIMHASH_DENSITY(numbers, d) = all_pairs / possible;
		SIMHASH_PARTNERED(numbers, d) = all_rows / rows;
	}
	while (stats->stakind[slot] != 0)
		slot++;
	Assert(slot < STATISTIC_NUM_SLOTS);
	stats->stakind[slot] = SIMHASH_STATISTIC_KIND;
	stats->staop[slot] = InvalidOid;
	stats->stacoll[slot] = InvalidOid;
	stats->stanumbers[slot] = numbers;
	stats->numnumbers[slot] = SIMHASH_STATISTICS(bits);
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
	SampleWord *sample = palloc(standard->words * sizeof(SampleWord));
	int			chosen;

	stats->extra_data = standard->extra_data;
	standard->compute(stats, fetch, rows, total_rows);
	stats->extra_data = standard;

	chosen = choose_fingerprints(stats, fetch, rows, sample, standard->words);
	if (chosen >= 2)
		store_densities(stats, sample, standard->words, chosen);
	pfree(sample);
}

/* The typanalyze function of a type whose fingerprints have that many words. */
static Datum
analyze(FunctionCallInfo fcinfo, int words)
{
	VacAttrStats *stats = (VacAttrStats *) PG_GETARG_POINTER(0);
	StandardAnalysis *standard;

	if (!std_typanalyze(stats))
		PG_RETURN_BOOL(false);
	standard = palloc(sizeof(StandardAnalysis));
	standard->compute = stats->compute_stats;
	standard->extra_data = stats->extra_data;
	standard->words = words;
	stats->compute_stats = compute_statistics;
	stats->extra_data = standard;
	PG_RETURN_BOOL(true);
}

SIMHASH_SQL_TYPES(analyze, analyze(fcinfo, words))
