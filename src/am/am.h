/*
 * am.h
 *	  The access method "hamming": a block index.
 *
 * An index has a tree for each block of a fingerprint, and one for the rows
 * without a fingerprint.  Each tree is a B+tree.  Block tree j is ordered by
 * the fingerprint rotated so that block j leads.  Tree 0 has an entry for each
 * row, and orders equal fingerprints by TID.  The other block trees have each
 * fingerprint once.  A fingerprint with an entry in tree 0 is in all block
 * trees: change.c keeps it so.
 *
 * Each page knows the range of keys that it answers for.  The range of a page
 * is within that of its parent.  src/README has a picture; tree.c has the
 * rules of locks.
 */
#ifndef SIMHASH_AM_H
#define SIMHASH_AM_H

#include "access/amapi.h"
#include "commands/progress.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "type/simhash.h"

/* WITH (fillfactor = ..., blocks = ...) */
typedef struct HammingOptions
{
	int32		vl_len_;		/* varlena header, for PostgreSQL only */
	int			fillfactor;		/* percent of a page that a build fills */
	int			blocks;			/* that a build cuts fingerprints into; 0 to
								 * choose by the number of rows */
} HammingOptions;

#define HAMMING_DEFAULT_FILLFACTOR 88
#define HAMMING_MIN_FILLFACTOR 10

/*
 * Phases of pg_stat_progress_create_index; PostgreSQL has reserved phase 1.
 * tree is a block tree's number.  The tree of NULLs is written in the phase of
 * tree 0.
 */
#define HAMMING_PHASE_SCAN (PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE + 1)
#define HAMMING_PHASE_SORT(tree) (HAMMING_PHASE_SCAN + 1 + 2 * (tree))
#define HAMMING_PHASE_WRITE(tree) (HAMMING_PHASE_SORT(tree) + 1)

/* Keys */

/*
 * A rotated fingerprint as it is on a page.  The layout of pages follows from
 * the size, which is a multiple of that of uint64.
 */
typedef Fingerprint HammingBits;

/* Order: by rotated, then by tid.  Keys of a tree are unique. */
typedef struct HammingKey
{
	HammingBits rotated;		/* the rotated fingerprint; 0 in the tree of
								 * rows without one */
	uint64		tid;			/* block number << 16 | offset, which no row
								 * has as 0; 0 in block trees 1 and up */
} HammingKey;

/* The least and the greatest of all keys.  No row has either of them. */
static const HammingKey hamming_least_key = {0, 0};
static const HammingKey hamming_greatest_key = {FINGERPRINT_ALL_BITS,
PG_UINT64_MAX};

static inline HammingKey
hamming_key(HammingBits rotated, uint64 tid)
{
	HammingKey	key = {rotated, tid};

	return key;
}

static inline int
hamming_key_compare(HammingKey a, HammingKey b)
{
	if (a.rotated != b.rotated)
		return a.rotated < b.rotated ? -1 : 1;
	return (a.tid > b.tid) - (a.tid < b.tid);
}

/*
 * A key as words of 64 bits: those of rotated, the highest first, and its TID.
 * Keys are in the order of their words.
 */
#define HAMMING_KEY_WORDS (FINGERPRINT_WORDS + 1)

/* A TID, as hamming_tid() has it, is below this number. */
#define HAMMING_BEYOND_TIDS (UINT64CONST(1) << 48)

/* Return a TID as a number.  The numbers are in the order of TIDs. */
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

/*
 * Pages
 *
 * Page 0 is the metapage.  After it come the roots, which stay there for ever:
 * that of the tree of NULLs, and those of the block trees.
 *
 * A leaf holds the keys of its range.  First come the keys that the leaf had
 * when it was built or split, or when the last of them was removed, in order.
 * What is inserted is appended.  Rotated fingerprints are in an array that
 * grows from the front, up to pd_lower.  In tree 0 and in that of NULLs their
 * TIDs are in an array that grows from the back, down to pd_upper.  The bytes
 * between the arrays are not logged.  Replay sets them to zero, so the primary
 * must, too.  GenericXLogFinish() does it for inner pages, but not in an
 * unlogged index, which is never replayed.
 *
 * An inner page has two such arrays, too, of its children's least keys and
 * block numbers, in order of arrival.  In front of them an array says which
 * entry comes first in the order of keys, which second, and so on.  An
 * insertion moves elements of that array only, so that the WAL need not hold
 * half of the keys.
 */

/* The number of the tree of NULLs, whatever the number of blocks. */
#define HAMMING_NULLS 15
#define HAMMING_METAPAGE 0

/* The root of a tree, and the number of pages that stay for ever. */
#define HAMMING_ROOT(tree) \
	((BlockNumber) ((tree) == HAMMING_NULLS ? 1 : (tree) + 2))
