/*
 * cache.c
 *	  What a session remembers of an index: its layout, and plans of searches.
 *
 * It is kept in rd_amcache of the relation descriptor.  PostgreSQL frees that
 * when it rebuilds the descriptor, as after REINDEX.
 */
#include "postgres.h"

#include <math.h>

#include "am/am.h"

/* hamming_measure() measures at each SHAPES_AGE-th call: the index may grow. */
#define SHAPES_AGE 64

typedef struct HammingCache
{
	HammingLayout layout;
	int			age;			/* how often shapes were wanted */
	HammingShape shapes[HAMMING_TREES]; /* of the trees, by their numbers */
	HammingPlan plan;			/* of searches within plan_radius, by shapes */
	int			plan_radius;	/* -1 without a plan */
} HammingCache;

/*
 * Return how the metapage says that fingerprints are cut.  Error: XX002 if this
 * code cannot read the index that it describes.
 */
HammingLayout
hamming_read_layout(Relation index)
{
	HammingLayout layout = {.words = hamming_words(index)};
	Buffer		buffer = hamming_read(index, HAMMING_METAPAGE,
									  BUFFER_LOCK_SHARE, NULL);
	Page		page = BufferGetPage(buffer);
	HammingMeta meta;

	memcpy(&meta, PageGetContents(page), sizeof(meta));
	if (hamming_page_kind(page) != HAMMING_PAGE_META ||
		meta.magic != HAMMING_MAGIC)
		hamming_corrupted(index, HAMMING_METAPAGE, "page is not a metapage");
	if (meta.version != HAMMING_VERSION(layout.words))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has format version %u, but this version "
						"of simhash requires %d",
						RelationGetRelationName(index), meta.version,
						HAMMING_VERSION(layout.words)),
				 errhint("REINDEX it.")));
	if (meta.width != 64 * layout.words || meta.blocks < HAMMING_MIN_BLOCKS ||
		meta.blocks > HAMMING_MAX_BLOCKS)
		hamming_corrupted(index, HAMMING_METAPAGE, "blocks are out of range");
	UnlockReleaseBuffer(buffer);
	layout.blocks = meta.blocks;
	return layout;
}

HammingLayout
hamming_layout(Relation index)
{
	HammingCache *cache = index->rd_amcache;

	if (cache == NULL)
	{
		HammingLayout layout = hamming_read_layout(index);

		cache = MemoryContextAllocZero(index->rd_indexcxt,
									   sizeof(HammingCache));
		cache->layout = layout;
		cache->plan_radius = -1;
		index->rd_amcache = cache;
	}
	return cache->layout;
}

/*
 * Return the shape of a tree, as its root shows it.  In uniform data the
 * children of the root have different values of the leading block, as long as
 * there are enough of these.  Where some have the same value, the block is
 * nearly constant, as one of hashes of 32 bits is.
 */
static HammingShape
measure_tree(Relation index, HammingLayout layout, int tree)
{
	Buffer		root = hamming_read(index, hamming_root(layout, tree),
									BUFFER_LOCK_SHARE, NULL);
	Page		page = BufferGetPage(root);
	int			level = hamming_special(page)->level;
	int			children = level == 0 ? 1 : hamming_page_count(page);
	int			width = hamming_block_width(layout.blocks,
											HAMMING_TREE_BLOCK(tree));
	HammingShape shape = {children, width};
	int			values = 1;
	int			rank;

	for (rank = 1; rank < children; rank++)
	{
		uint64		difference = hamming_inner_key(page, rank - 1).words[0] ^
		hamming_inner_key(page, rank).words[0];

		values += (difference & hamming_leading_bits(width)) != 0;
	}
	if (values < children)
		shape.leading_bits = log2(values);
	UnlockReleaseBuffer(root);

	/* pages that fill by random insertions are full to ln 2 (Yao 1978) */
	while (--level > 0)
		shape.leaves *= 0.7 * hamming_capacity(layout, tree, 1);
	return shape;
}

/*
 * Return the shapes of the trees.  They may be a little old.  PostgreSQL may
 * free them when it next looks for invalidation messages.
 */
const HammingShape *
hamming_measure(Relation index)
{
	/* PostgreSQL may have freed the cache since the index was opened */
	HammingLayout layout = hamming_layout(index);
	HammingCache *cache = index->rd_amcache;
	int			tree;

	if (cache->age++ % SHAPES_AGE == 0)
	{
		for (tree = 0; tree < HAMMING_TREES;
			 tree = hamming_next_tree(layout, tree))
			cache->shapes[tree] = measure_tree(index, layout, tree);
		cache->shapes[HAMMING_NULLS] = measure_tree(index, layout,
													HAMMING_NULLS);
		cache->plan_radius = -1;
	}
	return cache->shapes;
}

/*
 * Return a plan of searches within radius.  That of the last radius is
 * remembered: to make a plan takes as long as to read several leaves.
 */
const HammingPlan *
hamming_cached_plan(Relation index, int radius)
{
	const HammingShape *shapes = hamming_measure(index);
	HammingCache *cache = index->rd_amcache;

	if (cache->plan_radius != radius)
	{
		cache->plan = hamming_plan(cache->layout, shapes, radius);
		cache->plan_radius = radius;
	}
	return &cache->plan;
}
