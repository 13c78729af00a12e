/*
 * explain.c
 *	  What EXPLAIN shows of a HammingJoin.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "catalog/pg_type.h"
#include "commands/explain.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "join/join.h"
#include "type/compat.h"

static const char *const type_names[] = {
	[JOIN_INNER] = "Inner",[JOIN_LEFT] = "Left",[JOIN_FULL] = "Full",
	[JOIN_SEMI] = "Semi",[JOIN_ANTI] = "Anti"
};

/* Return the expression as SQL, and a radius that is known as its digits. */
static char *
deparse(HammingJoinState *state, JoinExpression expression, List *ancestors,
		ExplainState *es)
{
	Plan	   *plan = state->custom.ss.ps.plan;
	List	   *expressions = ((CustomScan *) plan)->custom_exprs;
	Node	   *node = list_nth(expressions, expression);
	List	   *context;
	bool		prefix = es->verbose || list_length(es->rtable) > 1;

	if (IsA(node, List))
		node = (Node *) make_ands_explicit((List *) node);
	if (IsA(node, Const) && !((Const *) node)->constisnull &&
		((Const *) node)->consttype == INT8OID)
		return psprintf(INT64_FORMAT,
						DatumGetInt64(((Const *) node)->constvalue));
	context = set_deparse_context_plan(es->deparse_cxt, plan, ancestors);
	return deparse_expression(node, context, prefix, false);
}

/* Show a list of clauses, and how many rows a filter has removed in all. */
static void
explain_clauses(HammingJoinState *state, JoinExpression expression,
				const char *label, List *ancestors, ExplainState *es)
{
	CustomScan *scan = (CustomScan *) state->custom.ss.ps.plan;
	NodeInstrumentation *instrument = state->custom.ss.ps.instrument;
	double		removed;

	if (list_nth(scan->custom_exprs, expression) == NIL)
		return;
	ExplainPropertyText(label, deparse(state, expression, ancestors, es), es);
	if (expression == JOIN_KEYS || !es->analyze || instrument == NULL ||
		instrument->nloops == 0)
		return;
	removed = expression == JOIN_FILTER ? instrument->nfiltered2
		: instrument->nfiltered1;
	if (removed > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyFloat(psprintf("Rows Removed by %s", label), NULL,
							 removed / instrument->nloops, 0, es);
}

static void
add_work(JoinWork *all, const JoinWork *work)
{
	all->passes += work->passes;
	all->compared += work->compared;
	all->most_memory = Max(all->most_memory, work->most_memory);
	all->most_disk = Max(all->most_disk, work->most_disk);
	all->launched = Max(all->launched, work->launched);
}

static void
explain_work(HammingJoinState *state, ExplainState *es)
{
	JoinWork	work;
	int64		memory;
	int64		disk;

	hamming_join_count_work(&state->custom);
	work = *state->work;
	if (state->team_workers > 0)
		ExplainPropertyInteger("Workers Launched", NULL, work.launched, es);
	if (state->workers != NULL)
		add_work(&work, &state->workers->work);
	memory = (work.most_memory + 1023) / 1024;
	disk = (work.most_disk + 1023) / 1024;
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyInteger("Passes", NULL, work.passes, es);
		ExplainPropertyInteger("Candidates", NULL, work.compared, es);
		ExplainPropertyInteger("Memory Usage", "kB", memory, es);
		ExplainPropertyInteger("Disk Usage", "kB", disk, es);
		return;
	}
	appendStringInfoSpaces(es->str, es->indent * 2);
	appendStringInfo(es->str, "Passes: " UINT64_FORMAT "  Candidates: "
					 UINT64_FORMAT "  Memory Usage: " INT64_FORMAT "kB",
					 work.passes, work.compared, memory);
	if (disk > 0)
		appendStringInfo(es->str, "  Disk Usage: " INT64_FORMAT "kB", disk);
	appendStringInfoChar(es->str, '\n');
}

/* ExplainCustomScan */
void
hamming_join_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	HammingJoinState *state = (HammingJoinState *) node;
	char	   *outer = deparse(state, JOIN_OUTER_FINGERPRINT, ancestors, es);
	char	   *inner = deparse(state, JOIN_INNER_FINGERPRINT, ancestors, es);
	char	   *radius = deparse(state, JOIN_RADIUS, ancestors, es);

	ExplainPropertyText("Join Type", type_names[state->type], es);
	ExplainPropertyText("Hamming Cond", psprintf("((%s <-> %s) <= %s)", outer,
												 inner, radius), es);
	explain_clauses(state, JOIN_KEYS, "Keys", ancestors, es);
	explain_clauses(state, JOIN_FILTER, "Join Filter", ancestors, es);
	explain_clauses(state, JOIN_RESULT_FILTER, "Filter", ancestors, es);
	if (state->team_workers > 0)
		ExplainPropertyInteger("Workers Planned", NULL, state->team_workers,
							   es);
	if (es->analyze)
		explain_work(state, es);
}

/*
 * EstimateDSMCustomScan, called for a parallel-aware plan: of a join that each
 * process runs as a whole EXPLAIN shows what the leader did.  The memory has a
 * slot for the work of each worker, to which the worker that takes its place in
 * the next scan adds its own.
 */
Size
hamming_workers_size(CustomScanState *node, ParallelContext *pcxt)
{
	return mul_size(pcxt->nworkers, sizeof(JoinWork));
}

/* on_dsm_detach, in the leader: all workers have ended, unless by an error. */
static void
add_slots(dsm_segment *segment, Datum arg)
{
	JoinWorkers *workers = (JoinWorkers *) DatumGetPointer(arg);
	int			i;

	for (i = 0; i < workers->count; i++)
		add_work(&workers->work, &workers->slots[i]);
}

/*
 * InitializeDSMCustomScan.  ShutdownCustomScan would be too early to add up the
 * slots: the leader ends workers of a Gather below a LIMIT after that.  The
 * leader may detach after the node has ended: so the sum is in the context of
 * the query.
 */
void
hamming_workers_begin(CustomScanState *node, ParallelContext *pcxt, void *slots)
{
	HammingJoinState *state = (HammingJoinState *) node;

	memset(slots, 0, hamming_workers_size(node, pcxt));
	if (node->ss.ps.instrument == NULL || pcxt->seg == NULL)
		return;
	state->workers = MemoryContextAllocZero(node->ss.ps.state->es_query_cxt,
											sizeof(JoinWorkers));
	state->workers->slots = slots;
	state->workers->count = pcxt->nworkers;
	on_dsm_detach(pcxt->seg, add_slots, PointerGetDatum(state->workers));
}

/* InitializeWorkerCustomScan */
void
hamming_workers_attach(CustomScanState *node, shm_toc *toc, void *slots)
{
	((HammingJoinState *) node)->work = (JoinWork *) slots +
		ParallelWorkerNumber;
}
