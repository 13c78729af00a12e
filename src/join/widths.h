/*
 * widths.h
 *	  What the join method does for fingerprints of each width.
 *
 * The planner knows one join method, and PostgreSQL one kind of plan node.  So
 * path.c and plan.c are compiled once, and come by here to what is compiled for
 * each width.
 */
#ifndef SIMHASH_WIDTHS_H
#define SIMHASH_WIDTHS_H

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "type/width.h"

/* What the planner knows of a join, beside its paths. */
typedef struct JoinEstimate
{
	JoinType	type;
	int			radius;
	double		groups;			/* of rows that have equal keys, 1 or more */
	double		pairs;			/* of rows that are read again, to check the
								 * filter or to return the rows */
	QualCost	filter;			/* of the clauses, for such a pair */
	bool		is_shared;		/* do several processes share the outer rows? */
	int			workers;		/* that the node launches for its search */

	/* what hamming_cost_join() finds */
	Cost		startup;		/* of all before the first pair is read */
	Cost		search;			/* of these: of the search, by one process */
	double		kept;			/* rows that are searched */
	bool		is_divided;		/* do these go to partitions in files? */
	bool		has_files;		/* do tuples go to files? */
	Cost		run;			/* of the work for all of these pairs */
	int			batches;		/* in which a process reads its outer rows */
} JoinEstimate;

typedef struct JoinWidth
{
	void		(*cost_join) (PlannerInfo *root, CustomPath *path,
							  JoinEstimate *join);
	Node	   *(*create_state) (CustomScan *scan);
} JoinWidth;

/* cost.c */
#define hamming_cost_join WIDE(hamming_cost_join)
extern void hamming_cost_join(PlannerInfo *root, CustomPath *path,
							  JoinEstimate *join);

/* node.c */
extern const JoinWidth hamming_join_width;
extern const JoinWidth hamming_join_width_128;

static inline const JoinWidth *
join_width(int bits)
{
	return bits == 64 ? &hamming_join_width : &hamming_join_width_128;
}

#endif							/* SIMHASH_WIDTHS_H */