#define HAMMING_FIXED_PAGES(blocks) HAMMING_ROOT(blocks)

static inline bool
hamming_tree_has_tids(int tree)
{
	return tree == 0 || tree == HAMMING_NULLS;
}

/* Return the key of a row in a block tree of an index. */
static inline HammingKey
hamming_tree_key(int blocks, int tree, Fingerprint fingerprint,
				 uint64 tid)
{
	return hamming_key(hamming_rotate(fingerprint,
									  hamming_block_start(blocks, tree)),
					   hamming_tree_has_tids(tree) ? tid : 0);
}

/* Return the number of blocks that doc/indexing.md recommends for rows. */
static inline int
hamming_default_blocks(double rows)
{
	return HAMMING_BITS / (rows < 200000000 ? 16 : 21);
}

/*
 * The most levels of a tree.  No tree comes near: an inner page splits only
 * when it has hundreds of children, and a build gives it dozens at least.
 */
#define HAMMING_MAX_HEIGHT 16

#define HAMMING_MAGIC 0x48414D4D
#define HAMMING_VERSION 2

typedef struct HammingMeta
{
	uint32		magic;			/* HAMMING_MAGIC */
	uint32		version;		/* HAMMING_VERSION */
	uint16		width;			/* bits of a fingerprint: HAMMING_BITS */
	uint16		blocks;			/* HAMMING_MIN_BLOCKS .. HAMMING_MAX_BLOCKS */
	uint32		unused;			/* 0; older code has written 1, too */
} HammingMeta;

typedef enum HammingPageKind
{
	HAMMING_PAGE_META = 1,
	HAMMING_PAGE_TREE,
	HAMMING_PAGE_FREE,
	HAMMING_PAGE_REVIVED		/* of a tree: a leaf of tree 1 or up that has
								 * a fingerprint which was without rows, and
								 * has got one since the mark was cleared */
} HammingPageKind;

/* The special space of every page. */
typedef struct HammingSpecial
{
	HammingKey	low;			/* the least key of the page's range */
	HammingKey	high;			/* the least key beyond the range;
								 * hamming_greatest_key if there is none */
	uint16		kind;			/* HammingPageKind */
	uint8		tree;			/* 0 .. blocks - 1, or HAMMING_NULLS */
	uint8		level;			/* 0 is a leaf */
	uint16		sorted;			/* of a leaf: entries 0 .. sorted - 1 are in
								 * the order of keys */
	uint16		page_id;		/* HAMMING_PAGE_ID, for tools that look at
								 * files */
} HammingSpecial;

#define HAMMING_PAGE_ID 0xFF91

/* An element of the array at the back of an inner page. */
typedef struct HammingDownlink
{
	ItemPointerData tid;		/* of the child's least key */
	BlockIdData child;			/* its block number */
} HammingDownlink;

#define HAMMING_CONTENT MAXALIGN(SizeOfPageHeaderData)
#define HAMMING_SPACE \
	(BLCKSZ - HAMMING_CONTENT - MAXALIGN(sizeof(HammingSpecial)))

/* The entries of a leaf, with TIDs or without. */
#define HAMMING_TID_CAPACITY \
	((int) (HAMMING_SPACE / (sizeof(HammingBits) + sizeof(ItemPointerData))))
#define HAMMING_LEAF_CAPACITY ((int) (HAMMING_SPACE / sizeof(HammingBits)))

#define HAMMING_INNER_CAPACITY \
	((int) ((HAMMING_SPACE - MAXIMUM_ALIGNOF) / \
			(sizeof(uint16) + sizeof(HammingBits) + sizeof(HammingDownlink))))
#define HAMMING_ORDER_SPACE MAXALIGN(HAMMING_INNER_CAPACITY * sizeof(uint16))

static inline int
hamming_leaf_capacity(int tree)
{
	return hamming_tree_has_tids(tree) ? HAMMING_TID_CAPACITY
		: HAMMING_LEAF_CAPACITY;
}

static inline HammingSpecial *
hamming_special(Page page)
{
	return (HammingSpecial *) PageGetSpecialPointer(page);
}

static inline int
hamming_capacity(Page page)
{
	return hamming_special(page)->level == 0
		? hamming_leaf_capacity(hamming_special(page)->tree)
		: HAMMING_INNER_CAPACITY;
}

static inline bool
hamming_page_is_marked(Page page)
{
	return hamming_special(page)->kind == HAMMING_PAGE_REVIVED;
}

static inline bool
hamming_page_is_of_tree(Page page)
{
	return hamming_special(page)->kind == HAMMING_PAGE_TREE ||
		hamming_page_is_marked(page);
}

