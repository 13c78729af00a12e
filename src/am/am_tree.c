/*
 * am_tree.c
 *	  How the pages of a table hang together: descents, splits and merges.
 *
 * A page covers a range of keys, and the pages of one level part the whole
 * key space among them.  Every change of the tree (a root that grows, a split
 * with its downlink, a merge with its) is one WAL record and is made while
 * all pages that it changes are locked, so that there are no incomplete
 * states, and a page that covers a key, at the right level of the right
 * table, is the one that does.  Therefore:
 *
 * - A descent locks one page at a time.  If a page was changed before the
 *   descent comes to it, it no longer covers the key, and the descent starts
 *   again.
 * - A page that a merge has emptied can be used again at once.
 * - Who walks a level needs no links: the next page is the one that covers
 *   the end of the last one's range.  Entries never leave the key order, so
 *   that each is met once, whatever is split or merged on the way.
 *
 * The lock rule
 *
 * A page of a tree has a role: its table, its level (a root counts as higher
 * than every level) and the low end of its range.  Roles are ordered in this
 * way: by table, then by level, then by low end.  A free page has no role.
 *
 * 1. A merge frees a page only while the merge holds the page's exclusive
 *    lock and the only pin on the page.
 * 2. A process that waits for the lock of a page while it holds other locks
 *    has pinned that page before it took the first of these locks.  Since
 *    then it has kept the pin, and under the pin it has read the page's role.
 * 3. That role is greater than those of the pages whose locks it holds.
 * 4. A process that holds locks only tries the lock of a page that has no
 *    role (claim), and waits for no other page's lock after that.
 * 5. One process at a time merges pages of an index.  It holds the table's
 *    ShareUpdateExclusiveLock, and one process of a parallel vacuum has the
 *    index.
 *
 * Roles do not change under a pin.  A split, a merge and a root that grows
 * leave each page in its table, with its level and its low end, but for the
 * page that the merge frees.  By rule 1 that page is not pinned by others.
 *
 * A merge locks two neighbours and their parent.  The right neighbour covers
 * the high end that the left one had when it was pinned.  By rule 5 nobody
 * else moves that end up.  So the two are different pages, and the low end of
 * the right one is greater.
 *
 * So nobody waits for ever.  Suppose that some processes wait for each other
 * in a circle.  Each holds the lock of a page that the one before waits for,
 * and waits for the page of the one after.  As pinned pages keep their roles,
 * all have read the same role of the same page.  By rule 3 the page that a
 * process waits for has a greater role than the page that it holds.  Around
 * the circle roles would grow without end.  The circle may be one process,
 * which then waits for itself: two pages that it has locked are never one.
 * By rule 4 a page that was claimed closes no circle, as its holder does not
 * wait.
 *
 * Without rule 1 both can happen.  Between a look at a page and the wait for
 * the page's lock, a vacuum can free the page, and a split can take it for
 * another table or another place of the level.
 *
 * Searches, descents and walks hold the lock of one page at a time.  A search
 * keeps the inner pages on its path pinned, so that a merge may leave those.
 * The replay of WAL on a standby locks all pages of a record, and is the only
 * process there that holds a lock while it waits for another.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "miscadmin.h"
#include "storage/freespace.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"

#include "am/am.h"
#include "am/test_stop.h"
#include "type/cpu.h"

/*
 * Let the processor fetch what will be looked at first: the ends of the page,
 * and the beginning of its keys.  In a large index a search waits for memory
 * more than for anything else.
 */
static void
fetch_ahead(Page page)
{
	int			i;

	cpu_prefetch((char *) page + BLCKSZ - sizeof(HammingSpecial));
	for (i = 0; i < 1024; i += 64)
		cpu_prefetch((char *) page + i);
}

/* A page, locked as told and found to be sound. */
Buffer
hamming_read(Relation index, BlockNumber block, int mode,
			 BufferAccessStrategy strategy)
{
	Buffer		buffer;

	/* to PostgreSQL this one would mean a new page */
	if (!BlockNumberIsValid(block))
		hamming_corrupted(index, block, "page has no number");
	buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL,
								strategy);
	fetch_ahead(BufferGetPage(buffer));
	LockBuffer(buffer, mode);
	hamming_page_check(index, buffer);
	return buffer;
}

