/*
 * write.h
 *	  Writing a tree of an index that is being built, leaves first.
 */
#ifndef SIMHASH_AM_WRITE_H
#define SIMHASH_AM_WRITE_H

#include "access/xlogrecord.h"

#include "am/am.h"

/*
 * Pages that are added together, and logged in one record.  One at a time, two
 * processes wait for each other so long that they take 0.83 of the time of one,
 * at 10 million rows, and not 0.61.
 */
#define HAMMING_PAGES_TOGETHER XLR_MAX_BLOCK_ID

/* A tree that is being written, leaves first. */
typedef struct HammingWriter
{
	Relation	index;
	int			tree;
	HammingKey	low;			/* of the leaf that is being filled */
	HammingKey	keys[HAMMING_LEAF_CAPACITY + 1];	/* of that leaf and the
													 * next one, sorted */
	int			count;			/* of keys */
	int			least;			/* keys that a leaf takes at least */
	int			most;			/* and at most */
	int			height;			/* levels that have a page; 1 as long as
								 * leaves are in no inner page */
	PGAlignedBlock leaves[HAMMING_PAGES_TOGETHER];	/* yet to be written */
	int			filled;			/* of these */
	PGAlignedBlock inner[HAMMING_MAX_HEIGHT];	/* by level, from 1 on: being
												 * filled */
} HammingWriter;

extern void hamming_write_page(Relation index, ForkNumber fork, Buffer buffer,
							   Page page);
extern HammingWriter *hamming_writer_begin(Relation index, int tree);
extern void hamming_writer_cut(HammingWriter *writer);
extern void hamming_writer_end(HammingWriter *writer);

/* Write a key, which is not below those before, if it is another one. */
static inline void
hamming_writer_add(HammingWriter *writer, HammingKey key)
{
	if (writer->count > 0 &&
		hamming_key_compare(key, writer->keys[writer->count - 1]) == 0)
		return;
	writer->keys[writer->count++] = key;
	if (writer->count > writer->most)
		hamming_writer_cut(writer);
}

#endif							/* SIMHASH_AM_WRITE_H */
