/*
 * path.c
 *	  The way of a search through the inner pages of a table.
 *
 * The inner pages that were read last stay pinned, as the next leaf is mostly
 * below one of them.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "am/am.h"

/*
 * Begin at a table.  path->index is set.  The function takes neither locks nor
 * pins, and releases those of the path.
 */
void
hamming_path_begin(HammingPath *path, int table)
{
	hamming_path_end(path);
	path->table = table;
}

/* Add a pinned page, which should be of level, to the end of the path. */
static HammingStep *
push_step(HammingPath *path, Buffer buffer, int level)
{
	HammingStep *step = &path->steps[path->depth];

	if (path->depth == HAMMING_MAX_HEIGHT)
		hamming_corrupted(path->index, BufferGetBlockNumber(buffer),
						  "table is too high");
	step->buffer = buffer;
	step->level = level;
	path->depth++;
	return step;
}

/* Begin the path with the root of the table.  On return the root is locked. */
static HammingStep *
push_root(HammingPath *path)
{
	Buffer		root = hamming_read(path->index, HAMMING_ROOT(path->table),
									BUFFER_LOCK_SHARE, NULL);

	return push_step(path, root, hamming_special(BufferGetPage(root))->level);
}

/* Take the last page, which is not locked, off the path. */
static void
pop_step(HammingPath *path)
{
	ReleaseBuffer(path->steps[--path->depth].buffer);
}

/*
 * Lock and return the deepest page of the path that covered the key when it
 * was last locked.  The pages below that page leave the path.
 */
static HammingStep *
last_step(HammingPath *path, HammingKey key)
{
	while (path->depth > 0)
	{
		HammingStep *step = &path->steps[path->depth - 1];

		if (hamming_key_compare(step->low, key) <= 0 &&
			hamming_key_compare(key, step->high) < 0)
		{
			LockBuffer(step->buffer, BUFFER_LOCK_SHARE);
			hamming_page_check(path->index, step->buffer);
			return step;
		}
		pop_step(path);
	}
	return push_root(path);
}

/*
 * Find the page of level 1 that covers the key, or the root where that is a
 * leaf.
 *
 * On entry the caller holds no lock.  On return the page is locked in share
 * mode and the last of the path, which keeps it pinned: the caller unlocks it.
 *
 * The function follows the protocol of hamming_find(), which lists what must
 * stay equal, but begins at the deepest page of the path that can still cover
 * the key.  Where a page is no longer the right one, the function goes back to
 * the page above, and not to the root.
 */
Buffer
hamming_path_find(HammingPath *path, HammingKey key)
{
	int			descents;

	for (descents = 0; descents < HAMMING_MAX_DESCENTS; descents++)
	{
		HammingStep *step = last_step(path, key);

		for (;;)
		{
			Page		page = BufferGetPage(step->buffer);
			BlockNumber child;

			/* the first page of the path is a root, which may have grown */
			if (path->depth == 1)
				step->level = hamming_special(page)->level;
			if (!hamming_page_is_for(page, path->table, step->level, key))
				break;
			step->low = hamming_special(page)->low;
			step->high = hamming_special(page)->high;
			if (step->level <= 1)
				return step->buffer;
			child = hamming_inner_child(page, hamming_inner_find(page, key));
			LockBuffer(step->buffer, BUFFER_LOCK_UNLOCK);
			step = push_step(path,
							 hamming_read(path->index, child,
										  BUFFER_LOCK_SHARE, NULL),
							 step->level - 1);
		}
		LockBuffer(step->buffer, BUFFER_LOCK_UNLOCK);
		pop_step(path);
		CHECK_FOR_INTERRUPTS();
	}
	hamming_corrupted(path->index, HAMMING_ROOT(path->table),
					  "no page covers a key of the table");
}

/* Release all pins of path.  On entry no page of path is locked. */
void
hamming_path_end(HammingPath *path)
{
	while (path->depth > 0)
		pop_step(path);
}
