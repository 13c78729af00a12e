/*
 * path.c
 *	  The join method HammingJoin, as the planner meets it.
 *
 * The planner looks for join paths after it has asked the functions of the
 * extension how to simplify a clause, or how many rows it selects: so the
 * library is loaded by then, and its hook is set, in a session's first
 * statement, too.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "nodes/extensible.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/float.h"
#include "utils/guc.h"
#include "utils/selfuncs.h"

#include "join/plan.h"
#include "near/team.h"
#include "type/compat.h"

/*
 * Each process of a partial path checks clauses for its share of the outer
 * rows, but reads and sorts all inner rows.  A team shares the search, but the
 * leader alone checks clauses.  So a partial path is offered only where the
 * work for pairs takes WORTH_PARTIAL times as long as all before it.  Each
 * worker after the first is worth its time where the former takes
 * WORTH_ANOTHER times as long once more.
 */
#define WORTH_PARTIAL 2.0
#define WORTH_ANOTHER 10.0

/*
 * A join of PostgreSQL's may run LET_RUN times as long as a HammingJoin takes.
 * So both together take at most 1.5 times as long as the HammingJoin alone, and
 * three times as long as the first join alone.  One that finds its rows at
 * once, or not at all, may run LET_BEGIN times as long.  One that cannot be
 * bounded must cost less than 1 / FAR_LESS of a HammingJoin.
 */
#define LET_RUN 0.5
#define LET_BEGIN 0.25
#define FAR_LESS 3

/*
 * PostgreSQL expects that a third of all rows is above a value that it does
 * not know, and a ninth between two of them.  There may be far fewer than a
 * ninth, as where the two are close: a nested loop by such ranges may begin if
 * it is expected to take up to WORTH_A_TRY times as long as a HammingJoin.
 */
#define BETWEEN_TWO 0.12
#define WORTH_A_TRY 10

static bool enable_hammingjoin = true;
static set_join_pathlist_hook_type next_hook;

static const CustomPathMethods path_methods = {
	.CustomName = "HammingJoin",
	.PlanCustomPath = hamming_plan_join,
	.ReparameterizeCustomPathByChild = hamming_join_for_partition
};

typedef struct JoinPaths
{
	JoinSides	sides;
	JoinPathExtraData *extra;
	HammingClause clause;
	List	   *keys;			/* hamming_find_keys() */
	List	   *equalities;		/* the same, as the plan has them */
	List	   *columns;		/* hamming_result_columns() */
	bool		is_of_same_rows;	/* hamming_are_same_rows() */
	JoinEstimate whole;			/* of a path by one process */
	Path	   *self_rows;		/* of a self-join that can read them once */
	Cost		least;			/* that a path takes before its first pair */
	Cost		total;			/* and for all pairs */
} JoinPaths;

static Selectivity
selectivity_of(const JoinPaths *join, List *clauses)
{
	SpecialJoinInfo inner = *join->extra->sjinfo;

	inner.jointype = JOIN_INNER;
	return clauselist_selectivity(join->sides.root, clauses, 0, JOIN_INNER,
								  &inner);
}

/*
 * Return how many processes share a partial path, as PostgreSQL counts them.
 */
static double
parallel_divisor(int workers)
{
	double		leader = 1.0 - 0.3 * workers;

	return workers + (parallel_leader_participation ? Max(leader, 0) : 0);
}

/*
 * Of a self-join outer and inner are one path.  A path whose search has workers
 * is not parallel safe: below a Gather the leader alone would launch them.
 */
