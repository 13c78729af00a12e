/*
 * tree.c
 *	  Descents, splits and merges of the B+trees.
 *
 * A page covers a range of keys, and the pages of one level part the whole
 * key space among them.  A change of the tree is a root that grows, a split
 * with its downlink, or a merge with its downlink.  Every change is one WAL
 * record, and is made while all pages that it changes are locked.  So there
 * are no incomplete states: a locked page that covers a key, at the wanted
 * level of the wanted table, is the only one that does.  Therefore:
 *
 * - A descent locks one page at a time.  If a page was changed before the
 *   descent comes to it, it no longer covers the key, and the descent starts
 *   again.
 * - A page that a merge has emptied can be used again at once.
 * - A walk along a level needs no links: the next page is the one that covers
 *   the end of the last page's range.  Entries never leave the key order, so
 *   that a walk meets each entry once, whatever is split or merged meanwhile.
 *
 * In the comments of this room a lock without a kind is the lock of a
 * buffer's content, and a locked page is pinned, too.  "On entry" and "on
 * return" name the locks and pins that the caller holds.  Where the comment of
 * a function that locks pages says nothing of them, the caller holds no lock on
 * entry, and none on return.  A function that takes a Page and no Buffer locks
 * nothing: the caller has locked the page, exclusively if the function changes
 * it, or the page is in the caller's own memory.  A function that reads a page
 * raises XX002 if the page cannot be used.
 *
 * The lock rule
 *
 * A page of a tree has a role: its table, its level (a root counts as higher
 * than every level) and the low end of its range.  Roles are ordered in this
 * way: by table, then by level, then by low end.  A free page has no role.
 *
 * 1. A merge frees a page only under the page's exclusive lock, and only if
 *    under that lock the merge has found no pin but its own.
 * 2. A process that waits for the lock of a page while it holds other locks
 *    has pinned that page before it took the first of these locks.  Since
 *    then it has kept the pin, and under the pin it has read the page's role.
 * 3. That role is greater than those of the pages whose locks it holds.
 * 4. A process that holds locks only tries the lock of a page that has no
 *    role (hamming_claim_spare), and waits for no other page's lock after
 *    that.
 * 5. One process at a time merges pages of an index or removes fingerprints.
 *    It holds the table's ShareUpdateExclusiveLock, and one process of a
 *    parallel vacuum has the index.
 * 6. A process that holds locks of pages waits for no heavyweight lock and for
 *    no page of the free space map.  It extends the index, and uses the free
 *    space map, before it takes the first lock or after it has released the
 *    last one.
 *
 * Four kinds of processes hold several locks.  All find and pin their pages
 * first, one after the other, as rule 2 demands.  Then they lock them in the
 * order of their roles, as rule 3 demands:
 *
 * - an insertion (change.c) a leaf of table 0, and then, if the fingerprint
 *   may be new, a leaf of table 1, of table 2 and so on; or one leaf of the
 *   table of rows without a fingerprint;
 * - a removal (change.c) up to three neighbouring leaves of table 0, from
 *   left to right, and then, if no entry is left there, a leaf of table 1, of
 *   table 2 and so on;
 * - a split a page, then its parent;
 * - a merge two neighbours, from left to right, and then their parent.
 *
 * Under each lock they look again at the page.  Where it no longer covers the
 * key that it was pinned for, they release all, and start again or give up.  A
 * root that was pinned as a leaf, and has grown, is such a page.
 *
 * A role that was read under a pin does not change under that pin.  A split, a
 * merge and a root that grows leave each page its role, but for the page that
 * a merge frees: a root grows a level, but counts as the highest before and
 * after.  Who pinned that page before the merge looked at the pins has
 * prevented the merge.  Who pins the page later can read its role only after
 * the merge has unlocked it.
 *
 * A merge and a removal lock neighbours.  The next page was pinned as the one
 * that covers the high end that the page before had.  At that key a page began
 * then.  By rule 5 nobody else merges, so a page begins there until the process
 * is done: a split adds low ends, and takes none away.  So the next page is the
 * one that begins there, and its low end is greater than that of the page
 * before.  A split of the page before may have put a page between the two: the
 * process finds under the locks that they are no longer neighbours.
 *
 * So nobody waits for ever.  Suppose that some processes wait for each other
 * in a circle.  Each holds the lock of a page that the one before waits for,
 * and waits for the page of the one after.  As pinned pages keep their roles,
 * all have read the same role of the same page.  By rule 3 the page that a
 * process waits for has a greater role than the page that it holds.  Around
 * the circle roles would grow without end.  The circle may be one process,
 * which then waits for itself: two pages that it has locked are never one.
 * By rule 4 a page that was claimed closes no circle, as its holder does not
 * wait.  By rule 6 no lock of another kind is part of a circle; those that
 * PostgreSQL takes for a moment to write WAL or to find a buffer are held by
 * nobody who waits for a page.
 *
 * Without rule 1 both kinds of circle can happen.  Between a look at a page
 * and the wait for the page's lock, a vacuum can free the page, and a split
 * can take it for another table or another place of the level.
 *
 * Searches, descents and walks hold the lock of one page at a time.  A search
 * keeps the inner pages on its paths pinned, so that no merge frees these.
 * That saves descents, and nothing rests on it: on a standby replay frees
 * pinned pages, too, and a search looks at each page again under the page's
 * lock.  CREATE INDEX locks up to 32 pages together: see hamming_build().  On a
 * standby, replay locks all pages of a record, and is the only process that
 * holds a lock while it waits for another.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "miscadmin.h"

#include "am/am.h"
#include "am/test_stop.h"

/*
 * Does the page, which is locked on entry, cover the key on the table's level?
 */
