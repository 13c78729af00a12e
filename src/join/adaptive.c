/*
 * adaptive.c
 *	  The node AdaptiveJoin: a join of PostgreSQL's for the first outer rows,
 *	  and a HammingJoin for all others.
 *
 * A nested loop that looks up each outer row in an index takes less time than
 * a HammingJoin where there are few outer rows, or where few rows of its
 * result are read; a hash join does where few rows have equal keys.  But these
 * are estimates, which may be wrong by any factor.  So the node hands outer
 * rows to the first join until this has worked in vain for a while, a part of
 * the time that the HammingJoin is expected to take.  Then the HammingJoin
 * gets those that are left.  How much longer than the better of the two both
 * take together does not depend on what the planner expects of rows and pairs.
 *
 * An outer row is joined with all inner rows by one of the two, so that this
 * holds for all joins but full ones.  The rows of the first join are those of
 * the first outer rows, and come first.  Where they have an order, the others
 * are sorted, and all have it.
 *
 *		AdaptiveJoin
 *			the outer rows
 *			Nested Loop			or Hash Join
 *				OuterRows		the outer rows, until enough work is done
 *				the inner rows	of an outer row, as a rule by an index
 *			HammingJoin			maybe below a Sort
 *				OuterRows		the other outer rows
 *				the inner rows
 *
 * A HammingJoin that reads one side for both, as of a table with itself, gets
 * all outer rows.  It leaves out what the first join has joined.
 */
#include "postgres.h"

#include "catalog/pg_am.h"
#include "executor/executor.h"
#include "executor/hashjoin.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/tuplestore.h"

#include "join/plan.h"
#include "type/compat.h"

/*
 * To compare an inner row takes about 0.1 us, as does 0.025 of PostgreSQL's
 * unit of cost in a HammingJoin.  To access a page takes as long as to compare
 * ACCESS_PAGE rows: look-ups within 3, 8 and 12 of a hamming index take 0.8 us
 * a page, and those of GiST, which looks at each entry of a page, 6 us.
 */
#define COST_OF_ROW 0.025
#define ACCESS_PAGE 8
#define ACCESS_GIST_PAGE 60

typedef struct AdaptiveJoinState
{
	CustomScanState custom;		/* must be first */
	PlanState  *outer;
	PlanState  *first;			/* PostgreSQL's join */
	PlanState  *rest;			/* the HammingJoin, or its Sort */
	uint64		count;			/* of outer rows that the first join got */
	Tuplestorestate *tried;		/* these, of a self-join */
	TupleTableSlot *slot;		/* for one of them */
	double		most;			/* work in vain after which the first join
								 * ends, in rows that are compared */
	double		page;			/* what a page counts as */
	double		pages;			/* accessed by it, but for the outer rows */
	double		rows_before;	/* rows_compared() of scans before this one */
	double		counted;		/* pages_accessed() up to which pages counts */
	bool		is_over;		/* has the first join ended? */
	bool		has_rest;		/* if so, may there be other outer rows? */
	bool		is_at_end;		/* have all outer rows been read? */
} AdaptiveJoinState;

typedef struct OuterRowsState
{
	CustomScanState custom;		/* must be first */
	AdaptiveJoinState *join;
} OuterRowsState;

/* Return how many pages this process has accessed. */
static double
pages_accessed(void)
{
	return pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_read +
		pgBufferUsage.local_blks_hit + pgBufferUsage.local_blks_read;
}

/* Return how many rows the first join has compared in vain, in all scans. */
static double
rows_compared(const AdaptiveJoinState *state)
{
	const NodeInstrumentation *join = state->first->instrument;
	const NodeInstrumentation *inner =
	innerPlanState(state->first)->instrument;

	/* a hash table does not say which of its rows are looked at */
	if (IsA(state->first, HashJoinState))
		return join->nfiltered1 + join->nfiltered2;
	return inner->ntuples + inner->tuplecount - join->ntuples -
		join->tuplecount + inner->nfiltered1 + inner->nfiltered2;
}

