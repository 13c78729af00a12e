/*
 * input.c
 *	  The rows of one side of a HammingJoin: read from the child, and kept.
 *
 * Of each row its fingerprint, its number, a hash of its keys, and the
 * position of its tuple come to a side (near/side.h); the tuple is kept if a
 * column of it is needed after the join.  The children are read in turns until
 * one is at its end: however many rows the planner expects, this one has
 * fewer.  Of the other one a filter of its fingerprints leaves out nearly all
 * rows without a partner: they are kept only if the join returns them.
 */
#include "postgres.h"

#include <math.h>

#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "join/join.h"
#include "near/progress.h"
#include "type/simhash.h"

/*
 * Both sides are read in turns.  In the first turn FIRST_TURN rows are read of
 * side A, which the planner expects to be smaller.  In each further turn, A is
 * read until it has twice as many rows.  After each turn of A, side B is read
 * until it has 1 / TURN_SHARE as many rows as A.
 *
 * If A ends first, as the planner expects, at most 1 / TURN_SHARE as many rows
 * of B have been read.  If B ends first, at most 2 * TURN_SHARE as many rows of
 * A have been read, or FIRST_TURN.
 */
#define FIRST_TURN 64
#define TURN_SHARE 4

/* Return what the rows of an input take in memory. */
static Size
memory_of(const JoinInput *input)
{
	return side_memory(&input->side) + simhash_tuples_memory(&input->tuples) +
		(input->matched == NULL ? 0 : input->rows / 8 + 1);
}

/* Return what all rows and the filter take in memory. */
Size
hamming_join_memory(const HammingJoinState *state)
{
	return memory_of(&state->outer) + memory_of(&state->inner) +
		(state->filter_of_first == NULL ? 0
		 : GetMemoryChunkSpace(state->filter_of_first));
}

/*
 * Keep the tuples of the input in a file, and all that come.  Of a self-join
 * the outer side has all.
 */
static void
move_tuples(HammingJoinState *state, JoinInput *input)
{
	if (input->columns > 0 && !input->tuples.has_file &&
		!(state->is_self && input == &state->inner))
		simhash_tuples_to_file(&input->tuples, state->memory);
}

/*
 * Have room for one more row of side in the memory that is allowed.  Where
 * that is too little, move tuples to files, which are read for rows that match
 * only, and then the rows of both sides, too.
 */
static void
make_room(HammingJoinState *state, NearSide *side)
{
	JoinInput  *outer = &state->outer;
	JoinInput  *inner = &state->inner;

	while (side->file == NULL)
	{
		Size		memory = hamming_join_memory(state);

		if (memory <= state->memory &&
			hamming_side_make_room(side, state->memory - memory +
								   side_memory(side)))
			break;
		if (outer->tuples.size > 0 && !outer->tuples.has_file)
			move_tuples(state, outer);
		else if (inner->tuples.size > 0 && !inner->tuples.has_file)
			move_tuples(state, inner);
		else
		{
			move_tuples(state, outer);
			move_tuples(state, inner);
			hamming_side_to_file(&outer->side);
			hamming_side_to_file(&inner->side);
		}
	}
	state->work->most_memory = Max(state->work->most_memory,
								   hamming_join_memory(state));
}

/*
 * Keep the row in slot.  Where it may have partners it comes to the side, with
 * its fingerprint.
 */
static void
keep_row(HammingJoinState *state, JoinInput *input, TupleTableSlot *slot,
		 NearRow row, bool may_match)
{
	row.number = input->rows;
	if (input->rows == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot join more than %d rows of one side",
						PG_INT32_MAX)));
	if (input->columns > 0)
	{
		bool		is_copy;
		MinimalTuple tuple = ExecFetchSlotMinimalTuple(slot, &is_copy);

		row.payload = simhash_tuples_add(&input->tuples, tuple);
		if (is_copy)
			heap_free_minimal_tuple(tuple);
		if (input->read <= hamming_rows_tried(input->child))
			state->last_tried = row.payload;
	}
	input->rows++;
	make_room(state, &input->side);
	if (may_match)
		hamming_side_add(&input->side, &row);
}

/* Prepare to compute expressions of a row of the child. */
static ExprContext *
begin_expression(HammingJoinState *state, JoinInput *input,
				 TupleTableSlot *slot)
{
	ExprContext *context = state->custom.ss.ps.ps_ExprContext;

	ResetExprContext(context);
	input->loaded = 0;
	hamming_input_load(state, input, slot, input->key_columns);
	return context;
}

