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

#include "nodes/extensible.h"
#include "optimizer/cost.h"
#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
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
 * worker after the first is worth its time where the former takes WORTH_ANOTHER
 * times as long once more.
 */
#define WORTH_PARTIAL 2.0
#define WORTH_ANOTHER 10.0

static bool enable_hammingjoin = true;
static set_join_pathlist_hook_type next_hook;
static join_search_hook_type next_search;

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
} JoinPaths;

static Selectivity
selectivity_of(const JoinPaths *join, List *clauses)
{
	SpecialJoinInfo inner = *join->extra->sjinfo;

	inner.jointype = JOIN_INNER;
	return clauselist_selectivity(join->sides.root, clauses, 0, JOIN_INNER,
								  &inner);
}

/* Return how many processes share a partial path, as PostgreSQL counts them. */
static double
parallel_divisor(int workers)
{
	double		leader = 1.0 - 0.3 * workers;

	return workers + (parallel_leader_participation ? Max(leader, 0) : 0);
}

/* Of a self-join outer and inner are one path. */
static CustomPath *
make_path(JoinPaths *join, Path *outer, Path *inner)
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
	/* set_number() sets the other numbers */
	numbers = list_concat(numbers, list_make4_int(0, 0, 0, 0));
	path->path.pathtype = T_CustomScan;
	path->path.parent = join->sides.joinrel;
	path->path.pathtarget = join->sides.joinrel->reltarget;
	path->path.param_info = parameters;
	path->path.parallel_safe = join->sides.joinrel->consider_parallel &&
		outer->parallel_safe && inner->parallel_safe;
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
 * A semi or anti join reads the pairs of an outer row up to the first partner.
 * have_partner is the fraction of the outer rows that have one.  Return which
 * fraction of all pairs is read, if each row has equally many; 1 of any other
 * join.  If m of n pairs, in random order, are partners, the first one is
 * number (n + 1) / (m + 1) on average: PostgreSQL counts 2 n / (m + 1), as in
 * final_cost_nestloop().
 */
static double
fraction_read(const JoinPaths *join, double have_partner)
{
	double		partners = join->extra->semifactors.match_count;

	if (!looks_for_one(join->sides.type))
		return 1;
	return 1 - have_partner * (1 - Min(2 / (partners + 1), 1));
}

/*
 * Return how many pairs of rows are read again, to check the other clauses,
 * which are filter, or to return the rows.  pairs is the number of those within
 * the radius that have equal keys.  A semi or anti join without a filter reads
 * none again, else those of a row up to the first partner.
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
cost_path(JoinPaths *join, CustomPath *path, Path *outer, Path *inner,
		  int workers)
{
	List	   *others = list_nth(path->custom_private, PATH_CLAUSES);
	List	   *ordered = hamming_order_clauses(join->sides.root, others);
	List	   *filter = list_concat_copy(join->keys, ordered);
	Selectivity equal = selectivity_of(join, join->keys);
	Selectivity near = selectivity_of(join, list_make1(join->clause.rinfo));
	JoinEstimate estimate = {
		.type = join->sides.type,
		.radius = join->clause.likely_radius,
		.groups = Max(1, Min(1 / equal, Min(outer->rows, inner->rows))),
		.filter = cost_of_clauses(join, filter),
		.are_same_rows = outer != inner && join->is_of_same_rows,
		.is_shared = path->path.parallel_aware,
		.workers = workers
	};

	estimate.near = outer->rows * inner->rows * near;
	/* no row is read as its own partner: see self.c */
	if (join->is_of_same_rows)
		estimate.near = Max(estimate.near - outer->rows, 0);
	estimate.near *= equal;
	estimate.pairs = pairs_read(join, estimate.near, filter);
	if (join->clause.bits == 64)
		hamming_cost_join(path, &estimate);
	else
		hamming_cost_join_128(path, &estimate);
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
 * before.  A semi or anti join finds all pairs before its first row.
 */
static bool
may_end_early(const JoinPaths *join)
{
	const PlannerInfo *root = join->sides.root;

	return root->tuple_fraction > 0 && root->query_pathkeys == NIL &&
		!root->parse->hasAggs && !root->parse->hasWindowFuncs &&
		!looks_for_one(join->sides.type);
}

/*
 * Add paths by the cheapest paths of the sides: one by this process alone, and
 * one whose search has workers.  These find all pairs before the first row
 * comes, so there is none where the statement may end early.  It is not
 * parallel safe: below a Gather the leader alone would launch workers.  A semi
 * or anti join has none for partitions: see hamming_partitions_pair().
 */
