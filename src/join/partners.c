/*
 * partners.c
 *	  The pairs of rows of a HammingJoin that pass all of its clauses.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "join/node.h"

/* Get the next two fingerprints, and their rows. */
static bool
next_fingerprints(HammingJoinState *state)
{
	if (state->pairs == NULL ||
		!hamming_pairs_next(state->pairs, &state->pair))
		return false;
	state->a = state->pair.x;
	state->b = state->pair.y;
	state->has_outer = false;
	return true;
}

/*
 * Do rows a and b pass the other clauses of the join?  On return both rows are
 * in the slots.
 */
static bool
passes_filter(HammingJoinState *state, uint32 a, uint32 b)
{
	JoinInput  *outer = &state->outer;
	JoinInput  *inner = &state->inner;
	ExprContext *context = state->custom.ss.ps.ps_ExprContext;

	CHECK_FOR_INTERRUPTS();
	ResetExprContext(context);
	if (!state->has_outer)
		hamming_input_fetch(outer, state->pair.x_side->payloads[a]);
	state->has_outer = true;
	hamming_input_fetch(inner, state->pair.y_side->payloads[b]);
	hamming_input_load(state, outer, outer->slot, outer->filter_columns);
	hamming_input_load(state, inner, inner->slot, inner->filter_columns);
	if (ExecQual(state->filter, context))
		return true;
	InstrCountFiltered2(&state->custom, 1);
	return false;
}

/*
 * Return the first partner of row a among the rows of the current inner
 * fingerprint, or pair.y_end if there is none.
 */
static uint32
find_partner(HammingJoinState *state, uint32 a)
{
	uint32		b = state->pair.y;

	if (state->filter == NULL)
		return b;
	state->has_outer = false;
	while (b < state->pair.y_end && !passes_filter(state, a, b))
		b++;
	return b;
}

/* Find out, for each outer row, whether it has a partner. */
void
hamming_match_rows(HammingJoinState *state)
{
	while (next_fingerprints(state))
	{
		bool		settled = true;
		uint32		a;

		for (a = state->pair.x; a < state->pair.x_end; a++)
		{
			uint32		number = state->pair.x_side->numbers[a];
			uint32		b;

			CHECK_FOR_INTERRUPTS();
			if (hamming_input_is_matched(&state->outer, number))
				continue;
			b = find_partner(state, a);
			if (b == state->pair.y_end)
			{
				settled = false;
				continue;
			}
			hamming_input_match(&state->outer, number);
			if (state->outer.partners != NULL)
				state->outer.partners[number] = state->pair.y_side->payloads[b];
		}
		if (settled)
			hamming_pairs_settle(state->pairs, &state->pair);
	}
}

/*
 * Bring the next two rows into the slots that pass all clauses of the join.
 * Return false if there are none left.
 */
bool
hamming_next_rows(HammingJoinState *state)
{
	for (;;)
	{
		while (state->a < state->pair.x_end && state->b < state->pair.y_end)
		{
			uint32		b = state->b++;

			if (passes_filter(state, state->a, b))
			{
				hamming_input_match(&state->outer,
									state->pair.x_side->numbers[state->a]);
				hamming_input_match(&state->inner,
									state->pair.y_side->numbers[b]);
				return true;
			}
		}
		if (state->a + 1 < state->pair.x_end)
		{
			state->a++;
			state->b = state->pair.y;
			state->has_outer = false;
		}
		else if (!next_fingerprints(state))
			return false;
	}
}
