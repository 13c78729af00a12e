/*
 * selectivity.c
 *	  How many rows lie within a Hamming ball.
 *
 * Chance puts this part of the rows within k of a fingerprint q: the volume of
 * the ball, sum over i <= k of C(64, i), over 2^64, or the same with 128.
 * Duplicates come on top.
 *
 * - Where q is not known, as in a join, ANALYZE has counted the pairs of rows
 *   that are within k of each other (analyze.c).  The estimate is this part, or
 *   the volume, but no less than one of the column's values.  That one is
 *   mostly the row itself, which counts for nothing where a clause of the join
 *   excludes it (same_row.c).
 * - Where q is known, the column's most common values are compared with q, and
 *   its histogram shows if many of the others lie within k.
 * - Where none of these says more of a restriction, duplicates are k + 1 of the
 *   column's values: edits make near-duplicates at small distances, and a
 *   larger radius takes in more of them.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "type/catalog.h"
#include "type/same_row.h"
#include "type/selectivity.h"
#include "type/simhash.h"

/*
 * If a ball holds more than DENSE times the expected number of the histogram's
 * values, the ball is in a dense region: chance would not put them there.
 */
#define DENSE 5

/* What is known of a ball when a query is planned. */
typedef struct KnownBall
{
	int			words;			/* of a fingerprint */
	bool		has_centre;
	uint64		centre[HAMMING_MAX_WORDS];
	int32		radius;			/* that of the operator % if not known */
} KnownBall;

/*
 * Return the volume of a ball as a part of all.  Rounding may take a size
 * close to that of all above it, but the planner allows no selectivity above 1.
 */
static double
ball_volume(const KnownBall *ball)
{
	int			bits = ball->words * 64;

	return Min(ldexp(hamming_ball_size(bits, ball->radius), -bits), 1);
}

/*
 * Return the part of a column's rows that is in a ball, where distinct is the
 * number of the column's values and nothing else is known.
 */
