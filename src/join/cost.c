/*
 * cost.c
 *	  What a HammingJoin costs.
 *
 * Costs are in PostgreSQL's unit, a page of a sequential read.  The constants
 * were chosen so that the join, and a nested loop with a hamming index, cost
 * the same where they take about the same time: for a million rows, and 30,000
 * to 50,000 others.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "join/widths.h"
#include "near/cut.h"
#include "near/filter.h"
#include "near/side.h"

/* Times cpu_operator_cost. */
#define KEEP_ROW 8.0			/* to keep a row and its fingerprint */
#define COMPARISON (0.02 * FINGERPRINT_WORDS)	/* of two fingerprints in an
												 * array */
#define READ_PAIR 20.0			/* to read the tuples of two rows in memory */
#define READ_PAIR_IN_FILE 60.0	/* the same in files */

#define LOOK_AT_FILTER (1.2 * FINGERPRINT_WORDS)	/* for one mask */

/* What a tuple takes beside its columns, in bytes. */
#define TUPLE_OVERHEAD 24

static double
tuple_bytes(const Path *path)
{
	return path->rows * (path->pathtarget->width + TUPLE_OVERHEAD);
}

/* Return the filter of the smaller side as the join will make it. */
static FilterPlan
filter_plan(double less, double more, int radius, double memory)
{
	FilterPlan	none = {.passes = 1};

	if (more < 2 * less || less * SIDE_ROW_BYTES > memory)
		return none;
	return hamming_filter_plan(less, radius, memory / FILTER_SHARE);
}

/*
 * Set the costs of a path for the join.  A self-join reads its rows once, and
 * compares each two of them once.
 */
void
hamming_cost_join(PlannerInfo *root, CustomPath *path,
				  const JoinEstimate *join)
{
	const Path *outer = linitial(path->custom_paths);
	bool		is_self = list_length(path->custom_paths) == 1;
	const Path *inner = is_self ? outer : lsecond(path->custom_paths);
	double		sides = is_self ? 0.5 : 1;
	double		less = Min(outer->rows, inner->rows);
	double		more = Max(outer->rows, inner->rows);
	double		memory = get_hash_memory_limit();
	FilterPlan	plan = filter_plan(less, more, join->radius, memory);
	double		joined = more * plan.passes;
	double		kept = (less + joined) * sides;
	double		rows = kept * SIDE_ROW_BYTES;
	double		tuples = (tuple_bytes(outer) + tuple_bytes(inner)) * sides;
	Cost		startup = (outer->total_cost + inner->total_cost) * sides;
	Cost		read_pair = READ_PAIR * cpu_operator_cost;
	Cost		run;
	QualCost	quals;

	startup += cpu_operator_cost *
		(kept * KEEP_ROW +
		 (less + more) * plan.masks * LOOK_AT_FILTER +
		 hamming_near_comparisons(less / join->groups, joined / join->groups,
								  join->radius) * join->groups * COMPARISON *
		 sides);
	if (rows + tuples > memory)
	{
		startup += tuples / BLCKSZ * seq_page_cost;
		read_pair = READ_PAIR_IN_FILE * cpu_operator_cost;
	}
	if (rows > memory)
		startup += 2 * (join->radius + 1) * kept * sizeof(NearRow) / BLCKSZ *
			seq_page_cost;
	cost_qual_eval(&quals, join->filter, root);
	run = quals.startup + (read_pair + quals.per_tuple) * join->pairs;
	path->path.startup_cost = startup;
	if (join->type == JOIN_SEMI || join->type == JOIN_ANTI)
		path->path.startup_cost += run;
	path->path.total_cost = startup + run + path->path.rows *
		(cpu_tuple_cost + path->path.pathtarget->cost.per_tuple);
}