static void
add_whole_paths(JoinPaths *join, Path *outer, Path *inner)
{
	CustomPath *path = make_path(join, outer, inner);
	JoinEstimate team;
	Cost		search;
	int			workers;

	join->whole = cost_path(join, path, outer, inner, 0);
	set_number(path, JOIN_FILES, join->whole.has_files);
	add_path(join->sides.joinrel, &path->path);
	search = join->whole.search;
	/* what has a partner is searched for no more */
	if (looks_for_one(join->sides.type))
		search *= 1 - join->extra->semifactors.outer_match_frac;
	workers = simhash_team_workers(search, join->whole.kept);
	/* a team writes its pairs to files (pass_team.c) */
	if (workers == 0 || temp_file_limit >= 0 || may_end_early(join))
		return;
	path = make_path(join, outer, inner);
	team = cost_path(join, path, outer, inner, workers);
	if (looks_for_one(join->sides.type) &&
		(team.is_divided ||
		 (team.pairs > 0 && team.near > FEW_PAIRS * outer->rows)))
		return;
	path->path.parallel_safe = false;
	set_number(path, JOIN_FILES, team.has_files);
	set_number(path, JOIN_WORKERS, workers);
	add_path(join->sides.joinrel, &path->path);
}

/*
 * The same for each process of a parallel plan, which joins a part of the outer
 * rows with all inner ones.
 */
static void
add_partial_join(JoinPaths *join, Path *outer, Path *inner)
{
	CustomPath *path = make_path(join, outer, inner);
	int			workers = outer->parallel_workers;
	double		divisor = parallel_divisor(workers);
	JoinEstimate estimate;
	double		batch;

	/* so that EXPLAIN gets to know what the workers did */
	path->path.parallel_aware = true;
	path->path.parallel_workers = workers;
	path->path.rows = clamp_row_est(path->path.rows / divisor);
	estimate = cost_path(join, path, outer, inner, 0);

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
	add_partial_path(join->sides.joinrel, &path->path);
}

/*
 * Add paths by which processes share the outer rows.  PostgreSQL chooses the
 * number of processes by the size of the outer table.  But to find the pairs of
 * a small table may take long.  So add a second scan.  Its number of processes
 * is what PostgreSQL chooses for a table that takes as long to read as the
 * pairs take.
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
			add_partial_join(join, path, inner);
	}
	if (!hamming_is_whole_table(join->sides.root, outer) ||
		!bms_is_empty(outer->lateral_relids))
		return;
	more = compute_parallel_worker(outer, pages, -1,
								   max_parallel_workers_per_gather);
	more = Min(Max(workers, more), worth);
	if (more != workers)
		add_partial_join(join, create_seqscan_path(join->sides.root, outer,
												   NULL, more), inner);
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

/* The planner offers right joins with their sides exchanged, too. */
static bool
is_known_type(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_FULL ||
		looks_for_one(type);
}

/*
 * Return how many pairs of rows a hash semi or anti join compares beside those
 * that PostgreSQL counts.  It compares an outer row with the inner rows that
 * have equal keys.  final_cost_hashjoin() counts them all for an inner join,
 * but here once for each row of the result.
 */
static double
uncounted_in_hash_join(JoinPaths *join, const HashPath *path)
{
	double		matched = join->extra->semifactors.outer_match_frac;
	double		counted = join->sides.type == JOIN_SEMI ? matched : 1 - matched;
	double		rows;			/* that are compared with an outer row */

	if (!looks_for_one(join->sides.type))
		return 0;
	rows = path->jpath.innerjoinpath->parent->rows *
		selectivity_of(join, path->path_hashclauses) *
		fraction_read(join, matched);
	return path->jpath.outerjoinpath->rows * (rows - counted);
}

/*
 * The same for a nested loop.  PostgreSQL takes a scan of an index for a value
 * of the outer row to find equally many rows for each value.  But a value that
 * is frequent on both sides, as a site of many rows, finds more of them, and
 * more often: the selectivity of a join has that.
 */
static double
uncounted_in_nested_loop(JoinPaths *join, const NestPath *path)
{
	Path	   *inner = path->jpath.innerjoinpath;
	Path	   *scan = inner;
	Selectivity counted;
	Selectivity found;
	List	   *clauses;

	if (IsA(scan, MemoizePath))
		scan = ((MemoizePath *) scan)->subpath;
	if (IsA(scan, BitmapHeapPath))
		scan = ((BitmapHeapPath *) scan)->bitmapqual;
	if (!IsA(scan, IndexPath))
		return 0;
	clauses = get_quals_from_indexclauses(((IndexPath *) scan)->indexclauses);
	counted = clauselist_selectivity(join->sides.root, clauses,
									 inner->parent->relid, JOIN_INNER, NULL);
	found = selectivity_of(join, clauses);
	return path->jpath.outerjoinpath->rows * inner->parent->tuples *
		(found - counted) *
		fraction_read(join, join->extra->semifactors.outer_match_frac);
}

