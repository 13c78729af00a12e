/*
 * tuples.c
 *	  Tuples that are kept in memory, or in a temporary file, and are read by
 *	  their positions.
 *
 * An offset counts bytes from the first tuple on, in memory and in the file
 * alike: it holds when the tuples move from one to the other.  A position
 * has the offset and the length, so that a tuple is read by one call, which
 * copies no more than the tuple.  A BufFile would copy 8 kB each time, as a
 * join reads tuples in random order.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "join/join.h"
#include "type/compat.h"

#define FIRST_CAPACITY (8 * 1024)

/* What is written to the file at once, and read of it in order. */
#define FILE_PIECE (16 * 1024)

/* What a block of tuples takes, in bytes, and how many it has at most. */
#define BLOCK_CAPACITY (64 * 1024)
#define MOST_IN_BLOCK (BLOCK_CAPACITY / MAXALIGN(SizeofMinimalTupleHeader))

/* What EXPLAIN counts for that many bytes of the file. */
#define BLOCKS(size) (((size) + BLCKSZ - 1) / BLCKSZ)

/*
 * A position: the offset, and below it the length, both in units of
 * MAXIMUM_ALIGNOF.  A length that does not fit is LENGTH_UNKNOWN.
 */
#define LENGTH_BITS 20
#define LENGTH_UNKNOWN ((UINT64CONST(1) << LENGTH_BITS) - 1)

/* Return an array of at least size bytes, which has what old has. */
static char *
enlarge(TupleStore *store, char *old, Size *capacity, Size size)
{
	if (size <= *capacity)
		return old;
	*capacity = Max(Max(*capacity * 2, FIRST_CAPACITY), size);
	if (old == NULL)
		return MemoryContextAllocHuge(store->context, *capacity);
	return repalloc_huge(old, *capacity);
}

/* Write what is in memory to the file. */
static void
flush(TupleStore *store)
{
	Size		size = store->size - store->in_file;
	Size		done;

	for (done = 0; done < size;)
	{
		int			written = FileWrite(store->file, store->memory + done,
										Min(size - done, 16 * FILE_PIECE),
										store->in_file + done,
										WAIT_EVENT_BUFFILE_WRITE);

		CHECK_FOR_INTERRUPTS();
		if (written <= 0)
			ereport(ERROR, (errcode_for_file_access(),
							errmsg("could not write to file \"%s\": %m",
								   FilePathName(store->file))));
		done += written;
	}
	store->in_file = store->size;
	pgBufferUsage.temp_blks_written += BLOCKS(size);
}

/* Add a copy of the tuple, and return its position. */
uint64
simhash_tuples_add(TupleStore *store, MinimalTuple tuple)
{
	uint64		offset = store->size;
	uint64		length = MAXALIGN(tuple->t_len) / MAXIMUM_ALIGNOF;
	Size		used = offset - store->in_file;

	store->memory = enlarge(store, store->memory, &store->capacity,
							used + MAXALIGN(tuple->t_len));
	memcpy(store->memory + used, tuple, tuple->t_len);
	store->size += MAXALIGN(tuple->t_len);
	if (store->has_file && store->size - store->in_file >= FILE_PIECE)
		flush(store);
	return (offset / MAXIMUM_ALIGNOF) << LENGTH_BITS |
		Min(length, LENGTH_UNKNOWN);
}

/* Write what is in memory to the file, and free it. */
static void
flush_all(TupleStore *store)
{
	flush(store);
	if (store->memory != NULL)
		pfree(store->memory);
	store->memory = NULL;
	store->capacity = 0;
}

/* Move the tuples, which are in memory, to a file.  More go there, too. */
void
simhash_tuples_to_file(TupleStore *store)
{
	PrepareTempTablespaces();
	store->file = OpenTemporaryFile(false);
	store->has_file = true;
	flush_all(store);
}