/* Error: XX002 unless the metapage is one of an index that we can read. */
void
hamming_check_metapage(Relation index)
{
	Buffer		buffer = hamming_read(index, HAMMING_METAPAGE, BUFFER_LOCK_SHARE,
									  NULL);
	Page		page = BufferGetPage(buffer);
	HammingMeta meta;

	memcpy(&meta, PageGetContents(page), sizeof(meta));
	if (hamming_special(page)->kind != HAMMING_PAGE_META ||
		meta.magic != HAMMING_MAGIC)
		hamming_corrupted(index, HAMMING_METAPAGE, "page is not a metapage");
	if (meta.version != HAMMING_VERSION)
		hamming_corrupted(index, HAMMING_METAPAGE, "version is not supported");
	UnlockReleaseBuffer(buffer);
}

/* Check the metapage before an index is used, once for each session. */
void
hamming_open(Relation index)
{
	if (index->rd_amcache != NULL)
		return;
	hamming_check_metapage(index);
	index->rd_amcache = MemoryContextAllocZero(index->rd_indexcxt, 1);
}

/* Is this a page of the table's level that covers the key? */
bool
hamming_page_is_for(Page page, int table, int level, HammingKey key)
{
	HammingSpecial *special = hamming_special(page);

	return special->kind == HAMMING_PAGE_TREE && special->table == table &&
		special->level == level && hamming_page_covers(page, key);
}

/*
 * The page of a table's level that covers a key.  InvalidBuffer if the table
 * has no such level.
 *
 * On entry the caller holds no buffer lock.  On return the page is pinned,
 * and locked in the mode.
 */
Buffer
hamming_find(Relation index, int table, int level, HammingKey key, int mode,
			 BufferAccessStrategy strategy)
{
	int			descents;

	for (descents = 0; descents < HAMMING_MAX_DESCENTS; descents++)
	{
		BlockNumber block = HAMMING_ROOT(table);
		Buffer		buffer = hamming_read(index, block, BUFFER_LOCK_SHARE, strategy);
		Page		page = BufferGetPage(buffer);
		int			height = hamming_special(page)->level;

		if (!hamming_page_is_for(page, table, height, key))
			hamming_corrupted(index, block, "page is not the root of a table");
		if (height < level)
		{
			UnlockReleaseBuffer(buffer);
			return InvalidBuffer;
		}
		if (height == level && mode != BUFFER_LOCK_SHARE)
		{
			/* a root may grow, but is never another page */
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			LockBuffer(buffer, mode);
			hamming_page_check(index, buffer);
			height = hamming_special(page)->level;
			if (height != level)
			{
				UnlockReleaseBuffer(buffer);
				continue;
			}
		}
		while (height > level)
		{
			block = hamming_inner_child(page, hamming_inner_find(page, key));
			UnlockReleaseBuffer(buffer);
			height--;
			buffer = hamming_read(index, block,
								  height == level ? mode : BUFFER_LOCK_SHARE,
								  strategy);
			page = BufferGetPage(buffer);
			if (!hamming_page_is_for(page, table, height, key))
				break;
		}
		if (hamming_page_is_for(page, table, level, key))
			return buffer;
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
	hamming_corrupted(index, HAMMING_ROOT(table),
					  "no page covers a key of the table");
}

/*
 * The same page, pinned but not locked: before a caller holds the locks of
 * several pages, it pins all of them (rule 2).
 *
 * On entry the caller holds no buffer lock.
 */
Buffer
hamming_pin(Relation index, int table, int level, HammingKey key,
			BufferAccessStrategy strategy)
{
	Buffer		buffer = hamming_find(index, table, level, key, BUFFER_LOCK_SHARE,
									  strategy);

	if (BufferIsValid(buffer))
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return buffer;
}

/*
 * Lock a page that hamming_pin() has returned for the same arguments.  False
 * if the page has changed since then, and is no longer the one to take.
 *
 * On entry the pages whose locks the caller holds have lower roles (rule 3).
 * On return the page is locked exclusively, whatever the result.
 */
bool
hamming_lock_pinned(Relation index, Buffer buffer, int table, int level,
					HammingKey key)
{
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	hamming_page_check(index, buffer);
	return hamming_page_is_for(BufferGetPage(buffer), table, level, key);
}

/* Is a locked page in no table?  It may have been made for one in vain. */
static bool
is_free(Relation index, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);

	if (PageIsNew(page))
		return true;
	hamming_page_check(index, buffer);
	return hamming_special(page)->kind == HAMMING_PAGE_FREE;
}

/* The same of a page that is not locked. */
bool
hamming_is_free_page(Relation index, BlockNumber block,
					 BufferAccessStrategy strategy)
{
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL,
											strategy);
	bool		result;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	result = is_free(index, buffer);
	UnlockReleaseBuffer(buffer);
	return result;
}

