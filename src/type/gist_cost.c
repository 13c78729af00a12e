/*
 * gist_cost.c
 *	  What a search of a GiST index costs.
 *
 * PostgreSQL takes a search of a GiST index to read the pages that its matches
 * are on.  A search within a radius reads each page that may have matches.  An
 * index of L pages tells random fingerprints apart by log2(L) bits, so that the
 * search reads those pages whose bits are within the radius:
 *
 *		the sum over i <= k of C(log2(L), i), of L
 *
 * With 30,000 to 2,000,000 random fingerprints and k from 3 to 10 this was off
 * by 10 % at most.  Without it PostgreSQL would take such an index to be better
 * than a hamming index of the same column, which is better for nearly every k.
 *
 * Pages are divided by the first column of an index, as far as its values
 * differ, then by the second one, and so on.  So L are the pages that the
 * conditions on the columns before leave, and those on later columns leave out
 * hardly any.  In an index on (site, fp) of 10 to 20,000 sites, a search in one
 * site read 0.8 to 1.5 times the pages that pages_read() returns.  In an index
 * on (fp, site), the condition on the site saved no page.
 */
#include "postgres.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"

#include "type/catalog.h"
#include "type/selectivity.h"
#include "type/simhash.h"

/*
 * Times cpu_operator_cost: to look at the keys of a page.  It takes 7 us, where
 * a unit, a page of a sequential read, is 2 to 4 us.
 */
#define READ_PAGE 800.0

/*
 * Conditions leave this times their selectivity of the pages, and some on the
 * way to these: pages have keys of several sites, say.
 */
#define TIMES_SELECTIVITY 1.5
#define LEAST_PAGES 2.0

/* Is the column of our operator class? */
static bool
is_ours(IndexOptInfo *index, int column)
{
	Oid			type = index->opcintype[column];
	Oid			opno = get_opfamily_member(index->opfamily[column], type, type,
										   SIMHASH_NEAR_STRATEGY);

	return OidIsValid(opno) &&
		strcmp(simhash_c_name(get_opcode(opno)), "simhash_near") == 0;
}

/* Return how many pages conditions on a column of ours read; 0 without any. */
static double
pages_read(PlannerInfo *root, IndexPath *path, int column)
{
	IndexOptInfo *index = path->indexinfo;
	double		pages = index->pages;
	List	   *before = NIL;
	double		searches;
	double		bits;
	int			radius = hamming_expected_radius(root, path, column, 1,
												 &searches);
	ListCell   *lc;

	if (radius < 0 || radius == 64)
		return 0;
	foreach(lc, path->indexclauses)
	{
		IndexClause *condition = lfirst_node(IndexClause, lc);

		if (condition->indexcol < column)
			before = list_concat(before, condition->indexquals);
	}
	if (before != NIL)
	{
		double		part = clauselist_selectivity(root, before,
												  index->rel->relid, JOIN_INNER,
												  NULL);

		pages = Min(TIMES_SELECTIVITY * part * pages + LEAST_PAGES, pages);
	}
	bits = log2(Max(pages, 1));
	return searches * Min(hamming_ball_size(bits, radius), pages);
}

/* amcostestimate of a GiST index, which may have columns of ours. */
static void
cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count,
			  Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
			  double *correlation, double *pages)
{
	int			column;

	gistcostestimate(root, path, loop_count, startup_cost, total_cost,
					 selectivity, correlation, pages);
	for (column = 0; column < path->indexinfo->nkeycolumns; column++)
	{
		double		more = -*pages;

		if (is_ours(path->indexinfo, column))
			more += pages_read(root, path, column);
		if (more > 0)
		{
			Cost		cost = more * READ_PAGE * cpu_operator_cost;

			*pages += more;
			*total_cost += cost;
			/* the first row is found halfway: see am/cost.c */
			if (path->indexorderbys == NIL)
				*startup_cost += cost / 2;
		}
	}
}

/*
 * Have a search of a GiST index of the table cost what is said here.
 *
 * The estimators of selectivity.c call this, which loads the library where
 * nothing did before.  PostgreSQL asks them before it asks for the cost of an
 * index: when it estimates the rows of a table; or, where a join gives what is
 * searched for, those of a scan of the table with such parameters.  It does not
 * where arms of an OR are searched for what different tables give: then the
 * first arm has PostgreSQL's own cost, which is lower.
 */
void
simhash_set_gist_costs(RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);

		if (index->amcostestimate == gistcostestimate)
			index->amcostestimate = cost_estimate;
	}
}