/* Read size bytes of the file, from offset on, or fewer if it ends before. */
static void
read_file(TupleStore *store, uint64 offset, Size size)
{
	Size		done = 0;

	/* no tuple comes any more */
	if (store->memory != NULL)
		flush_all(store);
	size = Min(size, store->size - offset);
	store->read = enlarge(store, store->read, &store->read_capacity, size);
	while (done < size)
	{
		int			got = FileRead(store->file, store->read + done,
								   Min(size - done, 16 * FILE_PIECE),
								   offset + done, WAIT_EVENT_BUFFILE_READ);

		if (got == 0)
			errno = EIO;		/* the file ends too soon */
		if (got <= 0)
			ereport(ERROR, (errcode_for_file_access(),
							errmsg("could not read file \"%s\": %m",
								   FilePathName(store->file))));
		done += got;
	}
	store->read_from = offset;
	store->read_size = size;
	pgBufferUsage.temp_blks_read += BLOCKS(size);
}

/*
 * Return the tuple at position.  It holds until the next call, and no tuple can
 * be added after the first call.
 */
MinimalTuple
simhash_tuples_read(TupleStore *store, uint64 position)
{
	uint64		offset = (position >> LENGTH_BITS) * MAXIMUM_ALIGNOF;
	uint64		length = position & LENGTH_UNKNOWN;

	if (!store->has_file)
		return (MinimalTuple) (store->memory + offset);
	if (length == LENGTH_UNKNOWN)
		return simhash_tuples_next(store, &offset);
	read_file(store, offset, length * MAXIMUM_ALIGNOF);
	return (MinimalTuple) store->read;
}

/*
 * The tuples are in a file.  Return the one at offset, with its first size
 * bytes.  If these have not been read, read piece bytes: size or more.
 */
static MinimalTuple
tuple_at(TupleStore *store, uint64 offset, Size size, Size piece)
{
	if (offset < store->read_from ||
		offset + size > store->read_from + store->read_size)
		read_file(store, offset, piece);
	return (MinimalTuple) (store->read + (offset - store->read_from));
}

/*
 * Return the tuple at *offset, which is 0 for the first one, and set *offset to
 * that of the next one.  What is said of simhash_tuples_read() holds here, too.
 */
MinimalTuple
simhash_tuples_next(TupleStore *store, uint64 *offset)
{
	MinimalTuple tuple = (MinimalTuple) (store->memory + *offset);

	if (store->has_file)
	{
		tuple = tuple_at(store, *offset, sizeof(tuple->t_len), FILE_PIECE);
		tuple = tuple_at(store, *offset, tuple->t_len, tuple->t_len);
	}
	*offset += MAXALIGN(tuple->t_len);
	return tuple;
}

/*
 * The tuples are in a file.  Read those at the first of count positions to
 * memory, in place of the ones that were loaded before, as far as a block has
 * room.  Return how many they are: 0 where the first one has no room.
 */
uint32
simhash_tuples_load(TupleStore *store, const uint64 *positions, uint32 count)
{
	uint32		used = 0;
	uint32		i;

	if (store->block == NULL)
	{
		store->block = MemoryContextAlloc(store->context, BLOCK_CAPACITY);
		store->block_starts = MemoryContextAlloc(store->context, MOST_IN_BLOCK *
												 sizeof(uint32));
	}
	for (i = 0; i < Min(count, MOST_IN_BLOCK); i++)
	{
		MinimalTuple tuple = simhash_tuples_read(store, positions[i]);

		CHECK_FOR_INTERRUPTS();
		if (tuple->t_len > BLOCK_CAPACITY - used)
			break;
		memcpy(store->block + used, tuple, tuple->t_len);
		store->block_starts[i] = used;
		used += MAXALIGN(tuple->t_len);
	}
	return i;
}

MinimalTuple
simhash_tuples_loaded(const TupleStore *store, uint32 i)
{
	return (MinimalTuple) (store->block + store->block_starts[i]);
}

/* Free all tuples.  The store is then one without tuples. */
void
simhash_tuples_end(TupleStore *store)
{
	MemoryContext context = store->context;

	if (store->has_file)
		FileClose(store->file);
	MemoryContextReset(context);
	memset(store, 0, sizeof(*store));
	store->context = context;
}