static CustomPath *
make_path(JoinPaths *join, Path *outer, Path *inner, int workers)
{
	CustomPath *path = makeNode(CustomPath);
	Relids		required = calc_non_nestloop_required_outer(outer, inner);
	List	   *clauses = join->sides.clauses;
	ParamPathInfo *parameters =
	get_joinrel_parampathinfo(join->sides.root, join->sides.joinrel, outer,
							  inner, join->extra->sjinfo, required, &clauses);
	List	   *others = list_difference_ptr(clauses, join->keys);

	/* a clause with a parameter may have been moved to one side */
	bool		is_of_same_rows = join->is_of_same_rows && parameters == NULL;
	List	   *numbers = list_make3_int(join->sides.type, join->clause.bits,
										 is_of_same_rows);

	others = list_delete_ptr(others, join->clause.rinfo);
	/* partial_path() sets the batch */
	numbers = list_concat(numbers, list_make3_int(0, 0, workers));
	path->path.pathtype = T_CustomScan;
	path->path.parent = join->sides.joinrel;
	path->path.pathtarget = join->sides.joinrel->reltarget;
	path->path.param_info = parameters;
	path->path.parallel_safe = join->sides.joinrel->consider_parallel &&
		outer->parallel_safe && inner->parallel_safe && workers == 0;
	path->path.rows = parameters == NULL ? join->sides.joinrel->rows
		: parameters->ppi_rows;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = outer == inner ? list_make1(outer)
		: list_make2(outer, inner);
	path->custom_private =
		list_concat(list_make5(join->clause.outer, join->clause.inner,
							   join->clause.radius, join->equalities, others),
					list_make2(join->columns, numbers));
	path->methods = &path_methods;
	set_join_clauses(path, clauses);
	set_disabled_nodes(&path->path, outer, inner);
	return path;
}

/*
 * The join is a semi or anti join, which reads the pairs of an outer row up to
 * the first partner.  have_partner is the fraction of the outer rows that have
 * a partner.  Return which fraction of all pairs is read, if each row has
 * equally many.  If m of n pairs, in random order, are partners, the first one
 * is number (n + 1) / (m + 1) on average: PostgreSQL counts 2 n / (m + 1), as
 * in final_cost_nestloop().
 */
static double
fraction_read(const JoinPaths *join, double have_partner)
{
	double		partners = join->extra->semifactors.match_count;

	return 1 - have_partner * (1 - Min(2 / (partners + 1), 1));
}

/*
 * Return how many pairs of rows are read again, to check the other clauses,
 * which are filter, or to return the rows.  pairs is the number of those
 * within the radius that have equal keys.  A semi or anti join without a
 * filter reads none again, else those of a row up to the first partner.
 */
static double
pairs_read(JoinPaths *join, double pairs, List *filter)
{
	double		have_pairs;
	double		have_partner;

	if (!looks_for_one(join->sides.type))
		return pairs;
	have_pairs = clause_selectivity(join->sides.root,
									(Node *) join->clause.rinfo, 0,
									join->sides.type, join->extra->sjinfo);
	if (filter == NIL || have_pairs <= 0)
		return 0;
	have_partner = join->extra->semifactors.outer_match_frac / have_pairs;
	return pairs * fraction_read(join, Min(have_partner, 1));
}

/* Return what it takes to check the clauses for a pair, in their order. */
static QualCost
cost_of_clauses(JoinPaths *join, List *clauses)
{
	QualCost	result = {0};
	Selectivity left = 1;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		List	   *clause = list_make1(lfirst(lc));
		QualCost	cost;

		cost_qual_eval(&cost, clause, join->sides.root);
		result.startup += cost.startup;
		result.per_tuple += cost.per_tuple * left;
		left *= selectivity_of(join, clause);
	}
	return result;
}

/* Where the node launches no workers, workers is 0. */
static JoinEstimate
cost_path(JoinPaths *join, CustomPath *path, int workers)
{
	const Path *outer = linitial(path->custom_paths);
	const Path *inner = llast(path->custom_paths);
	List	   *others = list_nth(path->custom_private, PATH_CLAUSES);
	List	   *ordered = hamming_order_clauses(join->sides.root, others);
	List	   *filter = list_concat_copy(join->keys, ordered);
	Selectivity equal = selectivity_of(join, join->keys);
	Selectivity near = selectivity_of(join, list_make1(join->clause.rinfo));
	JoinEstimate estimate = {
		.type = join->sides.type,
		.word_count = join->clause.bits / 64,
		.radius = join->clause.likely_radius,
		.groups = Max(1, Min(1 / equal, Min(outer->rows, inner->rows))),
		.filter = cost_of_clauses(join, filter),
		.looked_at = 1,
		.are_same_rows = outer != inner && join->is_of_same_rows,
		.is_shared = path->path.parallel_aware,
		.workers = workers
	};

	if (looks_for_one(join->sides.type))
	{
		double		matched = outer->rows *
		join->extra->semifactors.outer_match_frac;

		/* as final_cost_nestloop() rounds it */
		estimate.looked_at = fraction_read(join, rint(matched) / outer->rows);
	}
	estimate.near = outer->rows * inner->rows * near * equal;
	estimate.pairs = pairs_read(join, estimate.near, filter);
	hamming_cost_join(path, &estimate);
	return estimate;
}

