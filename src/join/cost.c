/*
 * cost.c
 *	  What a HammingJoin costs.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "dedup/join.h"
#include "dedup/join_side.h"
#include "join/cost.h"

/* Times cpu_operator_cost. */
#define KEEP_ROW 8.0			/* to keep a row and its fingerprint */
#define COMPARISON 0.02			/* of two fingerprints in an array */
#define FETCH_PAIR 20.0			/* to read the tuples of two rows again */

/* What the tuple of a row takes, beside its columns. */
#define TUPLE_BYTES 24

static double
pages(double bytes)
{
	return bytes / BLCKSZ;
}

/*
 * Set the costs of path, a join of outer and inner within radius, of which
 * matches is the part of all pairs that the other clauses are checked for.
 */
void
hamming_cost_join(PlannerInfo *root, CustomPath *path, Path *outer,
				  Path *inner, int radius, Selectivity matches, List *clauses)
{
	double		rows = outer->rows + inner->rows;
	double		pairs = outer->rows * inner->rows * matches;
	double		memory = get_hash_memory_limit();
	double		entries = rows * JOIN_SIDE_ROW_BYTES;
	double		tuples = outer->rows * (outer->pathtarget->width + TUPLE_BYTES) +
	inner->rows * (inner->pathtarget->width + TUPLE_BYTES);
	Cost		startup = outer->total_cost + inner->total_cost;
	Cost		run;
	QualCost	quals;

	startup += rows * KEEP_ROW * cpu_operator_cost;
	startup += hamming_join_comparisons(outer->rows, inner->rows, radius) *
		COMPARISON * cpu_operator_cost;
	cost_qual_eval(&quals, clauses, root);
	run = pairs * (FETCH_PAIR * cpu_operator_cost + quals.per_tuple) +
		quals.startup;
	if (entries + tuples > memory)
		startup += pages(tuples) * seq_page_cost;
	if (entries > memory)
		startup += 2 * (radius + 1) * pages(entries) * seq_page_cost;
	path->path.startup_cost = startup;
	path->path.total_cost = startup + run +
		path->path.rows * (cpu_tuple_cost + path->path.pathtarget->cost.per_tuple);
}
