/*
 * clause.c
 *	  The clauses of a join that a HammingJoin serves: a distance, and equality.
 *
 * A clause has one of these forms when join paths are made, as planner.c has
 * rewritten a comparison of <-> with a bound:
 *
 *		simhash_within(a, b, k)
 *		a % b
 *		a <@ hamming_ball(b, k)
 *		hamming_ball(b, k) @> a
 *
 * All are strict and exact: the join finds just the pairs for which the clause
 * is true.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "join/plan.h"

/* Set two fingerprints, in any order, and the radius.  Return true. */
static bool
set_clause(HammingClause *clause, Expr *one, Expr *other, Expr *radius)
{
	clause->outer = one;
	clause->inner = other;
	clause->radius = radius;
	return true;
}

/*
 * Return the name in C of an SQL function, or NULL if the function is of
 * another language.
 */
static char *
c_name(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	char	   *name = NULL;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
		name = TextDatumGetCString(SysCacheGetAttr(PROCOID, tuple,
												   Anum_pg_proc_prosrc,
												   &isnull));
	ReleaseSysCache(tuple);
	return name;
}

/*
 * name is the name in C of an SQL function, or NULL.  Is that our function
 * wanted, for fingerprints of either width?  If so, set clause->bits.  Other
 * libraries may have functions of the same name, and anybody may have SQL
 * functions of any name: what is ours belongs to the extension.
 */
static bool
is_ours(Oid function, const char *name, const char *wanted,
		HammingClause *clause)
{
	Oid			extension;

	if (name == NULL || strncmp(name, wanted, strlen(wanted)) != 0)
		return false;
	name += strlen(wanted);
	if (*name != '\0' && strcmp(name, "_128") != 0)
		return false;
	clause->bits = *name == '\0' ? 64 : 128;
	extension = getExtensionOfObject(ProcedureRelationId, function);
	return OidIsValid(extension) &&
		extension == get_extension_oid("simhash", true);
}

/*
 * Set the clause "fingerprint is in ball", where ball is a call of
 * hamming_ball(centre, radius).  Return false for any other ball: that of a
 * column has a radius that depends on its side.
 */
static bool
read_ball(Expr *fingerprint, Node *ball, HammingClause *clause)
{
	FuncExpr   *call = (FuncExpr *) ball;

	return IsA(ball, FuncExpr) &&
		is_ours(call->funcid, c_name(call->funcid), "hamming_ball_make",
				clause) &&
		set_clause(clause, fingerprint, linitial(call->args),
				   lsecond(call->args));
}

/* SIMHASH_NEAR_RADIUS, for either width. */
static int
near_radius(int bits)
{
	return bits / 8;
}

static Expr *
make_radius(int64 radius)
{
	return (Expr *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
							  Int64GetDatum(radius), false, FLOAT8PASSBYVAL);
}

/* See hamming_read_clause(): a call of function with args. */
static bool
read_call(Oid function, List *args, HammingClause *clause)
{
	char	   *name;

	/* most operators of most joins */
	if (get_func_namespace(function) == PG_CATALOG_NAMESPACE)
		return false;
	name = c_name(function);
	if (is_ours(function, name, "simhash_within", clause))
		return set_clause(clause, linitial(args), lsecond(args), lthird(args));
	if (is_ours(function, name, "simhash_near", clause))
		return set_clause(clause, linitial(args), lsecond(args),
						  make_radius(near_radius(clause->bits)));
	if (is_ours(function, name, "simhash_in_ball", clause))
		return read_ball(linitial(args), lsecond(args), clause);
	if (is_ours(function, name, "hamming_ball_contains", clause))
		return read_ball(lsecond(args), linitial(args), clause);
	return false;
}

/*
 * Does node say that two fingerprints are within a radius?  If so, set these,
 * in any order.
 */
bool
hamming_read_clause(Node *node, HammingClause *clause)
{
	if (IsA(node, OpExpr))
	{
		set_opfuncid((OpExpr *) node);
		return read_call(((OpExpr *) node)->opfuncid, ((OpExpr *) node)->args,
						 clause);
	}
	if (IsA(node, FuncExpr))
		return read_call(((FuncExpr *) node)->funcid, ((FuncExpr *) node)->args,
						 clause);
	return false;
}

/* Does the expression depend on the one side, and not on the other? */
static bool
is_of_side(Relids relids, RelOptInfo *one, RelOptInfo *other)
{
	return bms_overlap(relids, one->relids) &&
		!bms_overlap(relids, other->relids);
}

/*
 * Bring the fingerprints into the order of the sides.  Return false if they
 * are not of different sides, or if the radius depends on a side.
 */