static void
set_number(CustomPath *path, JoinNumber which, double number)
{
	List	   *numbers = list_nth(path->custom_private, PATH_NUMBERS);

	lfirst_int(list_nth_cell(numbers, which)) = Min(number, PG_INT32_MAX);
}

/*
 * May the statement end before it has read all rows of the join?  A LIMIT, a
 * cursor or EXISTS may end it, unless the rows are sorted, grouped or counted
 * before.
 */
static bool
may_end_early(const JoinPaths *join)
{
	const PlannerInfo *root = join->sides.root;

	return root->tuple_fraction > 0 && root->query_pathkeys == NIL &&
		!root->parse->hasAggs && !root->parse->hasWindowFuncs;
}

/*
 * Return paths for the rows of both sides: one by this process alone, and
 * maybe one whose search has workers.  These find all pairs before the first
 * row comes, so there is none where the statement may end early, unless it is
 * a semi or anti join, which finds all pairs before its first row anyway.  A
 * semi or anti join has none for partitions: see hamming_partitions_pair().
 */
static List *
whole_paths(JoinPaths *join, Path *outer, Path *inner)
{
	CustomPath *path = make_path(join, outer, inner, 0);
	List	   *paths = list_make1(path);
	bool		is_for_one = looks_for_one(join->sides.type);
	JoinEstimate team;
	Cost		search;
	int			workers;

	join->whole = cost_path(join, path, 0);
	join->least = Min(join->least, join->whole.startup);
	search = join->whole.search;
	/* what has a partner is searched for no more */
	if (is_for_one)
		search *= 1 - join->extra->semifactors.outer_match_frac;
	workers = simhash_team_workers(search, join->whole.kept);
	/* a team writes its pairs to files (pass_team.c) */
	if (workers == 0 || temp_file_limit >= 0 ||
		(may_end_early(join) && !is_for_one))
		return paths;
	path = make_path(join, outer, inner, workers);
	team = cost_path(join, path, workers);
	if (is_for_one && (team.is_divided ||
					   (team.pairs > 0 &&
						team.near > FEW_PAIRS * outer->rows)))
		return paths;
	return lappend(paths, path);
}

static void
add_whole_paths(JoinPaths *join, Path *outer, Path *inner)
{
	ListCell   *lc;

	foreach(lc, whole_paths(join, outer, inner))
	{
		Path	   *path = lfirst(lc);

		join->total = Min(join->total, path->total_cost);
		add_path(join->sides.joinrel, path);
	}
}

/*
 * Return a path for each process of a parallel plan, which joins a part of the
 * outer rows with all inner ones.
 */
static Path *
partial_path(JoinPaths *join, Path *outer, Path *inner)
{
	CustomPath *path = make_path(join, outer, inner, 0);
	int			workers = outer->parallel_workers;
	double		divisor = parallel_divisor(workers);
	JoinEstimate estimate;
	double		batch;

	/* so that EXPLAIN gets to know what the workers did */
	path->path.parallel_aware = true;
	path->path.parallel_workers = workers;
	path->path.rows = clamp_row_est(path->path.rows / divisor);
	estimate = cost_path(join, path, 0);

	/*
	 * The leader has the same share, as it does not wait for rows meanwhile.
	 * One batch has all rows that a process can get: if the others come too
	 * late, each would only pass over the inner rows as well.
	 */
	batch = outer->rows * divisor / (workers + parallel_leader_participation) /
		estimate.batches;
	if (estimate.batches > 1)
	{
		set_number(path, JOIN_BATCH, ceil(batch));
		set_number(path, JOIN_BATCH_PAIRS,
				   estimate.pairs * batch / outer->rows);
	}
	return &path->path;
}

