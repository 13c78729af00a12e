/*
 * selectivity.c
 *	  How many rows lie within a Hamming ball.
 *
 * For a fingerprint q and a radius k the estimate is the sum of
 *
 * - the frequencies of the column's most common values within k of q, if q
 *   is known;
 * - of the other rows, the part that chance puts there, which is the volume
 *   of the ball, sum over i <= k of C(64, i), over 2^64, or the same with 128;
 * - and a floor for real duplicates, which chance knows nothing of: k + 1 of
 *   the column's values, as edits make near-duplicates at small distances, and
 *   a larger radius takes in more of them.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "type/selectivity.h"
#include "type/simhash.h"

#define simhash_restrict WIDE(simhash_restrict)
#define simhash_join WIDE(simhash_join)

PG_FUNCTION_INFO_V1(simhash_restrict);
PG_FUNCTION_INFO_V1(simhash_join);

/* What is known of a ball when a query is planned. */
typedef struct KnownBall
{
	bool		has_centre;
	Fingerprint centre;
	int32		radius;			/* SIMHASH_NEAR_RADIUS if not known */
} KnownBall;

/*
 * Return the volume of a ball as a part of all.  Rounding may take a size
 * close to 2^HAMMING_BITS above that, but the planner allows no selectivity
 * above 1.
 */
static double
ball_volume(int32 radius)
{
	double		size = hamming_ball_size(HAMMING_BITS, radius);

	return Min(ldexp(size, -HAMMING_BITS), 1);
}

/*
 * Return the part of a column's rows that is in a ball, where distinct is the
 * number of the column's values and nothing is known of the centre.
 */
static double
ball_fraction(int32 radius, double distinct)
{
	double		volume = ball_volume(radius);
	double		duplicates = Min((radius + 1) / Max(distinct, 1), 1);

	return volume + (1 - volume) * duplicates;
}

/* Return how many values a column has; all differ where nothing is known. */
static double
distinct_values(VariableStatData *variable)
{
	bool		isdefault;
	double		distinct = get_variable_numdistinct(variable, &isdefault);

	if (isdefault && variable->rel != NULL)
		return variable->rel->tuples;
	return distinct;
}

static double
null_fraction(VariableStatData *variable)
{
	if (!HeapTupleIsValid(variable->statsTuple))
		return 0;
	return ((Form_pg_statistic) GETSTRUCT(variable->statsTuple))->stanullfrac;
}

/*
 * Return the part of a column's rows within the ball.
 *
 * Statistics are used without statistic_proc_security_check(): all that could
 * be asked of them here is a leakproof function.
 *
 * Whoever may create an operator may name an estimator of this file for it,
 * whatever the operator's types are.  So values that are not as long as a
 * fingerprint are not read as fingerprints.
 */
static double
column_fraction(VariableStatData *variable, const KnownBall *ball)
{
	double		common = 0;		/* rows that hold a most common value */
	double		common_within = 0;	/* and one within the ball */
	double		distinct = distinct_values(variable);
	AttStatsSlot slot;
	int			count = 0;
	int			i;

	if (ball->has_centre && HeapTupleIsValid(variable->statsTuple) &&
		get_attstatsslot(&slot, variable->statsTuple, STATISTIC_KIND_MCV,
						 InvalidOid,
						 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS))
	{
		if (get_typlen(slot.valuetype) == sizeof(Fingerprint))
			count = slot.nvalues;
		for (i = 0; i < count; i++)
		{
			common += slot.numbers[i];
			if (hamming_distance(DatumGetSimhash(slot.values[i]),
								 ball->centre) <= ball->radius)
				common_within += slot.numbers[i];
		}
		distinct -= count;
		free_attstatsslot(&slot);
	}
	return common_within + Max(1 - null_fraction(variable) - common, 0) *
		ball_fraction(ball->radius, distinct);
}

/*
 * args are the two arguments of a clause, which holds where the one of the
 * relation varRelid is within the ball.  Return the selectivity of the clause.
 * know(&known, other) adds to the ball what the other argument tells.
 */