/*
 * Has the first join a part of its hash table in files?  Then it reads all
 * outer rows before it compares most of them.
 */
static bool
has_batches(const AdaptiveJoinState *state)
{
	const HashJoinState *join = (const HashJoinState *) state->first;

	return IsA(join, HashJoinState) && join->hj_HashTable != NULL &&
		join->hj_HashTable->nbatch > 1;
}

/*
 * Has the first join done all the work that it may do in vain?  For rows that
 * it returns the HammingJoin takes as long.
 */
static bool
is_enough(const AdaptiveJoinState *state)
{
	double		compared = rows_compared(state) - state->rows_before;

	return has_batches(state) ||
		state->count + compared + state->pages * state->page >= state->most;
}

/* ExecCustomScan of OuterRows: the next outer row. */
static TupleTableSlot *
exec_outer_rows(CustomScanState *node)
{
	AdaptiveJoinState *join = ((OuterRowsState *) node)->join;
	TupleTableSlot *slot;

	join->pages += pages_accessed() - join->counted;
	join->counted = pages_accessed();
	if (!join->is_over && is_enough(join))
		return NULL;
	if (join->is_over && join->tried != NULL &&
		tuplestore_gettupleslot(join->tried, true, false, join->slot))
		return join->slot;
	/* a child must not be asked again after its last row */
	if (join->is_at_end)
		return NULL;
	slot = ExecProcNode(join->outer);
	join->counted = pages_accessed();
	join->is_at_end = TupIsNull(slot);
	if (!join->is_at_end && !join->is_over)
	{
		join->count++;
		if (join->tried != NULL)
			tuplestore_puttupleslot(join->tried, slot);
	}
	return slot;
}

/*
 * The rows of a node come in the slots of its children, so that its parents
 * must not expect one kind of slots.
 */
static void
allow_any_slot(CustomScanState *node)
{
	node->ss.ps.resultopsset = true;
	node->ss.ps.resultopsfixed = false;
}

static void
begin_outer_rows(CustomScanState *node, EState *estate, int eflags)
{
	allow_any_slot(node);
}

/* EndCustomScan and ReScanCustomScan: the AdaptiveJoin has the outer rows. */
static void
leave_outer_rows(CustomScanState *node)
{
}

static const CustomExecMethods outer_rows_methods = {
	.CustomName = "OuterRows",
	.BeginCustomScan = begin_outer_rows,
	.ExecCustomScan = exec_outer_rows,
	.EndCustomScan = leave_outer_rows,
	.ReScanCustomScan = leave_outer_rows
};

/* Does the node read outer rows of an AdaptiveJoin? */
bool
hamming_reads_outer_rows(const PlanState *node)
{
	return IsA(node, CustomScanState) &&
		((const CustomScanState *) node)->methods == &outer_rows_methods;
}

static void
begin_scan(AdaptiveJoinState *state)
{
	/* a recheck after an update has one outer row, and no index */
	state->is_over = state->has_rest =
		state->custom.ss.ps.state->es_epq_active != NULL;
	state->is_at_end = false;
	state->count = 0;
	if (state->tried != NULL)
		tuplestore_clear(state->tried);
	state->pages = 0;
	state->rows_before = rows_compared(state);
}

/* Return the node OuterRows, which may be below one that computes columns. */
static OuterRowsState *
outer_rows(PlanState *node)
{
	while (!hamming_reads_outer_rows(node))
	{
		node = outerPlanState(node);
		if (node == NULL)
			elog(ERROR, "an AdaptiveJoin has no outer rows");
	}
	return (OuterRowsState *) node;
}

/*
 * Return the state of a plan whose nodes count rows, as for EXPLAIN ANALYZE.
 * A node must know this from the start: an index scan has memory for its
 * counts, which PostgreSQL 19 copies from a worker wherever the node counts
 * rows.
 */
static PlanState *
init_counting(Plan *plan, EState *estate, int eflags)
{
	int			before = estate->es_instrument;
	PlanState  *result;

	estate->es_instrument |= INSTRUMENT_ROWS;
	result = ExecInitNode(plan, estate, eflags);
	estate->es_instrument = before;
	return result;
}