static inline bool
hamming_page_has_tids(Page page)
{
	return hamming_special(page)->level == 0 &&
		hamming_tree_has_tids(hamming_special(page)->tree);
}

static inline int
hamming_keys_offset(Page page)
{
	return HAMMING_CONTENT +
		(hamming_special(page)->level == 0 ? 0 : HAMMING_ORDER_SPACE);
}

/* Return the array of rotated fingerprints. */
static inline HammingBits *
hamming_page_bits(Page page)
{
	return (HammingBits *) ((char *) page + hamming_keys_offset(page));
}

static inline int
hamming_page_count(Page page)
{
	return (((PageHeader) page)->pd_lower - hamming_keys_offset(page)) /
		sizeof(HammingBits);
}

static inline bool
hamming_page_is_full(Page page)
{
	return hamming_page_count(page) == hamming_capacity(page);
}

/* Return the TID of entry i of a leaf with TIDs. */
static inline ItemPointer
hamming_leaf_tid(Page page, int i)
{
	return (ItemPointer) hamming_special(page) - (i + 1);
}

/* Return the key of entry i of a leaf. */
static inline HammingKey
hamming_leaf_key(Page page, int i)
{
	return hamming_key(hamming_page_bits(page)[i],
					   hamming_page_has_tids(page)
					   ? hamming_tid(hamming_leaf_tid(page, i)) : 0);
}

static inline bool
hamming_page_covers(Page page, HammingKey key)
{
	return hamming_key_compare(hamming_special(page)->low, key) <= 0 &&
		hamming_key_compare(key, hamming_special(page)->high) < 0;
}

/*
 * Return about how many of count keys, which are spread evenly over a page's
 * range, are below rotated: 0 .. count.
 */
static inline int
hamming_guess(const HammingSpecial *special, HammingBits rotated, int count)
{
	HammingBits low = special->low.rotated;
	HammingBits high = special->high.rotated;

	if (rotated <= low)
		return 0;
	if (rotated >= high)
		return count;
	return fingerprint_quotient(rotated - low, high - low) * count;
}

/* By about how many entries hamming_guess() is off: fingerprints are random. */
#define HAMMING_MARGIN (24 / FINGERPRINT_WORDS)

/*
 * Guess *from and *to so that of a leaf's sorted entries those from first
 * to last have places from *from to *to - 1.  special is the leaf's
 * special space, or has any bytes: *from and *to are 0 .. special->sorted in
 * any case.
 */
static inline void
hamming_guess_stretch(const HammingSpecial *special, HammingBits first,
					  HammingBits last, int *from, int *to)
{
	int			sorted = special->sorted;

	*from = hamming_guess(special, first, sorted) - HAMMING_MARGIN;
	*from = Max(*from, 0);
	*to = hamming_guess(special, last, sorted) + HAMMING_MARGIN;
	*to = Min(*to, sorted);
}

/*
 * Return how many entries a build puts on a page of index that has room for
 * capacity, about, as the option fillfactor says: 2 at least.
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
extern void hamming_page_init(Page page, HammingPageKind kind, int tree);
extern void hamming_tree_page_init(Page page, int tree, int level,
								   HammingKey low, HammingKey high);
extern void hamming_page_check(Relation index, Buffer buffer);
pg_noreturn extern void hamming_corrupted(Relation index, BlockNumber blkno,
										  const char *fault);
extern void hamming_check_tid(Relation index, BlockNumber blkno, uint64 tid);
extern void hamming_leaf_fill(Page page, const HammingKey *keys, int count);
extern int	hamming_page_keys(Page page, HammingKey *keys);
extern void hamming_leaf_change(Page page, const HammingChange *change);
extern int	hamming_leaf_match(Page page, HammingBits first, HammingBits last,
							   HammingBits centre, int radius, uint16 *found);
extern bool hamming_leaf_has(Page page, HammingBits rotated);
extern HammingKey hamming_inner_key(Page page, int rank);
extern HammingKey hamming_inner_end(Page page, int rank);
extern BlockNumber hamming_inner_child(Page page, int rank);
extern int	hamming_inner_find(Page page, HammingKey key);
extern void hamming_inner_insert(Page page, int rank, HammingKey key,
								 BlockNumber child);
extern bool hamming_inner_is_permutation(Page page);
extern void hamming_inner_remove(Page page, int rank);
extern void hamming_page_split(Page left, Page right, HammingKey added);
extern void hamming_page_merge(Page left, Page right, const HammingKey *keys,
							   int count);
extern int	hamming_choose_cut(const HammingKey *keys, int least, int most);
extern HammingKey hamming_separator(HammingKey left, HammingKey right);

/* buffer.c */
extern void hamming_lock(Relation index, Buffer buffer, int mode);
extern Buffer hamming_read(Relation index, BlockNumber blkno, int mode,
						   BufferAccessStrategy strategy);
