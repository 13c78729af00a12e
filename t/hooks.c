/*
 * hooks.c
 *	  Hooks of other libraries, one that was there before ours and one that
 *	  came after it.
 *
 * script/test links this into a build for sql/hooks.sql.
 */
#include "postgres.h"

#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "optimizer/paths.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(simhash_test_hook);

static bool removes_hash_joins = false;
static int	calls = 0;			/* of the hook that came after ours */
static set_join_pathlist_hook_type ours;

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
	joinrel->pathlist = without_hash_joins(joinrel->pathlist);
	joinrel->partial_pathlist = without_hash_joins(joinrel->partial_pathlist);
}

static void
__attribute__((constructor))
set_first_hook(void)
{
	set_join_pathlist_hook = first_hook;
}

static void
last_hook(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
		  RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	calls++;
	ours(root, joinrel, outerrel, innerrel, jointype, extra);
}

/*
 * simhash_test_hook(kind text): set a hook, in this session.  kind is "first"
 * for one before ours that removes hash joins, "last" for one after ours that
 * counts its calls, "none" for no hook at all, and "ours" for ours alone.
 * Return how often the last one was called since it was asked for.
 */
Datum
simhash_test_hook(PG_FUNCTION_ARGS)
{
	char	   *kind = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int			result = calls;

	if (ours == NULL)
		ours = set_join_pathlist_hook;
	removes_hash_joins = strcmp(kind, "first") == 0;
	if (strcmp(kind, "none") == 0)
		set_join_pathlist_hook = NULL;
	else
		set_join_pathlist_hook = strcmp(kind, "last") == 0 ? last_hook : ours;
	calls = 0;
	PG_RETURN_INT32(result);
}