static void
begin_adaptive_join(CustomScanState *node, EState *estate, int eflags)
{
	AdaptiveJoinState *state = (AdaptiveJoinState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	CustomScanState *hamming;

	allow_any_slot(node);
	eflags &= ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	state->outer = ExecInitNode(linitial(scan->custom_plans), estate, eflags);
	state->first = init_counting(lsecond(scan->custom_plans), estate, eflags);
	state->rest = ExecInitNode(lthird(scan->custom_plans), estate, eflags);
	node->custom_ps = list_make3(state->outer, state->first, state->rest);
	state->most = linitial_int(scan->custom_private);
	state->page = lsecond_int(scan->custom_private);
	hamming = castNode(CustomScanState,
					   IsA(state->rest, SortState)
					   ? outerPlanState(state->rest) : state->rest);
	outer_rows(outerPlanState(state->first))->join = state;
	outer_rows(linitial(hamming->custom_ps))->join = state;
	if (list_length(hamming->custom_ps) == 1)
	{
		state->tried = tuplestore_begin_heap(false, false, work_mem);
		state->slot = ExecInitExtraTupleSlot(estate,
											 ExecGetResultType(state->outer),
											 &TTSOpsMinimalTuple);
	}
	begin_scan(state);
}

static TupleTableSlot *
exec_adaptive_join(CustomScanState *node)
{
	AdaptiveJoinState *state = (AdaptiveJoinState *) node;

	if (!state->is_over)
	{
		TupleTableSlot *slot;

		state->counted = pages_accessed();
		slot = ExecProcNode(state->first);
		state->pages += pages_accessed() - state->counted;
		if (!TupIsNull(slot))
			return slot;
		state->is_over = true;
		state->has_rest = !state->is_at_end;
	}
	return state->has_rest ? ExecProcNode(state->rest) : NULL;
}

static void
rescan_adaptive_join(CustomScanState *node)
{
	ListCell   *lc;

	foreach(lc, node->custom_ps)
	{
		PlanState  *child = lfirst(lc);

		UpdateChangedParamSet(child, node->ss.ps.chgParam);
		/* else the first ExecProcNode() does it */
		if (child->chgParam == NULL)
			ExecReScan(child);
	}
	begin_scan((AdaptiveJoinState *) node);
}

static void
end_adaptive_join(CustomScanState *node)
{
	AdaptiveJoinState *state = (AdaptiveJoinState *) node;
	ListCell   *lc;

	foreach(lc, node->custom_ps)
		ExecEndNode(lfirst(lc));
	if (state->tried != NULL)
		tuplestore_end(state->tried);
}

static const CustomExecMethods adaptive_join_methods = {
	.CustomName = "AdaptiveJoin",
	.BeginCustomScan = begin_adaptive_join,
	.ExecCustomScan = exec_adaptive_join,
	.EndCustomScan = end_adaptive_join,
	.ReScanCustomScan = rescan_adaptive_join
};

/*
 * Return how many rows come first from a child of a HammingJoin that the
 * first join has joined before.  A self-join needs them as inner rows; in all
 * other joins they do not come again.
 */
uint64
hamming_rows_tried(const PlanState *node)
{
	const AdaptiveJoinState *join;

	if (!hamming_reads_outer_rows(node))
		return 0;
	join = ((const OuterRowsState *) node)->join;
	return join->tried == NULL ? 0 : join->count;
}

/* CreateCustomScanState, of either node: OuterRows has no child. */
static Node *
create_state(CustomScan *scan)
{
	bool		is_outer = scan->custom_plans == NIL;
	CustomScanState *state = palloc0(is_outer ? sizeof(OuterRowsState)
									 : sizeof(AdaptiveJoinState));

	NodeSetTag(state, T_CustomScanState);
	state->methods = is_outer ? &outer_rows_methods : &adaptive_join_methods;
	return (Node *) state;
}

static const CustomScanMethods outer_rows_scan_methods = {
	.CustomName = "OuterRows",
	.CreateCustomScanState = create_state
};

static const CustomScanMethods adaptive_join_scan_methods = {
	.CustomName = "AdaptiveJoin",
	.CreateCustomScanState = create_state
};

/* PlanCustomPath, of either node: the rows of the children are its own. */
static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *target,
		  List *clauses, List *children)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = target;
	scan->custom_scan_tlist = copyObject(target);
	scan->custom_plans = children;
	scan->custom_private = path->custom_private;
	scan->methods = children == NIL ? &outer_rows_scan_methods
		: &adaptive_join_scan_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods outer_rows_path_methods = {
	.CustomName = "OuterRows",
	.PlanCustomPath = make_plan
};

