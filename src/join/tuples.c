/*
 * tuples.c
 *	  Tuples that are kept in memory, or in a temporary file, and are read by
 *	  their positions.
 *
 * A position counts bytes from the first tuple on, in memory and in the file
 * alike: so it holds when the tuples move from one to the other.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "join/tuples.h"
#include "type/compat.h"

#define FIRST_CAPACITY (64 * 1024)

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

/* Add a copy of the tuple, and return its position. */
uint64
simhash_tuples_add(TupleStore *store, MinimalTuple tuple)
{
	char		padding[MAXIMUM_ALIGNOF] = {0};
	uint64		position = store->size;
	Size		length = tuple->t_len;

	store->size = TUPLE_AFTER(position, tuple);
	if (store->file != NULL)
	{
		BufFileWrite(store->file, tuple, length);
		BufFileWrite(store->file, padding, MAXALIGN(length) - length);
	}
	else
	{
		store->memory = enlarge(store, store->memory, &store->capacity,
								store->size);
		memcpy(store->memory + position, tuple, length);
	}
	return position;
}

/* Move the tuples, which are in memory, to a file.  More go there, too. */
void
simhash_tuples_to_file(TupleStore *store)
{
	store->file = BufFileCreateTemp(false);
	if (store->memory == NULL)
		return;
	BufFileWrite(store->file, store->memory, store->size);
	pfree(store->memory);
	store->memory = NULL;
	store->capacity = 0;
}

/*
 * Return the tuple at position.  It holds until the next call, and no tuple can
 * be added after the first call.
 */
MinimalTuple
simhash_tuples_read(TupleStore *store, uint64 position)
{
	uint32		length;

	if (store->file == NULL)
		return (MinimalTuple) (store->memory + position);
	if (BufFileSeek(store->file, 0, position, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not seek in a temporary file: %m")));
	BufFileReadExact(store->file, &length, sizeof(length));
	store->tuple = enlarge(store, store->tuple, &store->tuple_capacity, length);
	memcpy(store->tuple, &length, sizeof(length));
	BufFileReadExact(store->file, store->tuple + sizeof(length),
					 length - sizeof(length));
	return (MinimalTuple) store->tuple;
}

/* Free all tuples.  The store is then one without tuples. */
void
simhash_tuples_end(TupleStore *store)
{
	MemoryContext context = store->context;

	if (store->file != NULL)
		BufFileClose(store->file);
	if (store->memory != NULL)
		pfree(store->memory);
	if (store->tuple != NULL)
		pfree(store->tuple);
	memset(store, 0, sizeof(*store));
	store->context = context;
}
