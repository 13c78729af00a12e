/*
 * am.h
 *	  The access method "hamming": a block index.
 *
 * An index has four tables, 0 to 3, and a fifth for the rows without a
 * fingerprint.  Each table is a B+tree.  Table j is ordered by the fingerprint
 * rotated so that block j leads, and then by TID.  Each page knows the range
 * of keys that it answers for.  The range of a page is within that of its
 * parent.  doc/indexing.md has a picture; am_tree.c has the rules of locks.
 */
#ifndef SIMHASH_AM_H
#define SIMHASH_AM_H

#include "access/amapi.h"
#include "access/genam.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#include "type/pair_sort.h"
#include "type/simhash.h"

/* Keys */

/* Order: by bits, then by tid.  Keys of a table are unique. */
typedef struct HammingKey
{
	uint64		bits;			/* the rotated fingerprint; 0 in the table of
								 * rows without one */
	uint64		tid;			/* block number << 16 | offset; no row has 0 */
} HammingKey;

/* Of all keys; no row has either of them. */
static const HammingKey hamming_least_key = {0, 0};
static const HammingKey hamming_greatest_key = {PG_UINT64_MAX, PG_UINT64_MAX};

static inline HammingKey
hamming_key(uint64 bits, uint64 tid)
{
	HammingKey	key = {bits, tid};

	return key;
}

static inline int
hamming_key_compare(HammingKey a, HammingKey b)
{
	if (a.bits != b.bits)
		return a.bits < b.bits ? -1 : 1;
	return (a.tid > b.tid) - (a.tid < b.tid);
}

static inline void
hamming_sort_put(struct Tuplesortstate *sort, HammingKey key)
{
	NumberPair	pair = {key.bits, key.tid};

	simhash_pair_sort_put(sort, pair);
}

/* Get the next key in order.  After the last one return false. */
static inline bool
hamming_sort_get(struct Tuplesortstate *sort, HammingKey *key)
{
	NumberPair	pair;

	if (!simhash_pair_sort_get(sort, &pair))
		return false;
	*key = hamming_key(pair.first, pair.second);
	return true;
}

/* A TID as a number, in the order of TIDs; the result is below 2^48. */
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
 * Block 0 is the metapage, and blocks 1 to 5 are the roots of the tables, for
 * ever.  A leaf holds the entries of its range in no order: rotated
 * fingerprints in an array that grows from the front, up to pd_lower, and
 * their TIDs in an array that grows from the back, down to pd_upper.  The
 * bytes between the arrays are always zero, and are not logged.  (On an inner
 * page of an unlogged index they may be anything: nothing logs that page.)
 *
 * The arrays of a leaf grow by HAMMING_LEAF_STEP slots at a time, so that one
 * insertion in HAMMING_LEAF_STEP logs pd_lower and pd_upper.  The slots that
 * are not used are the last ones, and have TID 0.
 *
 * An inner page has two such arrays, too, of its children's least keys and
 * block numbers, in order of arrival.  In front of them an array says which
 * entry comes first in the order of keys, which second, and so on.  An
 * insertion moves elements of that array only, so that the WAL need not hold
 * half of the keys.
 */

#define HAMMING_NULLS HAMMING_BLOCKS	/* the table of rows without a
										 * fingerprint */
#define HAMMING_TABLES (HAMMING_BLOCKS + 1)
#define HAMMING_METAPAGE 0
#define HAMMING_ROOT(table) ((BlockNumber) (table) + 1)

/*
 * The most levels of a table.  It is never reached: an inner page splits only
 * when it has hundreds of children, and a build gives it dozens at least.
 */
#define HAMMING_MAX_HEIGHT 16

#define HAMMING_MAGIC 0x48414D4D
#define HAMMING_VERSION 1

typedef struct HammingMeta
{
	uint32		magic;			/* HAMMING_MAGIC */
	uint32		version;		/* HAMMING_VERSION */
} HammingMeta;

typedef enum HammingPageKind
{
	HAMMING_PAGE_META = 1,
	HAMMING_PAGE_TREE,
	HAMMING_PAGE_FREE
} HammingPageKind;

