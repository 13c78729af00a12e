/*
 * join.h
 *	  The executor node HammingJoin.
 */
#ifndef SIMHASH_JOIN_H
#define SIMHASH_JOIN_H

#include "access/htup_details.h"
#include "commands/explain.h"
#include "nodes/execnodes.h"

#include "join/plan.h"
#include "near/pairs.h"
#include "type/tuples.h"

/* What must be equal in the rows of a pair, and how it is hashed. */
typedef struct JoinKey
{
	ExprState  *value;
	FmgrInfo	hash;
	Oid			collation;
} JoinKey;

/* The rows of the outer or the inner side. */
typedef struct JoinInput
{
	PlanState  *child;
	ExprState  *fingerprint;
	int			fingerprint_column; /* of the child, if it is one; or 0 */
	List	   *keys;			/* of JoinKey */
	int			first_column;	/* of the scan tuple, counted from 0 on */
	/* the last column that each needs, counted from 1 on; 0: none */
	int			key_columns;	/* the fingerprint, and the keys */
	int			filter_columns; /* HammingJoinState.filter */
	int			columns;		/* all that is computed of a pair of rows */
	int			loaded;			/* the last that is in the scan tuple */
	TupleTableSlot *slot;		/* for a tuple that was kept, or NULLs */
	bool		keeps_all;		/* rows without a fingerprint, too */

	uint64		read;			/* rows that the child has returned */
	uint64		read_end;		/* stop reading once `read` is this */
	bool		is_at_end;		/* has the child no more? */
	uint64		rows;			/* that are kept */
	TupleStore	tuples;
	NearSide	side;			/* rows that may have partners; their payloads
								 * are positions of tuples */
	uint8	   *matched;		/* a bit for each row; NULL: nobody asks */
	uint64		row;			/* number of the next row without a partner, */
	uint64		offset;			/* and of its tuple */
} JoinInput;

typedef enum JoinPhase
{
	JOIN_READING,
	JOIN_PAIRING,
	JOIN_OUTER_ROWS,			/* those that have a partner, or have none */
	JOIN_INNER_ROWS,			/* of a full join, those that have none */
	JOIN_DONE
} JoinPhase;

/*
 * What EXPLAIN ANALYZE shows: the sum over all scans and processes, or the most
 * bytes that any took.
 */
typedef struct JoinWork
{
	uint64		passes;
	uint64		compared;
	uint64		most_memory;
	uint64		most_disk;
	uint64		launched;		/* the most workers of a search */
} JoinWork;

/* What the workers of a parallel plan did, as the leader learns it. */
typedef struct JoinWorkers
{
	const JoinWork *slots;		/* of the workers, in shared memory */
	int			count;			/* of slots */
	JoinWork	work;			/* zero until that memory is detached from */
} JoinWorkers;

typedef struct HammingJoinState
{
	CustomScanState custom;		/* must be first */
	JoinType	type;
	int			word_count;		/* of a fingerprint */
	bool		shows_partners; /* a semi join, with inner columns? */
	bool		is_self;		/* has the outer side the rows of both? */
	bool		is_of_same_rows;	/* have two sides the same rows, and is
									 * none its own partner? */
	ExprState  *radius;
	ExprState  *filter;			/* that the keys are equal, too; or NULL */
	ExprState  *result_filter;
	JoinInput	outer;
	JoinInput	inner;
	MemoryContext context;		/* of all rows */
	Size		memory;			/* what rows may take, in bytes */
	int			team_workers;	/* that are launched for a search */
	uint64		batch;			/* outer rows that are read at a time; 0: all */
	uint64		batch_pairs;	/* that these are expected to have */
	uint64		pairs_read;		/* of all batches so far */
	uint64		last_tried;		/* position of the last tuple of a self-join
								 * that an AdaptiveJoin has joined before */

	Bitmapset  *parameters;		/* that keys and radius depend on */
	bool		is_read;		/* have rows been read? */
	bool		is_empty;		/* if so, do these give no row? */
	bool		has_more;		/* do more outer rows follow? */
	bool		has_radius;		/* has the radius been computed? */
	int			known_radius;	/* if so, and -1 if no pair is within it */
	NearFilter *filter_of_first;	/* of the side that ended first, for the
									 * rows of the other; NULL: all pass */
	JoinPhase	phase;
	MemoryContext progress;		/* of what is shown of it */
	NearPairs  *pairs;
	NearPair	pair;			/* the rows of the current two fingerprints: x
								 * of the outer side, y of the inner one, of
								 * which it has a block */
	uint32		y_end;			/* the end of all of these */
	uint32		a;				/* the current row of x */
	uint32		b;				/* the next one of y */
	uint32		in_slot;		/* the row of x in the outer slot */
	bool		is_swapped;		/* are rows a and b in each other's slots? */
	bool		is_settled;		/* has each row of x before a a partner? */

	JoinWork   *work;			/* of this process; a worker's slot */
	JoinWorkers *workers;		/* of the leader; or NULL */
} HammingJoinState;

/*
 * Bring the columns of a row of the input to the scan tuple, up to the given
 * one.  The filter gets no more than it needs: if no pair passes, loading all
 * of 14 columns takes 1.75 times as many instructions.
 */
static inline void
hamming_input_load(HammingJoinState *state, JoinInput *input,
				   TupleTableSlot *row, int columns)
{
	TupleTableSlot *scan = state->custom.ss.ss_ScanTupleSlot;
	int			from = input->loaded;
	int			to = input->first_column + from;

	if (columns <= from)
		return;
	slot_getsomeattrs(row, columns);
	memcpy(scan->tts_values + to, row->tts_values + from,
		   (columns - from) * sizeof(Datum));
	memcpy(scan->tts_isnull + to, row->tts_isnull + from,
		   (columns - from) * sizeof(bool));
	input->loaded = columns;
}

/* input.c */
extern void hamming_inputs_read(HammingJoinState *state);
extern void hamming_inputs_free_filter(HammingJoinState *state);
extern Size hamming_join_memory(const HammingJoinState *state);
extern void hamming_input_end(JoinInput *input);
extern bool hamming_input_next_row(JoinInput *input, bool matched);

/* partners.c */
extern bool hamming_next_pair(HammingJoinState *state);

/* node.c */
extern void hamming_join_count_work(CustomScanState *node);

/* explain.c */
extern void hamming_join_explain(CustomScanState *node, List *ancestors,
								 ExplainState *es);
extern Size hamming_workers_size(CustomScanState *node, ParallelContext *pcxt);
extern void hamming_workers_begin(CustomScanState *node,
								  ParallelContext *pcxt, void *slots);
extern void hamming_workers_attach(CustomScanState *node, shm_toc *toc,
								   void *slots);

#endif							/* SIMHASH_JOIN_H */
