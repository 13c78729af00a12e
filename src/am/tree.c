/*
 * tree.c
 *	  Descents, splits and merges of the B+trees.
 *
 * A page covers a range of keys.  Each key is in the range of one page of each
 * level.  A root that grows, a split and a merge, each with its downlink, is
 * one WAL record, made while all pages that it changes are locked.  So there
 * are no incomplete states: a locked page that covers a key, at the wanted
 * level of the wanted tree, is the only one that does.  Therefore:
 *
 * - A descent locks one page at a time.  If a page no longer covers the key
 *   when the descent comes to it, the descent begins again.
 * - A page that a merge has emptied can be used again at once.
 * - A walk along a level needs no links: the next page is the one that covers
 *   the end of the last page's range.  Entries never leave the key order, so
 *   that a walk meets each entry once, whatever is split or merged meanwhile.
 *
 * In the comments of this room a lock without a kind is the lock of a buffer's
 * content, and a locked page is pinned, too.  "On entry" and "on return" name
 * the locks and pins that the caller holds; where a comment is silent, the
 * caller holds no lock.  A function that takes a Page and no Buffer locks
 * nothing: the caller has locked the page, exclusively if the function changes
 * it, or the page is in the caller's own memory.  A function that reads a page
 * raises XX002 if the page cannot be used.
 *
 * The lock rule
 *
 * A page of a tree has a role: its tree, its level (a root counts as higher
 * than every level) and the low end of its range.  Roles are ordered in this
 * way: by tree, then by level, then by low end.  A free page has no role.
 *
 * 1. A merge frees a page only under the page's exclusive lock, and only if
 *    under that lock the merge has found no pin but its own.
 * 2. Before a process takes its first lock it pins every page that it may wait
 *    for, reads the page's role under that pin, and keeps the pin.
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
 * Three kinds of processes hold several locks.  All find and pin their pages
 * first, and then lock them in the order of their roles:
 *
 * - an insertion (change.c) a leaf of tree 0, and leaves of trees that may
 *   lack its key; or one leaf of the tree of rows without a fingerprint;
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
 * A merge locks neighbours.  It pinned the right one as the page that covers
 * the high end that the left one had before.  At that key a page began then.
 * By rule 5 nobody else merges, so a page begins there until the merge is done:
 * a split adds low ends, and takes none away.  So the right page is the one
 * that begins there, and its low end is greater than that of the left page.  A
 * split of the left page may have put a page between the two: the merge finds
 * under the locks that they are no longer neighbours.
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
 * can take it for another tree or another place of the level.
 *
 * Searches, descents and walks hold the lock of one page at a time, and go down
 * by hamming_find() alone.  A search knows in advance which leaves come next:
 * it looks at each as a descent does, and descends where the leaf is another
 * page by now.
 *
 * CREATE INDEX locks up to 32 pages together: see hamming_build() in
 * build.c.  On a standby, replay locks all pages of a record, and is the
 * only process that holds a lock while it waits for another.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "miscadmin.h"

#include "am/am.h"

bool
hamming_page_is_for(Page page, int tree, int level, const HammingKey *key)
{
	HammingSpecial *special = hamming_special(page);

	return hamming_page_is_of_tree(page) && special->tree == tree &&
		special->level == level && hamming_page_covers(page, key);
}

/*
 * Go down from the root of a tree to the page of a level that covers the key,
 * or stay at a root below that level.  Locks: as hamming_find().  Return
 * InvalidBuffer, and hold no lock, where a page is another one by now.
 */
static Buffer
go_down(Relation index, int tree, int level, HammingKey key, int mode,
		BufferAccessStrategy strategy)
{
	BlockNumber root = hamming_root(hamming_layout(index), tree);
	Buffer		buffer = hamming_read(index, root, BUFFER_LOCK_SHARE, strategy);
	Page		page = BufferGetPage(buffer);

	if (hamming_special(page)->level <= level && mode != BUFFER_LOCK_SHARE)
	{
		/* the root may grow meanwhile */
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		hamming_lock(index, buffer, mode);
	}
	if (!hamming_page_is_for(page, tree, hamming_special(page)->level, &key))
		hamming_corrupted(index, root, "page is not the root of a tree");
	while (hamming_special(page)->level > level)
	{
		BlockNumber child = hamming_inner_look(page, &key, NULL);
		int			height = hamming_special(page)->level - 1;

		UnlockReleaseBuffer(buffer);
		if (height == 0)
			test_stop("descent: leaf");
		buffer = hamming_read(index, child,
							  height == level ? mode : BUFFER_LOCK_SHARE,
							  strategy);
		page = BufferGetPage(buffer);
		if (!hamming_page_is_for(page, tree, height, &key))
		{
			UnlockReleaseBuffer(buffer);
			return InvalidBuffer;
		}
	}
	return buffer;
}