/* A new page at the end of the index. */
Buffer
hamming_extend(Relation index, ForkNumber fork)
{
	bool		others = fork == MAIN_FORKNUM && !RELATION_IS_LOCAL(index);
	Buffer		buffer;

	if (others)
		LockRelationForExtension(index, ExclusiveLock);
	buffer = ReadBufferExtended(index, fork, P_NEW, RBM_NORMAL, NULL);
	if (others)
		UnlockRelationForExtension(index, ExclusiveLock);
	return buffer;
}

/*
 * Lock a page for new content, if it is free.  The free space map is not
 * logged and may name pages in use, so it is not believed.
 */
static bool
claim(Relation index, Buffer buffer)
{
	/* the caller may hold other locks (rule 4) */
	if (!ConditionalLockBuffer(buffer))
		return false;
	if (is_free(index, buffer))
		return true;
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return false;
}

/* A page that is probably free, pinned. */
static Buffer
allocate(Relation index)
{
	BlockNumber block;

	while ((block = GetFreeIndexPage(index)) != InvalidBlockNumber)
	{
		Buffer		buffer = ReadBuffer(index, block);

		if (claim(index, buffer))
		{
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			return buffer;
		}
		ReleaseBuffer(buffer);
	}
	return hamming_extend(index, MAIN_FORKNUM);
}

/* Give back a page that is not, or no more, used, so that it is found. */
static void
give_back(Relation index, Buffer buffer)
{
	BlockNumber block = BufferGetBlockNumber(buffer);

	ReleaseBuffer(buffer);
	RecordFreeIndexPage(index, block);
	FreeSpaceMapVacuumRange(index, block, block + 1);
}

/* Is the page that covers the key full? */
static bool
is_full(Relation index, int table, int level, HammingKey key)
{
	Buffer		buffer = hamming_find(index, table, level, key, BUFFER_LOCK_SHARE,
									  NULL);
	bool		full = hamming_page_is_full(BufferGetPage(buffer));

	UnlockReleaseBuffer(buffer);
	return full;
}

/* Put one level more between the root and what it holds. */
static void
grow_root(Relation index, Buffer root, Buffer child)
{
	GenericXLogState *state = GenericXLogStart(index);
	Page		root_page = GenericXLogRegisterBuffer(state, root, 0);
	Page		child_page = GenericXLogRegisterBuffer(state, child,
													   GENERIC_XLOG_FULL_IMAGE);
	int			table = hamming_special(root_page)->table;
	int			level = hamming_special(root_page)->level;

	memcpy(child_page, root_page, BLCKSZ);
	hamming_page_init(root_page, HAMMING_PAGE_TREE, table, level + 1,
					  hamming_least_key, hamming_greatest_key);
	hamming_inner_insert(root_page, 0, hamming_least_key,
						 BufferGetBlockNumber(child));
	GenericXLogFinish(state);
}

static void
split(Relation index, Buffer left, Buffer right, Buffer parent,
	  HammingKey added)
{
	GenericXLogState *state = GenericXLogStart(index);
	Page		left_page = GenericXLogRegisterBuffer(state, left, 0);
	Page		right_page = GenericXLogRegisterBuffer(state, right,
													   GENERIC_XLOG_FULL_IMAGE);
	Page		parent_page = GenericXLogRegisterBuffer(state, parent, 0);
	HammingKey	cut;

	hamming_page_split(left_page, right_page, added);
	cut = hamming_special(right_page)->low;
	hamming_inner_insert(parent_page, hamming_inner_find(parent_page, cut) + 1,
						 cut, BufferGetBlockNumber(right));
	GenericXLogFinish(state);
}

/*
 * If the spare page is still free, split a full page with it, or let a full
 * root grow, which has no parent.  Returns whether the spare page was used.
 *
 * On entry the full page and the parent are locked exclusively, and the spare
 * page is pinned.  On return the spare page is locked exclusively if it was
 * used.
 */
static bool
relieve(Relation index, Buffer full, Buffer parent, Buffer spare,
		HammingKey key)
{
	if (!claim(index, spare))
		return false;
	if (BufferIsValid(parent))
		split(index, full, spare, parent, key);
	else
		grow_root(index, full, spare);
	return true;
}

/*
 * Take one step towards a page of the level, 0 for a leaf, that covers the key
 * and has room.  The caller looks again: another process may have been
 * faster, or fill the room first.
 *
 * On entry and on return the caller holds no buffer lock.
 */
