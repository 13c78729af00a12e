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

#include "catalog/pg_type.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "join/plan.h"
#include "type/catalog.h"

static bool
set_clause(HammingClause *clause, Expr *one, Expr *other, Expr *radius)
{
	clause->outer = one;
	clause->inner = other;
	clause->radius = radius;
	return true;
}

/*
 * name is that of simhash_c_name().  Is the function our function wanted, for
 * fingerprints of either width?  If so, set clause->bits.
 */
static bool
is_function(const char *name, const char *wanted, HammingClause *clause)
{
	if (strncmp(name, wanted, strlen(wanted)) != 0)
		return false;
	name += strlen(wanted);
	if (*name != '\0' && strcmp(name, "_128") != 0)
		return false;
	clause->bits = *name == '\0' ? 64 : 128;
	return true;
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
		is_function(simhash_c_name(call->funcid), "hamming_ball_make",
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

/*
 * Does node say that two fingerprints are within a radius?  If so, set these,
 * in any order.
 */
static bool
read_clause(Node *node, HammingClause *clause)
{
	Oid			function;
	List	   *args = called_function(node, &function);
	const char *name = args == NIL ? "" : simhash_c_name(function);

	/* most operators of most joins */
	if (*name == '\0')
		return false;
	if (is_function(name, "simhash_within", clause))
		return set_clause(clause, linitial(args), lsecond(args), lthird(args));
	if (is_function(name, "simhash_near", clause))
		return set_clause(clause, linitial(args), lsecond(args), (Expr *)
						  makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
									Int64GetDatum(near_radius(clause->bits)),
									false, FLOAT8PASSBYVAL));
	if (is_function(name, "simhash_in_ball", clause))
		return read_ball(linitial(args), lsecond(args), clause);
	if (is_function(name, "hamming_ball_contains", clause))
		return read_ball(lsecond(args), linitial(args), clause);
	return false;
}

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
match_sides(const JoinSides *sides, HammingClause *clause)
{
	Relids		first = pull_varnos(sides->root, (Node *) clause->outer);
	Relids		second = pull_varnos(sides->root, (Node *) clause->inner);
	Relids		radius = pull_varnos(sides->root, (Node *) clause->radius);
	Expr	   *swapped = clause->outer;

	if (bms_overlap(radius, sides->outer->relids) ||
		bms_overlap(radius, sides->inner->relids))
		return false;
	if (is_of_side(first, sides->outer, sides->inner))
		return is_of_side(second, sides->inner, sides->outer);
	clause->outer = clause->inner;
	clause->inner = swapped;
	return is_of_side(second, sides->outer, sides->inner) &&
		is_of_side(first, sides->inner, sides->outer);
}

/*
 * May the join look at this clause before all others?  Not at one that is not
 * of the join itself, but applies to its result, nor at one that could show
 * rows which a clause of a lower security level hides.
 */
static bool
may_come_first(const JoinSides *sides, RestrictInfo *rinfo)
{
	ListCell   *lc;

	if (rinfo->pseudoconstant || contain_volatile_functions((Node *) rinfo))
		return false;
	if (IS_OUTER_JOIN(sides->type) &&
		RINFO_IS_PUSHED_DOWN(rinfo, sides->joinrel->relids))
		return false;
	foreach(lc, sides->clauses)
	{
		if (!rinfo->leakproof && rinfo->security_level >
			lfirst_node(RestrictInfo, lc)->security_level)
			return false;
	}
	return true;
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

/*
 * Find the clause by which a HammingJoin of the sides finds the fewest pairs,
 * that of the least radius.  Return false if there is none.
 */
bool
hamming_find_clause(const JoinSides *sides, HammingClause *best)
{
	ListCell   *lc;

	best->rinfo = NULL;
	foreach(lc, sides->clauses)
	{
		HammingClause clause = {.rinfo = lfirst_node(RestrictInfo, lc)};

		if (!read_clause((Node *) clause.rinfo->clause, &clause) ||
			!may_come_first(sides, clause.rinfo) ||
			!match_sides(sides, &clause))
			continue;
		clause.likely_radius = estimate_radius(sides->root, &clause);
		if (best->rinfo == NULL || clause.likely_radius < best->likely_radius)
			*best = clause;
	}
	return best->rinfo != NULL;
}

static bool
joins(const RestrictInfo *rinfo, const RelOptInfo *left,
	  const RelOptInfo *right)
{
	return bms_is_subset(rinfo->left_relids, left->relids) &&
		bms_is_subset(rinfo->right_relids, right->relids);
}

/* Does it say that values of the two sides are equal, which have hashes? */
static bool
is_key(const JoinSides *sides, const RestrictInfo *rinfo)
{
	Oid			operator = rinfo->hashjoinoperator;
	Oid			left_hash;
	Oid			right_hash;

	if (!OidIsValid(operator) || !rinfo->can_join)
		return false;
	if (joins(rinfo, sides->inner, sides->outer))
		operator = get_commutator(operator);
	else if (!joins(rinfo, sides->outer, sides->inner))
		return false;
	return OidIsValid(operator) && op_strict(operator) &&
		get_op_hash_functions(operator, &left_hash, &right_hash);
}

/*
 * Return the clauses by which a HammingJoin can group its rows.  Set
 * *equalities to the same as expressions, outer = inner.
 */
List *
hamming_find_keys(const JoinSides *sides, List **equalities)
{
	List	   *keys = NIL;
	ListCell   *lc;

	*equalities = NIL;
	foreach(lc, sides->clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		OpExpr	   *equality;

		if (!is_key(sides, rinfo) || !may_come_first(sides, rinfo))
			continue;
		equality = copyObject((OpExpr *) rinfo->clause);
		if (!joins(rinfo, sides->outer, sides->inner))
			CommuteOpExpr(equality);
		keys = lappend(keys, rinfo);
		*equalities = lappend(*equalities, equality);
	}
	return keys;
}
