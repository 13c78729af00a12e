/*
 * selectivity.c
 *	  How many rows lie within a Hamming ball.
 *
 * For a fingerprint q and a radius k, chance puts a part of the rows there: the
 * volume of the ball, sum over i <= k of C(64, i), over 2^64, or the same with
 * 128.  Chance knows nothing of duplicates.
 *
 * - Where q is not known, as in a join, ANALYZE has counted the pairs of rows
 *   that are within k of each other (analyze.c).  The estimate is this part, or
 *   the volume, but no less than one of the column's values.
 * - Where q is known, the column's most common values are compared with q, and
 *   its histogram shows if many of the others lie within k.
 * - Where none of these says more, duplicates are k + 1 of the column's values:
 *   edits make near-duplicates at small distances, and a larger radius takes in
 *   more of them.
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

#define NOT_COUNTED 2.0			/* more than any part */

/*
 * How many times as many of the histogram's values as expected must be in a
 * ball, for these to be more than a few that chance has put there.
 */
#define DENSE 5

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
 * number of the column's values and nothing else is known.
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
 * Return the part of the pairs of a column's rows that is within radius, 0 ..
 * HAMMING_BITS, as ANALYZE has counted them; NOT_COUNTED where it has not.
 */
static double
counted_density(VariableStatData *variable, int32 radius)
{
	AttStatsSlot slot;
	double		density = NOT_COUNTED;

	if (!HeapTupleIsValid(variable->statsTuple) ||
		!get_attstatsslot(&slot, variable->statsTuple, SIMHASH_STATISTIC_KIND,
						  InvalidOid, ATTSTATSSLOT_NUMBERS))
		return NOT_COUNTED;
	/* fingerprints of another width have another number of radii */
	if (slot.nnumbers == HAMMING_BITS + 1)
		density = slot.numbers[radius];
	free_attstatsslot(&slot);
	return density;
}

/*
 * Return the part of the pairs of non-NULL values of two columns, which may be
 * the same one, that is within radius.  Like that of an equality join, it
 * follows the column that is less dense: each value of the other one is taken
 * to be as near to that column's values as these are to each other.
 */
static double
pair_fraction(VariableStatData *a, VariableStatData *b, int32 radius)
{
	double		distinct = Max(distinct_values(a), distinct_values(b));
	double		density;

	if (radius < 0)
		return 0;
	density = Min(counted_density(a, radius), counted_density(b, radius));
	if (density == NOT_COUNTED)
		return ball_fraction(radius, distinct);
	return Max(Max(density, ball_volume(radius)), 1 / Max(distinct, 1));
}

/* The values of a column that ANALYZE has stored, and those in a ball. */
typedef struct StoredValues
{
	int			count;
	int			within;
	double		frequency;		/* of all most common values */
	double		frequency_within;
}			StoredValues;

/*
 * Look at the most common values, or at the histogram.
 *
 * Statistics are used without statistic_proc_security_check(): all that could
 * be asked of them here is a leakproof function.
 *
 * Whoever may create an operator may name an estimator of this file for it,
 * whatever the operator's types are.  So values that are not as long as a
 * fingerprint are not read as fingerprints.
 */
static StoredValues
look_at_values(VariableStatData *variable, int kind, const KnownBall *ball)
{
	StoredValues result = {0};
	int			flags = ATTSTATSSLOT_VALUES;
	AttStatsSlot slot;
	int			i;

	if (kind == STATISTIC_KIND_MCV)
		flags |= ATTSTATSSLOT_NUMBERS;
	if (!HeapTupleIsValid(variable->statsTuple) ||
		!get_attstatsslot(&slot, variable->statsTuple, kind, InvalidOid, flags))
		return result;
	if (get_typlen(slot.valuetype) == sizeof(Fingerprint))
		result.count = slot.nvalues;
	for (i = 0; i < result.count; i++)
	{
		double		frequency = slot.numbers == NULL ? 0 : slot.numbers[i];

		result.frequency += frequency;
		if (hamming_distance(DatumGetSimhash(slot.values[i]),
							 ball->centre) <= ball->radius)
		{
			result.within++;
			result.frequency_within += frequency;
		}
	}
	free_attstatsslot(&slot);
	return result;
}

/*
 * Return the part of a column's rows within the ball.
 *
 * The histogram shows rows that lie as densely as neither chance nor duplicates
 * explain.  The centre itself may be one of its values: so one value in the
 * ball counts for nothing.
 */
static double
column_fraction(VariableStatData *variable, const KnownBall *ball)
{
	double		values = 1 - null_fraction(variable);
	StoredValues common;
	StoredValues other;
	double		fraction;

	if (!ball->has_centre)
		return values * pair_fraction(variable, variable, ball->radius);
	common = look_at_values(variable, STATISTIC_KIND_MCV, ball);
	other = look_at_values(variable, STATISTIC_KIND_HISTOGRAM, ball);
	fraction = ball_fraction(ball->radius,
							 distinct_values(variable) - common.count);
	if (other.within - 1 > DENSE * fraction * other.count)
		fraction = (double) other.within / other.count;
	return common.frequency_within +
		Max(values - common.frequency, 0) * fraction;
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
 * ball: a row meets pair_fraction() of the rows on the other side.
 */
static Selectivity
join_selectivity_of(PlannerInfo *root, List *args, JoinType jointype,
					SpecialJoinInfo *sjinfo, int32 radius)
{
	VariableStatData left;
	VariableStatData right;
	bool		reversed;
	Selectivity selectivity;

	get_join_variables(root, args, sjinfo, &left, &right, &reversed);
	selectivity = pair_fraction(&left, &right, radius);
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
