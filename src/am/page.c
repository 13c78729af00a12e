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
 * Make a page without entries, of keys of width words: 1 where it is in no
 * tree.  tree is 0 for the metapage, and for a free page that which the page
 * was in.
 */
void
hamming_page_init(Page page, HammingPageKind kind, int width, int tree)
{
	HammingSpecial *special;

	PageInit(page, BLCKSZ, HAMMING_SPECIAL_SIZE(width));
	special = hamming_special(page);
	special->kind = kind + 256 * (width - 1);
	special->tree = tree;
	special->page_id = HAMMING_PAGE_ID;
}

void
hamming_set_range_key(Page page, bool end, HammingKey key)
{
	int			width = hamming_page_width(page);
	uint64	   *words = hamming_range(page, end);

	memcpy(words, key.words, width * sizeof(uint64));
	words[width] = key.tid;
}

void
hamming_page_set_marked(Page page, bool marked)
{
	HammingSpecial *special = hamming_special(page);

	special->kind = (special->kind & 0xFF00) |
		(marked ? HAMMING_PAGE_REVIVED : HAMMING_PAGE_TREE);
}

void
hamming_tree_page_init(Page page, int width, int tree, int level,
					   HammingKey low, HammingKey high)
{
	hamming_page_init(page, HAMMING_PAGE_TREE, width, tree);
	hamming_set_range_key(page, false, low);
	hamming_set_range_key(page, true, high);
	hamming_special(page)->level = level;
	((PageHeader) page)->pd_lower = hamming_keys_offset(level, width);
}

static void
set_count(Page page, int count)
{
	PageHeader	header = (PageHeader) page;
	HammingSpecial *special = hamming_special(page);
	int			width = hamming_page_width(page);

	header->pd_lower = hamming_keys_offset(special->level, width) +
		count * sizeof(uint64);
	header->pd_upper = header->pd_special -
		count * hamming_tail_size(special->tree, special->level, width);
}

/*
 * Return what is wrong with a page whose keys have width words, in an index of
 * fingerprints of words words; NULL if its arrays are within the page.  What
 * the entries say may still be wrong: that is looked at when an entry is used.
 */
static pg_attribute_always_inline const char *
page_fault(Page page, int words, int width)
{
	PageHeader	header = (PageHeader) page;
	HammingSpecial *special = hamming_special(page);
	const uint64 *low = (uint64 *) special - 2 * (width + 1);
	int			offset = hamming_keys_offset(special->level, width);
	int			count;

	if (PageIsNew(page))
		return "page is empty";
	if (special->page_id != HAMMING_PAGE_ID ||
		PageGetPageSize(page) != BLCKSZ)
		return "page is not of a hamming index";
	/* nobody reads arrays of these, and another format has another special */
	if (hamming_page_kind(page) == HAMMING_PAGE_META ||
		hamming_page_kind(page) == HAMMING_PAGE_FREE)
		return NULL;
	if (!hamming_page_is_of_tree(page))
		return "page is of no known kind";
	if ((special->tree != HAMMING_NULLS &&
		 (HAMMING_TREE_BLOCK(special->tree) >= HAMMING_MAX_BLOCKS ||
		  HAMMING_TREE_WORD(special->tree) >= words)) ||
		special->level >= HAMMING_MAX_HEIGHT)
		return "tree or level is out of range";
	if (width != (HAMMING_TREE_BLOCK(special->tree) == 0 ? words : 1) ||
		header->pd_special != BLCKSZ - HAMMING_SPECIAL_SIZE(width))
		return "special space has the wrong size";
	if (hamming_page_is_marked(page) &&
		(special->level > 0 || hamming_tree_has_tids(special->tree)))
		return "page has the mark of another kind of leaf";
	if (words_compare(low, low + width + 1, width + 1) >= 0)
		return "key range is empty";
	if (header->pd_lower < offset || header->pd_lower > header->pd_special)
		return "end of the keys is out of range";
	/* so more entries than an inner page orders would cross the arrays */
	StaticAssertStmt((HAMMING_SPACE(1) - HAMMING_ORDER_SPACE(1)) /
					 HAMMING_INNER_ENTRY(1) == HAMMING_INNER_ROOM(1) &&
					 (HAMMING_SPACE(2) - HAMMING_ORDER_SPACE(2)) /
					 HAMMING_INNER_ENTRY(2) == HAMMING_INNER_ROOM(2),
					 "an inner page has room for entries that its order lacks");
	count = (header->pd_lower - offset) / sizeof(uint64);
	if (header->pd_lower > header->pd_upper ||
		(special->level > 0 && count < 1))
		return "number of entries is out of range";
	if (header->pd_lower != offset + count * sizeof(uint64) ||
		header->pd_upper != header->pd_special -
		count * hamming_tail_size(special->tree, special->level, width))
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
	Page		page = BufferGetPage(buffer);
	int			words = hamming_words(index);
	int			width = hamming_page_width(page);
	const char *fault;

	/* keys of one word, as most have, with constants */
	if (width == 1)
		fault = page_fault(page, words, 1);
	else
		fault = width > words ? "special space has the wrong size"
			: page_fault(page, words, width);

	if (unlikely(fault != NULL))
		hamming_corrupted(index, BufferGetBlockNumber(buffer), fault);
}