static Selectivity
restriction_selectivity_of(PlannerInfo *root, List *args, int varRelid,
						   const KnownBall *ball,
						   void (*know) (KnownBall *ball, Node *other))
{
	VariableStatData variable;
	Node	   *other;
	bool		on_left;
	KnownBall	known = *ball;
	Selectivity selectivity;

	if (!get_restriction_variable(root, args, varRelid, &variable, &other,
								  &on_left))
		return ball_fraction(known.radius, DEFAULT_NUM_DISTINCT);
	know(&known, other);
	selectivity = column_fraction(&variable, &known);
	ReleaseVariableStats(variable);
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/*
 * Return the selectivity of a join, like that of an equality join but for the
 * ball: a row meets ball_fraction() of the rows on the side with more values.
 */
static Selectivity
join_selectivity_of(PlannerInfo *root, List *args, JoinType jointype,
					SpecialJoinInfo *sjinfo, int32 radius)
{
	VariableStatData left;
	VariableStatData right;
	bool		reversed;
	double		distinct;
	Selectivity selectivity;

	get_join_variables(root, args, sjinfo, &left, &right, &reversed);
	distinct = Max(distinct_values(&left), distinct_values(&right));
	selectivity = ball_fraction(radius, distinct);
	selectivity *= 1 - null_fraction(&right);
	if (jointype == JOIN_SEMI || jointype == JOIN_ANTI)
	{
		RelOptInfo *inner = reversed ? left.rel : right.rel;

		/*
		 * The part of the outer rows that meets at least one.  With m to be
		 * expected on average, m / (1 + m) is neither none nor all.
		 */
		if (inner != NULL)
			selectivity *= inner->rows / (1 + selectivity * inner->rows);
	}
	CLAMP_PROBABILITY(selectivity);
	selectivity *= 1 - null_fraction(&left);
	ReleaseVariableStats(left);
	ReleaseVariableStats(right);
	return selectivity;
}

/*
 * If node is a constant of length bytes, store it in *value and return true.
 * A NULL constant gives the ball the radius -1: no fingerprint is near NULL.
 */
static bool
known_value(KnownBall *ball, Node *node, int length, Datum *value)
{
	if (!IsA(node, Const) || ((Const *) node)->constlen != length)
		return false;
	if (((Const *) node)->constisnull)
	{
		ball->radius = -1;
		return false;
	}
	*value = ((Const *) node)->constvalue;
	return true;
}

/* Take the centre from the other side of %, or of simhash_within(). */
static void
know_centre(KnownBall *ball, Node *other)
{
	Datum		value;

	if (known_value(ball, other, sizeof(Fingerprint), &value))
	{
		ball->has_centre = true;
		ball->centre = DatumGetSimhash(value);
	}
}

static void
know_radius(KnownBall *ball, Node *radius)
{
	Datum		value;

	if (exprType(radius) == INT8OID &&
		known_value(ball, radius, sizeof(int64), &value))
		ball->radius = hamming_radius(DatumGetInt64(value));
}

/* Take centre and radius from a ball, or from hamming_ball(centre, radius). */
static void
know_ball(KnownBall *ball, Node *other)
{
	Datum		value;

	if (IsA(other, FuncExpr) && list_length(((FuncExpr *) other)->args) == 2)
	{
		know_radius(ball, lsecond(((FuncExpr *) other)->args));
		know_centre(ball, linitial(((FuncExpr *) other)->args));
	}
	else if (known_value(ball, other, sizeof(HammingBall), &value))
	{
		ball->has_centre = true;
		ball->centre = DatumGetHammingBall(value)->centre;
		ball->radius = DatumGetHammingBall(value)->radius;
	}
}

/*
 * Return the radius of a ball; SIMHASH_NEAR_RADIUS where it is not known yet.
 */
int32
hamming_known_radius(Node *ball)
{
	KnownBall	known = {.radius = SIMHASH_NEAR_RADIUS};

	know_ball(&known, ball);
	return known.radius;
}

void
hamming_within_selectivity(SupportRequestSelectivity *request)
{
	PlannerInfo *root = request->root;
	List	   *args = list_make2(linitial(request->args),
								  lsecond(request->args));
	Node	   *radius = estimate_expression_value(root, lthird(request->args));
	KnownBall	ball = {.radius = SIMHASH_NEAR_RADIUS};

	know_radius(&ball, radius);
	if (request->is_join)
		request->selectivity =
			join_selectivity_of(root, args, request->jointype, request->sjinfo,
								ball.radius);
	else
		request->selectivity =
			restriction_selectivity_of(root, args, request->varRelid, &ball,
									   know_centre);
}

/* Does the operator take a ball, and not two fingerprints? */
static bool
takes_ball(Oid opno)
{
	Oid			left;
	Oid			right;

	op_input_types(opno, &left, &right);
	return left != right;
}

/* Estimators of %, <@ and @>: for a restriction, and for a join. */
Datum
simhash_restrict(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Oid			opno = PG_GETARG_OID(1);
	List	   *args = (List *) PG_GETARG_POINTER(2);
	int			varRelid = PG_GETARG_INT32(3);
	KnownBall	ball = {.radius = SIMHASH_NEAR_RADIUS};

	PG_RETURN_FLOAT8(restriction_selectivity_of(root, args, varRelid, &ball,
												takes_ball(opno) ? know_ball :
												know_centre));
}

Datum
simhash_join(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Oid			opno = PG_GETARG_OID(1);
	List	   *args = (List *) PG_GETARG_POINTER(2);
	JoinType	jointype = (JoinType) PG_GETARG_INT16(3);
	SpecialJoinInfo *sjinfo = (SpecialJoinInfo *) PG_GETARG_POINTER(4);
	KnownBall	ball = {.radius = SIMHASH_NEAR_RADIUS};

	if (takes_ball(opno))
	{
		know_ball(&ball, linitial(args));
		know_ball(&ball, lsecond(args));
	}
	PG_RETURN_FLOAT8(join_selectivity_of(root, args, jointype, sjinfo,
										 ball.radius));
}
