/*
 * tuples.h
 *	  Tuples that are kept in memory, or in a temporary file, and are read by
 *	  their positions.
 */
#ifndef SIMHASH_TUPLES_H
#define SIMHASH_TUPLES_H

#include "access/htup_details.h"
#include "storage/fd.h"

/* Where in the ring of a cache a tuple begins. */
typedef struct CachedTuple
{
	uint64		position;		/* of the tuple; 0: there is none */
	uint64		from;			/* bytes that were written before it */
} CachedTuple;

/*
 * Tuples that are kept in memory, or in a temporary file.  All zero, but for
 * context, is a store without tuples.
 */
typedef struct TupleStore
{
	MemoryContext context;		/* of the store alone */
	uint64		count;			/* of tuples */
	uint64		size;			/* of all, in bytes */
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
	char	   *ring;			/* tuples that were read from the file */
	Size		ring_size;
	uint64		written;		/* bytes of the ring, with those that others
								 * have overwritten since */
	CachedTuple *places;		/* of the tuples in the ring, in sets */
	uint32		sets;
} TupleStore;

extern uint64 simhash_tuples_add(TupleStore *store, MinimalTuple tuple);
extern void simhash_tuples_to_file(TupleStore *store, Size memory);
extern Size simhash_tuples_memory(const TupleStore *store);
extern uint32 simhash_tuples_at_once(const TupleStore *store);
extern MinimalTuple simhash_tuples_read(TupleStore *store, uint64 position);
extern MinimalTuple simhash_tuples_next(TupleStore *store, uint64 *offset);
extern void simhash_tuples_end(TupleStore *store);

#endif							/* SIMHASH_TUPLES_H */
