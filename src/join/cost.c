/*
 * cost.c
 *	  What a HammingJoin costs.
 *
 * Costs are in PostgreSQL's unit, a page of a sequential read.  The constants
 * were measured with a million rows and 1 to 1,000,000 others, where a unit is
 * 2 to 4 us, as it is for a sequential scan of rows in memory.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "join/join.h"

/* Times cpu_operator_cost. */
#define READ_ROW 2.0			/* to find the fingerprint of a row */
#define KEEP_ROW 22.0			/* to keep the row and its fingerprint */
#define READ_PAIR 6.0			/* to read the tuples of two rows */
#define READ_FROM_FILE 54.0		/* more, where one of them comes from a file */
#define MOVE_ROW 16.0			/* to write a row of a side to a file, and to
								 * read it */

#define LOOK_AT_FILTER 0.5		/* for one mask */

/*
 * Times parallel_tuple_cost: to write a pair that was found, and to read it.
 */
#define BRING_PAIR 0.05

/*
 * The most partners of a row that are expected to come from a file.  Rows near
 * each other have most partners in common: beyond these, they come from the
 * cache (tuples.c).
 */
#define PARTNERS_FROM_FILE 8.0

/*
 * Of paths whose costs differ by a hundredth PostgreSQL keeps the one that
 * starts sooner, a nested loop: see add_path().
 */
#define CLEARLY_LESS 0.99

/* More batches would hardly share out the rows better. */
#define MOST_BATCHES 16

/* What a tuple takes beside its columns, in bytes. */
#define TUPLE_OVERHEAD 24

/* Return what the tuples of a path take, if that fraction of them is kept. */
static double
tuple_bytes(const Path *path, double kept)
{
	return path->rows * kept * (path->pathtarget->width + TUPLE_OVERHEAD);
}

/* Return the filter of the smaller side as the join will make it. */
static FilterPlan
filter_plan(double less, double more, const JoinEstimate *join, double memory)
{
	FilterPlan	none = {.passes = 1};

	/* as side.c doubles it */
	double		room = exp2(ceil(log2(Max(less, 1))));

	if (room * SIDE_ROW_BYTES(join->word_count) >= memory)
		return none;
	return hamming_filter_plan(join->word_count, less, more, join->radius,
							   memory);
}

/*
 * Return how often pairs.c moves the rows of sides that memory has no room
 * for: to files, and then to partitions, by their keys if these have few rows
 * each, or else by each segment of a cut; but to no partitions if stretches
 * take less.
 */
static double
number_of_moves(double less, double more, const JoinEstimate *join,
				double memory)
{
	double		at_once = Max(memory / SIDE_ROW_BYTES(join->word_count), 2);
	double		rows = less + more;

	if (rows <= at_once)
		return 0;
	if (!join->are_same_rows &&
		hamming_prefers_stretches(less, more, at_once))
		return 1;
	return rows / join->groups <= at_once / 2 ? 2 : join->radius + 2;
}

/* Return what it takes to find the pairs of x and y rows. */
static Cost
search_cost(double x, double y, const JoinEstimate *join)
{
	return hamming_near_cost(join->word_count, x / join->groups,
							 y / join->groups, join->radius) * join->groups;
}

/*
 * In how many batches is a process to read its share of the outer rows?  At
 * the end it waits for the last batch of another one: for half a batch on
 * average.  But each batch passes over all inner rows.  join->search is what
 * the search for pairs takes in one batch, and is set to what it takes in all.
 * unfiltered is what a filter of the outer rows spares: with batches none can
 * be made.
 */
static void
choose_batches(double outer, double inner, JoinEstimate *join, Cost unfiltered)
{
	Cost		least = join->search + (join->search + join->run) / 2;
	int			batches;

	for (batches = 2; batches <= MOST_BATCHES; batches *= 2)
	{
		Cost		search = unfiltered +
		search_cost(outer / batches, inner, join) * batches;
		Cost		cost = search + (search + join->run) / (2 * batches);

		if (cost < least)
		{
			least = cost;
			join->batches = batches;
			join->search = search;
		}
	}
}

