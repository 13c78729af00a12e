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

typedef struct JoinWidth
{
	void		(*cost_join) (PlannerInfo *root, CustomPath *path,
							  JoinType type, const Path *outer,
							  const Path *inner, int radius, double pairs,
							  List *filter);
	Node	   *(*create_state) (CustomScan *scan);
} JoinWidth;

/* cost.c */
#define hamming_cost_join WIDE(hamming_cost_join)
extern void hamming_cost_join(PlannerInfo *root, CustomPath *path,
							  JoinType type, const Path *outer,
							  const Path *inner, int radius, double pairs,
							  List *filter);

/* node.c */
extern const JoinWidth hamming_join_width;
extern const JoinWidth hamming_join_width_128;

static inline const JoinWidth *
join_width(int bits)
{
	return bits == 64 ? &hamming_join_width : &hamming_join_width_128;
}

#endif							/* SIMHASH_WIDTHS_H */
