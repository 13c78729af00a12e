/*
 * tuples.c
 *	  Tuples that are kept in memory, or in a temporary file, and are read by
 *	  their positions.
 *
 * An offset counts bytes from the first tuple on, in memory and in the file
 * alike: it holds when the tuples move from one to the other.  A position
 * has the offset and the length, so that a tuple is read by one call, which
 * copies no more than the tuple.  A BufFile would copy 8 kB each time, as
 * tuples are read in random order.  Where rows have many partners, it reads
 * the same few again and again: those that were read last are cached, tuple by
 * tuple.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "common/hashfn.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "type/compat.h"
#include "type/tuples.h"

#define FIRST_CAPACITY (8 * 1024)

/* What is written to the file at once, and read of it in order. */
#define FILE_PIECE (16 * 1024)

/*
 * The ring of a cache takes 1 / RING_SHARE of the caller's memory, or
 * MOST_RING bytes.  For each PLACE_BYTES of it the cache has a place, which
 * takes half as much again, and PLACES for tuples of one hash.  A tuple of more
 * than 1 / TUPLE_SHARE of the ring is not cached.
 */
#define RING_SHARE 16
#define MOST_RING (4 * 1024 * 1024)
#define PLACE_BYTES 32
#define PLACES 4
#define TUPLE_SHARE 8

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
	store->count++;
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

/*
 * Move the tuples, which are in memory, to a file.  More go there, too.  Those
 * that are read are cached: memory is what the caller has, in bytes.
 */
void
simhash_tuples_to_file(TupleStore *store, Size memory)
{
	PrepareTempTablespaces();
	store->file = OpenTemporaryFile(false);
	store->has_file = true;
	flush_all(store);
	store->ring_size = MAXALIGN_DOWN(Min(memory / RING_SHARE, MOST_RING));
	store->sets = Max(store->ring_size / (PLACES * PLACE_BYTES), 1);
}

static Size
size_of_places(const TupleStore *store)
{
	return store->sets * PLACES * sizeof(CachedTuple);
}

/* Return how many bytes the tuples take in memory, or their cache will. */
Size
simhash_tuples_memory(const TupleStore *store)
{
	return store->has_file ? store->ring_size + size_of_places(store)
		: store->capacity;
}

/*
 * Return how many tuples the cache keeps while others come and go.  They fill
 * half of the ring at most, and are no more than there are sets of places.
 * Where tuples are in memory, or most are too large for the cache, return the
 * most that there can be.
 */
uint32
simhash_tuples_at_once(const TupleStore *store)
{
	uint64		mean = store->size / Max(store->count, 1);

	if (!store->has_file || mean == 0 ||
		mean > store->ring_size / TUPLE_SHARE)
		return PG_UINT32_MAX;
	return Min(store->ring_size / 2 / mean, store->sets);
}

/* Read size bytes of the file, from offset on, to buffer. */
static void
read_bytes(TupleStore *store, char *buffer, uint64 offset, Size size)
{
	Size		done = 0;

	/* no tuple comes any more */
	if (store->memory != NULL)
		flush_all(store);
	while (done < size)
	{
		int			got = FileRead(store->file, buffer + done,
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
	pgBufferUsage.temp_blks_read += BLOCKS(size);
}

/* The ring has a tuple until as much as all of it was written since. */
static bool
is_in_ring(const TupleStore *store, const CachedTuple *place)
{
	return store->written <= place->from + store->ring_size;
}

/*
 * Return the place of the tuple at position in the cache; or, of the places
 * that it may have, the one that was filled first.
 */
static CachedTuple *
find_place(TupleStore *store, uint64 position)
{
	uint32		hash = murmurhash32((uint32) (position >> LENGTH_BITS));
	CachedTuple *set;
	CachedTuple *result;
	int			i;

	if (store->ring == NULL)
	{
		store->ring = MemoryContextAlloc(store->context, store->ring_size);
		store->places = MemoryContextAllocZero(store->context,
											   size_of_places(store));
	}
	set = result = store->places + hash % store->sets * PLACES;
	for (i = 0; i < PLACES; i++)
	{
		if (set[i].position == position && is_in_ring(store, &set[i]))
			return &set[i];
		if (set[i].from < result->from)
			result = &set[i];
	}
	return result;
}

/*
 * The tuples are in a file.  Return the one at offset, with its first size
 * bytes.  If these have not been read, read piece bytes: size or more, as far
 * as there are.
 */
static MinimalTuple
tuple_at(TupleStore *store, uint64 offset, Size size, Size piece)
{
	if (offset < store->read_from ||
		offset + size > store->read_from + store->read_size)
	{
		piece = Min(piece, store->size - offset);
		store->read = enlarge(store, store->read, &store->read_capacity, piece);
		read_bytes(store, store->read, offset, piece);
		store->read_from = offset;
		store->read_size = piece;
	}
	return (MinimalTuple) (store->read + (offset - store->read_from));
}

/*
 * Return the tuple at position.  It holds until the next call, and no tuple can
 * be added after the first call.
 */
MinimalTuple
simhash_tuples_read(TupleStore *store, uint64 position)
{
	uint64		offset = (position >> LENGTH_BITS) * MAXIMUM_ALIGNOF;
	Size		size = (position & LENGTH_UNKNOWN) * MAXIMUM_ALIGNOF;
	CachedTuple *place;
	Size		rest;

	if (!store->has_file)
		return (MinimalTuple) (store->memory + offset);
	if ((position & LENGTH_UNKNOWN) == LENGTH_UNKNOWN)
		return simhash_tuples_next(store, &offset);
	if (size > store->ring_size / TUPLE_SHARE)
		return tuple_at(store, offset, size, size);
	place = find_place(store, position);
	if (place->position != position || !is_in_ring(store, place))
	{
		/* a tuple at the end of the ring does not go on at its beginning */
		rest = store->ring_size - store->written % store->ring_size;
		place->position = position;
		place->from = store->written + (rest < size ? rest : 0);
		store->written = place->from + size;
		read_bytes(store, store->ring + place->from % store->ring_size, offset,
				   size);
	}
	return (MinimalTuple) (store->ring + place->from % store->ring_size);
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