/* The special space of every page. */
typedef struct HammingSpecial
{
	HammingKey	low;			/* the least key of the page's range */
	HammingKey	high;			/* the least key beyond the range;
								 * hamming_greatest_key if there is none */
	uint16		kind;			/* HammingPageKind */
	uint16		table;			/* 0 .. 4 */
	uint16		level;			/* 0 is a leaf */
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
#define HAMMING_LEAF_CAPACITY \
	((int) (HAMMING_SPACE / (sizeof(uint64) + sizeof(ItemPointerData))))
#define HAMMING_LEAF_STEP 16
#define HAMMING_INNER_CAPACITY \
	((int) ((HAMMING_SPACE - MAXIMUM_ALIGNOF) / \
			(sizeof(uint16) + sizeof(uint64) + sizeof(HammingDownlink))))
#define HAMMING_ORDER_SPACE MAXALIGN(HAMMING_INNER_CAPACITY * sizeof(uint16))

static inline HammingSpecial *
hamming_special(Page page)
{
	return (HammingSpecial *) PageGetSpecialPointer(page);
}

static inline int
hamming_capacity(Page page)
{
	return hamming_special(page)->level == 0 ? HAMMING_LEAF_CAPACITY
		: HAMMING_INNER_CAPACITY;
}

static inline int
hamming_keys_offset(Page page)
{
	return HAMMING_CONTENT +
		(hamming_special(page)->level == 0 ? 0 : HAMMING_ORDER_SPACE);
}

/* The array of fingerprints; it has hamming_page_slots() elements. */
static inline uint64 *
hamming_page_bits(Page page)
{
	return (uint64 *) ((char *) page + hamming_keys_offset(page));
}

/* How many elements the arrays have now. */
static inline int
hamming_page_slots(Page page)
{
	return (((PageHeader) page)->pd_lower - hamming_keys_offset(page)) /
		sizeof(uint64);
}

/* TID of entry i of a leaf, 0 .. hamming_page_slots() - 1. */
static inline ItemPointer
hamming_leaf_tid(Page page, int i)
{
	return (ItemPointer) hamming_special(page) - (i + 1);
}

/* How many entries a page holds: all elements, but for the unused of a leaf. */
static inline int
hamming_page_count(Page page)
{
	int			count = hamming_page_slots(page);

	if (hamming_special(page)->level == 0)
		while (count > 0 && hamming_tid(hamming_leaf_tid(page, count - 1)) == 0)
			count--;
	return count;
}

static inline bool
hamming_page_is_full(Page page)
{
	return hamming_page_count(page) == hamming_capacity(page);
}

static inline HammingKey
hamming_leaf_key(Page page, int i)
{
	return hamming_key(hamming_page_bits(page)[i],
					   hamming_tid(hamming_leaf_tid(page, i)));
}

static inline bool
hamming_page_covers(Page page, HammingKey key)
{
	return hamming_key_compare(hamming_special(page)->low, key) <= 0 &&
		hamming_key_compare(key, hamming_special(page)->high) < 0;
}

/* WITH (fillfactor = ...) */
typedef struct HammingOptions
{
	int32		vl_len_;		/* varlena header, for PostgreSQL only */
	int			fillfactor;		/* percent of a page that a build fills */
} HammingOptions;

#define HAMMING_DEFAULT_FILLFACTOR 88
#define HAMMING_MIN_FILLFACTOR 10

/* How many of a page's entries, out of capacity, a build or a merge fills. */
static inline int
hamming_fill(Relation index, int capacity)
{
	HammingOptions *options = (HammingOptions *) index->rd_options;
	int			percent = HAMMING_DEFAULT_FILLFACTOR;

	if (options != NULL)
		percent = options->fillfactor;
	return Max(capacity * percent / 100, 2);
}

/*
 * A page of n keys may be cut up to n / HAMMING_CUT_SLACK keys away from where
 * its fill says: see "Where pages are cut" in doc/indexing.md, section 4.
 */
#define HAMMING_CUT_SLACK 12

/* am_page.c */
extern void hamming_page_init(Page page, HammingPageKind kind, int table,
							  int level, HammingKey low, HammingKey high);
extern void hamming_page_check(Relation index, Buffer buffer);
pg_noreturn extern void hamming_corrupted(Relation index, BlockNumber block,
										  const char *fault);
extern void hamming_check_tid(Relation index, BlockNumber block, uint64 tid);
extern void hamming_leaf_append(Page page, HammingKey key);
extern void hamming_leaf_remove(Page page, int i);
extern HammingKey hamming_inner_key(Page page, int rank);
extern BlockNumber hamming_inner_child(Page page, int rank);
extern int	hamming_inner_find(Page page, HammingKey key);
extern void hamming_inner_insert(Page page, int rank, HammingKey key,
								 BlockNumber child);
extern bool hamming_inner_is_permutation(Page page);
extern void hamming_inner_remove(Page page, int rank);
extern void hamming_page_split(Page left, Page right, HammingKey added);
extern void hamming_page_merge(Page left, Page right);
extern int	hamming_choose_cut(const HammingKey *keys, int least, int most);
extern HammingKey hamming_separator(HammingKey left, HammingKey right);

/* am_buffer.c */
extern Buffer hamming_read(Relation index, BlockNumber block, int mode,
						   BufferAccessStrategy strategy);
extern void hamming_check_metapage(Relation index);
extern void hamming_open(Relation index);

/* am_space.c */
extern bool hamming_is_free_page(Relation index, BlockNumber block,
								 BufferAccessStrategy strategy);
extern Buffer hamming_extend(Relation index, ForkNumber fork);
extern bool hamming_claim_spare(Relation index, Buffer spare);
extern Buffer hamming_find_spare(Relation index);
extern void hamming_give_back(Relation index, Buffer buffer);

/* am_tree.c */

/*
 * How often a descent may go back before the index is taken for corrupted.
 * Each time another process must have changed a page in the instant between
 * two locks of the descent, so that no sound index comes near this number.
 */
#define HAMMING_MAX_DESCENTS 10000

extern bool hamming_page_is_for(Page page, int table, int level,
								HammingKey key);
extern Buffer hamming_find(Relation index, int table, int level, HammingKey key,
						   int mode, BufferAccessStrategy strategy);
extern Buffer hamming_pin(Relation index, int table, int level, HammingKey key,
						  BufferAccessStrategy strategy);
extern bool hamming_lock_pinned(Relation index, Buffer buffer, int table,
								int level, HammingKey key);
extern void hamming_make_room(Relation index, int table, int level,
							  HammingKey key);
extern bool hamming_merge(Relation index, int table, int level, HammingKey key,
						  BufferAccessStrategy strategy);

/* am_wal.c */
extern void hamming_log_appends(Relation index, int count, const Buffer *leaves,
								const HammingKey *keys);

/* am_build.c */
extern IndexBuildResult *hamming_build(Relation heap, Relation index,
									   IndexInfo *info);
extern void hamming_build_empty(Relation index);
extern char *hamming_build_phase_name(int64 phase);

/* am_insert.c */
extern bool hamming_insert(Relation index, Datum *values, bool *isnull,
						   ItemPointer tid, Relation heap,
						   IndexUniqueCheck check_unique, bool unchanged,
						   IndexInfo *info);

/* am_plan.c */
typedef struct HammingPlan
{
	int			tables;			/* tables 0 .. tables - 1 are searched */
	int			block_radius[HAMMING_BLOCKS];	/* distance allowed in the
												 * leading block of table j;
												 * -1 to skip the table */
	double		leaves;			/* how many are expected to be read, of all
								 * these tables */
} HammingPlan;

extern HammingPlan hamming_plan(double leaves, int radius);

/* am_search.c */

/* A row that a search has found. */
typedef struct HammingMatch
{
	uint64		fingerprint;	/* not rotated */
	uint64		tid;			/* as hamming_tid() has it */
	int			distance;		/* of the fingerprint from the centre */
} HammingMatch;

/* An inner page on the way to the leaf that was read last, pinned. */
typedef struct HammingStep
{
	Buffer		buffer;			/* pinned */
	int			level;			/* expected of the page; see find_leaf() */
	HammingKey	low;			/* the page's range when it was last locked */
	HammingKey	high;
} HammingStep;

/* Only am_search.c writes to a search.  Others embed one, and need its size. */
typedef struct HammingSearch
{
	Relation	index;
	double		leaves;			/* of a block table, about */
	uint64		centre;			/* not rotated */
	int			radius;			/* 0 .. HAMMING_BITS; see
								 * hamming_search_lower_radius() */
	int			plan_radius;	/* that the plan is for; -1 without a plan for
								 * a radius */
	HammingPlan plan;
	int			table;			/* the table that is being searched */
	bool		table_done;		/* has it been searched to its end? */
	HammingKey	next;			/* all keys of the table below this one have
								 * been searched */
	int			depth;			/* elements of path in use, the root first */
	HammingStep path[HAMMING_MAX_HEIGHT];
	Buffer		roots[HAMMING_TABLES];	/* pinned from their first use to
										 * hamming_search_close() */
} HammingSearch;

extern void hamming_search_init(HammingSearch *search, Relation index);
extern void hamming_search_begin(HammingSearch *search, uint64 centre,
								 int radius);
extern void hamming_search_lower_radius(HammingSearch *search, int radius);
extern void hamming_search_begin_nulls(HammingSearch *search);
extern int	hamming_search_next(HammingSearch *search, HammingMatch *matches);
extern void hamming_search_end(HammingSearch *search);
extern void hamming_search_close(HammingSearch *search);

/* am_nearest.c */
typedef struct HammingNearest HammingNearest;

extern HammingNearest *hamming_nearest_begin(HammingSearch *search,
											 HammingMatch *matches,
											 uint64 centre,
											 const HammingBall *balls,
											 int count);
extern bool hamming_nearest_next(HammingNearest *nearest, uint64 *tid,
								 int *distance);
extern void hamming_nearest_end(HammingNearest *nearest);

/* am_scan.c */
extern IndexScanDesc hamming_begin_scan(Relation index, int keys,
										int order_bys);
extern void hamming_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
						   ScanKey order_bys, int norder_bys);
extern bool hamming_get_tuple(IndexScanDesc scan, ScanDirection direction);
extern int64 hamming_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void hamming_end_scan(IndexScanDesc scan);

/* am_vacuum.c */
extern IndexBulkDeleteResult *hamming_vacuum(IndexVacuumInfo *info,
											 IndexBulkDeleteResult *stats,
											 IndexBulkDeleteCallback callback,
											 void *callback_state);
extern IndexBulkDeleteResult *hamming_cleanup(IndexVacuumInfo *info,
											  IndexBulkDeleteResult *stats);

/* am_handler.c */
extern bool hamming_is_cost_function(amcostestimate_function function);

/* am_cost.c */
extern void hamming_cost_estimate(PlannerInfo *root, IndexPath *path,
								  double loop_count, Cost *startup_cost,
								  Cost *total_cost, Selectivity *selectivity,
								  double *correlation, double *pages);

/* am_validate.c */
extern bool hamming_validate(Oid opclass);

#endif							/* SIMHASH_AM_H */