bool
hamming_page_is_for(Page page, int table, int level, HammingKey key)
{
	HammingSpecial *special = hamming_special(page);

	return special->kind == HAMMING_PAGE_TREE && special->table == table &&
		special->level == level && hamming_page_covers(page, key);
}

/*
 * Find the page of a table's level, 0 for a leaf, that covers the key.
 * strategy may be NULL.  Returns InvalidBuffer if the table has no such level.
 *
 * On entry the caller holds no buffer lock.  On return the page is locked in
 * mode, BUFFER_LOCK_SHARE or BUFFER_LOCK_EXCLUSIVE.  Error: XX002, also where
 * no page covers the key.
 *
 * hamming_path_find() in path.c follows the same protocol.  So do
 * search_leaf() and find_rows() in search.c, which go on from there to a
 * leaf.  What must stay equal in all:
 *
 * 1. One page is locked at a time: the parent is unlocked before the child's
 *    lock is waited for.
 * 2. The level and the child are read under the lock of the parent; the level
 *    of a root is read again under each lock, as a root may grow.  (A search
 *    has read in advance which leaves come next, and for which keys.)
 * 3. Under each new lock hamming_page_check() and then hamming_page_is_for()
 *    look at the page.  Where the page is another one by now, the descent goes
 *    back, without any lock.
 * 4. It goes back HAMMING_MAX_DESCENTS times at most, and after a page that
 *    was not the right one it can be canceled.  (A root that has grown is
 *    simply read again.)
 */