static void
add_partial_join(JoinPaths *join, Path *path)
{
	join->total = Min(join->total, path->total_cost);
	add_partial_path(join->sides.joinrel, path);
}

/*
 * Add paths by which processes share the outer rows.  PostgreSQL chooses the
 * number of processes by the size of the outer table.  But to find the pairs
 * of a small table may take long.  So add a second scan.  Its number of
 * processes is what PostgreSQL chooses for a table that takes as long to read
 * as the pairs take.
 */
static void
add_partial_joins(JoinPaths *join, Path *inner)
{
	RelOptInfo *outer = join->sides.outer;
	double		pages = join->whole.run / DEFAULT_SEQ_PAGE_COST;
	double		times = join->whole.run / join->whole.startup;
	int			worth = Min(1 + times / WORTH_ANOTHER,
							max_parallel_workers_per_gather);
	int			workers = 0;	/* of the first scan */
	int			more;

	if (outer->partial_pathlist != NIL)
	{
		Path	   *path = linitial(outer->partial_pathlist);

		workers = path->parallel_workers;
		if (workers <= worth)
			add_partial_join(join, partial_path(join, path, inner));
	}
	if (!hamming_is_whole_table(join->sides.root, outer) ||
		!bms_is_empty(outer->lateral_relids))
		return;
	more = compute_parallel_worker(outer, pages, -1,
								   max_parallel_workers_per_gather);
	more = Min(Max(workers, more), worth);
	if (more != workers)
	{
		Path	   *path = create_seqscan_path(join->sides.root, outer, NULL,
											   more);

		add_partial_join(join, partial_path(join, path, inner));
	}
}

/*
 * Does the path get no row of the other side as a parameter?  A path of a
 * partition has parameters of the partitioned table, until it is joined to one
 * of that table's partitions.
 */
static bool
stands_alone(Path *path, RelOptInfo *other)
{
	return path != NULL && !bms_overlap(PATH_REQ_OUTER(path), other->relids) &&
		!bms_overlap(PATH_REQ_OUTER(path), other->top_parent_relids);
}

/* Take PostgreSQL's joins of the sides out of the list, and return them. */
static List *
take_joins(const JoinSides *sides, List **paths)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, *paths)
	{
		JoinPath   *path = lfirst(lc);

		if ((!IsA(path, NestPath) && !IsA(path, HashPath) &&
			 !IsA(path, MergePath)) ||
			path->outerjoinpath->parent != sides->outer ||
			path->innerjoinpath->parent != sides->inner)
			continue;
		result = lappend(result, path);
		*paths = foreach_delete_current(*paths, lc);
	}
	return result;
}

/*
 * A hash semi or anti join compares an outer row with the inner rows that have
 * equal keys.  final_cost_hashjoin() counts these for an inner join, but here
 * once for each row of the result.  Return what the others cost.
 */
static Cost
uncounted_cost(JoinPaths *join, const HashPath *path)
{
	double		matched = join->extra->semifactors.outer_match_frac;
	double		counted = join->sides.type == JOIN_SEMI ? matched : 1 - matched;
	List	   *others = list_difference_ptr(join->sides.clauses, join->keys);
	double		rows;			/* that are compared with an outer row */

	if (!looks_for_one(join->sides.type))
		return 0;
	rows = path->jpath.innerjoinpath->parent->rows *
		selectivity_of(join, path->path_hashclauses) *
		fraction_read(join, matched);
	others = hamming_order_clauses(join->sides.root, others);
	return path->jpath.outerjoinpath->rows * Max(rows - counted, 0) *
		(cpu_tuple_cost + cost_of_clauses(join, others).per_tuple);
}

/*
 * Return how many rows a relation has at most, whatever the planner expects.
 * It may expect none in a table that had none when it was analyzed.
 */
static double
most_rows(PlannerInfo *root, RelOptInfo *rel)
{
	if (IS_SIMPLE_REL(rel) && rel->rtekind == RTE_VALUES)
		return rel->tuples;
	if (!hamming_is_whole_table(root, rel))
		return get_float8_infinity();
	if (is_one_row(root, rel))
		return 1;
	return Max(rel->tuples, (double) rel->pages * MaxHeapTuplesPerPage);
}

