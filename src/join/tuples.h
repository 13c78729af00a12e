/*
 * tuples.h
 *	  Tuples that are kept in memory, or in a temporary file, and are read by
 *	  their offsets.
 */
#ifndef SIMHASH_TUPLES_H
#define SIMHASH_TUPLES_H

#include "access/htup_details.h"
#include "storage/buffile.h"

/* All zero, but for context, is a store without tuples. */
typedef struct TupleStore
{
	MemoryContext context;		/* of the store alone */
	uint64		size;			/* of all tuples, in bytes */
	char	   *memory;			/* the tuples; or what was read last from the
								 * file */
	Size		capacity;		/* of memory */
	BufFile    *file;			/* NULL: the tuples are in memory */
	uint64		next;			/* where the file was read to; 0 before that */
	char	   *block;			/* tuples that were loaded together */
	uint32	   *block_starts;	/* where each of them begins, in bytes */
} TupleStore;

extern uint64 simhash_tuples_add(TupleStore *store, MinimalTuple tuple);
extern void simhash_tuples_to_file(TupleStore *store);
extern MinimalTuple simhash_tuples_read(TupleStore *store, uint64 offset);
extern uint32 simhash_tuples_load(TupleStore *store, const uint64 *offsets,
								  uint32 count);
extern MinimalTuple simhash_tuples_loaded(const TupleStore *store, uint32 i);
extern void simhash_tuples_end(TupleStore *store);

#endif							/* SIMHASH_TUPLES_H */
