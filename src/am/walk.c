/*
 * walk.c
 *	  Reading ahead of a walk along a level of a table.
 */
#include "postgres.h"

#include "utils/spccache.h"

#include "am/am.h"

/* Return how many pages a walk through the index reads ahead. */
int
hamming_walk_distance(Relation index)
{
	Oid			tablespace = index->rd_rel->reltablespace;

	return get_tablespace_maintenance_io_concurrency(tablespace);
}

/*
 * A walk comes to the page that covers the key.  Let the operating system read
 * the next pages below the same parent, as many as maintenance_io_concurrency
 * says.
 *
 * On entry and on return the caller holds no lock.  A page of the level above
 * is locked meanwhile.
 */
void
hamming_read_ahead(HammingReadAhead *ahead, HammingKey key)
{
	int			distance = hamming_walk_distance(ahead->index);
	HammingKey	from = ahead->until;
	Buffer		parent;
	Page		page;
	int			rank;
	int			last;

	if (distance == 0 || hamming_key_compare(key, ahead->again) < 0)
		return;
	if (hamming_key_compare(from, key) < 0)
		from = key;
	ahead->again = ahead->until = hamming_greatest_key;
	if (hamming_key_compare(from, hamming_greatest_key) >= 0)
		return;
	parent = hamming_find(ahead->index, ahead->table, ahead->level + 1, from,
						  BUFFER_LOCK_SHARE, ahead->strategy);
	if (!BufferIsValid(parent))
		return;
	page = BufferGetPage(parent);
	rank = hamming_inner_find(page, from);
	last = Min(rank + distance, hamming_page_count(page));
	ahead->again = hamming_inner_key(page, (rank + last) / 2);
	ahead->until = last < hamming_page_count(page)
		? hamming_inner_key(page, last) : hamming_special(page)->high;
	for (; rank < last; rank++)
		hamming_prefetch(ahead->index, hamming_inner_child(page, rank));
	UnlockReleaseBuffer(parent);
}

/*
 * Let the operating system read the leaf that covers the key.  On entry and on
 * return the caller holds no lock.  The leaf's parent is locked meanwhile.
 */
void
hamming_prefetch_leaf(Relation index, int table, HammingKey key)
{
	Buffer		parent = hamming_find(index, table, 1, key, BUFFER_LOCK_SHARE,
									  NULL);
	Page		page;
	BlockNumber block;

	if (!BufferIsValid(parent))
		return;
	page = BufferGetPage(parent);
	block = hamming_inner_child(page, hamming_inner_find(page, key));
	UnlockReleaseBuffer(parent);
	hamming_prefetch(index, block);
}
