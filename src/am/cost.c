/*
 * cost.c
 *	  What an index scan costs.
 *
 * Costs are in PostgreSQL's unit, a page of a sequential read.  A row of a
 * sequential scan that computes a distance costs 0.02, and a leaf of table 0,
 * with 510 to 580 fingerprints, which is 88 to 100 % full, 0.101 to 0.108.  A
 * leaf of another block table has more fingerprints, but a search compares only
 * some of them.  The estimate takes both kinds of leaves to cost the same.
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "am/am.h"
#include "type/compat.h"
#include "type/selectivity.h"

/* Times cpu_operator_cost; a leaf costs about five rows. */
#define PAGE_ACCESS 20.0		/* to come to a page */
#define ENTRY_LOOK 0.04			/* to look at an entry of a leaf */

/*
 * Return the cost of reading a page of the index, times the fraction of index
 * and tables that effective_cache_size has no room for.
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
 * Set shapes[j] to the shape of block table j, for each of them.  Return their
 * number.  The roots show how many leaves the tables have in proportion, and
 * info->pages how many in all.
 */
static int
measure_tables(IndexOptInfo *info, HammingShape *shapes)
{
	Relation	index = index_open(info->indexoid, NoLock);
	int			blocks = hamming_open(index);
	double		all = 0;
	int			j;

	hamming_measure(index, shapes);
	index_close(index, NoLock);
	for (j = 0; j < blocks; j++)
		all += shapes[j].leaves;
	for (j = 0; j < blocks; j++)
		shapes[j].leaves = Max(shapes[j].leaves * info->pages / all, 1);
	return blocks;
}

/*
 * amcostestimate.  loop_count is not used: all costs are for one scan, and
 * page_io_cost() has seen to what repeated scans find in memory.  *correlation
 * is 0, as the index has no order that the heap could have.
 */
void
hamming_cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count,
					  Cost *startup_cost, Cost *total_cost,
					  Selectivity *selectivity, double *correlation,
					  double *pages)
{
	IndexOptInfo *index = path->indexinfo;
	List	   *quals = get_quals_from_indexclauses(path->indexclauses);
	List	   *conditions = add_predicate_to_index_quals(index, quals);
	HammingShape shapes[HAMMING_MAX_BLOCKS];
	int			blocks = measure_tables(index, shapes);
	double		leaves = shapes[0].leaves;
	double		entries = index->tuples / leaves;
	double		height = 1 + ceil(log(leaves) / log(HAMMING_INNER_CAPACITY));
	double		searches;
	int			radius = hamming_conditions_radius(root, path, 0, &searches);
	HammingPlan plan = {0};
	Cost		descent = height * PAGE_ACCESS * cpu_operator_cost;
	double		rows;
	Cost		leaf;
	Cost		search;

	*selectivity = clauselist_selectivity(root, conditions, index->rel->relid,
										  JOIN_INNER, NULL);
	*correlation = 0;
	rows = *selectivity * index->tuples;
	if (radius >= 0)
		plan = hamming_plan(blocks, shapes, radius);
	leaf = (PAGE_ACCESS + ENTRY_LOOK * entries) * cpu_operator_cost +
		page_io_cost(root, index, plan.tables == 1);
	*pages = plan.leaves;

	search = searches * (plan.tables * descent + plan.leaves * leaf);
	*startup_cost = descent + index_other_operands_eval_cost(root, quals);
	*total_cost = *startup_cost + search +
		rows * (cpu_index_tuple_cost + cpu_operator_cost);

	/*
	 * An ordered scan reads few leaves where the nearest rows are near, and
	 * many where they are far.  Either way more rows need more leaves: the
	 * leaves are part of the total cost, not of the startup cost.
	 *
	 * Any other scan finds its first row halfway, on average, if it finds
	 * one.  Of a semi or anti join PostgreSQL takes no more than the startup
	 * cost, or little more, for each outer row that has no match.
	 */
	if (path->indexorderbys == NIL)
		*startup_cost += search / 2;

	/*
	 * PostgreSQL plans an index-only scan of any index where no column is
	 * wanted, as for count(*).  A hamming index has none: nothing keeps a row
	 * that a scan has seen in the index from being removed before the scan
	 * looks at the visibility map.  Here a path for such a scan becomes worse
	 * than that for the sequential scan, which every table has, also a
	 * disabled one.  cost_index() makes the path's total cost NaN, so that
	 * neither path is cheaper in total, and add_path() decides by the startup
	 * costs.  A bitmap scan has its costs from *total_cost.
	 */
	if (path->path.pathtype == T_IndexOnlyScan)
	{
		*startup_cost = get_float8_infinity();
		disable_path(&path->path);
	}
}
