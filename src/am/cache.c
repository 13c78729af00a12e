/*
 * cache.c
 *	  What a session remembers of an index.
 *
 * It is kept in rd_amcache of the relation descriptor.  PostgreSQL frees that
 * when it rebuilds the descriptor, as after REINDEX.
 */
#include "postgres.h"

#include <math.h>

#include "port/pg_bitutils.h"

#include "am/am.h"

/* hamming_measure() measures at each SHAPES_AGE-th call: the index may grow. */
#define SHAPES_AGE 64

/* After an eviction EVICTED_FOR pages are found by the buffer table. */
#define EVICTED_FOR 64

/* The least and the most slots: 4 bytes each. */
#define MIN_SLOTS 128
#define MAX_SLOTS (1 << 22)

typedef struct HammingCache
{
	int			blocks;			/* of a fingerprint */
	int			age;			/* how often shapes were wanted */
	HammingShape shapes[HAMMING_MAX_BLOCKS];	/* of the block tables */
	HammingPlan plan;			/* of searches within plan_radius, by shapes */
	int			plan_radius;	/* -1 without a plan */
	int			evicted;		/* pages that are still to be looked for in
								 * the buffer table, and not where they were */
	uint32		slots;			/* of buffers: a power of two */
	Buffer		buffers[FLEXIBLE_ARRAY_MEMBER]; /* page p was last in the
												 * buffer at p % slots;
												 * invalid if that is not
												 * known */
} HammingCache;

static Size
cache_size(uint32 slots)
{
	return offsetof(HammingCache, buffers) + slots * sizeof(Buffer);
}

/*
 * Read the metapage, before the first use of the index by means of this
 * relation descriptor.  Return the number of blocks that fingerprints are
 * cut into.  Error: XX002.  On entry and on return the caller holds no buffer
 * lock.
 */
int
hamming_open(Relation index)
{
	HammingCache *cache = index->rd_amcache;

	if (cache == NULL)
	{
		int			blocks = hamming_read_blocks(index);

		cache = MemoryContextAllocZero(index->rd_indexcxt,
									   cache_size(MIN_SLOTS));
		cache->blocks = blocks;
		cache->slots = MIN_SLOTS;
		cache->plan_radius = -1;
		index->rd_amcache = cache;
	}
	return cache->blocks;
}

/*
 * Return the shape of a block table, as its root tells it.
 *
 * In uniform data the children of the root have different values of the
 * leading block, as long as there are enough of these.  Where some have the
 * same value, the block is nearly constant, as one of hashes of 32 bits is.
 */
static HammingShape
measure_table(Relation index, int blocks, int table)
{
	Buffer		root = hamming_read(index, HAMMING_ROOT(table),
									BUFFER_LOCK_SHARE, NULL);
	Page		page = BufferGetPage(root);
	int			level = hamming_special(page)->level;
	int			children = level == 0 ? 1 : hamming_page_count(page);
	int			width = hamming_block_width(blocks, table);
	HammingShape shape = {children, width};
	int			values = 1;
	int			rank;

	for (rank = 1; rank < children; rank++)
	{
		HammingBits difference = hamming_inner_key(page, rank - 1).bits ^
		hamming_inner_key(page, rank).bits;

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

/*
 * Set shapes[j] to the shape of block table j, for each block table.  It may be
 * a little old.
 *
 * On entry the index is open, and the caller holds no lock.  A root is locked
 * meanwhile.
 */
void
hamming_measure(Relation index, HammingShape *shapes)
{
	HammingCache *cache = index->rd_amcache;
	int			blocks = cache->blocks;
	int			j;

	if (cache->age++ % SHAPES_AGE == 0)
	{
		HammingShape measured[HAMMING_MAX_BLOCKS];

		for (j = 0; j < blocks; j++)
			measured[j] = measure_table(index, blocks, j);
		/* reading a page may have moved the cache */
		cache = index->rd_amcache;
		memcpy(cache->shapes, measured, blocks * sizeof(HammingShape));
		cache->plan_radius = -1;
	}
	memcpy(shapes, cache->shapes, blocks * sizeof(HammingShape));
}

/*
 * Return a plan of searches within radius.  The plan is by shapes, or by those
 * that another search of this session has measured.  The plan of the last
 * radius is remembered: to make a plan takes as long as to read several leaves.
 */
HammingPlan
hamming_known_plan(Relation index, int blocks, const HammingShape *shapes,
				   int radius)
{
	HammingCache *cache = index->rd_amcache;

	/* PostgreSQL may have freed the cache since */
	if (cache == NULL)
		return hamming_plan(blocks, shapes, radius);
	if (cache->plan_radius != radius)
	{
		cache->plan = hamming_plan(blocks, shapes, radius);
		cache->plan_radius = radius;
	}
	return cache->plan;
}

/*
 * Return the buffer that the page was in when the session read it last, or
 * InvalidBuffer.  Another page may be there by now.
 */
Buffer
hamming_remembered(Relation index, BlockNumber block)
{
	HammingCache *cache = index->rd_amcache;

	if (cache == NULL || cache->evicted > 0)
		return InvalidBuffer;
	return cache->buffers[block & (cache->slots - 1)];
}

/* Remember the buffer that a page is in, for hamming_remembered(). */
void
hamming_remember(Relation index, BlockNumber block, Buffer buffer)
{
	HammingCache *cache = index->rd_amcache;

	if (cache == NULL)
		return;
	if (block >= cache->slots && cache->slots < MAX_SLOTS)
	{
		uint32		slots = pg_nextpower2_32(Min(block + 1, MAX_SLOTS));

		cache = repalloc(cache, cache_size(slots));
		memset(cache->buffers + cache->slots, 0,
			   (slots - cache->slots) * sizeof(Buffer));
		cache->slots = slots;
		index->rd_amcache = cache;
	}
	cache->buffers[block & (cache->slots - 1)] = buffer;
	if (cache->evicted > 0)
		cache->evicted--;
}

/* Note that a page was no longer in the buffer that was remembered. */
void
hamming_note_eviction(Relation index)
{
	HammingCache *cache = index->rd_amcache;

	cache->evicted = EVICTED_FOR;
}
