/*
 * stored_values.c
 *	  The values of a column of fingerprints that ANALYZE has stored.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"

#include "type/selectivity.h"
#include "type/simhash.h"

/* Of the most common values, this many are looked at. */
#define MAX_EXCLUDED 16

/* Return the part of the rows that has NULL, whatever number is stored. */
double
hamming_null_fraction(VariableStatData *variable)
{
	if (!HeapTupleIsValid(variable->statsTuple))
		return 0;
	return probability(((Form_pg_statistic)
						GETSTRUCT(variable->statsTuple))->stanullfrac);
}

/*
 * Add the values of a slot of statistics of that kind.
 *
 * Statistics are used without statistic_proc_security_check(): all that could
 * be asked of them here is a leakproof function.
 *
 * A superuser may name an estimator of this file for an operator of any types;
 * older minor releases of PostgreSQL let everybody do so.  So values that are
 * not as long as a fingerprint, or are passed in another way, are not read as
 * fingerprints.
 */
static void
add_values(VariableStatData *variable, int kind, int flags,
		   StoredValues *stored)
{
	AttStatsSlot slot;
	double		rest = Max(stored->rest, 0);
	int			room;
	int16		length;
	bool		by_value;
	int			i;

	if (!HeapTupleIsValid(variable->statsTuple) ||
		!get_attstatsslot(&slot, variable->statsTuple, kind, InvalidOid, flags))
		return;
	room = stored->count + slot.nvalues;
	get_typlenbyval(slot.valuetype, &length, &by_value);
	if (length == stored->words * (int) sizeof(uint64) &&
		by_value == (stored->words == 1) && room > 0)
	{
		stored->values = repalloc(stored->values, room * length);
		stored->parts = repalloc(stored->parts, room * sizeof(double));
		for (i = 0; i < slot.nvalues; i++)
		{
			double		part = slot.numbers == NULL ? rest / slot.nvalues
			: slot.numbers[i];

			simhash_datum_words(slot.values[i], stored->values +
								stored->count * stored->words, stored->words);
			stored->parts[stored->count++] = part;
			if (slot.numbers != NULL)
				stored->rest -= part;
		}
	}
	free_attstatsslot(&slot);
}

/*
 * Return the stored values of a column of fingerprints of that many words; the
 * caller frees the two arrays.
 */
StoredValues
hamming_read_values(VariableStatData *variable, int words)
{
	StoredValues stored = {.words = words,
	.rest = 1 - hamming_null_fraction(variable)};

	stored.values = palloc(sizeof(uint64));
	stored.parts = palloc(sizeof(double));
	add_values(variable, STATISTIC_KIND_MCV,
			   ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS, &stored);
	stored.common = stored.count;
	add_values(variable, STATISTIC_KIND_HISTOGRAM, ATTSTATSSLOT_VALUES,
			   &stored);
	return stored;
}

/* What replace_variable() puts in place of a column. */
typedef struct Replacement
{
	Node	   *variable;
	Const	   *value;
} Replacement;

/* Return a copy of node with the value in place of the column. */
static Node *
replace_variable(Node *node, Replacement *replacement)
{
	if (node != NULL && equal(node, replacement->variable))
		return copyObject((Node *) replacement->value);
	return expression_tree_mutator(node, replace_variable, replacement);
}

/*
 * Add the values of a column, by their places, that the clause is not true for,
 * as "fp <> 0" is not for 0, to the set.  Only the first count are looked at,
 * and none if the clause depends on anything else, or might show somebody the
 * values: it must be leakproof.  Only immutable functions are called, which the
 * planner has called before where their arguments are known.
 */
static void
add_excluded(PlannerInfo *root, VariableStatData *variable, Node *clause,
			 const StoredValues *stored, int count, Bitmapset **excluded)
{
	Replacement replacement = {
		.variable = below_outer_joins(root, variable->var)
	};
	int			i;

	if (contain_leaked_vars(clause) || contain_volatile_functions(clause))
		return;
	replacement.value = makeConst(variable->vartype, -1, InvalidOid,
								  stored->words * sizeof(uint64), (Datum) 0,
								  false, stored->words == 1);
	for (i = 0; i < count; i++)
	{
		Node	   *known;

		replacement.value->constvalue =
			simhash_words_datum(stored->values + i * stored->words,
								stored->words);
		known = replace_variable(clause, &replacement);
		if (contain_var_clause(known))
			return;
		known = eval_const_expressions(root, known);
		if (IsA(known, Const) &&
			(((Const *) known)->constisnull ||
			 !DatumGetBool(((Const *) known)->constvalue)))
			*excluded = bms_add_member(*excluded, i);
	}
}

/*
 * Return which of the most common values of a column, by their places, the
 * restrictions of the column leave out.  What a restriction of another column
 * leaves out is not known.
 */
Bitmapset *
hamming_excluded_values(PlannerInfo *root, VariableStatData *variable,
						const StoredValues *stored)
{
	int			count = Min(stored->common, MAX_EXCLUDED);
	Bitmapset  *excluded = NULL;
	ListCell   *lc;

	foreach(lc, variable->rel->baserestrictinfo)
		add_excluded(root, variable,
					 (Node *) lfirst_node(RestrictInfo, lc)->clause, stored,
					 count, &excluded);
	return excluded;
}
