/*
 * hooks.c
 *	  Hooks of other libraries: of joins, one that was there before ours and
 *	  one that came after it, and one that makes indexes hypothetical.
 *
 * script/test links this into a build for sql/hooks.sql.
 */
#include "postgres.h"

#include "commands/explain.h"
#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "utils/builtins.h"

#include "type/compat.h"

PG_FUNCTION_INFO_V1(simhash_test_hook);

static bool removes_hash_joins = false;
static List *removed = NIL;		/* by the hook that was there before ours */
static int	count = 0;			/* see simhash_test_hook() */
static set_join_pathlist_hook_type ours;
static bool makes_hypothetical = false;

static List *
without_hash_joins(List *paths)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, paths)
	{
		if (!IsA(lfirst(lc), HashPath))
			result = lappend(result, lfirst(lc));
	}
	return result;
}

/* The hook that is there before _PG_init(). */
static void
first_hook(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
		   RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	if (!removes_hash_joins)
		return;
	removed = list_copy(joinrel->pathlist);
	joinrel->pathlist = without_hash_joins(joinrel->pathlist);
	joinrel->partial_pathlist = without_hash_joins(joinrel->partial_pathlist);
}

static void
__attribute__((constructor))
set_first_hook(void)
{
	set_join_pathlist_hook = first_hook;
}

static int
count_hash_joins(List *paths)
{
	return list_length(paths) - list_length(without_hash_joins(paths));
}

static void
last_hook(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
		  RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	ours(root, joinrel, outerrel, innerrel, jointype, extra);
	if (!removes_hash_joins)
	{
		count++;
		return;
	}
	count += count_hash_joins(joinrel->pathlist) +
		count_hash_joins(joinrel->partial_pathlist);
	/* PostgreSQL needs a path */
	if (joinrel->pathlist == NIL)
		joinrel->pathlist = removed;
}

/* The hook for when the indexes of a table are known. */
#if PG_VERSION_NUM >= 190000
#define rel_hook build_simple_rel_hook
#define REL_HOOK_PARAMETERS \
	PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#else
#define rel_hook get_relation_info_hook
#define REL_HOOK_PARAMETERS \
	PlannerInfo *root, Oid relation, bool inherits, RelOptInfo *rel
#endif

/* Let the indexes of a table be ones that are not there, but of their size. */
static void
hypothetical_hook(REL_HOOK_PARAMETERS)
{
	ListCell   *lc;

	if (!makes_hypothetical)
		return;
	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);

		index->indexoid = InvalidOid;
		index->hypothetical = true;
	}
}

static const char *
name_index(Oid index)
{
	return OidIsValid(index) ? NULL : "hypothetical";
}

/*
 * simhash_test_hook(kind text): set hooks, in this session.  kind is "first"
 * for one before ours that removes hash joins, and one after ours that counts
 * those that came back; "last" for one after ours that counts its calls; "none"
 * for no hook of joins at all; "ours" for ours alone; and "hypothetical" for
 * ours and hypothetical indexes.  Return what was counted since the last call.
 */
Datum
simhash_test_hook(PG_FUNCTION_ARGS)
{
	char	   *kind = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int			result = count;

	if (ours == NULL)
	{
		ours = set_join_pathlist_hook;
		rel_hook = hypothetical_hook;
		explain_get_index_name_hook = name_index;
	}
	makes_hypothetical = strcmp(kind, "hypothetical") == 0;
	removes_hash_joins = strcmp(kind, "first") == 0;
	if (strcmp(kind, "none") == 0)
		set_join_pathlist_hook = NULL;
	else if (removes_hash_joins || strcmp(kind, "last") == 0)
		set_join_pathlist_hook = last_hook;
	else
		set_join_pathlist_hook = ours;
	count = 0;
	PG_RETURN_INT32(result);
}
