/*
 * cost.c
 *	  What an index scan costs.
 *
 * Costs are in PostgreSQL's unit, a page of a sequential read.  Comparing one
 * row in a sequential scan costs 0.02.  Comparing a whole leaf of tree 0 (510
 * to 580 fingerprints of 64 bits) costs 0.10 to 0.11.  A leaf of another block
 * tree is taken to cost the same: it has more entries, and a search compares
 * some of them.
 */
#include "postgres.h"

#include <math.h>

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

/* Which rows a scan wants. */
typedef struct Wanted
{
	bool		values;			/* some with a fingerprint */
	bool		nulls;			/* those without one */
	int			radius;			/* of the ball that values are searched in;
								 * all bits if there is none */
	double		searches;		/* how often: once, or once for each element
								 * of an array */
	double		scans;			/* how often the index is scanned: once, or
								 * once for each element of the arrays that
								 * further columns are compared with */
} Wanted;

/* Return the conditions on the fingerprint, by which a scan finds rows. */
static List *
search_conditions(IndexPath *path)
{
	List	   *conditions = NIL;
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *condition = lfirst_node(IndexClause, lc);

		if (condition->indexcol == 0)
			conditions = list_concat(conditions, condition->indexquals);
	}
	return conditions;
}

static Wanted
read_clauses(PlannerInfo *root, IndexPath *path, List *searched)
{
	Wanted		wanted = {.values = true,.nulls = true,.scans = 1};
	ListCell   *lc;
	int			column;

	wanted.radius =
		hamming_expected_radius(root, path, 0,
								hamming_words_of(path->indexinfo->opcintype[0]),
								&wanted.searches);
	for (column = 1; column < path->indexinfo->nkeycolumns; column++)
	{
		double		elements;

		(void) hamming_expected_radius(root, path, column, 1, &elements);
		wanted.scans *= elements;
	}
	foreach(lc, searched)
	{
		NullTest   *clause = (NullTest *) lfirst_node(RestrictInfo, lc)->clause;

		if (IsA(clause, NullTest) && clause->nulltesttype == IS_NULL)
			wanted.values = false;
		else
			wanted.nulls = false;
	}
	/* a ball with a negative radius holds nothing */
	if (wanted.radius < 0)
		wanted.values = false;
	return wanted;
}

/*
 * Return the cost of reading a page of the index, times the fraction of index
 * and trees that effective_cache_size has no room for.
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
 * Set shapes to the shapes of the trees, by their numbers.  Return how the
 * index cuts fingerprints.  The roots show how many leaves the trees have in
 * proportion, and info->pages how many pages the index has.
 *
 * An index is hypothetical if an extension asks for a plan with an index that
 * is not there.  Then the trees are in the proportion that a build gives them
 * where all fingerprints differ, and none is NULL.
 */
static HammingLayout
measure_trees(IndexOptInfo *info, HammingShape *shapes)
{
	HammingLayout layout = {
		.words = hamming_words_of(info->opcintype[0]),
		.blocks = hamming_default_blocks(info->tuples)
	};
	double		all = 0;
	int			tree;

	memset(shapes, 0, HAMMING_TREES * sizeof(HammingShape));
	if (info->hypothetical)
		for (tree = 0; tree < HAMMING_TREES;
			 tree = hamming_next_tree(layout, tree))
		{
			shapes[tree].leaves = 1.0 / hamming_capacity(layout, tree, 0);
			shapes[tree].leading_bits =
				hamming_block_width(layout.blocks, HAMMING_TREE_BLOCK(tree));
		}
	else
	{
		Relation	index = index_open(info->indexoid, NoLock);

		layout = hamming_layout(index);
		memcpy(shapes, hamming_measure(index),
			   HAMMING_TREES * sizeof(HammingShape));
		index_close(index, NoLock);
	}
	for (tree = 0; tree < HAMMING_TREES; tree++)
		all += shapes[tree].leaves;
	for (tree = 0; tree < HAMMING_TREES; tree++)
		shapes[tree].leaves = Max(shapes[tree].leaves * info->pages / all, 1);
	return layout;
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
	List	   *searched = search_conditions(path);
	List	   *conditions = add_predicate_to_index_quals(index, searched);
	HammingShape shapes[HAMMING_TREES];
	HammingLayout layout = measure_trees(index, shapes);
	double		null_leaves = shapes[HAMMING_NULLS].leaves;
	double		leaves = shapes[0].leaves + null_leaves;
	double		entries = index->tuples / leaves;
	double		height = 1 + ceil(log(leaves) / log(HAMMING_INNER_CAPACITY));
	Wanted		wanted = read_clauses(root, path, searched);
	QualCost	recheck = {0};
	HammingPlan plan = {0};
	Cost		descent = height * PAGE_ACCESS * cpu_operator_cost;
	double		rows;
	Cost		leaf;
	Cost		search;

	*selectivity = clauselist_selectivity(root, conditions, index->rel->relid,
										  JOIN_INNER, NULL);
	*correlation = 0;
	rows = *selectivity * index->rel->tuples;
	/* where not all is searched for, the executor looks at all conditions */
	if (list_length(quals) > list_length(searched))
		cost_qual_eval(&recheck, quals, root);
	if (wanted.values)
		plan = hamming_plan(layout, shapes, wanted.radius);
	leaf = (PAGE_ACCESS + ENTRY_LOOK * entries) * cpu_operator_cost +
		page_io_cost(root, index, plan.trees <= 1);
	search = wanted.scans * wanted.searches *
		(plan.trees * descent + plan.leaves * leaf);
	if (!wanted.nulls)
		null_leaves = 0;
	*pages = plan.leaves + null_leaves;
	*startup_cost = descent + index_other_operands_eval_cost(root, quals) +
		recheck.startup;
	*total_cost = *startup_cost + search + wanted.scans *
		(null_leaves * leaf + rows * (cpu_index_tuple_cost +
									  cpu_operator_cost + recheck.per_tuple));

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
	 * looks at the visibility map.  So make such a path dearer than any
	 * sequential scan, even a disabled one.  cost_index() makes the path's
	 * total cost NaN, so that neither path is cheaper in total, and
	 * add_path() decides by the startup costs.  A bitmap scan has its costs
	 * from *total_cost.
	 */
	if (path->path.pathtype == T_IndexOnlyScan)
	{
		*startup_cost = get_float8_infinity();
		disable_path(&path->path);
	}
}
