/*
 * cache.c
 *	  What a session remembers of an index: its blocks, and plans of searches.
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
	int			blocks;			/* of a fingerprint */
	int			age;			/* how often shapes were wanted */
	HammingShape shapes[HAMMING_MAX_BLOCKS];	/* of the block trees */
	HammingPlan plan;			/* of searches within plan_radius, by shapes */
	int			plan_radius;	/* -1 without a plan */
} HammingCache;

/*
 * Return how many blocks the metapage says that fingerprints are cut into.
 * Error: XX002 if this code cannot read the index that it describes.
 */
int
hamming_read_blocks(Relation index)
{
	Buffer		buffer = hamming_read(index, HAMMING_METAPAGE,
									  BUFFER_LOCK_SHARE, NULL);
	Page		page = BufferGetPage(buffer);
	HammingMeta meta;

	memcpy(&meta, PageGetContents(page), sizeof(meta));
	if (hamming_special(page)->kind != HAMMING_PAGE_META ||
		meta.magic != HAMMING_MAGIC)
		hamming_corrupted(index, HAMMING_METAPAGE, "page is not a metapage");
	if (meta.version != HAMMING_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has format version %u, but this version "
						"of simhash requires %d",
						RelationGetRelationName(index), meta.version,
						HAMMING_VERSION),
				 errhint("REINDEX it.")));
	if (meta.width != HAMMING_BITS || meta.blocks < HAMMING_MIN_BLOCKS ||
		meta.blocks > HAMMING_MAX_BLOCKS)
		hamming_corrupted(index, HAMMING_METAPAGE, "blocks are out of range");
	UnlockReleaseBuffer(buffer);
	return meta.blocks;
}

/*
 * Return how many blocks fingerprints are cut into.  The metapage is read once
 * for a relation descriptor.
 */
int
hamming_blocks(Relation index)
{
	HammingCache *cache = index->rd_amcache;

	if (cache == NULL)
	{
		int			blocks = hamming_read_blocks(index);

		cache = MemoryContextAllocZero(index->rd_indexcxt,
									   sizeof(HammingCache));
		cache->blocks = blocks;
		cache->plan_radius = -1;
		index->rd_amcache = cache;
	}
	return cache->blocks;
}

/*
 * Return the shape of a block tree, as its root shows it.
 *
 * In uniform data the children of the root have different values of the
 * leading block, as long as there are enough of these.  Where some have the
 * same value, the block is nearly constant, as one of hashes of 32 bits is.
 */
static HammingShape
measure_tree(Relation index, int blocks, int tree)
{
	Buffer		root = hamming_read(index, HAMMING_ROOT(tree),
									BUFFER_LOCK_SHARE, NULL);
	Page		page = BufferGetPage(root);
	int			level = hamming_special(page)->level;
	int			children = level == 0 ? 1 : hamming_page_count(page);
	int			width = hamming_block_width(blocks, tree);
	HammingShape shape = {children, width};
	int			values = 1;
	int			rank;

	for (rank = 1; rank < children; rank++)
	{
		HammingBits difference = hamming_inner_key(page, rank - 1).rotated ^
		hamming_inner_key(page, rank).rotated;

		values += (difference & hamming_leading_bits(width)) != 0;
	}
	if (values < children)
		shape.leading_bits = log2(values);
	UnlockReleaseBuffer(root);

	/* pages that fill by random insertions are full to ln 2 (Yao 1978) */
	while (--level > 0)
		shape.leaves *= 0.7 * HAMMING_INNER_CAPACITY;
	return shape;
}

/* Set shapes[j] to the shape of block tree j.  It may be a little old. */
void
hamming_measure(Relation index, HammingShape *shapes)
{
	/* PostgreSQL may have freed the cache since the index was opened */
	int			blocks = hamming_blocks(index);
	HammingCache *cache = index->rd_amcache;
	int			j;

	if (cache->age++ % SHAPES_AGE == 0)
	{
		for (j = 0; j < blocks; j++)
			cache->shapes[j] = measure_tree(index, blocks, j);
		cache->plan_radius = -1;
	}
	memcpy(shapes, cache->shapes, blocks * sizeof(HammingShape));
}

/*
 * Return a plan of searches within radius.  That of the last radius is
 * remembered: to make a plan takes as long as to read several leaves.
 */
HammingPlan
hamming_cached_plan(Relation index, int radius)
{
	HammingShape shapes[HAMMING_MAX_BLOCKS];
	HammingCache *cache;

	hamming_measure(index, shapes);
	cache = index->rd_amcache;
	if (cache->plan_radius != radius)
	{
		cache->plan = hamming_plan(cache->blocks, shapes, radius);
		cache->plan_radius = radius;
	}
	return cache->plan;
}
