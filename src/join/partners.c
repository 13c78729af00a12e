/*
 * partners.c
 *	  The pairs of rows of a HammingJoin that pass all of its clauses.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "join/node.h"

/* Get the next two fingerprints, and the places of their rows. */
static bool
next_fingerprints(HammingJoinState *state, uint32 *x)
{
	JoinPasses *passes = state->passes;
	MemoryContext old = MemoryContextSwitchTo(state->context);
	uint32		y;
	bool		found = passes != NULL && hamming_passes_next(passes, x, &y);

	MemoryContextSwitchTo(old);
	if (!found)
		return false;
	state->a = passes->x_side->starts[*x];
	state->a_end = passes->x_side->starts[*x + 1];
	state->b_from = passes->y_side->starts[y];
	state->b_end = passes->y_side->starts[y + 1];
	state->b = state->b_from;
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
		hamming_input_fetch(outer, state->passes->x_side->ids[a]);
	state->has_outer = true;
	hamming_input_fetch(inner, state->passes->y_side->ids[b]);
	hamming_input_load(state, outer, outer->slot, outer->filter_columns);
	hamming_input_load(state, inner, inner->slot, inner->filter_columns);
	if (ExecQual(state->filter, context))
		return true;
	InstrCountFiltered2(&state->custom, 1);
	return false;
}

/*
 * Return the first partner of row a among the rows of the current inner
 * fingerprint, or b_end if there is none.
 */
static uint32
find_partner(HammingJoinState *state, uint32 a)
{
	uint32		b = state->b_from;

	if (state->filter == NULL)
		return b;
	state->has_outer = false;
	while (b < state->b_end && !passes_filter(state, a, b))
		b++;
	return b;
}

/* Find out, for each outer row, whether it has a partner. */
void
hamming_match_rows(HammingJoinState *state)
{
	uint32		x;

	while (next_fingerprints(state, &x))
	{
		bool		settled = true;
		uint32		a;

		for (a = state->a; a < state->a_end; a++)
		{
			uint32		number = state->passes->x_side->numbers[a];
			uint32		b;

			CHECK_FOR_INTERRUPTS();
			if (hamming_input_is_matched(&state->outer, number))
				continue;
			b = find_partner(state, a);
			if (b == state->b_end)
			{
				settled = false;
				continue;
			}
			hamming_input_match(&state->outer, number);
			if (state->outer.partners != NULL)
				state->outer.partners[number] = state->passes->y_side->ids[b];
		}
		state->passes->settled[x] = settled;
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
		uint32		x;

		while (state->a < state->a_end && state->b < state->b_end)
		{
			uint32		b = state->b++;

			if (passes_filter(state, state->a, b))
			{
				JoinPasses *passes = state->passes;

				hamming_input_match(&state->outer,
									passes->x_side->numbers[state->a]);
				hamming_input_match(&state->inner, passes->y_side->numbers[b]);
				return true;
			}
		}
		if (state->a + 1 < state->a_end)
		{
			state->a++;
			state->b = state->b_from;
			state->has_outer = false;
		}
		else if (!next_fingerprints(state, &x))
			return false;
	}
}