void
hamming_make_room(Relation index, int table, int level, HammingKey key)
{
	Buffer		spare;
	Buffer		full;
	Buffer		parent = InvalidBuffer;
	bool		parent_full = false;
	bool		used = false;

	if (!is_full(index, table, level, key))
		return;
	/* before all buffer locks, as it takes a heavyweight one */
	spare = allocate(index);
	full = hamming_pin(index, table, level, key, NULL);
	if (BufferGetBlockNumber(full) != HAMMING_ROOT(table))
		parent = hamming_pin(index, table, level + 1, key, NULL);
	test_stop("make room");

	if (hamming_lock_pinned(index, full, table, level, key) &&
		hamming_page_is_full(BufferGetPage(full)))
	{
		bool		found = true;

		if (BufferIsValid(parent))
		{
			found = hamming_lock_pinned(index, parent, table, level + 1, key);
			parent_full = found && hamming_page_is_full(BufferGetPage(parent));
		}
		used = found && !parent_full &&
			relieve(index, full, parent, spare, key);
		if (BufferIsValid(parent))
			LockBuffer(parent, BUFFER_LOCK_UNLOCK);
	}
	UnlockReleaseBuffer(full);
	if (BufferIsValid(parent))
		ReleaseBuffer(parent);
	if (used)
		UnlockReleaseBuffer(spare);
	else
		give_back(index, spare);

	if (parent_full)
		hamming_make_room(index, table, level + 1, key);
	CHECK_FOR_INTERRUPTS();
}

static void
merge(Relation index, Buffer left, Buffer right, Buffer parent)
{
	GenericXLogState *state = GenericXLogStart(index);
	Page		left_page = GenericXLogRegisterBuffer(state, left, 0);
	Page		right_page = GenericXLogRegisterBuffer(state, right, 0);
	Page		parent_page = GenericXLogRegisterBuffer(state, parent, 0);
	HammingSpecial *special = hamming_special(right_page);

	hamming_inner_remove(parent_page,
						 hamming_inner_find(parent_page, special->low));
	hamming_page_merge(left_page, right_page);
	hamming_page_init(right_page, HAMMING_PAGE_FREE, special->table, 0,
					  hamming_least_key, hamming_least_key);
	GenericXLogFinish(state);
}

/*
 * May the locked pages left and right be merged?  They must be neighbours
 * below the locked parent, a page must not be fuller than after a build, and
 * nobody else may have a pin on the right one (rule 1).
 */
static bool
may_merge(Relation index, Buffer left, Buffer right, Buffer parent)
{
	Page		left_page = BufferGetPage(left);
	Page		right_page = BufferGetPage(right);
	HammingKey	low = hamming_special(right_page)->low;

	return hamming_key_compare(hamming_special(left_page)->high, low) == 0 &&
	/* the parent's first child has its left neighbour elsewhere */
		hamming_key_compare(hamming_special(BufferGetPage(parent))->low,
							low) < 0 &&
		hamming_page_count(left_page) + hamming_page_count(right_page) <=
		hamming_fill(index, hamming_capacity(left_page)) &&
		IsBufferCleanupOK(right);
}

/*
 * Merge the page that covers the key with its right neighbour, if they have
 * the same parent and a page would not be fuller than after a build.  Returns
 * whether they were merged.  A right neighbour that somebody else has pinned
 * stays, for the next vacuum.
 *
 * On entry and on return the caller holds no buffer lock.
 */
bool
hamming_merge(Relation index, int table, int level, HammingKey key,
			  BufferAccessStrategy strategy)
{
	Buffer		left = hamming_find(index, table, level, key, BUFFER_LOCK_SHARE,
									strategy);
	HammingKey	next = hamming_special(BufferGetPage(left))->high;
	Buffer		right;
	Buffer		parent;
	bool		merged;

	LockBuffer(left, BUFFER_LOCK_UNLOCK);
	if (hamming_key_compare(next, hamming_greatest_key) >= 0)
	{
		ReleaseBuffer(left);
		return false;
	}
	right = hamming_pin(index, table, level, next, strategy);
	parent = hamming_pin(index, table, level + 1, next, strategy);
	Assert(left != right);
	test_stop("merge");

	merged = hamming_lock_pinned(index, left, table, level, key);
	merged &= hamming_lock_pinned(index, right, table, level, next);
	merged &= hamming_lock_pinned(index, parent, table, level + 1, next);
	merged = merged && may_merge(index, left, right, parent);
	if (merged)
		merge(index, left, right, parent);
	UnlockReleaseBuffer(parent);
	UnlockReleaseBuffer(left);
	LockBuffer(right, BUFFER_LOCK_UNLOCK);
	if (merged)
		give_back(index, right);
	else
		ReleaseBuffer(right);
	return merged;
}
