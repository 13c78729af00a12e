/*
 * partners.c
 *	  The pairs of rows of a HammingJoin that pass all of its clauses.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "join/join.h"

/* The number of no row. */
#define NO_ROW PG_UINT32_MAX

/* Return the tuples of the rows of y. */
static TupleStore *
inner_tuples(HammingJoinState *state)
{
	return state->is_self ? &state->outer.tuples : &state->inner.tuples;
}

/*
 * Let the pair have its next rows of y, and begin with the first row of x.
 * Return false if none is left.  Where tuples are in a file, a cache keeps
 * those of a block while rows of x come and go: most are read once for the
 * block, and not for each row of x.
 */
static bool
next_block(HammingJoinState *state)
{
	NearPair   *pair = &state->pair;

	if (pair->y_end == state->y_end)
		return false;
	pair->y = pair->y_end;
	pair->y_end += Min(state->y_end - pair->y,
					   simhash_tuples_at_once(inner_tuples(state)));
	state->a = pair->x;
	state->b = pair->y;
	state->in_slot = NO_ROW;
	state->is_settled = true;
	return true;
}

/* Get the next two fingerprints, and their rows. */
static bool
next_fingerprints(HammingJoinState *state)
{
	if (state->pairs == NULL ||
		!hamming_pairs_next(state->pairs, &state->pair))
		return false;
	state->y_end = state->pair.y_end;
	state->pair.y_end = state->pair.y;
	return next_block(state);
}

/* Bring the tuple into the slot of the input. */
static void
store_row(JoinInput *input, MinimalTuple tuple)
{
	ExecStoreMinimalTuple(tuple, input->slot, false);
	input->loaded = 0;
}

/* Bring rows a and b into the slots.  b holds until the next one is read. */
static void
fetch_rows(HammingJoinState *state, uint32 a, uint32 b)
{
	JoinInput  *outer = &state->outer;
	JoinInput  *inner = &state->inner;
	TupleStore *tuples = inner_tuples(state);

	if (state->in_slot != a && outer->columns > 0)
	{
		store_row(outer, simhash_tuples_read(&outer->tuples,
											 state->pair.x_side->payloads[a]));
		if (state->is_self && outer->tuples.has_file)
			ExecMaterializeSlot(outer->slot);
	}
	state->in_slot = a;
	if (inner->columns > 0)
		store_row(inner,
				  simhash_tuples_read(tuples, state->pair.y_side->payloads[b]));
}

/*
 * Exchange the rows in the slots, which the children of a self-join share, and
 * back.
 */
static void
swap_rows(HammingJoinState *state)
{
	TupleTableSlot *slot = state->outer.slot;

	state->outer.slot = state->inner.slot;
	state->inner.slot = slot;
	state->outer.loaded = state->inner.loaded = 0;
	state->is_swapped = !state->is_swapped;
}

/* Do the rows in the slots pass the other clauses of the join? */
static bool
passes_filter(HammingJoinState *state)
{
	JoinInput  *outer = &state->outer;
	JoinInput  *inner = &state->inner;
	ExprContext *context = state->custom.ss.ps.ps_ExprContext;

	CHECK_FOR_INTERRUPTS();
	state->pairs_read++;
	ResetExprContext(context);
	hamming_input_load(state, outer, outer->slot, outer->filter_columns);
	hamming_input_load(state, inner, inner->slot, inner->filter_columns);
	if (ExecQual(state->filter, context))
		return true;
	InstrCountFiltered2(&state->custom, 1);
	return false;
}

/*
 * Return the first partner of row a among the rows of the current block, or
 * pair.y_end if there is none.
 */
static uint32
find_partner(HammingJoinState *state, uint32 a)
{
	uint32		b = state->pair.y;

	if (state->filter == NULL)
		return b;
	for (; b < state->pair.y_end; b++)
	{
		fetch_rows(state, a, b);
		if (passes_filter(state))
			break;
	}
	return b;
}

/*
 * Find the outer rows that have a partner, each once.  If
 * state->shows_partners, bring the next one and its partner into the slots, or
 * return false if none is left.  UPDATE, DELETE and FOR UPDATE need these: a
 * recheck takes the partner's row by its ctid.
 */
static bool
next_partner(HammingJoinState *state)
{
	JoinInput  *outer = &state->outer;
	const NearPair *pair = &state->pair;

	for (;;)
	{
		while (state->a < pair->x_end)
		{
			uint32		a = state->a++;
			uint32		number = pair->x_side->numbers[a];
			uint32		b;

			CHECK_FOR_INTERRUPTS();
			if (is_bit_set(outer->matched, number))
				continue;
			b = find_partner(state, a);
			if (b == state->pair.y_end)
			{
				state->is_settled = false;
				continue;
			}
			set_bit(outer->matched, number);
			if (!state->shows_partners)
				continue;
			if (state->filter == NULL)
				fetch_rows(state, a, b);
			return true;
		}
		if (!state->is_settled && next_block(state))
			continue;
		if (pair->x_end > 0 && state->is_settled)
			settle_pair(state->pairs, pair);
		if (!next_fingerprints(state))
			return false;
	}
}

/*
 * Bring the next two rows into the slots that are within the radius; return
 * false if there are none left.  Of a self-join two rows come twice, the second
 * time in each other's slots.
 */
static bool
next_two(HammingJoinState *state)
{
	if (state->is_self && state->b > 0 && !state->is_swapped)
	{
		swap_rows(state);
		return true;
	}
	if (state->is_swapped)
		swap_rows(state);
	while (!find_rows(&state->pair, &state->a, &state->b))
		if (!next_block(state) && !next_fingerprints(state))
			return false;
	fetch_rows(state, state->a, state->b++);
	return true;
}

/*
 * Has an AdaptiveJoin joined the row in the outer slot before?  Payloads are
 * positions of tuples, which ascend.
 */
static bool
was_tried(const HammingJoinState *state)
{
	const NearPair *pair = &state->pair;

	return state->last_tried > 0 && state->last_tried >=
		(state->is_swapped ? pair->y_side->payloads[state->b - 1]
		 : pair->x_side->payloads[state->a]);
}

/*
 * Bring the next two rows into the slots that pass all clauses of the join.
 * Return false if there are none left.
 */
static bool
next_rows(HammingJoinState *state)
{
	while (next_two(state))
	{
		if (was_tried(state) || !passes_filter(state))
			continue;
		if (state->type != JOIN_INNER)
			set_bit(state->outer.matched,
					state->pair.x_side->numbers[state->a]);
		if (state->type == JOIN_FULL)
			set_bit(state->inner.matched,
					state->pair.y_side->numbers[state->b - 1]);
		return true;
	}
	return false;
}

/*
 * Bring the next two rows into the slots that come to the result as a pair.
 * Return false if no pair is left.
 */
bool
hamming_next_pair(HammingJoinState *state)
{
	return looks_for_one(state->type) ? next_partner(state) : next_rows(state);
}