/* Return the scan of an index by which the path looks up rows, or NULL. */
IndexPath *
hamming_index_scan(Path *path)
{
	if (IsA(path, BitmapHeapPath))
		path = ((BitmapHeapPath *) path)->bitmapqual;
	return IsA(path, IndexPath) ? (IndexPath *) path : NULL;
}

/*
 * Does the scan, which may be NULL, look up rows by any of the clauses?  It
 * may have a copy of one, or, of an equivalence class, one with its sides
 * exchanged.
 */
static bool
looks_up_by(const IndexPath *scan, List *clauses)
{
	ListCell   *lc;
	ListCell   *other;

	if (scan == NULL)
		return false;
	foreach(lc, scan->indexclauses)
	{
		RestrictInfo *rinfo = lfirst_node(IndexClause, lc)->rinfo;

		foreach(other, clauses)
		{
			RestrictInfo *clause = lfirst_node(RestrictInfo, other);

			if (equal(rinfo, clause) || (rinfo->parent_ec != NULL &&
										 rinfo->parent_ec == clause->parent_ec))
				return true;
		}
	}
	return false;
}

/*
 * May a plan have two scans of rel, which return the same rows?  PostgreSQL can
 * make a subquery's plan only once: set_plan_references()
 * changes what belongs to the subquery.  A recursive query's working table has
 * one reader.  Functions and samples may give other rows.
 */
static bool
can_read_twice(PlannerInfo *root, const RelOptInfo *rel)
{
	int			relid = -1;

	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
	{
		const RangeTblEntry *rte = planner_rt_fetch(relid, root);

		if (!(rte->rtekind == RTE_RELATION && rte->tablesample == NULL) &&
			!(rte->rtekind == RTE_CTE && !rte->self_reference) &&
			rte->rtekind != RTE_JOIN)
			return false;
	}
	return true;
}

/*
 * Return an AdaptiveJoin of PostgreSQL's join and of a HammingJoin with inner,
 * where the former may cost most in vain; or NULL if there can be none.
 */
static Path *
adaptive_path(JoinPaths *join, JoinPath *first, Path *inner, bool is_partial,
			  Cost most)
{
	PlannerInfo *root = join->sides.root;
	JoinPaths	other = *join;	/* of the rows that are left */
	Path	   *outer = first->outerjoinpath;
	Path	   *outer_rows;
	Path	   *rest;

	/* a Result for conditions without a column might come between the nodes */
	if (inner == NULL || join->sides.type == JOIN_FULL ||
		root->hasPseudoConstantQuals ||
		PATH_REQ_OUTER(&first->path) != NULL ||
		!can_read_twice(root, join->sides.inner))
		return NULL;
	if (join->self_rows != NULL && !is_partial &&
		outer == join->sides.outer->cheapest_total_path)
		outer = inner = join->self_rows;
	outer_rows = hamming_outer_rows_path(outer);
	if (inner == outer)
		inner = outer_rows;
	rest = is_partial ? partial_path(&other, outer_rows, inner)
		: llast(whole_paths(&other, outer_rows, inner));
	/* the processes together */
	if (is_partial)
		most /= parallel_divisor(first->path.parallel_workers);
	return hamming_adaptive_path(root, first, outer, outer_rows, rest, most);
}

/*
 * A nested loop that compares each outer row with all inner ones is good for
 * one thing: where there are many pairs, it finds the first ones at once.  So
 * where the statement may end early, it may begin; else it is left out.  It
 * stays where it gets its outer rows by a row of another relation: there are
 * few each time, and a HammingJoin gets them in no such way.  Return a path,
 * or NULL.
 */
static Path *
bounded_comparison(JoinPaths *join, JoinPath *loop, Path *inner,
				   bool is_partial)
{
	if (!bms_is_subset(PATH_REQ_OUTER(&loop->path),
					   loop->path.parent->lateral_relids))
		return &loop->path;
	if (is_partial || !may_end_early(join))
		return NULL;
	return adaptive_path(join, loop, inner, false, join->least * LET_BEGIN);
}

