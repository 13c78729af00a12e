/*
 * am_cost.c
 *	  What an index scan costs.
 *
 * The unit is what PostgreSQL counts in.  A sequential scan that computes a
 * distance for each row takes 0.02 of it a row.  A leaf of hundreds of
 * fingerprints takes about 5 to 10 times as long, which is what the factors
 * below say.
 */
#include "postgres.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "am/am.h"
#include "type/selectivity.h"

/* In units of cpu_operator_cost: to come to a page, to look at an entry. */
#define PAGE_ACCESS 20.0
#define ENTRY_LOOK 0.04

/* The radius of one condition. */
static int32
operator_radius(IndexPath *path, Oid opno, List *args)
{
	switch (get_op_opfamily_strategy(opno, path->indexinfo->opfamily[0]))
	{
		case SIMHASH_EQUAL_STRATEGY:
			return 0;
		case SIMHASH_BALL_STRATEGY:
			return hamming_known_radius(lsecond(args));
		default:
			return SIMHASH_NEAR_RADIUS;
	}
}

/*
 * The radius that the conditions leave, 64 without any, and how often the
 * index is searched: once for each element of an array.
 */
static int
clauses_radius(PlannerInfo *root, IndexPath *path, double *searches)
{
	int			radius = 64;
	ListCell   *lc;

	*searches = 1;
	foreach(lc, get_quals_from_indexclauses(path->indexclauses))
	{
		Expr	   *clause = lfirst_node(RestrictInfo, lc)->clause;
		int32		clause_radius = 64; /* IS NULL, IS NOT NULL */

		if (IsA(clause, OpExpr))
			clause_radius = operator_radius(path, ((OpExpr *) clause)->opno,
											((OpExpr *) clause)->args);
		else if (IsA(clause, ScalarArrayOpExpr))
		{
			List	   *args = ((ScalarArrayOpExpr *) clause)->args;

			clause_radius = operator_radius(
											path, ((ScalarArrayOpExpr *) clause)->opno, args);
			*searches *= estimate_array_length(root, lsecond(args));
		}
		radius = Min(radius, clause_radius);
	}
	return radius;
}

/*
 * Cost of the I/O for one page.  An index that is searched is in memory as
 * far as there is room: only what is beyond effective_cache_size is read.
 */
static double
page_io_cost(PlannerInfo *root, IndexOptInfo *index, bool sequential)
{
	double		pages = Max(root->total_table_pages, 1) + index->pages;
	double		cached = Min(effective_cache_size / pages, 1);
	double		random_cost;
	double		sequential_cost;

	get_tablespace_page_costs(index->reltablespace, &random_cost,
							  &sequential_cost);
	return (1 - cached) * (sequential ? sequential_cost : random_cost);
}

/*
 * PostgreSQL offers an index-only scan of any index where no column is
 * wanted, as for count(*).  Ours cannot be: nothing keeps a row that a scan
 * has seen in the index from being removed before the scan looks at the
 * visibility map.  Make it a plain one, which costs what PostgreSQL has left
 * out, the pages of the heap that are all visible.
 */
static Cost
as_plain_scan(PlannerInfo *root, IndexPath *path, double rows)
{
	RelOptInfo *rel = path->indexinfo->rel;
	double		random_cost;

	if (path->path.pathtype != T_IndexOnlyScan)
		return 0;
	path->path.pathtype = T_IndexScan;
	get_tablespace_page_costs(rel->reltablespace, &random_cost, NULL);
	return index_pages_fetched(rows, rel->pages, path->indexinfo->pages, root) *
		rel->allvisfrac * random_cost;
}

/* All costs are for one scan; index pages are the leaves that it reads. */
void
hamming_cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count,
					  Cost *startup_cost, Cost *total_cost,
					  Selectivity *selectivity, double *correlation,
					  double *pages)
{
	IndexOptInfo *index = path->indexinfo;
	List	   *quals = get_quals_from_indexclauses(path->indexclauses);
	double		leaves = Max(index->pages / HAMMING_BLOCKS, 1);
	double		entries = index->tuples / leaves;
	double		height = 1 + ceil(log(leaves) / log(HAMMING_INNER_CAPACITY));
	double		searches;
	int			radius = clauses_radius(root, path, &searches);
	HammingPlan plan = {0};
	Cost		descent = height * PAGE_ACCESS * cpu_operator_cost;
	double		rows;
	Cost		leaf;

	*selectivity = clauselist_selectivity(
										  root, add_predicate_to_index_quals(index, quals), index->rel->relid,
										  JOIN_INNER, NULL);
	*correlation = 0;
	rows = *selectivity * index->tuples;
	if (radius >= 0)
		plan = hamming_plan(leaves, radius);
	leaf = (PAGE_ACCESS + ENTRY_LOOK * entries) * cpu_operator_cost +
		page_io_cost(root, index, plan.tables == 1);
	*pages = plan.leaves;

	/*
	 * What is nearest may be far or near, which decides whether all leaves
	 * are read or some: so those are a matter of how many rows are wanted.
	 */
	*startup_cost = descent + index_other_operands_eval_cost(root, quals);
	*total_cost = *startup_cost +
		searches * (plan.tables * descent + plan.leaves * leaf) +
		rows * (cpu_index_tuple_cost + cpu_operator_cost) +
		as_plain_scan(root, path, rows);
}
