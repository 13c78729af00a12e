/*
 * walk.c
 *	  Walks along a level of a tree, page by page or key by key.
 *
 * The head of tree.c says why such a walk meets each entry once.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/spccache.h"

#include "am/am.h"

/*
 * A walk comes to the page that covers walk->next.  Let the operating system
 * read the next maintenance_io_concurrency pages below the same parent.  A page
 * of the level above is locked meanwhile.
 */
void
hamming_walk_read_ahead(HammingWalk *walk)
{
	Oid			space = walk->index->rd_rel->reltablespace;
	int			distance = get_tablespace_maintenance_io_concurrency(space);
	HammingKey	from = walk->prefetched;
	Buffer		parent;
	Page		page;
	int			rank;
	int			last;

	if (distance == 0 ||
		hamming_key_compare(walk->next, walk->read_ahead_from) < 0)
		return;
	if (hamming_key_compare(from, walk->next) < 0)
		from = walk->next;
	walk->read_ahead_from = walk->prefetched = hamming_greatest_key;
	if (hamming_is_greatest(from))
		return;
	parent = hamming_find(walk->index, walk->tree, walk->level + 1, from,
						  BUFFER_LOCK_SHARE, walk->strategy);
	if (!BufferIsValid(parent))
		return;
	page = BufferGetPage(parent);
	rank = hamming_inner_find(page, &from);
	last = Min(rank + distance, hamming_page_count(page));
	walk->read_ahead_from = hamming_inner_key(page, (rank + last) / 2);
	walk->prefetched = hamming_inner_end(page, last - 1);
	for (; rank < last; rank++)
		hamming_disk_prefetch(walk->index, hamming_inner_child(page, rank));
	UnlockReleaseBuffer(parent);
}

Buffer
hamming_walk_find(const HammingWalk *walk, int mode)
{
	return hamming_find(walk->index, walk->tree, walk->level, walk->next, mode,
						walk->strategy);
}

/*
 * Go on to walk->next, which the caller has set to the end of the page before.
 * Return false after the last page.
 */
bool
hamming_walk_on(HammingWalk *walk)
{
	CHECK_FOR_INTERRUPTS();
	if (hamming_is_greatest(walk->next))
		return false;
	hamming_walk_read_ahead(walk);
	return true;
}

void
hamming_keys_begin(HammingKeys *keys, Relation index, int tree)
{
	HammingWalk walk = {.index = index,.tree = tree};

	keys->walk = walk;
	keys->count = keys->position = 0;
}

/*
 * Get the keys of the next leaf.  Return false after the last leaf.  Where a
 * merge has made one leaf of the last one and the next, leave out the keys that
 * were in the range of the last one.
 */
static bool
read_leaf(HammingKeys *keys)
{
	HammingWalk *walk = &keys->walk;
	HammingKey	from = walk->next;
	Buffer		leaf;

	if (!hamming_walk_on(walk))
		return false;
	leaf = hamming_walk_find(walk, BUFFER_LOCK_SHARE);
	keys->count = hamming_page_keys(BufferGetPage(leaf), keys->keys);
	walk->next = hamming_page_high(BufferGetPage(leaf));
	UnlockReleaseBuffer(leaf);
	keys->position = 0;
	while (keys->position < keys->count &&
		   hamming_key_compare(keys->keys[keys->position], from) < 0)
		keys->position++;
	return true;
}

/* Go on to the first key from a key on, and return it; NULL after the last. */
const HammingKey *
hamming_keys_seek(HammingKeys *keys, HammingKey from)
{
	for (;;)
	{
		for (; keys->position < keys->count; keys->position++)
			if (hamming_key_compare(keys->keys[keys->position], from) >= 0)
				return &keys->keys[keys->position];
		if (hamming_key_compare(keys->walk.next, from) < 0)
			keys->walk.next = from;
		if (!read_leaf(keys))
			return NULL;
	}
}

bool
hamming_keys_next(HammingKeys *keys, HammingKey *key)
{
	while (keys->position == keys->count)
		if (!read_leaf(keys))
			return false;
	*key = keys->keys[keys->position++];
	return true;
}

/*
 * Has a block tree an entry whose first width words are those of the key?  The
 * answer may be out of date at once.
 */
bool
hamming_has(Relation index, int tree, HammingKey key, int width)
{
	HammingWalk walk = {.index = index,.tree = tree,.next = key};
	HammingKey	last = hamming_last_key(key, width);
	bool		found = false;

	while (!found && hamming_key_compare(walk.next, last) <= 0)
	{
		Buffer		leaf = hamming_walk_find(&walk, BUFFER_LOCK_SHARE);

		found = hamming_leaf_shares(BufferGetPage(leaf), key, width) == width;
		walk.next = hamming_page_high(BufferGetPage(leaf));
		UnlockReleaseBuffer(leaf);
	}
	return found;
}

/*
 * Has the source tree of a block tree, 1 or up, an entry that the tree must
 * have the key for?  The answer may be out of date at once.
 */
bool
hamming_is_needed(Relation index, int tree, HammingKey key)
{
	HammingLayout layout = hamming_layout(index);
	int			start = hamming_block_start(layout.blocks,
											HAMMING_TREE_BLOCK(tree));
	HammingKey	entry = HAMMING_TREE_BLOCK(tree) > 0
	? hamming_word_key(hamming_unrotate(key.words[0], start))
	: hamming_tree_key(layout, tree, 0, key);

	return hamming_has(index, hamming_source_tree(tree), entry,
					   hamming_tree_width(layout, tree));
}
