/*
 * page.c
 *	  Page layout: checking, appending, filling, splitting, merging.
 *
 * The functions work on the bytes of a page, whose lock is the caller's: they
 * lock, pin and log nothing.  am.h describes the layout.
 */
#include "postgres.h"

#include "am/am.h"

#define ST_SORT sort_keys
#define ST_ELEMENT_TYPE HammingKey
#define ST_COMPARE(a, b) hamming_key_compare(*(a), *(b))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Make a page of a kind, without entries.  tree is 0 for the metapage, and for
 * a free page that which the page was in.  Level and range are 0.
 */
void
hamming_page_init(Page page, HammingPageKind kind, int tree)
{
	HammingSpecial *special;

	PageInit(page, BLCKSZ, sizeof(HammingSpecial));
	special = hamming_special(page);
	special->kind = kind;
	special->tree = tree;
	special->page_id = HAMMING_PAGE_ID;
}

void
hamming_tree_page_init(Page page, int tree, int level, HammingKey low,
					   HammingKey high)
{
	HammingSpecial *special;

	hamming_page_init(page, HAMMING_PAGE_TREE, tree);
	special = hamming_special(page);
	special->low = low;
	special->high = high;
	special->level = level;
	((PageHeader) page)->pd_lower = hamming_keys_offset(page);
}

/* The size of an element of the array at the back; 0 without one. */
static int
tail_size(Page page)
{
	if (hamming_special(page)->level > 0)
		return sizeof(HammingDownlink);
	return hamming_page_has_tids(page) ? sizeof(ItemPointerData) : 0;
}

static void
set_count(Page page, int count)
{
	PageHeader	header = (PageHeader) page;

	header->pd_lower = hamming_keys_offset(page) + count * sizeof(HammingBits);
	header->pd_upper = header->pd_special - count * tail_size(page);
}

/*
 * Return what is wrong with a page; NULL if its arrays are within the page.
 * What the entries say may still be wrong: inner_entry(), hamming_read() and
 * hamming_check_tid() look at that when an entry is used.
 */
static const char *
page_fault(Page page)
{
	PageHeader	header = (PageHeader) page;
	HammingSpecial *special;
	int			count;

	if (PageIsNew(page))
		return "page is empty";
	if (PageGetSpecialSize(page) != MAXALIGN(sizeof(HammingSpecial)) ||
		PageGetPageSize(page) != BLCKSZ)
		return "special space has the wrong size";
	special = hamming_special(page);
	if (special->page_id != HAMMING_PAGE_ID)
		return "page is not of a hamming index";
	if (special->kind == HAMMING_PAGE_META ||
		special->kind == HAMMING_PAGE_FREE)
		return NULL;
	if (!hamming_page_is_of_tree(page))
		return "page is of no known kind";
	if ((special->tree >= HAMMING_MAX_BLOCKS &&
		 special->tree != HAMMING_NULLS) ||
		special->level >= HAMMING_MAX_HEIGHT)
		return "tree or level is out of range";
	if (hamming_page_is_marked(page) &&
		(special->level > 0 || hamming_page_has_tids(page)))
		return "page has the mark of another kind of leaf";
	if (hamming_key_compare(special->low, special->high) >= 0)
		return "key range is empty";
	if (header->pd_lower < hamming_keys_offset(page) ||
		header->pd_lower > header->pd_special)
		return "end of the keys is out of range";
	count = hamming_page_count(page);
	if (count > hamming_capacity(page) || (special->level > 0 && count < 1))
		return "number of entries is out of range";
	if (header->pd_lower !=
		hamming_keys_offset(page) + count * sizeof(HammingBits) ||
		header->pd_upper != header->pd_special - count * tail_size(page))
		return "arrays of entries differ in length";
	if (special->sorted > (special->level == 0 ? count : 0))
		return "number of sorted entries is out of range";
	return NULL;
}

