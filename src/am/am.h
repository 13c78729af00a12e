/*
 * am.h
 *	  The access method "hamming": a block index.
 *
 * src/README has a picture, and says what each tree has; tree.c has the rules
 * of locks.  Each page knows the range of keys that it answers for, which is
 * within that of its parent.
 */
#ifndef SIMHASH_AM_H
#define SIMHASH_AM_H

#include "access/amapi.h"
#include "commands/progress.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "type/simhash.h"

/* WITH (fillfactor = ..., blocks = ...) */
typedef struct HammingOptions
{
	int32		vl_len_;		/* varlena header, for PostgreSQL only */
	int			fillfactor;		/* percent of a page that a build fills */
	int			blocks;			/* that a build cuts a word into; 0 to choose
								 * by the number of rows */
} HammingOptions;

#define HAMMING_DEFAULT_FILLFACTOR 88
#define HAMMING_MIN_FILLFACTOR 10

/*
 * Phases of pg_stat_progress_create_index; PostgreSQL has reserved phase 1.  n
 * counts the block trees from 0.  The tree of NULLs is written in the phase of
 * tree 0.
 */
#define HAMMING_PHASE_SCAN (PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE + 1)
#define HAMMING_PHASE_SORT(n) (HAMMING_PHASE_SCAN + 1 + 2 * (n))
#define HAMMING_PHASE_WRITE(n) (HAMMING_PHASE_SORT(n) + 1)

/* Keys */

/* A fingerprint, or a key of a tree, where keys are unique. */
typedef struct HammingKey
{
	uint64		words[HAMMING_MAX_WORDS];	/* of a fingerprint from the
											 * highest bits on; those that it
											 * lacks are 0 */
	uint64		tid;			/* block number << 16 | offset, which no row
								 * has as 0; 0 where there is none */
} HammingKey;

/* The least of all keys, and the greatest.  No row has either of them. */
static const HammingKey hamming_least_key = {.tid = 0};
static const HammingKey hamming_greatest_key = {
	.words = {PG_UINT64_MAX, PG_UINT64_MAX},.tid = PG_UINT64_MAX
};

StaticAssertDecl(HAMMING_MAX_WORDS == 2, "hamming_greatest_key lacks words");

static inline bool
hamming_is_greatest(HammingKey key)
{
	return key.tid == PG_UINT64_MAX;
}

static inline HammingKey
hamming_word_key(uint64 word)
{
	HammingKey	key = {.words = {word}};

	return key;
}

static inline int
hamming_compare_words(const HammingKey *a, const HammingKey *b)
{
	return words_compare(a->words, b->words, HAMMING_MAX_WORDS);
}

static inline int
hamming_key_compare(HammingKey a, HammingKey b)
{
	int			order = hamming_compare_words(&a, &b);

	return order != 0 ? order : (a.tid > b.tid) - (a.tid < b.tid);
}

static inline int
hamming_key_distance(const HammingKey *a, const HammingKey *b)
{
	return words_distance(a->words, b->words, HAMMING_MAX_WORDS);
}

/* All fingerprints within a radius, -1 .. all bits, of a centre. */
typedef struct HammingKeyBall
{
	HammingKey	centre;
	int			radius;
} HammingKeyBall;

/* Is the fingerprint in all of balls[0 .. count)? */
static inline bool
hamming_in_all(const HammingKey *fingerprint, const HammingKeyBall *balls,
			   int count)
{
	int			i;

	for (i = 0; i < count; i++)
		if (hamming_key_distance(fingerprint, &balls[i].centre) >
			balls[i].radius)
			return false;
	return true;
}

/* Return a TID as a number, in the order of TIDs, below HAMMING_BEYOND_TIDS. */
#define HAMMING_BEYOND_TIDS (UINT64CONST(1) << 48)