/*
 * Find the page of a tree's level, 0 for a leaf, that covers the key, below the
 * greatest one.  Return InvalidBuffer if the tree has no such level.  strategy
 * may be NULL.  On entry the caller holds no buffer lock.  On return the page
 * is locked in mode, BUFFER_LOCK_SHARE or BUFFER_LOCK_EXCLUSIVE.  Error: XX002,
 * also where no page covers the key.
 *
 * This is the only descent.  It locks one page at a time: the parent is
 * unlocked before the wait for the child's lock.  The level and the child are
 * read under the lock of the parent, and the child is looked at again under its
 * own.  Where it is another page by now, the descent begins again.
 */
Buffer
hamming_find(Relation index, int tree, int level, HammingKey key, int mode,
			 BufferAccessStrategy strategy)
{
	int			descents;

	for (descents = 0; descents < HAMMING_MAX_DESCENTS; descents++)
	{
		Buffer		buffer = go_down(index, tree, level, key, mode, strategy);

		if (BufferIsValid(buffer))
		{
			if (hamming_special(BufferGetPage(buffer))->level == level)
				return buffer;
			UnlockReleaseBuffer(buffer);
			return InvalidBuffer;
		}
		CHECK_FOR_INTERRUPTS();
	}
	hamming_corrupted(index, hamming_root(hamming_layout(index), tree),
					  "no page covers a key of the tree");
}

/* Pin the page that hamming_find() finds (rule 2). */
static Buffer
pin(Relation index, int tree, int level, HammingKey key,
	BufferAccessStrategy strategy)
{
	Buffer		buffer = hamming_find(index, tree, level, key,
									  BUFFER_LOCK_SHARE, strategy);

	if (BufferIsValid(buffer))
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return buffer;
}

int
hamming_height(Relation index, int tree)
{
	Buffer		root = hamming_read(index,
									hamming_root(hamming_layout(index), tree),
									BUFFER_LOCK_SHARE, NULL);
	int			height = hamming_special(BufferGetPage(root))->level + 1;

	UnlockReleaseBuffer(root);
	return height;
}

/*
 * Lock exclusively a pinned page that hamming_find() has returned.  Return
 * false if the page no longer covers the key.  On entry the pages whose locks
 * the caller holds have lower roles (rule 3).  On return the page is locked,
 * whatever the result.
 */
bool
hamming_lock_pinned(Relation index, Buffer buffer, int tree, int level,
					HammingKey key)
{
	hamming_lock(index, buffer, BUFFER_LOCK_EXCLUSIVE);
	return hamming_page_is_for(BufferGetPage(buffer), tree, level, &key);
}

/*
 * Let a root grow by one level: its content goes to the child, which becomes
 * its only child.  Both pages are locked exclusively.
 */
static void
grow_root(Relation index, Buffer root, Buffer child)
{
	GenericXLogState *state = GenericXLogStart(index);
	Page		root_page = GenericXLogRegisterBuffer(state, root, 0);
	Page		child_page = GenericXLogRegisterBuffer(state, child,
													   GENERIC_XLOG_FULL_IMAGE);
	int			tree = hamming_special(root_page)->tree;
	int			level = hamming_special(root_page)->level;

	memcpy(child_page, root_page, BLCKSZ);
	hamming_tree_page_init(root_page, hamming_page_width(child_page), tree,
						   level + 1, hamming_least_key, hamming_greatest_key);
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
	cut = hamming_page_low(right_page);
	hamming_inner_insert(parent_page, hamming_inner_find(parent_page, &cut) + 1,
						 cut, BufferGetBlockNumber(right));
	GenericXLogFinish(state);
}

/*
 * Take one step towards a page of the level, 0 for a leaf, that covers the key
 * and has room: split the page, or let it grow if it is the root, or take a
 * step towards room in its parent.  The caller looks again, as another process
 * may have been faster, or fill the room first.  On entry and on return the
 * caller holds neither locks nor pins of the tree's pages.
 */