/* Report a fault of the page blkno: XX002.  The caller may hold locks. */
void
hamming_corrupted(Relation index, BlockNumber blkno, const char *fault)
{
	ereport(ERROR, (errcode(ERRCODE_INDEX_CORRUPTED),
					errmsg("index \"%s\" is corrupted at block %u: %s",
						   RelationGetRelationName(index), blkno, fault),
					errhint("REINDEX it.")));
}

/* Check a locked page before its use.  Error: XX002. */
void
hamming_page_check(Relation index, Buffer buffer)
{
	const char *fault = page_fault(BufferGetPage(buffer));

	if (unlikely(fault != NULL))
		hamming_corrupted(index, BufferGetBlockNumber(buffer), fault);
}

/*
 * Check the TID of an entry of the leaf blkno: for PostgreSQL the invalid
 * block number would mean a new page of the heap.  Error: XX002.
 */
void
hamming_check_tid(Relation index, BlockNumber blkno, uint64 tid)
{
	if (unlikely(!OffsetNumberIsValid((OffsetNumber) tid) ||
				 !BlockNumberIsValid((BlockNumber) (tid >> 16))))
		hamming_corrupted(index, blkno, "entry has no valid TID");
}

/*
 * Search
 *
 * An entry of an inner page is known by its rank: its place in the order of
 * keys, 0 .. count - 1.  order[rank] is its place in the two arrays.
 */

static inline uint16 *
inner_order(Page page)
{
	return (uint16 *) ((char *) page + HAMMING_CONTENT);
}

/*
 * Return the place of the entry with a rank: one within the arrays, even if the
 * order of the page is corrupted.
 */
static inline int
inner_entry(Page page, int rank)
{
	return Min(inner_order(page)[rank], hamming_page_count(page) - 1);
}

static inline HammingDownlink *
inner_downlink(Page page, int i)
{
	return (HammingDownlink *) hamming_special(page) - (i + 1);
}

/*
 * Set *from and *to so that of a leaf's sorted entries all from first to last
 * have places from *from to *to - 1.  Mostly the guess of
 * hamming_guess_stretch() is right: to look at more entries takes less time
 * than to find the exact places.
 */
static void
find_stretch(Page page, HammingBits first, HammingBits last, int *from, int *to)
{
	const HammingBits *rotated = hamming_page_bits(page);
	int			sorted = hamming_special(page)->sorted;

	hamming_guess_stretch(hamming_special(page), first, last, from, to);
	while (*from > 0 && rotated[*from - 1] >= first)
		(*from)--;
	while (*to < sorted && rotated[*to] <= last)
		(*to)++;
}

/* Leaves */

/* Let a leaf have count sorted keys, no other, and zeros between the arrays. */
void
hamming_leaf_fill(Page page, const HammingKey *keys, int count)
{
	PageHeader	header = (PageHeader) page;
	int			i;

	set_count(page, count);
	hamming_special(page)->sorted = count;
	for (i = 0; i < count; i++)
		hamming_page_bits(page)[i] = keys[i].rotated;
	if (hamming_page_has_tids(page))
		for (i = 0; i < count; i++)
			*hamming_leaf_tid(page, i) = hamming_item_pointer(keys[i].tid);
	memset((char *) page + header->pd_lower, 0,
		   header->pd_upper - header->pd_lower);
}

/*
 * Copy the keys of a leaf, sorted, or the least keys of an inner page's
 * children, to keys, which has room for HAMMING_LEAF_CAPACITY, or for
 * HAMMING_INNER_CAPACITY.  Return their number.
 */
int
hamming_page_keys(Page page, HammingKey *keys)
{
	HammingKey	appended[HAMMING_LEAF_CAPACITY];
	int			count = hamming_page_count(page);
	int			sorted = hamming_special(page)->sorted;
	int			left = count - sorted;
	int			i;

	if (hamming_special(page)->level > 0)
	{
		for (i = 0; i < count; i++)
			keys[i] = hamming_inner_key(page, i);
		return count;
	}
	for (i = 0; i < sorted; i++)
		keys[i] = hamming_leaf_key(page, i);
	for (i = 0; i < left; i++)
		appended[i] = hamming_leaf_key(page, sorted + i);
	sort_keys(appended, left);
	/* the greatest first, so that no key is in the way of another */
	for (i = count - 1; left > 0; i--)
	{
		if (sorted > 0 &&
			hamming_key_compare(keys[sorted - 1], appended[left - 1]) > 0)
			keys[i] = keys[--sorted];
		else
			keys[i] = appended[--left];
	}
	return count;
}