static inline uint64
hamming_tid(const ItemPointerData *tid)
{
	return ((uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16) |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

static inline ItemPointerData
hamming_item_pointer(uint64 tid)
{
	ItemPointerData result;

	ItemPointerSet(&result, (BlockNumber) (tid >> 16), (OffsetNumber) tid);
	return result;
}

static inline int
hamming_words(Relation index)
{
	return TupleDescAttr(RelationGetDescr(index), 0)->attlen / sizeof(uint64);
}

/* Return a row's key in tree 0, or in that of NULLs. */
static inline HammingKey
hamming_row_key(Relation index, Datum fingerprint, bool isnull, ItemPointer tid)
{
	HammingKey	key = {.tid = hamming_tid(tid)};

	if (!isnull)
		simhash_datum_words(fingerprint, key.words, hamming_words(index));
	return key;
}

/* How an index cuts fingerprints. */
typedef struct HammingLayout
{
	int			words;			/* of a fingerprint: 1 .. HAMMING_MAX_WORDS */
	int			blocks;			/* of a word: HAMMING_MIN_BLOCKS ..
								 * HAMMING_MAX_BLOCKS */
} HammingLayout;

/* Trees */

/*
 * Tree 16 g + j is that of block j of word g: loops over the block trees are
 *
 *		for (tree = 0; tree < HAMMING_TREES; tree = next)
 *
 * with hamming_next_tree().  Number 15, which no block has, is the tree of
 * NULLs.
 */
#define HAMMING_TREE(word, block) ((word) << 4 | (block))
#define HAMMING_TREE_WORD(tree) ((tree) >> 4)
#define HAMMING_TREE_BLOCK(tree) ((tree) & 15)
#define HAMMING_NULLS 15
#define HAMMING_TREES HAMMING_TREE(HAMMING_MAX_WORDS, 0)

/* Return the block tree after a tree, or one from HAMMING_TREES on. */
static inline int
hamming_next_tree(HammingLayout layout, int tree)
{
	int			word = HAMMING_TREE_WORD(tree);

	if (HAMMING_TREE_BLOCK(tree) + 1 < layout.blocks)
		return tree + 1;
	return word + 1 < layout.words ? HAMMING_TREE(word + 1, 0) : HAMMING_TREES;
}

static inline int
hamming_tree_ordinal(HammingLayout layout, int tree)
{
	return HAMMING_TREE_WORD(tree) * layout.blocks + HAMMING_TREE_BLOCK(tree);
}

static inline int
hamming_first_tree(int tree)
{
	return HAMMING_TREE(HAMMING_TREE_WORD(tree), 0);
}

/*
 * Return the tree whose entries say which keys a block tree, not 0, must have.
 */
static inline int
hamming_source_tree(int tree)
{
	return HAMMING_TREE_BLOCK(tree) > 0 ? hamming_first_tree(tree) : 0;
}

static inline bool
hamming_tree_has_tids(int tree)
{
	return tree == 0 || tree == HAMMING_NULLS;
}

static inline int
hamming_tree_width(HammingLayout layout, int tree)
{
	return HAMMING_TREE_BLOCK(tree) == 0 ? layout.words : 1;
}

/*
 * Return the key in a block tree of what the tree from has as key: the
 * fingerprint rotated to the left by words, until that of the tree leads, or
 * the word alone, rotated by bits.  If fingerprints have more words than one,
 * from is a first tree, or a tree of the same word.
 */
static inline HammingKey
hamming_tree_key(HammingLayout layout, int from, int tree, HammingKey key)
{
	int			words = layout.words;
	int			place = HAMMING_TREE_WORD(tree) - HAMMING_TREE_WORD(from);
	int			block = HAMMING_TREE_BLOCK(tree);
	HammingKey	result = {.tid = tree == 0 ? key.tid : 0};
	int			i;

	if (place < 0)
		place += words;
	result.words[0] = key.words[place];
	if (block > 0)
	{
		int			start = hamming_block_start(layout.blocks, block) -
		hamming_block_start(layout.blocks, HAMMING_TREE_BLOCK(from));

		result.words[0] = hamming_rotate(result.words[0], start);
	}
	else
		for (i = 1; i < words; i++)
		{
			place = place + 1 < words ? place + 1 : 0;
			result.words[i] = key.words[place];
		}
	return result;
}

/* Return the greatest key of a row whose first width words are those of key. */
static inline HammingKey
hamming_last_key(HammingKey key, int width)
{
	HammingKey	last = hamming_greatest_key;

	memcpy(last.words, key.words, width * sizeof(uint64));
	last.tid = HAMMING_BEYOND_TIDS;
	return last;
}

/*
 * Pages
 *
 * Page 0 is the metapage.  After it come the roots, which stay there for ever:
 * that of the tree of NULLs, and those of the block trees.
 *
 * A leaf holds the keys of its range.  First come the keys that the leaf had
 * when it was built or split, or when the last of them was removed, in order.
 * What is inserted is appended.  The leading words of the keys are in an array
 * that grows from the front, up to pd_lower.  What else the keys have is in an
 * array that grows from the back, down to pd_upper: the other words, and the
 * TID.  The bytes between the arrays are not logged.  Replay sets them to zero,
 * so the primary must, too.  GenericXLogFinish() does it for inner pages, but
 * not in an unlogged index, which is never replayed.
 *
 * An inner page has two such arrays, too, of its children's least keys; an
 * element at the back has the TID, whatever the tree, and the child's block
 * number.  They are in order of arrival.  In front of them an array says which
 * entry comes first in the order of keys, which second, and so on.  An
 * insertion moves elements of that array only, so that the WAL need not hold
 * half of the keys.
 *
 * The special space begins with the least key of the page's range and the least
 * key beyond it, each as its words and its TID, of 8 bytes.  HammingSpecial
 * follows, and says how many words the keys of the page have.
 */

#define HAMMING_METAPAGE 0

/* The root of a tree, and the number of pages that stay for ever. */
static inline BlockNumber
hamming_root(HammingLayout layout, int tree)
{
	return tree == HAMMING_NULLS ? 1 : 2 + hamming_tree_ordinal(layout, tree);
}

#define HAMMING_FIXED_PAGES(layout) \
	((BlockNumber) (2 + (layout).words * (layout).blocks))

/* Return the number of blocks that doc/indexing.md recommends for rows. */
static inline int
hamming_default_blocks(double rows)
{
	return 64 / (rows < 200000000 ? 16 : 21);
}

/*
 * The most levels of a tree.  No tree comes near: an inner page splits only
 * when it has hundreds of children, and a build gives it dozens at least.
 */
#define HAMMING_MAX_HEIGHT 16

#define HAMMING_MAGIC 0x48414D4D

/* The format of an index; 2 had 128 bits as one number. */
#define HAMMING_VERSION(words) ((words) == 1 ? 2 : 3)

typedef struct HammingMeta
{
	uint32		magic;			/* HAMMING_MAGIC */
	uint32		version;		/* HAMMING_VERSION */
	uint16		width;			/* bits of a fingerprint */
	uint16		blocks;			/* of a word: HAMMING_MIN_BLOCKS ..
								 * HAMMING_MAX_BLOCKS */
	uint32		unused;			/* 0; older code has written 1, too */
} HammingMeta;

typedef enum HammingPageKind
{
	HAMMING_PAGE_META = 1,
	HAMMING_PAGE_TREE,
	HAMMING_PAGE_FREE,
	HAMMING_PAGE_REVIVED		/* of a tree: a leaf of tree 1 or up that has
								 * a key which its source tree had lost, and
								 * has got again since the mark was cleared */
} HammingPageKind;

/* The end of every page. */
typedef struct HammingSpecial
{
	uint16		kind;			/* HammingPageKind, and 256 for each word of a
								 * key after the first */
	uint8		tree;			/* of a block, or HAMMING_NULLS */
	uint8		level;			/* 0 is a leaf */
	uint16		sorted;			/* of a leaf: entries 0 .. sorted - 1 are in
								 * the order of keys */
	uint16		page_id;		/* HAMMING_PAGE_ID, for tools that look at
								 * files */
} HammingSpecial;

#define HAMMING_PAGE_ID 0xFF91

#define HAMMING_CONTENT MAXALIGN(SizeOfPageHeaderData)

/*
 * Of a page whose keys have width words: the bytes of the special space, and of
 * an entry of a leaf, with a TID or without, and of an inner page; how many of
 * these there is room for; and the bytes of the order of an inner page.
 */
#define HAMMING_SPECIAL_SIZE(width) \
	(2 * ((width) + 1) * sizeof(uint64) + sizeof(HammingSpecial))
#define HAMMING_SPACE(width) \
	(BLCKSZ - HAMMING_CONTENT - HAMMING_SPECIAL_SIZE(width))
#define HAMMING_LEAF_ENTRY(width, has_tids) \
	((width) * sizeof(uint64) + ((has_tids) ? sizeof(ItemPointerData) : 0))
#define HAMMING_INNER_ENTRY(width) \
	(HAMMING_LEAF_ENTRY(width, true) + sizeof(BlockIdData))
#define HAMMING_LEAF_ROOM(width, has_tids) \
	((int) (HAMMING_SPACE(width) / HAMMING_LEAF_ENTRY(width, has_tids)))
#define HAMMING_INNER_ROOM(width) \
	((int) ((HAMMING_SPACE(width) - MAXIMUM_ALIGNOF) / \
			(sizeof(uint16) + HAMMING_INNER_ENTRY(width))))
#define HAMMING_ORDER_SPACE(width) \
	MAXALIGN(HAMMING_INNER_ROOM(width) * sizeof(uint16))

/* The most entries of any leaf, of one with TIDs, and of an inner page. */
#define HAMMING_LEAF_CAPACITY HAMMING_LEAF_ROOM(1, false)
#define HAMMING_TID_CAPACITY HAMMING_LEAF_ROOM(1, true)
#define HAMMING_INNER_CAPACITY HAMMING_INNER_ROOM(1)

/* Return how many entries a page of a level of a tree has room for. */
static inline int
hamming_capacity(HammingLayout layout, int tree, int level)
{
	int			width = hamming_tree_width(layout, tree);

	return level > 0 ? HAMMING_INNER_ROOM(width)
		: HAMMING_LEAF_ROOM(width, hamming_tree_has_tids(tree));
}

static inline HammingSpecial *
hamming_special(Page page)
{
	return (HammingSpecial *) (page + BLCKSZ - sizeof(HammingSpecial));
}

static inline int
hamming_page_kind(Page page)
{
	return hamming_special(page)->kind & 0xFF;
}

static inline int
hamming_page_width(Page page)
{
	return 1 + (hamming_special(page)->kind >> 8);
}

/*
 * Return the place of the least key of a page's range, or of its end.  The
 * header of the page need not have come from memory.
 */
static inline uint64 *
hamming_range(Page page, bool end)
{
	int			words = hamming_page_width(page) + 1;

	return (uint64 *) hamming_special(page) - (end ? words : 2 * words);
}

/*
 * Return the least key of a page's range, or the least key beyond it, which is
 * the greatest key if there is none.
 */
static inline HammingKey
hamming_range_key(Page page, bool end)
{
	int			width = hamming_page_width(page);
	const uint64 *words = hamming_range(page, end);
	HammingKey	key = {.tid = words[width]};
	uint64		missing = hamming_is_greatest(key) ? PG_UINT64_MAX : 0;
	int			i;

	key.words[0] = words[0];
	for (i = 1; i < HAMMING_MAX_WORDS; i++)
		key.words[i] = i < width ? words[i] : missing;
	return key;
}

#define hamming_page_low(page) hamming_range_key(page, false)
#define hamming_page_high(page) hamming_range_key(page, true)

static inline bool
hamming_page_is_marked(Page page)
{
	return hamming_page_kind(page) == HAMMING_PAGE_REVIVED;
}

static inline bool
hamming_page_is_of_tree(Page page)
{
	return hamming_page_kind(page) == HAMMING_PAGE_TREE ||
		hamming_page_is_marked(page);
}

static inline int
hamming_keys_offset(int level, int width)
{
	if (level == 0)
		return HAMMING_CONTENT;
	/* mostly 1, and then a constant */
	return HAMMING_CONTENT + (width == 1 ? HAMMING_ORDER_SPACE(1)
							  : HAMMING_ORDER_SPACE(width));
}

/* Return the bytes of an element of the array at the back. */
static inline int
hamming_tail_size(int tree, int level, int width)
{
	return level > 0 ? HAMMING_INNER_ENTRY(width - 1)
		: HAMMING_LEAF_ENTRY(width - 1, hamming_tree_has_tids(tree));
}

/* The arrays of a page. */
typedef struct HammingEntries
{
	uint64	   *words;			/* leading ones */
	char	   *end;			/* where the array at the back begins */
	int			tail_size;		/* bytes of an element of that array */
	int			width;			/* words of a key */
	int			count;
	bool		has_tids;		/* so has an inner page */
} HammingEntries;

static inline HammingEntries
hamming_entries(Page page)
{
	HammingSpecial *special = hamming_special(page);
	int			width = hamming_page_width(page);
	int			offset = hamming_keys_offset(special->level, width);
	HammingEntries entries = {
		.words = (uint64 *) (page + offset),
		.end = page + BLCKSZ - HAMMING_SPECIAL_SIZE(width),
		.tail_size = hamming_tail_size(special->tree, special->level, width),
		.width = width,
		.count = (((PageHeader) page)->pd_lower - offset) / sizeof(uint64),
		.has_tids = special->level > 0 || hamming_tree_has_tids(special->tree)
	};

	return entries;
}

static inline char *
hamming_entry_tail(const HammingEntries *entries, int i)
{
	return entries->end - (i + 1) * entries->tail_size;
}

static inline HammingKey
hamming_entry_key(const HammingEntries *entries, int i)
{
	HammingKey	key = hamming_word_key(entries->words[i]);
	const char *tail = hamming_entry_tail(entries, i);
	int			j;

	for (j = 1; j < entries->width; j++, tail += sizeof(uint64))
		memcpy(key.words + j, tail, sizeof(uint64));
	if (entries->has_tids)
		key.tid = hamming_tid((ItemPointer) tail);
	return key;
}

static inline int
hamming_page_count(Page page)
{
	return hamming_entries(page).count;
}

static inline bool
hamming_page_is_full(Page page)
{
	PageHeader	header = (PageHeader) page;

	return header->pd_upper - header->pd_lower <
		(int) sizeof(uint64) + hamming_entries(page).tail_size;
}

/* Compare a key of width words in a special space with a key. */
static inline int
hamming_range_compare(const uint64 *words, int width, const HammingKey *key)
{
	int			order = words_compare(words, key->words, width);

	return order != 0 ? order
		: (words[width] > key->tid) - (words[width] < key->tid);
}

static inline bool
hamming_page_covers(Page page, const HammingKey *key)
{
	int			width = hamming_page_width(page);
	const uint64 *low = hamming_range(page, false);
	const uint64 *high = low + width + 1;

	/* mostly the first words tell */
	if (likely(low[0] < key->words[0] && key->words[0] < high[0]))
		return true;
	return hamming_range_compare(low, width, key) <= 0 &&
		hamming_range_compare(high, width, key) > 0;
}

/*
 * Return about how many of count keys, which are spread evenly over a range of
 * words, low to high, are below word: 0 .. count.
 */
static inline int
hamming_guess(uint64 low, uint64 high, uint64 word, int count)
{
	/* a conversion of more than 63 bits is slow */
	int			shift = (high - low) >> 63;

	if (word <= low)
		return 0;
	if (word >= high)
		return count;
	return (double) (int64) ((word - low) >> shift) /
		(double) (int64) ((high - low) >> shift) * count;
}

/*
 * By about how many entries hamming_guess() is off where fingerprints are
 * random.
 */
#define HAMMING_MARGIN 24

/*
 * Guess *from and *to so that of a leaf's sorted entries, which are in a range
 * of words, low to high, those from first to last have places from *from to
 * *to - 1.  low and high may be any words: *from and *to are 0 .. sorted.
 */
static inline void
hamming_guess_stretch(uint64 low, uint64 high, int sorted, uint64 first,
					  uint64 last, int *from, int *to)
{
	*from = hamming_guess(low, high, first, sorted) - HAMMING_MARGIN;
	*from = Max(*from, 0);
	*to = hamming_guess(low, high, last, sorted) + HAMMING_MARGIN;
	*to = Min(*to, sorted);
}

/*
 * Return how many entries a build puts on a page that has room for capacity,
 * about: 2 at least.
 */
static inline int
hamming_fill(Relation index, int capacity)
{
	HammingOptions *options = (HammingOptions *) index->rd_options;
	int			percent = options == NULL ? HAMMING_DEFAULT_FILLFACTOR
	: options->fillfactor;

	return Max(capacity * percent / 100, 2);
}

/*
 * A page of n keys may be cut up to n / HAMMING_CUT_SLACK keys away from where
 * its fill says: see "Splits and merges" in page.c.
 */
#define HAMMING_CUT_SLACK 12

/* Return the most entries that a build puts on a leaf, or a merge on a page. */
static inline int
hamming_most_fill(Relation index, int capacity)
{
	int			fill = hamming_fill(index, capacity);

	return Min(fill + fill / HAMMING_CUT_SLACK, capacity);
}

/* A leaf gets a key, or the mark HAMMING_PAGE_REVIVED. */
typedef struct HammingChange
{
	Buffer		leaf;			/* locked exclusively */
	bool		is_mark;
	HammingKey	key;			/* that it gets */
} HammingChange;

/* page.c */
extern void hamming_page_init(Page page, HammingPageKind kind, int width,
							  int tree);
extern void hamming_tree_page_init(Page page, int width, int tree, int level,
								   HammingKey low, HammingKey high);
extern void hamming_set_range_key(Page page, bool end, HammingKey key);
extern void hamming_page_set_marked(Page page, bool marked);
extern void hamming_page_check(Relation index, Buffer buffer);
pg_noreturn extern void hamming_corrupted(Relation index, BlockNumber blkno,
										  const char *fault);
extern void hamming_check_tid(Relation index, BlockNumber blkno, uint64 tid);
extern void hamming_leaf_fill(Page page, const HammingKey *keys, int count);
extern int	hamming_page_keys(Page page, HammingKey *keys);
extern void hamming_leaf_change(Page page, const HammingChange *change);
extern int	hamming_leaf_match(Page page, uint64 first, uint64 last,
							   uint64 centre, int radius, uint16 *found);
extern int	hamming_leaf_within(Page page, const HammingKey *centre, int radius,
								uint16 *found, int count, uint16 *distances);
extern int	hamming_leaf_shares(Page page, HammingKey key, int width);
extern HammingKey hamming_inner_key(Page page, int rank);
extern HammingKey hamming_inner_end(Page page, int rank);
extern BlockNumber hamming_inner_look(Page page, const HammingKey *key,
									  HammingKey *end);
extern BlockNumber hamming_inner_child(Page page, int rank);
extern int	hamming_inner_find(Page page, const HammingKey *key);
extern void hamming_inner_insert(Page page, int rank, HammingKey key,
								 BlockNumber child);
extern bool hamming_inner_is_permutation(Page page);
extern void hamming_inner_remove(Page page, int rank);
extern void hamming_page_split(Page left, Page right, HammingKey added);
extern void hamming_page_merge(Page left, Page right, const HammingKey *keys,
							   int count);
extern int	hamming_page_cut(const HammingKey *keys, int least, int most);
extern HammingKey hamming_separator(HammingKey left, HammingKey right);

/* buffer.c */
extern void hamming_lock(Relation index, Buffer buffer, int mode);
extern Buffer hamming_read(Relation index, BlockNumber blkno, int mode,
						   BufferAccessStrategy strategy);
extern void hamming_disk_prefetch(Relation index, BlockNumber blkno);
extern void hamming_cpu_prefetch(Relation index, BlockNumber blkno);
extern void hamming_cpu_prefetch_entries(Relation index, BlockNumber blkno,
										 int width, uint64 first, uint64 last);

/* How large a block tree is, about: searches are planned by that. */
typedef struct HammingShape
{
	double		leaves;			/* 1 or more */
	double		leading_bits;	/* of the bits by which leaves are told apart,
								 * those in the leading block */
} HammingShape;

/* plan.c */
typedef struct HammingPlan
{
	int16		word_radius[HAMMING_MAX_WORDS]; /* distance allowed in word g;
												 * -1: skip its trees */
	int16		block_radius[HAMMING_TREES];	/* and in the leading block of
												 * a tree; -1: skip the tree */
	int			trees;			/* how many trees are searched */
	double		leaves;			/* how many are expected to be read, of all
								 * these trees */
} HammingPlan;

extern HammingPlan hamming_plan(HammingLayout layout,
								const HammingShape *shapes, int radius);

/* cache.c */
extern HammingLayout hamming_read_layout(Relation index);
extern HammingLayout hamming_layout(Relation index);
extern const HammingShape *hamming_measure(Relation index);
extern const HammingPlan *hamming_cached_plan(Relation index, int radius);

/* space.c */
extern Buffer hamming_extend(Relation index, ForkNumber fork);
extern bool hamming_claim_spare(Relation index, Buffer spare);
extern Buffer hamming_find_spare(Relation index);
extern void hamming_give_back(Relation index, Buffer buffer);
extern BlockNumber hamming_count_free(Relation index, BlockNumber pages,
									  bool record,
									  BufferAccessStrategy strategy);
extern BlockNumber hamming_count_used(Relation index,
									  BufferAccessStrategy strategy);
extern void hamming_find_lost(Relation index, BufferAccessStrategy strategy);

/* tree.c */

/*
 * How often a descent may begin again before the index is taken for corrupted.
 * Each time another process must have changed a page in the instant between
 * two locks of the descent, so that no sound index comes near this number.
 */
#define HAMMING_MAX_DESCENTS 10000

extern bool hamming_page_is_for(Page page, int tree, int level,
								const HammingKey *key);
extern Buffer hamming_find(Relation index, int tree, int level, HammingKey key,
						   int mode, BufferAccessStrategy strategy);
extern int	hamming_height(Relation index, int tree);
extern bool hamming_lock_pinned(Relation index, Buffer buffer, int tree,
								int level, HammingKey key);
extern void hamming_make_room(Relation index, int tree, int level,
							  HammingKey key);

/* A walk along a level of a tree. */
typedef struct HammingWalk
{
	Relation	index;
	int			tree;
	int			level;
	BufferAccessStrategy strategy;	/* may be NULL */
	HammingKey	next;			/* that the next page covers */
	HammingKey	prefetched;		/* pages below it are on their way from disk */
	HammingKey	read_ahead_from;	/* read ahead once next has come here */
} HammingWalk;

/*
 * Say what stays of a locked page: put the keys that stay into keys, sorted,
 * and return their number; of an inner page all.  Return -1 to leave the page
 * as it is.  keys has room for HAMMING_LEAF_CAPACITY.
 */
typedef int (*HammingKeep) (void *arg, Buffer buffer, HammingKey *keys);

extern int	hamming_merge(const HammingWalk *walk, HammingKey key,
						  HammingKeep keep, void *arg, HammingKey *high);

/* walk.c */

/* A walk through the keys of a tree. */
typedef struct HammingKeys
{
	HammingWalk walk;
	int			count;			/* keys of the last leaf */
	int			position;		/* of the next one to return */
	HammingKey	keys[HAMMING_LEAF_CAPACITY];
} HammingKeys;

extern void hamming_walk_read_ahead(HammingWalk *walk);
extern Buffer hamming_walk_find(const HammingWalk *walk, int mode);
extern bool hamming_walk_on(HammingWalk *walk);
extern void hamming_keys_begin(HammingKeys *keys, Relation index, int tree);
extern const HammingKey *hamming_keys_seek(HammingKeys *keys, HammingKey from);
extern bool hamming_keys_next(HammingKeys *keys, HammingKey *key);
extern bool hamming_has(Relation index, int tree, HammingKey key, int width);
extern bool hamming_is_needed(Relation index, int tree, HammingKey key);

/* wal.c */
extern void hamming_log_changes(Relation index, int count,
								const HammingChange *changes);
extern void hamming_log_leaf(Relation index, Buffer leaf,
							 const HammingKey *keys, int count);

/* write.c */
typedef struct HammingWriter HammingWriter;

extern void hamming_write_page(Relation index, ForkNumber fork, Buffer buffer,
							   Page page);
extern HammingWriter *hamming_writer_begin(Relation index,
										   HammingLayout layout, int tree);
extern HammingKey *hamming_writer_next(HammingWriter *writer);
extern HammingKey *hamming_writer_add(HammingWriter *writer);
extern void hamming_writer_end(HammingWriter *writer);

/* build.c */
extern IndexBuildResult *hamming_build(Relation heap, Relation index,
									   IndexInfo *info);
extern void hamming_build_empty(Relation index);

/* change.c */
extern bool hamming_insert(Relation index, Datum *values, bool *isnull,
						   ItemPointer tid, Relation heap,
						   IndexUniqueCheck check_unique, bool unchanged,
						   IndexInfo *info);

/* predicate.c */
extern void hamming_lock_predicate(Relation index, Snapshot snapshot,
								   HammingKey centre, int radius);
extern void hamming_check_conflicts(Relation index, HammingKey fingerprint,
									bool isnull);

/* search.c */

typedef struct HammingMatch
{
	HammingKey	row;
	int			distance;		/* of the fingerprint from the centre */
} HammingMatch;

/* The most matches that hamming_search_next() returns at once. */
#define HAMMING_MATCHES (2 * HAMMING_TID_CAPACITY)

typedef struct HammingSearch HammingSearch;

extern HammingSearch *hamming_search_create(IndexScanDesc scan);
extern void hamming_search_begin(HammingSearch *search, HammingKey centre,
								 int radius);
extern void hamming_search_lower_radius(HammingSearch *search, int radius);
extern void hamming_search_begin_nulls(HammingSearch *search);
extern int	hamming_search_next(HammingSearch *search, HammingMatch **matches);

/* nearest.c */
typedef struct HammingNearest HammingNearest;

extern HammingNearest *hamming_nearest_begin(Relation index,
											 HammingSearch *search,
											 HammingKey centre,
											 const HammingKeyBall *balls,
											 int count);
extern bool hamming_nearest_next(HammingNearest *nearest, uint64 *tid,
								 int *distance);
extern void hamming_nearest_end(HammingNearest *nearest);

/* vacuum.c */
extern IndexBulkDeleteResult *hamming_vacuum(IndexVacuumInfo *info,
											 IndexBulkDeleteResult *stats,
											 IndexBulkDeleteCallback callback,
											 void *callback_state);
extern IndexBulkDeleteResult *hamming_cleanup(IndexVacuumInfo *info,
											  IndexBulkDeleteResult *stats);

/* cost.c */
extern void hamming_cost_estimate(PlannerInfo *root, IndexPath *path,
								  double loop_count, Cost *startup_cost,
								  Cost *total_cost, Selectivity *selectivity,
								  double *correlation, double *pages);

/* check.c */
extern void hamming_check(Relation heap, Relation index);

/* scan.c */
extern IndexScanDesc hamming_begin_scan(Relation index, int keys,
										int order_bys);
extern void hamming_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
						   ScanKey order_bys, int norder_bys);
extern bool hamming_get_tuple(IndexScanDesc scan, ScanDirection direction);
extern int64 hamming_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void hamming_end_scan(IndexScanDesc scan);

/* handler.c */
extern void hamming_define_options(void);
extern int	hamming_words_of(Oid type);
extern void hamming_check_columns(Relation index);

#ifdef SIMHASH_TEST_STOPS
/*
 * Where a test in specs/ can hold a process: if the session has set
 * simhash_test.stop to the name of this place, wait as long as another session
 * holds the advisory lock 1.  The caller holds no buffer lock: a wait for a
 * lightweight lock could not be canceled.
 */
static inline void
test_stop(const char *place)
{
	const char *wanted = GetConfigOption("simhash_test.stop", true, false);

	if (wanted == NULL || strcmp(wanted, place) != 0)
		return;
	DirectFunctionCall1(pg_advisory_lock_shared_int8, Int64GetDatum(1));
	DirectFunctionCall1(pg_advisory_unlock_shared_int8, Int64GetDatum(1));
}
#else
#define test_stop(place) ((void) 0)
#endif

#endif							/* SIMHASH_AM_H */