extern void hamming_disk_prefetch(Relation index, BlockNumber blkno);
extern void hamming_cpu_prefetch(Relation index, BlockNumber blkno);
extern void hamming_cpu_prefetch_entries(Relation index, BlockNumber blkno,
										 HammingBits first, HammingBits last);

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
	int			block_radius[HAMMING_MAX_BLOCKS];	/* distance allowed in the
													 * leading block of tree
													 * j; -1: skip tree j */
	int			trees;			/* how many trees are searched */
	double		leaves;			/* how many are expected to be read, of all
								 * these trees */
} HammingPlan;

extern HammingPlan hamming_plan(int blocks, const HammingShape *shapes,
								int radius);

/* cache.c */
extern int	hamming_read_blocks(Relation index);
extern int	hamming_blocks(Relation index);
extern void hamming_measure(Relation index, HammingShape *shapes);
extern HammingPlan hamming_cached_plan(Relation index, int radius);

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
								HammingKey key);
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
extern void hamming_keys_begin(HammingKeys *keys, Relation index, int tree,
							   BufferAccessStrategy strategy);
extern bool hamming_keys_next(HammingKeys *keys, HammingKey *key);
extern bool hamming_has(Relation index, int tree, HammingBits rotated);

/* wal.c */
extern void hamming_log_changes(Relation index, int count,
								const HammingChange *changes);
extern void hamming_log_leaf(Relation index, Buffer leaf,
							 const HammingKey *keys, int count);

/* write.c */
typedef struct HammingWriter HammingWriter;

extern void hamming_write_page(Relation index, ForkNumber fork, Buffer buffer,
							   Page page);
extern HammingWriter *hamming_writer_begin(Relation index, int tree);
extern void hamming_writer_add(HammingWriter *writer, HammingKey key);
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
								   Fingerprint centre, int radius);
extern void hamming_lock_predicate_nulls(Relation index, Snapshot snapshot);
extern void hamming_check_conflicts(Relation index, Fingerprint fingerprint,
									bool isnull);

/* search.c */

/* A row that a search has found. */
typedef struct HammingMatch
{
	Fingerprint fingerprint;	/* not rotated */
	uint64		tid;			/* as hamming_tid() has it */
	int			distance;		/* of the fingerprint from the centre */
} HammingMatch;

/* The most matches that hamming_search_next() returns at once. */
#define HAMMING_MATCHES (2 * HAMMING_TID_CAPACITY)

typedef struct HammingSearch HammingSearch;

extern HammingSearch *hamming_search_create(IndexScanDesc scan);
extern void hamming_search_begin(HammingSearch *search, Fingerprint centre,
								 int radius);
extern void hamming_search_lower_radius(HammingSearch *search, int radius);
extern void hamming_search_begin_nulls(HammingSearch *search);
extern int	hamming_search_next(HammingSearch *search, HammingMatch **matches);

/* nearest.c */
typedef struct HammingNearest HammingNearest;

extern HammingNearest *hamming_nearest_begin(Relation index,
											 HammingSearch *search,
											 Fingerprint centre,
											 const HammingBall *balls,
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

/* What hamming_index_stats() returns, and reads of pages. */
typedef struct HammingStats
{
	int64		rows;			/* with a fingerprint */
	int64		nulls;			/* and without */
	int64		fingerprints;
	int			blocks;
	int			height;			/* levels of tree 0 */
	BlockNumber pages;
	int64		free_pages;
	double		average_block;	/* rows that share the value of a block, on
								 * average of these values */
	int64		largest_block;	/* the most rows that share one */
} HammingStats;

extern void hamming_check(Relation heap, Relation index);
extern void hamming_read_stats(Relation index, HammingStats *stats);

/* The functions of the access method for indexes of one width. */
typedef struct HammingRoutines
{
	IndexAmRoutine am;			/* those that PostgreSQL calls */
	void		(*read_stats) (Relation index, HammingStats *stats);
	void		(*check) (Relation heap, Relation index);
} HammingRoutines;

/* scan.c: those of the width that is compiled, and those of each width */
#define hamming_routines WIDE(hamming_routines)

extern const HammingRoutines hamming_routines;
extern const HammingRoutines hamming_routines_128;

/* handler.c, which serves indexes of all widths, as does inspect.c */
extern void hamming_define_options(void);
extern bool hamming_is_cost_function(amcostestimate_function function);
extern const HammingRoutines *hamming_find_routines(Relation index);

#endif							/* SIMHASH_AM_H */