Buffer
hamming_find(Relation index, int table, int level, HammingKey key, int mode,
			 BufferAccessStrategy strategy)
{
	int			descents;

	for (descents = 0; descents < HAMMING_MAX_DESCENTS; descents++)
	{
		BlockNumber block = HAMMING_ROOT(table);
		Buffer		buffer = hamming_read(index, block, BUFFER_LOCK_SHARE,
										  strategy);
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
			if (hamming_special(page)->level != level)
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
		/* not a page above it, even if that one has come down to the level */
		if (height == level && hamming_page_is_for(page, table, level, key))
			return buffer;
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
	hamming_corrupted(index, HAMMING_ROOT(table),
					  "no page covers a key of the table");
}

/*
 * Find the page that hamming_find() finds, and unlock it (rule 2).  On entry
 * the caller holds no buffer lock, and may hold pins.  On return the page is
 * pinned, and not locked.
 */
Buffer
hamming_pin(Relation index, int table, int level, HammingKey key,
			BufferAccessStrategy strategy)
{
	Buffer		buffer = hamming_find(index, table, level, key,
									  BUFFER_LOCK_SHARE, strategy);

	if (BufferIsValid(buffer))
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return buffer;
}

/*
 * Lock a page that hamming_pin() has returned for the same table, level and
 * key.  Returns false if the page no longer covers the key.
 *
 * On entry the page is pinned, and the pages whose locks the caller holds have
 * lower roles (rule 3).  On return the page is locked exclusively, whatever
 * the result.
 */
bool
hamming_lock_pinned(Relation index, Buffer buffer, int table, int level,
					HammingKey key)
{
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	hamming_page_check(index, buffer);
	return hamming_page_is_for(BufferGetPage(buffer), table, level, key);
}

/* Is the page that covers the key full?  The answer may be out of date. */
static bool
is_full(Relation index, int table, int level, HammingKey key)
{
	Buffer		buffer = hamming_find(index, table, level, key,
									  BUFFER_LOCK_SHARE, NULL);
	bool		full = hamming_page_is_full(BufferGetPage(buffer));

	UnlockReleaseBuffer(buffer);
	return full;
}

/*
 * Let a root grow by one level: its content goes to the child, which becomes
 * the root's only child.  Both pages are locked exclusively.
 */
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

/*
 * Move the upper part of the page left to the page right, and enter right in
 * the parent, which has room.  added is the key that room is made for.  All
 * three pages are locked exclusively.
 */
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
 * If the spare page is still free, split a full page with it, or let the page
 * grow if it is a root, which has no parent.  Returns whether the spare page
 * was used; if so, it is locked exclusively on return.
 *
 * On entry the full page and the parent are locked exclusively, and the spare
 * page is pinned.
 */
static bool
relieve(Relation index, Buffer full, Buffer parent, Buffer spare,
		HammingKey key)
{
	if (!hamming_claim_spare(index, spare))
		return false;
	if (BufferIsValid(parent))
		split(index, full, spare, parent, key);
	else
		grow_root(index, full, spare);
	return true;
}

/*
 * Take one step towards a page of the level, 0 for a leaf, that covers the key
 * and has room: split the page, or let it grow if it is the root, or take a
 * step towards room in its parent.  The caller looks again, as another process
 * may have been faster, or fill the room first.
 *
 * On entry and on return the caller holds neither locks nor pins of the tree's
 * pages.
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
	/* before the first lock (rule 6) */
	spare = hamming_find_spare(index);
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
		hamming_give_back(index, spare);

	if (parent_full)
		hamming_make_room(index, table, level + 1, key);
	CHECK_FOR_INTERRUPTS();
}

/*
 * Move all of the page right to the page left, take right out of the parent,
 * and make it a free page.  On entry may_merge() has allowed it, and the three
 * pages are locked exclusively.
 */
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
 * May the pages left and right be merged?  They must be neighbours below the
 * parent, both together must not be fuller than a page after a build, and no
 * other process may have a pin on right (rule 1).  The three pages are locked
 * exclusively.
 */
static bool
may_merge(Relation index, Buffer left, Buffer right, Buffer parent)
{
	Page		left_page = BufferGetPage(left);
	Page		right_page = BufferGetPage(right);
	HammingKey	low = hamming_special(right_page)->low;

	if (hamming_key_compare(hamming_special(left_page)->high, low) != 0)
		return false;
	/* the parent's first child has its left neighbour below another page */
	if (hamming_key_compare(hamming_special(BufferGetPage(parent))->low,
							low) >= 0)
		return false;
	return hamming_page_count(left_page) + hamming_page_count(right_page) <=
		hamming_fill(index, hamming_capacity(left_page)) &&
		IsBufferCleanupOK(right);
}

/*
 * Merge the page of the level that covers the key with its right neighbour, if
 * may_merge() allows it.  Returns whether they were merged.
 *
 * On entry the caller is the only process that merges pages of the index (rule
 * 5).  On entry and on return the caller holds neither locks nor pins of the
 * tree's pages.
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
		hamming_give_back(index, right);
	else
		ReleaseBuffer(right);
	return merged;
}