/*
 * Set row->key to the hash of the keys.  Return false if one of them is NULL.
 */
static bool
find_key(HammingJoinState *state, JoinInput *input, TupleTableSlot *slot,
		 NearRow *row)
{
	ExprContext *context = begin_expression(state, input, slot);
	MemoryContext old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
	bool		isnull = false;
	ListCell   *lc;

	foreach(lc, input->keys)
	{
		JoinKey    *key = lfirst(lc);
		Datum		value = ExecEvalExpr(key->value, context, &isnull);

		if (isnull)
			break;
		value = FunctionCall1Coll(&key->hash, key->collation, value);
		row->key = hash_combine(row->key, DatumGetUInt32(value));
	}
	MemoryContextSwitchTo(old);
	return !isnull;
}

/*
 * Set row to the fingerprint of a row of the child, and to the hash of its
 * keys.  Return false if the row has no partner: one of these is NULL, or the
 * filter does not let the fingerprint pass.
 */
static bool
find_row(HammingJoinState *state, JoinInput *input, TupleTableSlot *slot,
		 NearRow *row)
{
	const NearFilter *filter = state->filter_of_first;
	Datum		value;
	bool		isnull;

	memset(row, 0, sizeof(NearRow));
	/* most often there is nothing to compute */
	if (input->fingerprint_column > 0)
		value = slot_getattr(slot, input->fingerprint_column, &isnull);
	else
		value = ExecEvalExprSwitchContext(input->fingerprint,
										  begin_expression(state, input, slot),
										  &isnull);
	if (isnull)
		return false;
	simhash_datum_words(value, row->words, state->word_count);
	if (filter != NULL && !hamming_filter_passes(filter, row->words))
		return false;
	return input->keys == NIL || find_key(state, input, slot, row);
}

/*
 * May more rows be read?  A child must not be asked again after its last row.
 */
static bool
has_more(const JoinInput *input)
{
	return !input->is_at_end && input->read < input->read_end;
}

/*
 * Read rows of an input until `read` is end, or it has no more.  Error: 54000
 * for too many rows.
 */
static void
read_input(HammingJoinState *state, JoinInput *input, uint64 end)
{
	while (has_more(input) && input->read < end)
	{
		TupleTableSlot *slot = ExecProcNode(input->child);
		NearRow		row;
		bool		may_match;

		input->is_at_end = TupIsNull(slot);
		if (input->is_at_end)
			break;
		input->read++;
		simhash_progress_rows(input->read);
		may_match = find_row(state, input, slot, &row);
		if (may_match || input->keeps_all)
			keep_row(state, input, slot, row, may_match);
	}
}

/*
 * Read both sides in turns until one has no more.  Return this one.  Begin
 * with the one for which the planner expects fewer rows.
 */
static JoinInput *
read_in_turns(HammingJoinState *state)
{
	JoinInput  *outer = &state->outer;
	JoinInput  *inner = &state->inner;
	bool		outer_first =
	outer->child->plan->plan_rows < inner->child->plan->plan_rows;
	JoinInput  *first = outer_first ? outer : inner;
	JoinInput  *second = outer_first ? inner : outer;
	uint64		end;

	for (end = FIRST_TURN; has_more(first) && has_more(second); end *= 2)
	{
		read_input(state, first, end);
		if (has_more(first))
			read_input(state, second, end / TURN_SHARE);
	}
	return has_more(first) ? second : first;
}

/* Return the radius, or -1 if no pair matches, as where it is NULL. */
static int
evaluate_radius(HammingJoinState *state)
{
	ExprContext *context = state->custom.ss.ps.ps_ExprContext;
	bool		isnull;
	Datum		radius;

	ResetExprContext(context);
	radius = ExecEvalExprSwitchContext(state->radius, context, &isnull);
	return isnull ? -1 : hamming_radius(DatumGetInt64(radius),
										64 * state->word_count);
}

/*
 * If that is worth it, make a filter of the first side, which has a
 * fingerprint, for the second one.  Whether it is depends on how many rows the
 * second one has: where the planner does not expect enough, these are read.
 * Outer rows that follow in other batches may have other partners.
 */
static void
make_filter(HammingJoinState *state, const JoinInput *first, JoinInput *second)
{
	const FingerprintList *list = &first->side.list;
	double		expected = second->child->plan->plan_rows;
	MemoryContext old;

	if (state->is_self || state->known_radius < 0 || !first->is_at_end)
		return;
	if (expected < WORTH_BLOOM * first->side.count)
		read_input(state, second, WORTH_BLOOM * first->side.count);
	if (first->side.file != NULL)
		return;
	old = MemoryContextSwitchTo(state->context);
	state->filter_of_first =
		hamming_filter_make(list, Max(expected, second->read),
							state->known_radius, state->memory);
	MemoryContextSwitchTo(old);
	if (state->filter_of_first != NULL)
		hamming_side_filter(&second->side, state->filter_of_first);
}

