/*
 * plan.h
 *	  The clauses that a HammingJoin serves, its path, and the plan that is made
 *	  of it.
 */
#ifndef SIMHASH_PLAN_H
#define SIMHASH_PLAN_H

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

/* Two sides that the planner joins. */
typedef struct JoinSides
{
	PlannerInfo *root;
	RelOptInfo *joinrel;
	RelOptInfo *outer;
	RelOptInfo *inner;
	JoinType	type;
	List	   *clauses;		/* all of the join, RestrictInfos */
} JoinSides;

/* "The distance of outer and inner is at most radius." */
typedef struct HammingClause
{
	RestrictInfo *rinfo;
	int			bits;			/* of a fingerprint */
	Expr	   *outer;			/* a fingerprint of the outer side */
	Expr	   *inner;			/* a fingerprint of the inner side */
	Expr	   *radius;			/* a bigint, which depends on neither side */
	int			likely_radius;	/* 0 or more: what the planner expects */
} HammingClause;

/* Places in the list of the expressions that the plan of a HammingJoin has. */
typedef enum JoinExpression
{
	JOIN_OUTER_FINGERPRINT,
	JOIN_INNER_FINGERPRINT,
	JOIN_RADIUS,
	JOIN_KEYS,					/* a list of equalities, outer = inner */
	JOIN_FILTER,				/* a list: what else makes two rows partners */
	JOIN_RESULT_FILTER			/* a list: what applies to the result */
} JoinExpression;

/* The list that the path carries has those up to JOIN_KEYS, and then: */
typedef enum JoinPathItem
{
	PATH_CLAUSES = JOIN_KEYS + 1,	/* all other clauses, RestrictInfos */
	PATH_COLUMNS,				/* hamming_result_columns() */
	PATH_NUMBERS				/* a list of integers, of the plan, too: */
} JoinPathItem;

typedef enum JoinNumber
{
	JOIN_TYPE,					/* a JoinType */
	JOIN_BITS,					/* of a fingerprint */
	JOIN_OF_SAME_ROWS,			/* 1: hamming_are_same_rows() */
	JOIN_BATCH,					/* outer rows that a process of a parallel
								 * plan reads at a time; 0: all */
	JOIN_BATCH_PAIRS,			/* that these are expected to have */
	JOIN_WORKERS				/* that the node is to launch for its search */
} JoinNumber;

/* Is a pair of rows looked at only to learn whether the outer one has any? */
static inline bool
looks_for_one(JoinType type)
{
	return type == JOIN_SEMI || type == JOIN_ANTI;
}

/* What the planner knows of a join, beside its paths. */
typedef struct JoinEstimate
{
	JoinType	type;
	int			word_count;		/* of a fingerprint */
	int			radius;
	double		groups;			/* of rows that have equal keys, 1 or more */
	double		near;			/* pairs of rows that are near each other, and
								 * have equal keys */
	double		pairs;			/* those of them that are read again, to check
								 * the filter or to return the rows */
	QualCost	filter;			/* of the clauses, for such a pair */
	double		looked_at;		/* the fraction of all pairs of rows that a
								 * nested loop compares */
	bool		are_same_rows;	/* see NearOptions */
	bool		is_shared;		/* do several processes share the outer rows? */
	int			workers;		/* that the node launches for its search */

	/* what hamming_cost_join() finds */
	Cost		startup;		/* of all before the first pair is read */
	Cost		search;			/* of these: of the search, by one process */
	double		kept;			/* rows that are searched */
	bool		is_divided;		/* do these go to partitions in files? */
	Cost		run;			/* of the work for all of these pairs */
	int			batches;		/* in which a process reads its outer rows */
} JoinEstimate;

/* cost.c */
extern void hamming_cost_join(CustomPath *path, JoinEstimate *join);

/* node.c */
extern Node *hamming_create_join(CustomScan *scan);

/* path.c */
extern IndexPath *hamming_index_scan(Path *path);
extern void hamming_join_init(void);

/* clause.c */
extern bool hamming_find_clause(const JoinSides *sides, HammingClause *best);
extern List *hamming_find_keys(const JoinSides *sides, List **equalities);

/* plan.c */
extern const CustomScanMethods hamming_join_scan_methods;

extern List *hamming_order_clauses(PlannerInfo *root, List *clauses);
extern List *hamming_result_columns(const JoinSides *sides);
extern bool hamming_can_plan_join(List *result_columns);
extern List *hamming_join_for_partition(PlannerInfo *root, List *path_private,
										RelOptInfo *partition);
extern Plan *hamming_plan_join(PlannerInfo *root, RelOptInfo *rel,
							   struct CustomPath *path, List *target,
							   List *clauses, List *children);

/* adaptive.c */
extern Path *hamming_outer_rows_path(Path *outer);
extern Path *hamming_adaptive_path(PlannerInfo *root, const JoinPath *first,
								   Path *outer, Path *outer_rows,
								   Path *hamming, Cost most);
extern bool hamming_reads_outer_rows(const PlanState *node);
extern uint64 hamming_rows_tried(const PlanState *node);
extern void hamming_adaptive_init(void);

/* self.c */
extern bool hamming_is_whole_table(PlannerInfo *root, const RelOptInfo *rel);
extern bool hamming_are_same_rows(const JoinSides *sides,
								  const HammingClause *clause, List *keys);
extern Path *hamming_self_path(const JoinSides *sides);

#endif							/* SIMHASH_PLAN_H */