/* Return what a path of PostgreSQL's costs more than it says: 0 or more. */
static Cost
uncounted_cost(JoinPaths *join, Path *path)
{
	double		pairs = 0;
	List	   *others = list_difference_ptr(join->sides.clauses, join->keys);

	if (IsA(path, HashPath))
		pairs = uncounted_in_hash_join(join, (HashPath *) path);
	else if (IsA(path, NestPath))
		pairs = uncounted_in_nested_loop(join, (NestPath *) path);
	if (pairs <= 0)
		return 0;
	others = hamming_order_clauses(join->sides.root, others);
	return pairs * (cpu_tuple_cost + cost_of_clauses(join, others).per_tuple);
}

static bool
joins_sides(Path *path, const JoinSides *sides)
{
	return (IsA(path, NestPath) || IsA(path, MergePath) ||
			IsA(path, HashPath)) &&
		((JoinPath *) path)->outerjoinpath->parent == sides->outer &&
		((JoinPath *) path)->innerjoinpath->parent == sides->inner;
}

/*
 * Return the paths that do not join the sides.  Set *is_undercounted to true if
 * one of those that do costs more than it says.
 */
static List *
other_paths(JoinPaths *join, List *paths, bool *is_undercounted)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, paths)
	{
		if (!joins_sides(lfirst(lc), &join->sides))
			result = lappend(result, lfirst(lc));
		else if (uncounted_cost(join, lfirst(lc)) > 0)
			*is_undercounted = true;
	}
	return result;
}

/*
 * Have PostgreSQL make its paths for the sides, without some methods of
 * joining, and without the hooks.  The lists of the relation must be empty.
 */
static void
make_paths(JoinPaths *join, uint64 without)
{
	const JoinSides *sides = &join->sides;
	uint64		methods = get_join_methods(sides->joinrel);
	set_join_pathlist_hook_type hook = set_join_pathlist_hook;

	set_join_methods(sides->joinrel, methods & ~without);
	set_join_pathlist_hook = NULL;
	PG_TRY();
	{
		add_paths_to_joinrel(sides->root, sides->joinrel, sides->outer,
							 sides->inner, sides->type, join->extra->sjinfo,
							 sides->clauses);
	}
	PG_FINALLY();
	{
		set_join_pathlist_hook = hook;
		set_join_methods(sides->joinrel, methods);
	}
	PG_END_TRY();
}

static void
add_charged(JoinPaths *join, List *paths, bool by_hash,
			void (*add) (RelOptInfo *, Path *))
{
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *path = lfirst(lc);

		if (IsA(path, HashPath) != by_hash || !joins_sides(path, &join->sides))
			continue;
		path->total_cost += uncounted_cost(join, path);
		add(join->sides.joinrel, path);
	}
}

/*
 * Charge PostgreSQL's paths for the sides what they cost more.  Where none of
 * those in the lists does, all stay.  Else those that seemed to cost less have
 * kept off others, so all are made again: hash joins apart, and then the
 * others.  What a hook that was set later has done to them before it called
 * ours is lost then.
 */
static void
charge_paths(JoinPaths *join)
{
	RelOptInfo *joinrel = join->sides.joinrel;
	bool		is_undercounted = false;
	List	   *paths = other_paths(join, joinrel->pathlist, &is_undercounted);
	List	   *partial = other_paths(join, joinrel->partial_pathlist,
									  &is_undercounted);
	int			by_hash;

	if (!is_undercounted)
		return;
	for (by_hash = 1; by_hash >= 0; by_hash--)
	{
		List	   *made;
		List	   *made_partial;

		joinrel->pathlist = joinrel->partial_pathlist = NIL;
		make_paths(join, by_hash ? NESTED_LOOPS : HASH_JOINS);
		made = joinrel->pathlist;
		made_partial = joinrel->partial_pathlist;
		joinrel->pathlist = paths;
		joinrel->partial_pathlist = partial;
		add_charged(join, made, by_hash, add_path);
		add_charged(join, made_partial, by_hash, add_partial_path);
		paths = joinrel->pathlist;
		partial = joinrel->partial_pathlist;
	}
}