static double
ball_fraction(const KnownBall *ball, double distinct)
{
	double		volume = ball_volume(ball);
	double		duplicates = Min((ball->radius + 1) / Max(distinct, 1), 1);

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

/* How near the values of two columns are, which may be one column. */
typedef struct Nearness
{
	double		density;		/* part of the pairs within the radius */
	double		partnered;		/* part of the values that has nearly all of
								 * these pairs */
	double		least;			/* part of the pairs that any value is in */
	bool		is_known;		/* is the density known? */
} Nearness;

/* Return the part of the pairs that is within the radius. */
static double
pair_fraction(const Nearness *nearness)
{
	return Max(nearness->density, nearness->least);
}

/*
 * Return how near a column's values are: of the ball, only the radius counts.
 * own is the part of the pairs that are of a row and itself, where these are
 * excluded; ANALYZE counts none of them.
 */
static Nearness
column_nearness(VariableStatData *variable, const KnownBall *ball, double own)
{
	double		distinct = Max(distinct_values(variable), 1);
	Nearness	result = {.is_known = ball->radius < 0};
	AttStatsSlot slot;

	if (ball->radius < 0)
		return result;
	result.least = Max(ball_volume(ball), 1 / distinct - own);
	if (!HeapTupleIsValid(variable->statsTuple) ||
		!get_attstatsslot(&slot, variable->statsTuple, SIMHASH_STATISTIC_KIND,
						  InvalidOid, ATTSTATSSLOT_NUMBERS))
		return result;
	/* fingerprints of another width have another number of radii */
	if (slot.nnumbers == SIMHASH_STATISTICS(ball->words * 64))
	{
		result.density = SIMHASH_DENSITY(slot.numbers, ball->radius);
		result.partnered = SIMHASH_PARTNERED(slot.numbers, ball->radius);
		result.is_known = true;
	}
	free_attstatsslot(&slot);
	return result;
}

static void
free_values(StoredValues *stored)
{
	pfree(stored->values);
	pfree(stored->parts);
}

/*
 * Return the part of a column's pairs within the radius that has a row of one
 * of the values in the set.  Add the part of its rows to *rows.
 */
static double
pairs_of_values(VariableStatData *variable, const StoredValues *stored,
				const Bitmapset *set, int32 radius, double *rows)
{
	double		all = 1 - hamming_null_fraction(variable);
	double		pairs = 0;
	int			i = -1;
	int			j;

	while ((i = bms_next_member(set, i)) >= 0)
	{
		double		part = stored->parts[i] / all;

		*rows += part;
		/* what the samples may differ by, twice the standard deviation */
		pairs += 4 * part * sqrt(part / SIMHASH_STATISTIC_ROWS);
		for (j = 0; j < stored->count; j++)
		{
			if (words_distance(stored->values + i * stored->words,
							   stored->values + j * stored->words,
							   stored->words) <= radius)
				pairs += part * stored->parts[j] / all *
					(bms_is_member(j, set) ? 1 : 2);
		}
	}
	return pairs;
}

/*
 * Return how near those of a column's values are to each other that fulfil the
 * restrictions of its relation: without the pairs of common values that do not.
 */
static Nearness
remaining_nearness(PlannerInfo *root, VariableStatData *variable,
				   const KnownBall *ball, double own)
{
	Nearness	result = column_nearness(variable, ball, own);
	StoredValues stored;
	Bitmapset  *excluded;
	double		rows = 0;		/* part that is excluded */
	double		pairs;			/* part with an excluded row */

	if (result.density <= 0 || variable->rel == NULL ||
		variable->rel->baserestrictinfo == NIL)
		return result;
	stored = hamming_read_values(variable, ball->words);
	excluded = hamming_excluded_values(root, variable, &stored);
	pairs = pairs_of_values(variable, &stored, excluded, ball->radius, &rows);
	free_values(&stored);
	if (rows > 0)
	{
		double		rest = Max(1 - rows, 0.001);

		result.density = probability((result.density - pairs) / (rest * rest));
		result.partnered = probability((result.partnered - rows) / rest);
	}
	return result;
}

/* Of more than that many stored values, every n-th is compared with others. */
#define MOST_COMPARED 511

/*
 * Return the greatest part of the pairs of two columns' values that can be
 * within the radius, by their stored values.  Where none of n pairs is, 3 / n
 * can be: the rule of three.
 */
static double
greatest_density(VariableStatData *a, VariableStatData *b,
				 const KnownBall *ball)
{
	StoredValues x = hamming_read_values(a, ball->words);
	StoredValues y = hamming_read_values(b, ball->words);
	int			x_step = (x.count + MOST_COMPARED - 1) / MOST_COMPARED;
	int			y_step = (y.count + MOST_COMPARED - 1) / MOST_COMPARED;
	uint64		first_words[MOST_COMPARED]; /* of y */
	int			y_count = 0;
	int			x_count = 0;
	double		x_all = 0;
	double		y_all = 0;
	double		within = 0;
	int			i;
	int			j;

	for (j = 0; j < y.count; j += y_step)
	{
		first_words[y_count++] = y.values[j * y.words];
		y_all += y.parts[j];
	}
	for (i = 0; i < x.count; i += x_step)
	{
		uint64	   *value = x.values + i * x.words;
		uint16		matches[MOST_COMPARED];
		int			found = hamming_match(first_words, y_count, *value,
										  Min(ball->radius, 64), matches);

		x_count++;
		x_all += x.parts[i];
		for (j = 0; j < found; j++)
		{
			int			other = matches[j] * y_step;

			if (words_distance(value, y.values + other * y.words, y.words) <=
				ball->radius)
				within += x.parts[i] * y.parts[other];
		}
	}
	free_values(&x);
	free_values(&y);
	if (x_all * y_all <= 0)
		return 1;
	return Max(within / (x_all * y_all), Min(3.0 / x_count / y_count, 1));
}

/*
 * Return how near the values of two columns are to each other.  Like an
 * equality join, it follows the column that is less dense: each value of the
 * other one is taken to be as near to that column's values as these are to each
 * other, unless the stored values of both show that they are not.
 */
static Nearness
nearness_of(PlannerInfo *root, VariableStatData *a, VariableStatData *b,
			const KnownBall *ball, double own)
{
	Nearness	result = remaining_nearness(root, a, ball, own);
	Nearness	other = remaining_nearness(root, b, ball, own);

	if (pair_fraction(&other) < pair_fraction(&result))
		result = other;
	/* the tuple is that of PostgreSQL's cache: one for a column */
	if (a->statsTuple == b->statsTuple && HeapTupleIsValid(a->statsTuple))
		return result;
	if (result.density > 0)
	{
		double		most = greatest_density(a, b, ball);

		if (most < result.density)
		{
			result.partnered *= most / result.density;
			result.density = most;
		}
	}
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
	StoredValues stored;
	Nearness	nearness;
	double		fraction;
	double		common = 0;		/* part of the rows, in the ball */
	double		others = 0;		/* values of the histogram in the ball */
	int			i;

	if (!ball->has_centre)
	{
		nearness = column_nearness(variable, ball, 0);
		fraction = nearness.is_known ? pair_fraction(&nearness)
			: ball_fraction(ball, distinct_values(variable));
		return (1 - hamming_null_fraction(variable)) * fraction;
	}
	stored = hamming_read_values(variable, ball->words);
	for (i = 0; i < stored.count; i++)
	{
		if (words_distance(stored.values + i * stored.words, ball->centre,
						   stored.words) > ball->radius)
			continue;
		if (i < stored.common)
			common += stored.parts[i];
		else
			others++;
	}
	fraction = ball_fraction(ball, distinct_values(variable) - stored.common);
	if (others - 1 > DENSE * fraction * (stored.count - stored.common))
		fraction = others / (stored.count - stored.common);
	free_values(&stored);
	return common + Max(stored.rest, 0) * fraction;
}

/*
 * args are the two arguments of a clause, which holds where the one of the
 * relation varRelid is within a ball.  ball is what is known before.
 * learn(&known, other) adds what the other argument says.  Return the
 * selectivity of the clause.
 */
static Selectivity
restriction_selectivity_of(PlannerInfo *root, List *args, int varRelid,
						   const KnownBall *ball,
						   void (*learn) (KnownBall *ball, Node *other))
{
	VariableStatData variable;
	Node	   *other;
	bool		on_left;
	KnownBall	known = *ball;
	Selectivity selectivity;

	if (!get_restriction_variable(root, args, varRelid, &variable, &other,
								  &on_left))
		return ball_fraction(&known, DEFAULT_NUM_DISTINCT);
	if (variable.rel != NULL)
		simhash_set_gist_costs(variable.rel);
	learn(&known, other);
	selectivity = column_fraction(&variable, &known);
	ReleaseVariableStats(variable);
	return probability(selectivity);
}

/* Return the part of the rows with a partner, if a row has m on average. */
static double
has_any(double m)
{
	return m / (1 + m);
}

/*
 * Return the part of the values that has a partner among rows others.  Those
 * that are partnered have nearly all of the pairs, and nearly all have a
 * partner.  Of the rest nothing is known but how many partners any value has:
 * one, mostly, so that the answer is neither none nor all; or none, where a
 * clause excludes the row itself, and ANALYZE has found no other.
 */
static double
partner_fraction(const Nearness *nearness, double rows)
{
	double		partnered = nearness->partnered;
	double		result = (1 - partnered) * has_any(rows * nearness->least);

	if (partnered > 0)
		result += partnered * has_any(rows * nearness->density / partnered);
	return result;
}

/*
 * Return the selectivity of a join, like that of an equality join but for the
 * ball.
 */
static Selectivity
join_selectivity_of(PlannerInfo *root, List *args, JoinType jointype,
					SpecialJoinInfo *sjinfo, const KnownBall *ball)
{
	VariableStatData left;
	VariableStatData right;
	bool		reversed;
	double		own = 0;		/* part of the pairs that are of a row and
								 * itself, and excluded by another clause */
	Nearness	nearness;
	Selectivity selectivity;

	get_join_variables(root, args, sjinfo, &left, &right, &reversed);
	if (simhash_excludes_own_pairs(root, &left, &right))
		own = 1 / Max(left.rel->tuples * (1 - hamming_null_fraction(&left)), 1);
	nearness = nearness_of(root, &left, &right, ball, own);
	selectivity = pair_fraction(&nearness) *
		(1 - hamming_null_fraction(&left)) *
		(1 - hamming_null_fraction(&right));
	if (jointype == JOIN_SEMI || jointype == JOIN_ANTI)
	{
		VariableStatData *outer = reversed ? &right : &left;
		VariableStatData *inner = reversed ? &left : &right;

		/* nothing is known: any other row may be a partner */
		if (!nearness.is_known)
			nearness.least += own;
		if (inner->rel != NULL)
			selectivity = (1 - hamming_null_fraction(outer)) *
				partner_fraction(&nearness, inner->rel->rows *
								 (1 - hamming_null_fraction(inner)));
	}
	ReleaseVariableStats(left);
	ReleaseVariableStats(right);
	return probability(selectivity);
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

/* other is the second argument of %, or of simhash_within(): the centre. */
static void
learn_centre(KnownBall *ball, Node *other)
{
	Datum		value;

	if (known_value(ball, other, ball->words * sizeof(uint64), &value))
	{
		ball->has_centre = true;
		simhash_datum_words(value, ball->centre, ball->words);
	}
}

static void
learn_radius(KnownBall *ball, Node *radius)
{
	Datum		value;

	if (exprType(radius) == INT8OID &&
		known_value(ball, radius, sizeof(int64), &value))
		ball->radius = hamming_radius(DatumGetInt64(value), ball->words * 64);
}

/* other is a ball, or hamming_ball(centre, radius). */
static void
learn_ball(KnownBall *ball, Node *other)
{
	Datum		value;

	if (IsA(other, FuncExpr) && list_length(((FuncExpr *) other)->args) == 2)
	{
		learn_radius(ball, lsecond(((FuncExpr *) other)->args));
		learn_centre(ball, linitial(((FuncExpr *) other)->args));
	}
	else if (known_value(ball, other, (ball->words + 1) * sizeof(uint64),
						 &value))
	{
		ball->has_centre = true;
		/* the constant may be of another type: see add_values() */
		ball->radius = hamming_radius(simhash_ball_words(value, ball->centre,
														 ball->words),
									  ball->words * 64);
	}
}

/*
 * Return the radius of the condition opno(args), the column first in args, for
 * an operator of the family; that of % if it is not known yet.
 */
static int32
operator_radius(Oid opfamily, Oid opno, List *args, int words)
{
	KnownBall	known = {.words = words,.radius = words * SIMHASH_NEAR_RADIUS};
	int			strategy = get_op_opfamily_strategy(opno, opfamily);

	if (strategy == SIMHASH_EQUAL_STRATEGY)
		return 0;
	if (strategy == SIMHASH_BALL_STRATEGY)
		learn_ball(&known, lsecond(args));
	return known.radius;
}

/*
 * Return the least radius of the conditions on a column of an index, whose
 * fingerprints have that many words, and whose operators have the strategies of
 * simhash.h: all bits if none has one, -1 if no row can match.  *searches gets
 * how often the index is searched: once, or once for each element of an array.
 */
int
hamming_expected_radius(PlannerInfo *root, IndexPath *path, int column,
						int words, double *searches)
{
	Oid			opfamily = path->indexinfo->opfamily[column];
	int			radius = words * 64;
	ListCell   *lc;
	ListCell   *qual;

	*searches = 1;
	foreach(lc, path->indexclauses)
	{
		IndexClause *condition = lfirst_node(IndexClause, lc);

		if (condition->indexcol != column)
			continue;
		foreach(qual, condition->indexquals)
		{
			Expr	   *clause = lfirst_node(RestrictInfo, qual)->clause;
			OpExpr	   *operator = (OpExpr *) clause;
			ScalarArrayOpExpr *any = (ScalarArrayOpExpr *) clause;

			if (IsA(clause, OpExpr))
				radius = Min(radius, operator_radius(opfamily, operator->opno,
													 operator->args, words));
			else if (IsA(clause, ScalarArrayOpExpr))
			{
				radius = Min(radius, operator_radius(opfamily, any->opno,
													 any->args, words));
				*searches *= expected_array_length(root, lsecond(any->args));
			}
		}
	}
	return radius;
}

void
hamming_within_selectivity(SupportRequestSelectivity *request, int words)
{
	PlannerInfo *root = request->root;
	List	   *args = list_make2(linitial(request->args),
								  lsecond(request->args));
	Node	   *radius = estimate_expression_value(root, lthird(request->args));
	KnownBall	ball = {.words = words,.radius = words * SIMHASH_NEAR_RADIUS};

	learn_radius(&ball, radius);
	if (request->is_join)
		request->selectivity =
			join_selectivity_of(root, args, request->jointype, request->sjinfo,
								&ball);
	else
		request->selectivity =
			restriction_selectivity_of(root, args, request->varRelid, &ball,
									   learn_centre);
}

/* Return the centre where node is hamming_ball(centre, radius), else node. */
static Node *
centre_of(Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;

	if (IsA(node, FuncExpr) &&
		strstr(simhash_c_name(call->funcid), "hamming_ball_make") != NULL)
		return linitial(call->args);
	return node;
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
static Datum
estimate_restriction(FunctionCallInfo fcinfo, int words)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Oid			opno = PG_GETARG_OID(1);
	List	   *args = (List *) PG_GETARG_POINTER(2);
	int			varRelid = PG_GETARG_INT32(3);
	KnownBall	ball = {.words = words,.radius = words * SIMHASH_NEAR_RADIUS};

	PG_RETURN_FLOAT8(restriction_selectivity_of(root, args, varRelid, &ball,
												takes_ball(opno) ? learn_ball :
												learn_centre));
}

SIMHASH_SQL_WIDTHS(simhash_restrict, estimate_restriction(fcinfo, words))

static Datum
estimate_join(FunctionCallInfo fcinfo, int words)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Oid			opno = PG_GETARG_OID(1);
	List	   *args = (List *) PG_GETARG_POINTER(2);
	JoinType	jointype = (JoinType) PG_GETARG_INT16(3);
	SpecialJoinInfo *sjinfo = (SpecialJoinInfo *) PG_GETARG_POINTER(4);
	KnownBall	ball = {.words = words,.radius = words * SIMHASH_NEAR_RADIUS};

	if (takes_ball(opno))
	{
		learn_ball(&ball, linitial(args));
		learn_ball(&ball, lsecond(args));
		args = list_make2(centre_of(linitial(args)), centre_of(lsecond(args)));
	}
	PG_RETURN_FLOAT8(join_selectivity_of(root, args, jointype, sjinfo, &ball));
}

SIMHASH_SQL_WIDTHS(simhash_join, estimate_join(fcinfo, words))