/*
 * A nested loop that looks up fingerprints in an index finds the pairs that a
 * HammingJoin finds.  It may run as long as it needs where that is little for
 * all outer rows that there can be, else as long as a HammingJoin needs for
 * its first pair.
 *
 * One that looks up other columns may find few rows where there are many
 * pairs, or all rows.  So it may run as long as a HammingJoin takes for all
 * pairs.  How many rows it finds by another clause than a key, such as a
 * range, is a guess.  Where this says that it takes longer, it may begin, and
 * is expected to come to its end as often as not.
 */
static Path *
bounded_look_up(JoinPaths *join, JoinPath *loop, Path *inner, bool is_partial)
{
	IndexPath  *scan = hamming_index_scan(loop->innerjoinpath);
	double		rows = most_rows(join->sides.root, join->sides.outer);
	bool		is_guess = false;
	Cost		most = join->total * LET_RUN;
	Path	   *path;

	if (rows <= 1)
		return &loop->path;
	if (looks_up_by(scan, list_make1(join->clause.rinfo)))
	{
		if (rows * loop->innerjoinpath->total_cost <= join->least)
			return &loop->path;
		most = join->least * LET_RUN;
	}
	else if (loop->path.total_cost > join->total && scan != NULL &&
			 loop->path.total_cost < WORTH_A_TRY * join->total &&
			 scan->indexselectivity < BETWEEN_TWO &&
			 !looks_up_by(scan, join->keys))
	{
		is_guess = true;
		most = join->total * LET_BEGIN;
	}
	path = adaptive_path(join, loop, inner, is_partial, most);
	if (path == NULL)
		return &loop->path;
	if (is_guess)
		path->total_cost = join->total * (LET_BEGIN + 0.5);
	return path;
}

/*
 * A join by keys compares all rows that have equal keys.  Where an outer row
 * has at most one of these, or there are few rows, it may run as long as it
 * needs.  Else a hash join may run as long as a HammingJoin takes, but only if
 * its table is in memory: if not, it reads all outer rows before it compares
 * most of them.  What cannot be bounded has to be expected to take far less.
 */
static Path *
bounded_key_join(JoinPaths *join, JoinPath *path, Path *inner, bool is_partial)
{
	PlannerInfo *root = join->sides.root;
	Path	   *adaptive = NULL;

	if (join->extra->inner_unique ||
		most_rows(root, join->sides.outer) *
		most_rows(root, join->sides.inner) * (cpu_tuple_cost +
											  cpu_operator_cost) <=
		join->least)
		return &path->path;
	if (IsA(path, HashPath) && ((HashPath *) path)->num_batches == 1)
		adaptive = adaptive_path(join, path, inner, is_partial,
								 join->total * LET_RUN);
	if (adaptive == NULL && path->path.total_cost * FAR_LESS < join->total)
		return &path->path;
	return adaptive;
}

/*
 * Add PostgreSQL's joins, with bounds and with costs that it has not counted.
 */
static void
add_joins(JoinPaths *join, List *paths, Path *inner, bool is_partial)
{
	ListCell   *lc;

	foreach(lc, paths)
	{
		JoinPath   *first = lfirst(lc);
		Path	   *path;

		if (IsA(first, HashPath))
			first->path.total_cost += uncounted_cost(join, (HashPath *) first);
		if (!IsA(first, NestPath))
			path = bounded_key_join(join, first, inner, is_partial);
		else if (stands_alone(first->innerjoinpath, join->sides.outer))
			path = bounded_comparison(join, first, inner, is_partial);
		else
			path = bounded_look_up(join, first, inner, is_partial);
		if (path == NULL)
			continue;
		if (is_partial)
			add_partial_path(join->sides.joinrel, path);
		else
			add_path(join->sides.joinrel, path);
	}
}

/*
 * join->sides is set.  Find out what a HammingJoin of the sides needs; return
 * false if there can be none.
 */