/*
 * Have no outer row, and decide how many are read next.  A batch grows with
 * what this process has read, so that more rows than the planner expects do
 * not make many batches.  Each batch costs one pass over the inner rows.  With
 * fewer pairs than expected the best number of batches falls as the square root
 * of the pairs.  Sides in files are divided anew for each batch, which takes
 * long: then the last one begins.
 */
static void
begin_batch(HammingJoinState *state)
{
	JoinInput  *outer = &state->outer;
	double		batch = state->batch;
	double		expected = state->batch_pairs * (outer->read / Max(batch, 1));

	hamming_input_end(outer);
	outer->read_end = PG_UINT64_MAX;
	if (state->inner.side.file != NULL)
	{
		move_tuples(state, outer);
		hamming_side_to_file(&outer->side);
	}
	else if (batch > 0)
	{
		if (expected > state->pairs_read)
			batch *= sqrt(expected / Max(state->pairs_read, 1));
		outer->read_end = outer->read + Max(batch, outer->read / 8);
	}
}

/*
 * Read the rows of state->outer, or its next batch, and at first those of
 * state->inner.  Compute the radius only if both sides have a fingerprint:
 * without any row PostgreSQL's own joins do not compute it, and it may be an
 * error.  Read no more of the second side if the first one has no fingerprint
 * and the result needs no row of the second.  Of a self-join read the outer
 * rows only.  Return false if there is no result.
 */
static bool
read_batch(HammingJoinState *state)
{
	JoinInput  *outer = &state->outer;
	JoinInput  *inner = &state->inner;

	JoinInput  *first = state->is_self ? inner : read_in_turns(state);
	JoinInput  *second = first == outer ? inner : outer;

	if (!state->is_self && first->side.count == 0 && !second->keeps_all)
		return first->rows > 0;
	if (!state->has_radius && (state->is_self || first->side.count > 0))
	{
		while (second->side.count == 0 && has_more(second))
			read_input(state, second, second->read + 1);
		if (second->side.count > 0)
		{
			state->known_radius = evaluate_radius(state);
			state->has_radius = true;
			make_filter(state, first, second);
		}
	}
	if (state->known_radius >= 0 || second->keeps_all)
		read_input(state, second, PG_UINT64_MAX);
	return state->known_radius >= 0 || outer->keeps_all;
}

void
hamming_inputs_free_filter(HammingJoinState *state)
{
	if (state->filter_of_first != NULL)
		pfree(state->filter_of_first);
	state->filter_of_first = NULL;
}

/*
 * Read the next batch of rows: see read_batch().  Set state->has_more.  No
 * other batch follows that has pairs if the outer rows had none because of the
 * inner ones or of the radius.
 */
void
hamming_inputs_read(HammingJoinState *state)
{
	JoinInput  *outer = &state->outer;
	JoinInput  *inner = &state->inner;
	bool		no_partners;

	begin_batch(state);
	state->is_empty = !read_batch(state);
	no_partners = inner->is_at_end && inner->side.count == 0;
	state->has_more = !outer->is_at_end &&
		(!state->is_empty || (outer->side.count == 0 && !no_partners));
	if (!state->has_more)
		hamming_inputs_free_filter(state);
	state->is_read = true;
}

void
hamming_input_end(JoinInput *input)
{
	ExecClearTuple(input->slot);
	simhash_tuples_end(&input->tuples);
	hamming_side_end(&input->side);
	if (input->matched != NULL)
		pfree(input->matched);
	input->matched = NULL;
	input->rows = 0;
}

/*
 * Bring the next row into the slot that has a partner, or that has none, in
 * the order of the child.  Return false if there is none left.
 */
bool
hamming_input_next_row(JoinInput *input, bool matched)
{
	bool		is_found = false;

	while (!is_found && input->row < input->rows)
	{
		CHECK_FOR_INTERRUPTS();
		is_found = is_bit_set(input->matched, input->row++) == matched;
		if (input->columns > 0)
		{
			MinimalTuple tuple = simhash_tuples_next(&input->tuples,
													 &input->offset);

			if (is_found)
				ExecStoreMinimalTuple(tuple, input->slot, false);
			input->loaded = 0;
		}
	}
	return is_found;
}
