/*
 * tuples.h
 *	  Tuples that are kept in memory, or in a temporary file, and are read by
 *	  their positions.
 */
#ifndef SIMHASH_TUPLES_H
#define SIMHASH_TUPLES_H

#include "access/htup_details.h"
#include "storage/fd.h"

/* All zero, but for context, is a store without tuples. */
typedef struct TupleStore
{
	MemoryContext context;		/* of the store alone */
	uint64		size;			/* of all tuples, in bytes */
	char	   *memory;			/* the tuples, or the last of them that are
								 * not in the file yet */
	Size		capacity;		/* of memory */
	bool		has_file;
	File		file;			/* if there is one */
	uint64		in_file;		/* bytes of the tuples, from the first on */
	char	   *read;			/* what was read last from the file */
	Size		read_capacity;
	uint64		read_from;		/* where that begins */
	Size		read_size;		/* and its size */
	char	   *block;			/* tuples that were loaded together */
	uint32	   *block_starts;	/* where each of them begins, in bytes */
} TupleStore;

extern uint64 simhash_tuples_add(TupleStore *store, MinimalTuple tuple);
extern void simhash_tuples_to_file(TupleStore *store);
extern MinimalTuple simhash_tuples_read(TupleStore *store, uint64 position);
extern uint32 simhash_tuples_load(TupleStore *store, const uint64 *positions,
								  uint32 count);
extern MinimalTuple simhash_tuples_loaded(const TupleStore *store, uint32 i);
extern MinimalTuple simhash_tuples_next(TupleStore *store, uint64 *offset);
extern void simhash_tuples_end(TupleStore *store);

#endif							/* SIMHASH_TUPLES_H */