static bool
prepare_join(JoinPaths *join)
{
	const JoinSides *sides = &join->sides;
	JoinType	type = sides->type;

	/* the planner offers right joins with their sides exchanged, too */
	if ((type != JOIN_INNER && type != JOIN_LEFT && type != JOIN_FULL &&
		 !looks_for_one(type)) ||
		!hamming_find_clause(sides, &join->clause) ||
		!stands_alone(sides->outer->cheapest_total_path, sides->inner) ||
		!stands_alone(sides->inner->cheapest_total_path, sides->outer))
		return false;
	join->columns = hamming_result_columns(sides);
	if (!hamming_can_plan_join(join->columns))
		return false;
	join->keys = hamming_find_keys(sides, &join->equalities);
	join->is_of_same_rows = hamming_are_same_rows(sides, &join->clause,
												  join->equalities);
	return true;
}

/*
 * PostgreSQL offers right joins, by keys only, after left joins of the same
 * rows.  A right join that looks better has removed the HammingJoin.  So add
 * it again, once right joins are bounded.
 */
static void
bound_right_joins(JoinPaths *join)
{
	RelOptInfo *joinrel = join->sides.joinrel;
	JoinPaths	left = *join;
	List	   *others;
	List	   *partial_others;

	left.sides.outer = join->sides.inner;
	left.sides.inner = join->sides.outer;
	left.sides.type = JOIN_LEFT;
	if (!prepare_join(&left) || left.keys == NIL)
		return;
	others = take_joins(&join->sides, &joinrel->pathlist);
	partial_others = take_joins(&join->sides, &joinrel->partial_pathlist);
	add_whole_paths(&left, left.sides.outer->cheapest_total_path,
					left.sides.inner->cheapest_total_path);
	join->least = left.least;
	join->total = left.total;
	add_joins(join, others, NULL, false);
	add_joins(join, partial_others, NULL, true);
}

/*
 * set_join_pathlist_hook: add paths for a join that has a fitting clause, and
 * bound PostgreSQL's joins.  What another library's hook does to its
 * joins stays done: the hook that was there first is called before.
 */
static void
consider_hamming_join(PlannerInfo *root, RelOptInfo *joinrel,
					  RelOptInfo *outerrel, RelOptInfo *innerrel,
					  JoinType jointype, JoinPathExtraData *extra)
{
	JoinPaths	join = {
		.sides = {root, joinrel, outerrel, innerrel, jointype,
		extra->restrictlist},.extra = extra,.least = get_float8_infinity(),
		.total = get_float8_infinity()
	};
	Path	   *outer = outerrel->cheapest_total_path;
	Path	   *inner = innerrel->cheapest_total_path;
	Path	   *safe_inner;
	List	   *others = NIL;
	List	   *partial_others = NIL;

	if (next_hook != NULL)
		next_hook(root, joinrel, outerrel, innerrel, jointype, extra);
	/* PostgreSQL has no other method for a full join */
	if (!enable_hammingjoin && jointype != JOIN_FULL)
		return;
	if (jointype == JOIN_RIGHT)
		bound_right_joins(&join);
	if (!prepare_join(&join))
		return;
	if (enable_hammingjoin)
	{
		others = take_joins(&join.sides, &joinrel->pathlist);
		partial_others = take_joins(&join.sides, &joinrel->partial_pathlist);
	}
	add_whole_paths(&join, outer, inner);
	if (jointype == JOIN_INNER && join.is_of_same_rows)
		join.self_rows = hamming_self_path(&join.sides);
	if (join.self_rows != NULL)
		add_whole_paths(&join, join.self_rows, join.self_rows);
	/* the cheapest one may be a Gather */
	safe_inner = inner->parallel_safe ? inner
		: get_cheapest_parallel_safe_total_inner(innerrel->pathlist);
	if (safe_inner != NULL && joinrel->consider_parallel &&
		jointype != JOIN_FULL && bms_is_empty(joinrel->lateral_relids) &&
		join.whole.run >= WORTH_PARTIAL * join.whole.startup)
		add_partial_joins(&join, safe_inner);
	add_joins(&join, others, inner, false);
	add_joins(&join, partial_others, safe_inner, true);
}

void
hamming_join_init(void)
{
	DefineCustomBoolVariable("simhash.enable_hammingjoin",
							 "Enables the planner's use of Hamming join plans.",
							 NULL, &enable_hammingjoin, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	RegisterCustomScanMethods(&hamming_join_scan_methods);
	hamming_adaptive_init();
	next_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = consider_hamming_join;
}