static bool
match_sides(PlannerInfo *root, RelOptInfo *outerrel, RelOptInfo *innerrel,
			HammingClause *clause)
{
	Relids		first = pull_varnos(root, (Node *) clause->outer);
	Relids		second = pull_varnos(root, (Node *) clause->inner);
	Relids		radius = pull_varnos(root, (Node *) clause->radius);
	Expr	   *swapped = clause->outer;

	if (bms_overlap(radius, outerrel->relids) ||
		bms_overlap(radius, innerrel->relids))
		return false;
	if (is_of_side(first, outerrel, innerrel))
		return is_of_side(second, innerrel, outerrel);
	clause->outer = clause->inner;
	clause->inner = swapped;
	return is_of_side(second, outerrel, innerrel) &&
		is_of_side(first, innerrel, outerrel);
}

/*
 * May the join look at this clause before all others?  Not at one that is not
 * of the join itself, but applies to its result, nor at one that could show
 * rows which a clause of a lower security level hides.
 */
static bool
may_come_first(RestrictInfo *rinfo, RelOptInfo *joinrel, JoinType jointype,
			   Index least_level)
{
	if (rinfo->pseudoconstant || contain_volatile_functions((Node *) rinfo))
		return false;
	if (IS_OUTER_JOIN(jointype) && RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids))
		return false;
	return rinfo->security_level <= least_level || rinfo->leakproof;
}

static int
estimate_radius(PlannerInfo *root, const HammingClause *clause)
{
	Node	   *value = estimate_expression_value(root,
												  (Node *) clause->radius);
	int64		radius = near_radius(clause->bits);

	if (IsA(value, Const) && !((Const *) value)->constisnull)
		radius = DatumGetInt64(((Const *) value)->constvalue);
	return Max(0, Min(radius, clause->bits));
}

/* Return the least security level of the clauses, that of rows themselves. */
static Index
find_least_level(PlannerInfo *root, List *restrictlist)
{
	Index		least = root->qual_security_level;
	ListCell   *lc;

	foreach(lc, restrictlist)
		least = Min(least, lfirst_node(RestrictInfo, lc)->security_level);
	return least;
}

/*
 * Find the clause of restrictlist by which a HammingJoin of the sides finds the
 * fewest pairs, that of the least radius.  Return false if there is none.
 */
bool
hamming_find_clause(PlannerInfo *root, RelOptInfo *joinrel,
					RelOptInfo *outerrel, RelOptInfo *innerrel,
					JoinType jointype, List *restrictlist, HammingClause *best)
{
	Index		least_level = find_least_level(root, restrictlist);
	ListCell   *lc;

	best->rinfo = NULL;
	foreach(lc, restrictlist)
	{
		HammingClause clause = {.rinfo = lfirst_node(RestrictInfo, lc)};

		if (!hamming_read_clause((Node *) clause.rinfo->clause, &clause) ||
			!may_come_first(clause.rinfo, joinrel, jointype, least_level) ||
			!match_sides(root, outerrel, innerrel, &clause))
			continue;
		clause.likely_radius = estimate_radius(root, &clause);
		if (best->rinfo == NULL || clause.likely_radius < best->likely_radius)
			*best = clause;
	}
	return best->rinfo != NULL;
}

/* Is the left operand of the outer side, and the right one of the inner? */
static bool
is_outer_left(const RestrictInfo *rinfo, const RelOptInfo *outerrel,
			  const RelOptInfo *innerrel)
{
	return bms_is_subset(rinfo->left_relids, outerrel->relids) &&
		bms_is_subset(rinfo->right_relids, innerrel->relids);
}

/*
 * Does the clause say that values of the two sides are equal, by their hashes?
 * The plan has it as outer = inner.
 */
static bool
is_key(const RestrictInfo *rinfo, const RelOptInfo *outerrel,
	   const RelOptInfo *innerrel)
{
	Oid			operator = rinfo->hashjoinoperator;
	Oid			left_hash;
	Oid			right_hash;

	if (!OidIsValid(operator) || !rinfo->can_join)
		return false;
	if (is_outer_left(rinfo, innerrel, outerrel))
		operator = get_commutator(operator);
	else if (!is_outer_left(rinfo, outerrel, innerrel))
		return false;
	return OidIsValid(operator) && op_strict(operator) &&
		get_op_hash_functions(operator, &left_hash, &right_hash);
}

/*
 * Return the equalities of restrictlist by which a HammingJoin of the sides can
 * group its rows.
 */
List *
hamming_find_keys(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
				  RelOptInfo *innerrel, JoinType jointype, List *restrictlist)
{
	Index		least_level = find_least_level(root, restrictlist);
	List	   *keys = NIL;
	ListCell   *lc;

	foreach(lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (is_key(rinfo, outerrel, innerrel) &&
			may_come_first(rinfo, joinrel, jointype, least_level))
			keys = lappend(keys, rinfo);
	}
	return keys;
}

/* Return the equalities of hamming_find_keys(), as outer = inner. */
List *
hamming_orient_keys(List *keys, const RelOptInfo *outerrel,
					const RelOptInfo *innerrel)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, keys)
	{
		const RestrictInfo *rinfo = lfirst(lc);
		OpExpr	   *key = copyObject((OpExpr *) rinfo->clause);

		if (!is_outer_left(rinfo, outerrel, innerrel))
			CommuteOpExpr(key);
		result = lappend(result, key);
	}
	return result;
}