/*
 * Store in found, which has room for HAMMING_LEAF_CAPACITY, the places of the
 * entries of a leaf that are within radius of the centre, ascending.  Most of
 * the sorted ones that are below first or above last are left out.  Return how
 * many places are stored.
 */
int
hamming_leaf_match(Page page, HammingBits first, HammingBits last,
				   HammingBits centre, int radius, uint16 *found)
{
	const HammingBits *rotated = hamming_page_bits(page);
	int			sorted = hamming_special(page)->sorted;
	int			from;
	int			to;
	int			count;
	int			unsorted;
	int			i;

	find_stretch(page, first, last, &from, &to);
	count = hamming_match(rotated + from, to - from, centre, radius, found);
	for (i = 0; i < count; i++)
		found[i] += from;
	unsorted = hamming_match(rotated + sorted,
							 hamming_page_count(page) - sorted, centre, radius,
							 found + count);
	for (i = 0; i < unsorted; i++)
		found[count + i] += sorted;
	return count + unsorted;
}

/* Has a leaf an entry of a rotated fingerprint, of any row? */
bool
hamming_leaf_has(Page page, HammingBits rotated)
{
	uint16		found[HAMMING_LEAF_CAPACITY];

	return hamming_leaf_match(page, rotated, rotated, rotated, 0, found) > 0;
}

/* Make a change of the leaf page.  If the leaf gets a key, it is not full. */
void
hamming_leaf_change(Page page, const HammingChange *change)
{
	int			count = hamming_page_count(page);

	if (change->is_mark)
	{
		hamming_special(page)->kind = HAMMING_PAGE_REVIVED;
		return;
	}
	set_count(page, count + 1);
	hamming_page_bits(page)[count] = change->key.rotated;
	if (hamming_page_has_tids(page))
		*hamming_leaf_tid(page, count) = hamming_item_pointer(change->key.tid);
}

/* Inner pages */

/* Return the least key of the child with a rank. */
HammingKey
hamming_inner_key(Page page, int rank)
{
	int			i = inner_entry(page, rank);

	return hamming_key(hamming_page_bits(page)[i],
					   hamming_tid(&inner_downlink(page, i)->tid));
}

/* Return where the range of the child with a rank ends. */
HammingKey
hamming_inner_end(Page page, int rank)
{
	return rank + 1 < hamming_page_count(page)
		? hamming_inner_key(page, rank + 1) : hamming_special(page)->high;
}

/*
 * Return the block number of the child with a rank.  On a corrupted page it may
 * be any number: hamming_read() looks at it.
 */
BlockNumber
hamming_inner_child(Page page, int rank)
{
	HammingDownlink *downlink = inner_downlink(page, inner_entry(page, rank));

	return BlockIdGetBlockNumber(&downlink->child);
}

/*
 * Return the rank of the child whose range has the key, which is in the page's
 * range: the last child that begins at the key or below.  Children are spread
 * evenly over the range, mostly: so the steps from the guess double until the
 * child lies between two of them, and most of the page is not looked at.
 */
int
hamming_inner_find(Page page, HammingKey key)
{
	int			count = hamming_page_count(page);
	int			guess = hamming_guess(hamming_special(page), key.rotated,
									  count);
	int			low = 1;		/* children before low begin at the key or
								 * below */
	int			high = count;	/* and those from high on above it */
	int			step = 1;

	while (low < high)
	{
		int			rank = guess >= low && guess < high ? guess
		: (low + high) / 2;
		int			i = inner_entry(page, rank);
		HammingBits rotated = hamming_page_bits(page)[i];

		if (rotated < key.rotated ||
			(rotated == key.rotated &&
			 hamming_tid(&inner_downlink(page, i)->tid) <= key.tid))
		{
			low = rank + 1;
			guess = rank + step;
		}
		else
		{
			high = rank;
			guess = rank - step;
		}
		step *= 2;
	}
	return low - 1;
}