/*
 * Return the most that a path for the join costs: less than a nested loop
 * whose filter has the distance.  So no estimate, however wrong, has all rows
 * compared with all.  Where this is less than what the join takes, there are
 * few rows, or most are near each other: then the join takes at most three
 * times as long as the nested loop.  That one may cost more still: it reads the
 * inner rows again for each outer row.
 */
static Cost
most_cost(const CustomPath *path, const JoinEstimate *join, double sides)
{
	const Path *outer = linitial(path->custom_paths);
	const Path *inner = llast(path->custom_paths);
	double		compared = outer->rows * inner->rows * join->looked_at;

	return CLEARLY_LESS *
		((outer->total_cost + inner->total_cost +
		  (cpu_tuple_cost + cpu_operator_cost) * compared) * sides +
		 join->filter.startup + join->filter.per_tuple * join->pairs +
		 path->path.pathtarget->cost.per_tuple * path->path.rows);
}

/*
 * Set the costs of a path for the join.  A self-join reads its rows once, and
 * compares each two of them once.
 */
void
hamming_cost_join(CustomPath *path, JoinEstimate *join)
{
	const Path *outer = linitial(path->custom_paths);
	const Path *inner = llast(path->custom_paths);
	double		sides = list_length(path->custom_paths) == 1 ? 0.5 : 1;
	double		less = Min(outer->rows, inner->rows);
	double		more = Max(outer->rows, inner->rows);
	double		memory = simhash_team_memory(join->workers);
	FilterPlan	plan = filter_plan(less, more, join, memory);
	double		joined = more * plan.passes;
	double		kept = (less + joined) * sides;
	double		moves = number_of_moves(less * sides, joined * sides, join,
										memory);
	double		outer_kept = outer->rows < inner->rows ||
	IS_OUTER_JOIN(join->type) ? 1 : plan.passes;
	double		inner_kept = outer->rows >= inner->rows ||
	join->type == JOIN_FULL ? 1 : plan.passes;
	double		tuples = (tuple_bytes(outer, outer_kept) +
						  tuple_bytes(inner, inner_kept)) * sides;
	Cost		startup = (outer->total_cost + inner->total_cost) * sides;
	double		from_file = 0;	/* pairs */

	startup += cpu_operator_cost *
		((less + more) * (READ_ROW + plan.looks * LOOK_AT_FILTER) * sides +
		 kept * KEEP_ROW);
	if (kept * SIDE_ROW_BYTES(join->word_count) + tuples > memory)
	{
		startup += tuples / BLCKSZ * seq_page_cost;
		from_file = Min(join->pairs, kept * PARTNERS_FROM_FILE);
	}
	startup += moves * kept *
		(2.0 * near_row_bytes(join->word_count) / BLCKSZ * seq_page_cost +
		 MOVE_ROW * cpu_operator_cost);
	join->run = join->filter.startup +
		(READ_PAIR * cpu_operator_cost + join->filter.per_tuple) * join->pairs +
		READ_FROM_FILE * cpu_operator_cost * from_file;
	join->search = search_cost(less, joined, join) * sides;
	join->batches = 1;
	if (join->is_shared && moves == 0 && outer->rows < inner->rows)
		choose_batches(less, more, join,
					   (more - joined) * KEEP_ROW * cpu_operator_cost);
	else if (join->is_shared && moves == 0)
		choose_batches(joined, less, join, 0);
	join->kept = kept;
	join->is_divided = moves > 1;
	startup += simhash_team_cost(join->search, kept, join->workers);
	if (join->workers > 0)
		startup += join->pairs * BRING_PAIR * parallel_tuple_cost;
	join->startup = startup;
	path->path.total_cost = startup + join->run + path->path.rows *
		(cpu_tuple_cost + path->path.pathtarget->cost.per_tuple);
	path->path.total_cost = Min(path->path.total_cost,
								most_cost(path, join, sides));
	if (looks_for_one(join->type))
		startup += join->run;
	path->path.startup_cost = Min(startup, path->path.total_cost);
}
