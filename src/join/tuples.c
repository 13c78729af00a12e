/*
 * tuples.c
 *	  Tuples that are kept in memory, or in a temporary file, and are read by
 *	  their offsets.
 *
 * An offset counts bytes from the first tuple on, in memory and in the file
 * alike: it holds when the tuples move from one to the other.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/tuples.h"
#include "type/compat.h"

#define FIRST_CAPACITY (8 * 1024)

/* What a block of tuples takes, in bytes, and how many it has at most. */
#define BLOCK_CAPACITY (64 * 1024)
#define MOST_IN_BLOCK (BLOCK_CAPACITY / MAXALIGN(SizeofMinimalTupleHeader))

/* Let the array have room for size bytes. */
static void
enlarge(TupleStore *store, char **array, Size *capacity, Size size)
{
	if (size <= *capacity)
		return;
	*capacity = Max(Max(*capacity * 2, FIRST_CAPACITY), size);
	*array = *array == NULL
		? MemoryContextAllocHuge(store->context, *capacity)
		: repalloc_huge(*array, *capacity);
}

/* Add a copy of the tuple, and return its offset. */
uint64
simhash_tuples_add(TupleStore *store, MinimalTuple tuple)
{
	static const char zeros[MAXIMUM_ALIGNOF];
	uint64		offset = store->size;
	Size		length = MAXALIGN(tuple->t_len);

	store->size += length;
	if (store->file == NULL)
	{
		enlarge(store, &store->memory, &store->capacity, store->size);
		memcpy(store->memory + offset, tuple, tuple->t_len);
		return offset;
	}
	BufFileWrite(store->file, tuple, tuple->t_len);
	BufFileWrite(store->file, unconstify(char *, &zeros[0]),
				 length - tuple->t_len);
	return offset;
}

/* Move the tuples, which are in memory, to a file.  More go there, too. */
void
simhash_tuples_to_file(TupleStore *store)
{
	MemoryContext old = MemoryContextSwitchTo(store->context);
	uint64		done;

	store->file = BufFileCreateTemp(false);
	MemoryContextSwitchTo(old);
	for (done = 0; done < store->size; done += BLCKSZ)
	{
		CHECK_FOR_INTERRUPTS();
		BufFileWrite(store->file, store->memory + done,
					 Min(store->size - done, BLCKSZ));
	}
	if (store->memory != NULL)
		pfree(store->memory);
	store->memory = NULL;
	store->capacity = 0;
}

/*
 * Return the tuple at offset.  It holds until the next call, and no tuple can
 * be added after the first call.
 */
MinimalTuple
simhash_tuples_read(TupleStore *store, uint64 offset)
{
	uint32		length;

	if (store->file == NULL)
		return (MinimalTuple) (store->memory + offset);
	/* to seek behind the first GB would empty the buffer */
	if ((offset == 0 || offset != store->next) &&
		BufFileSeek(store->file, 0, offset, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not seek in a temporary file: %m")));
	BufFileReadExact(store->file, &length, sizeof(length));
	enlarge(store, &store->memory, &store->capacity, MAXALIGN(length));
	memcpy(store->memory, &length, sizeof(length));
	BufFileReadExact(store->file, store->memory + sizeof(length),
					 MAXALIGN(length) - sizeof(length));
	store->next = offset + MAXALIGN(length);
	return (MinimalTuple) store->memory;
}

/*
 * The tuples are in a file.  Read those at the first of count offsets to
 * memory, in place of the ones that were loaded before, as far as a block has
 * room.  Return how many they are: 0 where the first one has no room.
 */
uint32
simhash_tuples_load(TupleStore *store, const uint64 *offsets, uint32 count)
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
		MinimalTuple tuple = simhash_tuples_read(store, offsets[i]);

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

	if (store->file != NULL)
		BufFileClose(store->file);
	MemoryContextReset(context);
	memset(store, 0, sizeof(*store));
	store->context = context;
}