/* Insert a child, whose rank is rank then.  On entry the page is not full. */
void
hamming_inner_insert(Page page, int rank, HammingKey key, BlockNumber child)
{
	int			count = hamming_page_count(page);
	uint16	   *order = inner_order(page);
	HammingDownlink *downlink = inner_downlink(page, count);

	set_count(page, count + 1);
	hamming_page_bits(page)[count] = key.rotated;
	downlink->tid = hamming_item_pointer(key.tid);
	BlockIdSet(&downlink->child, child);
	memmove(order + rank + 1, order + rank, (count - rank) * sizeof(uint16));
	order[rank] = count;
}

/*
 * Remove the child with a rank.  The last element of the arrays takes its
 * place.  GenericXLogFinish() sets to zero what the arrays no longer have.
 */
void
hamming_inner_remove(Page page, int rank)
{
	int			last = hamming_page_count(page) - 1;
	uint16	   *order = inner_order(page);
	int			i = inner_entry(page, rank);
	int			r;

	hamming_page_bits(page)[i] = hamming_page_bits(page)[last];
	*inner_downlink(page, i) = *inner_downlink(page, last);
	memmove(order + rank, order + rank + 1, (last - rank) * sizeof(uint16));
	order[last] = 0;
	for (r = 0; r < last; r++)
		if (order[r] == last)
			order[r] = i;
	set_count(page, last);
}

/* Has the order of an inner page each entry once? */
bool
hamming_inner_is_permutation(Page page)
{
	bool		seen[HAMMING_INNER_CAPACITY] = {false};
	int			count = hamming_page_count(page);
	int			rank;

	for (rank = 0; rank < count; rank++)
	{
		int			i = inner_order(page)[rank];

		if (i >= count || seen[i])
			return false;
		seen[i] = true;
	}
	return true;
}

/*
 * Splits and merges
 *
 * A split cuts a page in the middle, at most a twelfth of the half away from
 * there (HAMMING_CUT_SLACK).  There are three exceptions, which leave the full
 * page full, or nearly so: the last leaf of a tree, if the added key is
 * greater than all keys of the leaf; the first leaf, if the added key is less
 * than all; the last inner page of a level, if its last child covers the added
 * key.  Ascending and descending input is packed by these.
 *
 * So in an index that was made empty, insertions leave each leaf but the first
 * and the last one of a tree filled by n / 2 - n / 24 - 1 entries at least, of
 * n that have room: a leaf comes to lie between these two as a half of a split,
 * or full, and loses entries by splits in the middle only.  A build fills
 * leaves by 88 % on average, 95 % at most, if the index has no other
 * fillfactor.  As n is 368 or more, an index that insertions in any order have
 * made has less than 2.1 times the leaves of a build from the same rows, plus 2
 * leaves in each tree.  With fillfactor = 100 the factor is 2.2.  The same
 * holds for inner pages, which are less than one in a hundred.  If a middle
 * page were left full, too, keys that each halve the gap above its greatest key
 * would get a page each.
 */

/*
 * left, the greatest key before a page, is less than right, the least key on
 * it.  Return where the range of the page is to begin: of all keys above left,
 * up to right, the one with the most low zeros in its bits.  So the ranges of
 * pages are prefixes as far as they can be.
 */
HammingKey
hamming_separator(HammingKey left, HammingKey right)
{
	int			highest;

	if (left.rotated == right.rotated)
		return right;
	highest = fingerprint_leftmost_one(left.rotated ^ right.rotated);
	return hamming_key(right.rotated & ~(fingerprint_bit(highest) - 1), 0);
}