/*
 * Check the TID of an entry of the leaf blkno: for PostgreSQL the invalid block
 * number would mean a new page of the heap.  Error: XX002.
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
inner_entry(Page page, int rank, int count)
{
	return Min(inner_order(page)[rank], count - 1);
}

static inline void
write_key(const HammingEntries *entries, int i, const HammingKey *key)
{
	char	   *tail = hamming_entry_tail(entries, i);
	int			j;

	entries->words[i] = key->words[0];
	for (j = 1; j < entries->width; j++, tail += sizeof(uint64))
		memcpy(tail, key->words + j, sizeof(uint64));
	if (entries->has_tids)
		*(ItemPointer) tail = hamming_item_pointer(key->tid);
}

/* Return where entry i of an inner page has the child's block number. */
static inline BlockIdData *
child_of(const HammingEntries *entries, int i)
{
	return (BlockIdData *) (hamming_entry_tail(entries, i) +
							entries->tail_size) - 1;
}

/*
 * Set *from and *to so that of a leaf's sorted entries all from first to last
 * have places from *from to *to - 1.  Mostly the guess is right: to look at
 * more entries takes less time than to find the exact places.
 */
static void
find_stretch(Page page, uint64 first, uint64 last, int *from, int *to)
{
	const uint64 *words = (uint64 *) (page + HAMMING_CONTENT);
	int			sorted = hamming_special(page)->sorted;

	hamming_guess_stretch(*hamming_range(page, false),
						  *hamming_range(page, true), sorted, first, last,
						  from, to);
	while (*from > 0 && words[*from - 1] >= first)
		(*from)--;
	while (*to < sorted && words[*to] <= last)
		(*to)++;
}

/* Leaves */

/* Let a leaf have count sorted keys, no other, and zeros between the arrays. */
void
hamming_leaf_fill(Page page, const HammingKey *keys, int count)
{
	PageHeader	header = (PageHeader) page;
	HammingEntries entries = hamming_entries(page);
	int			i;

	set_count(page, count);
	hamming_special(page)->sorted = count;
	for (i = 0; i < count; i++)
		write_key(&entries, i, &keys[i]);
	memset((char *) page + header->pd_lower, 0,
		   header->pd_upper - header->pd_lower);
}

/*
 * Copy the keys of a leaf, sorted, or the least keys of an inner page's
 * children, to keys, which has room for the most that there are.  Return their
 * number.
 */