void
hamming_make_room(Relation index, int tree, int level, HammingKey key)
{
	Buffer		full = pin(index, tree, level, key, NULL);

	/* before the first of several locks (rule 6) */
	Buffer		spare = hamming_find_spare(index);
	Buffer		parent = InvalidBuffer;
	bool		parent_full = false;
	bool		used = false;

	if (BufferGetBlockNumber(full) !=
		hamming_root(hamming_layout(index), tree))
		parent = pin(index, tree, level + 1, key, NULL);
	test_stop("make room");

	if (hamming_lock_pinned(index, full, tree, level, key) &&
		hamming_page_is_full(BufferGetPage(full)))
	{
		bool		found = true;

		if (BufferIsValid(parent))
		{
			found = hamming_lock_pinned(index, parent, tree, level + 1, key);
			parent_full = found && hamming_page_is_full(BufferGetPage(parent));
		}
		used = found && !parent_full && hamming_claim_spare(index, spare);
		if (used && BufferIsValid(parent))
			split(index, full, spare, parent, key);
		else if (used)
			grow_root(index, full, spare);
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
		hamming_make_room(index, tree, level + 1, key);
	CHECK_FOR_INTERRUPTS();
}

/*
 * Move count keys, which are kept of the page right, to the page left.  Take
 * right out of the parent, and make it a free page.  may_merge() has allowed
 * it, and the three pages are locked exclusively.
 */
static void
merge(Relation index, Buffer left, Buffer right, Buffer parent,
	  const HammingKey *keys, int count)
{
	GenericXLogState *state = GenericXLogStart(index);
	Page		left_page = GenericXLogRegisterBuffer(state, left, 0);
	Page		right_page = GenericXLogRegisterBuffer(state, right, 0);
	Page		parent_page = GenericXLogRegisterBuffer(state, parent, 0);
	HammingKey	low = hamming_page_low(right_page);

	hamming_inner_remove(parent_page, hamming_inner_find(parent_page, &low));
	hamming_page_merge(left_page, right_page, keys, count);
	hamming_page_init(right_page, HAMMING_PAGE_FREE, 1,
					  hamming_special(right_page)->tree);
	GenericXLogFinish(state);
}

/*
 * May the pages left and right be merged, if count entries of right are kept?
 * They must be neighbours below the parent, both together must not be fuller
 * than a page after a build, and no other process may have a pin on right (rule
 * 1).  The three pages are locked exclusively.
 */
static bool
may_merge(Relation index, Buffer left, Buffer right, Buffer parent, int count)
{
	Page		left_page = BufferGetPage(left);
	HammingSpecial *special = hamming_special(left_page);
	HammingKey	low = hamming_page_low(BufferGetPage(right));
	int			capacity = hamming_capacity(hamming_layout(index),
											special->tree, special->level);

	/* the parent's first child has its left neighbour below another page */
	return hamming_key_compare(hamming_page_high(left_page), low) == 0 &&
		hamming_key_compare(hamming_page_low(BufferGetPage(parent)), low) < 0 &&
		hamming_page_count(left_page) + count <=
		hamming_most_fill(index, capacity) &&
		IsBufferCleanupOK(right);
}

/*
 * Merge the page of the walk's level that covers the key with its right
 * neighbour, if may_merge() allows it.  Returns how many entries it has then,
 * and *high gets its end; -1 if they were not merged.  keep(arg) says what is
 * kept of the neighbour; of an inner page that is all.
 *
 * On entry *high is where the page ended when the caller looked at it last, and
 * the caller is the only process that merges pages of the index (rule 5).  On
 * entry and on return it holds neither locks nor pins of the tree's pages.
 */
int
hamming_merge(const HammingWalk *walk, HammingKey key, HammingKeep keep,
			  void *arg, HammingKey *high)
{
	Relation	index = walk->index;
	int			tree = walk->tree;
	int			level = walk->level;
	HammingKey	next = *high;
	HammingKey	keys[HAMMING_LEAF_CAPACITY];
	Buffer		left;
	Buffer		right;
	Buffer		parent;
	bool		found;
	int			count;
	int			merged = -1;

	if (hamming_is_greatest(next))
		return -1;
	left = pin(index, tree, level, key, walk->strategy);
	right = pin(index, tree, level, next, walk->strategy);
	parent = pin(index, tree, level + 1, next, walk->strategy);
	Assert(left != right);
	test_stop("merge");

	found = hamming_lock_pinned(index, left, tree, level, key);
	found &= hamming_lock_pinned(index, right, tree, level, next);
	found &= hamming_lock_pinned(index, parent, tree, level + 1, next);
	count = found ? keep(arg, right, keys) : -1;
	if (count >= 0 && may_merge(index, left, right, parent, count))
	{
		merge(index, left, right, parent, keys, count);
		merged = hamming_page_count(BufferGetPage(left));
		*high = hamming_page_high(BufferGetPage(left));
	}
	UnlockReleaseBuffer(parent);
	UnlockReleaseBuffer(left);
	LockBuffer(right, BUFFER_LOCK_UNLOCK);
	if (merged >= 0)
		hamming_give_back(index, right);
	else
		ReleaseBuffer(right);
	return merged;
}