/*
 * set_join_pathlist_hook: add paths for a join that has a fitting clause.
 * What another library's hook does to PostgreSQL's paths stays done: they are
 * charged before the hook that was there first looks at them.
 */
static void
consider_hamming_join(PlannerInfo *root, RelOptInfo *joinrel,
					  RelOptInfo *outerrel, RelOptInfo *innerrel,
					  JoinType jointype, JoinPathExtraData *extra)
{
	JoinPaths	join = {
		.sides = {root, joinrel, outerrel, innerrel, jointype,
		extra->restrictlist},.extra = extra
	};
	Path	   *outer = outerrel->cheapest_total_path;
	Path	   *inner = innerrel->cheapest_total_path;
	bool		is_served;

	/* PostgreSQL has no other method for a full join */
	is_served = (enable_hammingjoin || jointype == JOIN_FULL) &&
		is_known_type(jointype) &&
		hamming_find_clause(&join.sides, &join.clause) &&
		stands_alone(outer, innerrel) && stands_alone(inner, outerrel);
	if (is_served)
		join.keys = hamming_find_keys(&join.sides, &join.equalities);
	if (join.keys != NIL && jointype != JOIN_FULL)
		charge_paths(&join);
	if (next_hook != NULL)
		next_hook(root, joinrel, outerrel, innerrel, jointype, extra);
	if (!is_served)
		return;
	join.columns = hamming_result_columns(&join.sides);
	if (!hamming_can_plan_join(join.columns))
		return;
	join.is_of_same_rows = hamming_are_same_rows(&join.sides, &join.clause,
												 join.equalities);
	add_whole_paths(&join, outer, inner);
	if (jointype == JOIN_INNER && join.is_of_same_rows)
	{
		Path	   *rows = hamming_self_path(&join.sides);

		if (rows != NULL)
			add_whole_paths(&join, rows, rows);
	}
	if (!joinrel->consider_parallel || jointype == JOIN_FULL ||
		!bms_is_empty(joinrel->lateral_relids) ||
		join.whole.run < WORTH_PARTIAL * join.whole.startup)
		return;
	/* the cheapest one may be a Gather */
	if (!inner->parallel_safe)
		inner = get_cheapest_parallel_safe_total_inner(innerrel->pathlist);
	if (inner != NULL)
		add_partial_joins(&join, inner);
}

static bool
have_full_join(PlannerInfo *root, List *rels)
{
	HammingClause clause;
	bool		is_full = false;
	ListCell   *rel;
	ListCell   *lc;

	foreach(lc, root->join_info_list)
		is_full |= lfirst_node(SpecialJoinInfo, lc)->jointype == JOIN_FULL;
	if (!is_full)
		return false;
	foreach(rel, rels)
	{
		foreach(lc, lfirst_node(RelOptInfo, rel)->joininfo)
		{
			Node	   *node = (Node *) lfirst_node(RestrictInfo, lc)->clause;

			if (hamming_read_clause(node, &clause))
				return true;
		}
	}
	return false;
}

/* An error context: PostgreSQL has found no plan for a full join. */
static void
add_hint(void *arg)
{
	if (geterrcode() == ERRCODE_FEATURE_NOT_SUPPORTED)
		errhint("PostgreSQL 15 and 16 cannot run a full join on a distance "
				"together with a condition without a column. Put the join into "
				"a subquery with OFFSET 0, and the condition outside.");
}

/*
 * join_search_hook, where PostgreSQL does not ask consider_hamming_join() for a
 * join whose result has a condition without a column: tell what to write for a
 * full join, which nothing else serves.
 */
static RelOptInfo *
search_joins(PlannerInfo *root, int levels, List *rels)
{
	ErrorContextCallback context = {error_context_stack, add_hint, NULL};
	RelOptInfo *result;

	if (root->hasPseudoConstantQuals && have_full_join(root, rels))
		error_context_stack = &context;
	if (next_search != NULL)
		result = next_search(root, levels, rels);
	else if (enable_geqo && levels >= geqo_threshold)
		result = geqo(root, levels, rels);
	else
		result = standard_join_search(root, levels, rels);
	error_context_stack = context.previous;
	return result;
}

void
hamming_join_init(void)
{
	DefineCustomBoolVariable("simhash.enable_hammingjoin",
							 "Enables the planner's use of Hamming join plans.",
							 NULL, &enable_hammingjoin, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	RegisterCustomScanMethods(&hamming_join_scan_methods);
	next_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = consider_hamming_join;
	if (!CHECKS_PSEUDOCONSTANTS)
	{
		next_search = join_search_hook;
		join_search_hook = search_joins;
	}
}
