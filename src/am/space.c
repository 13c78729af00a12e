/*
 * space.c
 *	  Pages in no tree: how one is found, taken, and given back.
 *
 * A spare page is a page in no tree that a process has pinned, to split a
 * page with it.  The process has no claim to the page before it has locked it
 * and found it still free: see rule 4 in tree.c.
 */
#include "postgres.h"

#include "commands/vacuum.h"
#include "storage/freespace.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"

#include "am/am.h"
#include "type/compat.h"

/*
 * Is a locked page in no tree?  A page of zeros is in none, either: a process
 * has added it to the file, and put nothing on it before it ended or crashed.
 */
static bool
is_free(Relation index, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);

	if (PageIsNew(page))
		return true;
	hamming_page_check(index, buffer);
	return hamming_page_kind(page) == HAMMING_PAGE_FREE;
}

/*
 * Add a new page, of zeros, at the end of a fork, and pin it.  On entry the
 * caller holds no buffer lock (rule 6 in tree.c): PostgreSQL would not detect a
 * deadlock of a buffer lock and the extension lock.
 */
Buffer
hamming_extend(Relation index, ForkNumber fork)
{
	Buffer		buffer;

	LockRelationForExtension(index, ExclusiveLock);
	buffer = ReadBufferExtended(index, fork, P_NEW, RBM_NORMAL, NULL);
	UnlockRelationForExtension(index, ExclusiveLock);
	return buffer;
}

/*
 * Lock a pinned page exclusively for new content, and return true, if it is
 * free.  The free space map is not logged and may name pages in use, so it is
 * not believed.  The caller may hold buffer locks: the function only tries the
 * lock, as rule 4 in tree.c demands.
 */
bool
hamming_claim_spare(Relation index, Buffer spare)
{
	if (!ConditionalLockBuffer(spare))
		return false;
	if (is_free(index, spare))
		return true;
	LockBuffer(spare, BUFFER_LOCK_UNLOCK);
	return false;
}

/*
 * Take pages out of the free space map until one is probably free, and pin
 * that.  Return InvalidBuffer if there is none.  On entry the caller holds no
 * buffer lock (rule 6).
 */
static Buffer
find_in_map(Relation index)
{
	BlockNumber blkno;

	while ((blkno = GetFreeIndexPage(index)) != InvalidBlockNumber)
	{
		Buffer		buffer = ReadBuffer(index, blkno);

		if (hamming_claim_spare(index, buffer))
		{
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			return buffer;
		}
		ReleaseBuffer(buffer);
	}
	return InvalidBuffer;
}

/*
 * Pin a page that is probably free, from the free space map or the end.  On
 * entry the caller holds no buffer lock (rule 6).
 */
Buffer
hamming_find_spare(Relation index)
{
	Buffer		buffer = find_in_map(index);

	return BufferIsValid(buffer) ? buffer
		: hamming_extend(index, MAIN_FORKNUM);
}

/*
 * Release the pin of a page, and enter it in the free space map.  On entry the
 * caller holds no buffer lock.
 */
void
hamming_give_back(Relation index, Buffer buffer)
{
	BlockNumber blkno = BufferGetBlockNumber(buffer);

	ReleaseBuffer(buffer);
	RecordFreeIndexPage(index, blkno);
	FreeSpaceMapVacuumRange(index, blkno, blkno + 1);
}

/*
 * Return how many of an index's first pages are in no tree, or were an instant
 * ago.  If record, enter them in the free space map.
 */
BlockNumber
hamming_count_free(Relation index, BlockNumber pages, bool record,
				   BufferAccessStrategy strategy)
{
	BlockNumber blkno = HAMMING_FIXED_PAGES(hamming_layout(index));
	BlockNumber count = 0;

	for (; blkno < pages; blkno++)
	{
		Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, blkno,
												RBM_NORMAL, strategy);
		bool		found;

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		found = is_free(index, buffer);
		UnlockReleaseBuffer(buffer);
		count += found;
		if (found && record)
			RecordFreeIndexPage(index, blkno);
		vacuum_delay_point(false);
	}
	return count;
}

/* Return how many pages a tree has without its root, from its inner pages. */
static BlockNumber
count_children(Relation index, int tree, BufferAccessStrategy strategy)
{
	int			level = hamming_height(index, tree);
	BlockNumber count = 0;

	while (--level > 0)
	{
		HammingWalk walk = {
			.index = index,.tree = tree,.level = level,.strategy = strategy
		};

		while (hamming_walk_on(&walk))
		{
			Buffer		buffer = hamming_walk_find(&walk, BUFFER_LOCK_SHARE);

			count += hamming_page_count(BufferGetPage(buffer));
			walk.next = hamming_page_high(BufferGetPage(buffer));
			UnlockReleaseBuffer(buffer);
			vacuum_delay_point(false);
		}
	}
	return count;
}

/* Return how many pages of an index are in use, or were an instant ago. */
BlockNumber
hamming_count_used(Relation index, BufferAccessStrategy strategy)
{
	HammingLayout layout = hamming_layout(index);
	BlockNumber count = HAMMING_FIXED_PAGES(layout);
	int			tree;

	count += count_children(index, HAMMING_NULLS, strategy);
	for (tree = 0; tree < HAMMING_TREES; tree = hamming_next_tree(layout, tree))
		count += count_children(index, tree, strategy);
	return count;
}

/*
 * If the free space map has no free page, enter those that it has lost.  The
 * map is not logged: a crash or a promotion loses pages, and an error leaves a
 * new page behind.  All pages are read only if some are in no tree.
 */
void
hamming_find_lost(Relation index, BufferAccessStrategy strategy)
{
	BlockNumber pages = RelationGetNumberOfBlocks(index);
	Buffer		buffer = find_in_map(index);

	if (BufferIsValid(buffer))
		hamming_give_back(index, buffer);
	else if (hamming_count_used(index, strategy) < pages)
	{
		hamming_count_free(index, pages, true, strategy);
		IndexFreeSpaceMapVacuum(index);
	}
}