static const CustomPathMethods adaptive_join_path_methods = {
	.CustomName = "AdaptiveJoin",
	.PlanCustomPath = make_plan
};

/* Return a path that gets from an AdaptiveJoin the rows of outer. */
Path *
hamming_outer_rows_path(Path *outer)
{
	CustomPath *path = makeNode(CustomPath);

	path->path = *outer;
	path->path.type = T_CustomPath;
	path->path.pathtype = T_CustomScan;
	path->path.parallel_aware = false;
	path->methods = &outer_rows_path_methods;
	return &path->path;
}

/*
 * Is each sort key a column of the target?  A Sort would add others, and its
 * rows would be longer than those of the first join.
 */
static bool
are_sort_columns(List *pathkeys, const PathTarget *target)
{
	ListCell   *lc;
	ListCell   *member;

	foreach(lc, pathkeys)
	{
		EquivalenceClass *class = lfirst_node(PathKey, lc)->pk_eclass;
		bool		is_column = false;

		foreach(member, class->ec_members)
			is_column |= list_member(target->exprs,
									 lfirst_node(EquivalenceMember,
												 member)->em_expr);
		if (!is_column)
			return false;
	}
	return true;
}

/*
 * first is a nested loop or a hash join, without parameters.  hamming is a
 * HammingJoin of outer_rows, which are hamming_outer_rows_path() of outer, the
 * outer rows of first.  Return a path of both, where first ends when it has
 * cost most in vain.  It costs what first costs: the planner compares that
 * with the cost of a HammingJoin of all rows, and prefers what it expects to
 * be better.
 */
Path *
hamming_adaptive_path(PlannerInfo *root, const JoinPath *first, Path *outer,
					  Path *outer_rows, Path *hamming, Cost most)
{
	CustomPath *path = makeNode(CustomPath);
	int			rows = Min(most / COST_OF_ROW, PG_INT32_MAX);
	const IndexPath *scan = hamming_index_scan(first->innerjoinpath);
	int			page = ACCESS_PAGE;
	Size		size = IsA(first, HashPath) ? sizeof(HashPath)
	: sizeof(NestPath);
	JoinPath   *of_rows = memcpy(palloc(size), first, size);

	of_rows->outerjoinpath = outer_rows;
	if (scan != NULL && scan->indexinfo->relam == GIST_AM_OID)
		page = ACCESS_GIST_PAGE;
	path->path = first->path;
	path->path.type = T_CustomPath;
	path->path.pathtype = T_CustomScan;
	path->path.parallel_aware = false;
	path->path.parallel_safe &= hamming->parallel_safe;
	if (!are_sort_columns(path->path.pathkeys, path->path.pathtarget))
		path->path.pathkeys = NIL;
	if (path->path.pathkeys != NIL)
		hamming = (Path *) create_sort_path(root, hamming->parent, hamming,
											path->path.pathkeys, -1);
	path->custom_paths = list_make3(outer, of_rows, hamming);
	path->custom_private = list_make2_int(rows, page);
	path->methods = &adaptive_join_path_methods;
	set_join_clauses(path, first->joinrestrictinfo);
	return &path->path;
}

void
hamming_adaptive_init(void)
{
	RegisterCustomScanMethods(&outer_rows_scan_methods);
	RegisterCustomScanMethods(&adaptive_join_scan_methods);
}