int
hamming_page_keys(Page page, HammingKey *keys)
{
	HammingKey	appended[HAMMING_LEAF_CAPACITY];
	HammingEntries entries = hamming_entries(page);
	int			count = entries.count;
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
		keys[i] = hamming_entry_key(&entries, i);
	for (i = 0; i < left; i++)
		appended[i] = hamming_entry_key(&entries, sorted + i);
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
hamming_leaf_match(Page page, uint64 first, uint64 last, uint64 centre,
				   int radius, uint16 *found)
{
	HammingEntries entries = hamming_entries(page);
	const uint64 *words = entries.words;
	int			sorted = hamming_special(page)->sorted;
	int			from;
	int			to;
	int			count;
	int			unsorted;
	int			i;

	find_stretch(page, first, last, &from, &to);
	count = hamming_match(words + from, to - from, centre, radius, found);
	for (i = 0; i < count; i++)
		found[i] += from;
	unsorted = hamming_match(words + sorted, entries.count - sorted, centre,
							 radius, found + count);
	for (i = 0; i < unsorted; i++)
		found[count + i] += sorted;
	return count + unsorted;
}

/*
 * found has the places of count entries of a leaf of a first tree, or of NULLs.
 * Drop those that are farther than radius from the centre, whose words are in
 * the order of the tree.  Store the distances of the others, and return how
 * many they are.  It computes them word by word: a search that reads all rows,
 * or all of a word, takes up to 20 times as long where each distance is
 * computed by itself.
 */
int
hamming_leaf_within(Page page, const HammingKey *centre, int radius,
					uint16 *found, int count, uint16 *distances)
{
	HammingEntries entries = hamming_entries(page);
	uint64		words[HAMMING_LEAF_CAPACITY];
	int			kept = 0;
	int			i;
	int			j;

	memset(distances, 0, count * sizeof(uint16));
	for (j = 0; j < entries.width; j++)
	{
		for (i = 0; i < count; i++)
			if (j == 0)
				words[i] = entries.words[found[i]];
			else
				memcpy(&words[i], hamming_entry_tail(&entries, found[i]) +
					   (j - 1) * sizeof(uint64), sizeof(uint64));
		hamming_add_distances(words, count, centre->words[j], distances);
	}
	for (i = 0; i < count; i++)
	{
		/* without a branch, which could not be predicted */
		found[kept] = found[i];
		distances[kept] = distances[i];
		kept += distances[i] <= radius;
	}
	return kept;
}

/*
 * Return how many of the first width words of the key an entry of a leaf has:
 * all, or the first one alone, or none.
 */
int
hamming_leaf_shares(Page page, HammingKey key, int width)
{
	uint16		found[HAMMING_LEAF_CAPACITY];
	int			count = hamming_leaf_match(page, key.words[0], key.words[0],
										   key.words[0], 0, found);
	HammingEntries entries = hamming_entries(page);
	int			shared = count > 0;
	int			i;

	for (i = 0; i < count && shared < width; i++)
		if (memcmp(hamming_entry_tail(&entries, found[i]), key.words + 1,
				   (width - 1) * sizeof(uint64)) == 0)
			shared = width;
	return shared;
}

/* Make a change of a leaf.  If the leaf gets a key, it is not full. */
void
hamming_leaf_change(Page page, const HammingChange *change)
{
	HammingEntries entries = hamming_entries(page);

	if (change->is_mark)
	{
		hamming_page_set_marked(page, true);
		return;
	}
	set_count(page, entries.count + 1);
	write_key(&entries, entries.count, &change->key);
}

/* Inner pages */

/* Return the least key of the child with a rank. */
HammingKey
hamming_inner_key(Page page, int rank)
{
	HammingEntries entries = hamming_entries(page);

	return hamming_entry_key(&entries, inner_entry(page, rank, entries.count));
}

HammingKey
hamming_inner_end(Page page, int rank)
{
	return rank + 1 < hamming_page_count(page)
		? hamming_inner_key(page, rank + 1) : hamming_page_high(page);
}

/*
 * Return the block number of the child with a rank.  On a corrupted page it may
 * be any number: hamming_read() looks at it.
 */
BlockNumber
hamming_inner_child(Page page, int rank)
{
	HammingEntries entries = hamming_entries(page);
	int			i = inner_entry(page, rank, entries.count);

	return BlockIdGetBlockNumber(child_of(&entries, i));
}

/*
 * Return the rank of the child whose range has the key, which is in the page's
 * range: the last child that begins at the key or below.  Children are spread
 * evenly over the range, mostly: so the steps from the guess double until the
 * child lies between two of them, and most of the page is not looked at.
 */
static pg_attribute_always_inline int
find_child(Page page, const HammingEntries *entries, const HammingKey *key)
{
	int			count = entries->count;
	int			guess = hamming_guess(*hamming_range(page, false),
									  *hamming_range(page, true),
									  key->words[0], count);
	int			low = 1;		/* children before low begin at the key or
								 * below */
	int			high = count;	/* and those from high on above it */
	int			step = 1;

	while (low < high)
	{
		int			rank = guess >= low && guess < high ? guess
		: (low + high) / 2;
		int			i = inner_entry(page, rank, count);
		uint64		word = entries->words[i];

		if (word < key->words[0] ||
			(word == key->words[0] &&
			 hamming_key_compare(hamming_entry_key(entries, i), *key) <= 0))
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

int
hamming_inner_find(Page page, const HammingKey *key)
{
	HammingEntries entries = hamming_entries(page);

	return find_child(page, &entries, key);
}

/*
 * Return the block number of the child whose range has the key.  *end, unless
 * end is NULL, gets the end of the range.  A search within 16 of 128 bits takes
 * 6 % longer where the entries are not the same for all three.
 */
BlockNumber
hamming_inner_look(Page page, const HammingKey *key, HammingKey *end)
{
	HammingEntries entries = hamming_entries(page);
	int			count = entries.count;
	int			rank = find_child(page, &entries, key);
	int			i = inner_entry(page, rank, count);

	if (end != NULL)
		*end = rank + 1 < count
			? hamming_entry_key(&entries, inner_entry(page, rank + 1, count))
			: hamming_page_high(page);
	return BlockIdGetBlockNumber(child_of(&entries, i));
}

/* Insert a child, whose rank is rank then.  On entry the page is not full. */
void
hamming_inner_insert(Page page, int rank, HammingKey key, BlockNumber child)
{
	HammingEntries entries = hamming_entries(page);
	int			count = entries.count;
	uint16	   *order = inner_order(page);

	set_count(page, count + 1);
	write_key(&entries, count, &key);
	BlockIdSet(child_of(&entries, count), child);
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
	HammingEntries entries = hamming_entries(page);
	int			last = entries.count - 1;
	uint16	   *order = inner_order(page);
	int			i = inner_entry(page, rank, entries.count);
	int			r;

	entries.words[i] = entries.words[last];
	memmove(hamming_entry_tail(&entries, i), hamming_entry_tail(&entries, last),
			entries.tail_size);
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
 * key.  Ascending and descending input is packed by these.  If a middle page
 * were left full, too, keys that each halve the gap above its greatest key
 * would get a page each.
 *
 * So in an index that was made empty, insertions leave each leaf but the first
 * and the last one of a tree filled by n / 2 - n / 24 - 1 entries at least, of
 * n that have room: a leaf comes to lie between these two as a half of a split,
 * or full, and loses entries by splits in the middle only.  A build fills
 * leaves by 88 % on average, if the index has no other fillfactor.  As n is 368
 * or more, an index that insertions in any order have made has less than 2.1
 * times the leaves of a build from the same rows, plus 2 leaves in each tree.
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
	HammingKey	key = {.tid = 0};
	int			highest;
	int			i = 0;

	while (i < HAMMING_MAX_WORDS && left.words[i] == right.words[i])
	{
		key.words[i] = right.words[i];
		i++;
	}
	if (i == HAMMING_MAX_WORDS)
		return right;
	highest = pg_leftmost_one_pos64(left.words[i] ^ right.words[i]);
	key.words[i] = right.words[i] & (PG_UINT64_MAX << highest);
	return key;
}

/* Return how many of the sorted keys to put left of a cut, least .. most. */
int
hamming_page_cut(const HammingKey *keys, int least, int most)
{
	return hamming_choose_cut(keys->words, sizeof(HammingKey) / sizeof(uint64),
							  least, most);
}

/*
 * Return where to cut a full page, whose count keys are keys, so that there is
 * room for the key added: an inner page at one of its keys.
 */
static HammingKey
choose_separator(Page page, const HammingKey *keys, int count, HammingKey added)
{
	HammingSpecial *special = hamming_special(page);
	bool		is_first = hamming_key_compare(hamming_page_low(page),
											   hamming_least_key) == 0;
	bool		is_last = hamming_is_greatest(hamming_page_high(page));
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
	cut = hamming_page_cut(keys, middle - slack, middle + slack);
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
	hamming_tree_page_init(right, hamming_page_width(left), special->tree,
						   special->level, cut, hamming_page_high(left));
	hamming_special(right)->kind = special->kind;
	hamming_set_range_key(left, true, cut);
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
		hamming_page_set_marked(left, true);
	hamming_set_range_key(left, true, hamming_page_high(right));
}