/*
 * least is at least 1, and there are more than most sorted keys.  Return how
 * many keys to put left of a cut, least .. most.
 *
 * The cut is where the two keys beside it differ in the highest bit.  So more
 * ranges of leaves are prefixes, and fewer leaves have a part of a ball.
 */
int
hamming_choose_cut(const HammingKey *keys, int least, int most)
{
	int			best = least;
	HammingBits best_difference = 0;
	int			i;

	for (i = least; i <= most; i++)
	{
		HammingBits difference = keys[i - 1].rotated ^ keys[i].rotated;

		/* the first 1 of difference is above that of best_difference */
		if (difference > best_difference &&
			(difference ^ best_difference) > best_difference)
		{
			best = i;
			best_difference = difference;
		}
	}
	return best_difference == 0 ? (least + most) / 2 : best;
}

/*
 * Return where to cut a full page, whose count keys are keys, so that there is
 * room for the key added: an inner page at one of its keys.
 */
static HammingKey
choose_separator(Page page, const HammingKey *keys, int count, HammingKey added)
{
	HammingSpecial *special = hamming_special(page);
	bool		is_first = hamming_key_compare(special->low,
											   hamming_least_key) == 0;
	bool		is_last = hamming_key_compare(special->high,
											  hamming_greatest_key) == 0;
	int			after_last = hamming_key_compare(added, keys[count - 1]);
	int			middle = count / 2;
	int			slack = middle / HAMMING_CUT_SLACK;
	int			cut;

	if (special->level > 0)
		return keys[is_last && after_last >= 0 ? count - 1 : middle];
	if (is_last && after_last > 0)
		return hamming_separator(keys[count - 1], added);
	if (is_first && hamming_key_compare(added, keys[0]) < 0)
		return hamming_separator(added, keys[0]);
	cut = hamming_choose_cut(keys, middle - slack, middle + slack);
	return hamming_separator(keys[cut - 1], keys[cut]);
}

/*
 * Move the upper part of the full page left to the page right, which becomes
 * its right neighbour and whose content is lost.  The page that covers the key
 * added is not full then.  Leaves are sorted then, and both have the mark that
 * left had.
 */
void
hamming_page_split(Page left, Page right, HammingKey added)
{
	HammingSpecial *special = hamming_special(left);
	HammingKey	keys[HAMMING_LEAF_CAPACITY];
	int			count = hamming_page_keys(left, keys);
	HammingKey	cut = choose_separator(left, keys, count, added);
	int			stay = 0;
	int			rank;

	while (stay < count && hamming_key_compare(keys[stay], cut) < 0)
		stay++;
	hamming_tree_page_init(right, special->tree, special->level, cut,
						   special->high);
	hamming_special(right)->kind = special->kind;
	special->high = cut;
	if (special->level == 0)
	{
		hamming_leaf_fill(right, keys + stay, count - stay);
		hamming_leaf_fill(left, keys, stay);
		return;
	}
	for (rank = stay; rank < count; rank++)
		hamming_inner_insert(right, rank - stay, keys[rank],
							 hamming_inner_child(left, rank));
	for (rank = count - 1; rank >= stay; rank--)
		hamming_inner_remove(left, rank);
}

/*
 * Move what is kept of the page right to its left neighbour, which has room for
 * it, and which takes over its range: all children, or count sorted keys, and
 * the mark that right may have.  right stays as it is.
 */
void
hamming_page_merge(Page left, Page right, const HammingKey *keys, int count)
{
	HammingKey	all[HAMMING_LEAF_CAPACITY];
	int			left_count = hamming_page_keys(left, all);
	int			i;

	if (hamming_special(left)->level == 0)
	{
		memcpy(all + left_count, keys, count * sizeof(HammingKey));
		hamming_leaf_fill(left, all, left_count + count);
	}
	else
		for (i = 0; i < count; i++)
			hamming_inner_insert(left, left_count + i, keys[i],
								 hamming_inner_child(right, i));
	if (hamming_page_is_marked(right))
		hamming_special(left)->kind = HAMMING_PAGE_REVIVED;
	hamming_special(left)->high = hamming_special(right)->high;
}
