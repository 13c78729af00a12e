/*
 * tuples.h
 *	  Tuples that are kept in memory, or in a temporary file, and are read by
 *	  their positions.
 */
#ifndef SIMHASH_TUPLES_H
#define SIMHASH_TUPLES_H

#include "access/htup_details.h"
#include "storage/buffile.h"

/* All zero, but for context, is a store without tuples. */
typedef struct TupleStore
{
	MemoryContext context;		/* that memory is taken from */
	uint64		size;			/* of all tuples, in bytes */
	char	   *memory;			/* the tuples, or NULL if there are none */
	Size		capacity;		/* of memory */
	BufFile    *file;			/* the tuples, instead of memory, or NULL */
	char	   *tuple;			/* the tuple that was read last from the file */
	Size		tuple_capacity;
} TupleStore;

/* The position of the tuple that was added after the one at position. */
#define TUPLE_AFTER(position, tuple) ((position) + MAXALIGN((tuple)->t_len))

extern uint64 simhash_tuples_add(TupleStore *store, MinimalTuple tuple);
extern void simhash_tuples_to_file(TupleStore *store);
extern MinimalTuple simhash_tuples_read(TupleStore *store, uint64 position);
extern void simhash_tuples_end(TupleStore *store);

#endif							/* SIMHASH_TUPLES_H */
