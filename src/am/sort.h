/*
 * sort.h
 *	  Keys and numbers, sorted within some memory.
 */
#ifndef SIMHASH_AM_SORT_H
#define SIMHASH_AM_SORT_H

#include "port/atomics.h"
#include "storage/buffile.h"
#include "storage/sharedfileset.h"

#include "am/am.h"

/* Where processes leave sorted elements for each other. */
typedef struct HammingSharedRuns
{
	SharedFileSet files;		/* "0", "1", ... */
	pg_atomic_uint32 count;		/* of files */
} HammingSharedRuns;

/*
 * A sorted sequence that is being read: all in memory, in a file, or merged out
 * of two others.
 */
typedef struct HammingReader
{
	int			width;			/* words of an element */
	BufFile    *file;			/* or NULL */
	Size		left;			/* elements of the file to be read yet */
	struct HammingReader *merged[2];	/* or NULL */
	const uint64 *words;		/* elements at hand, */
	Size		count;			/* and how many */
	uint64		own[FLEXIBLE_ARRAY_MEMBER]; /* room for READ_AT_ONCE */
} HammingReader;

/*
 * Sorts keys.  An element is the first words of a key, and the TID if all are
 * with TIDs, each as 64 bits.
 */
typedef struct HammingSorter
{
	int			key_width;		/* words that a key has, */
	int			width;			/* and an element */
	uint64	   *words;			/* elements in memory */
	Size		count;
	Size		room;			/* for elements */
	Size		most;			/* that room may become */
	uint64	   *scratch;		/* while memory is sorted */
	Size		scratch_room;	/* for elements */
	HammingSharedRuns *shared;	/* where all elements go; NULL if they are for
								 * this process only */
	List	   *runs;			/* open files, each sorted; NIL if all
								 * elements are in memory */
	MemoryContext readers;
	HammingReader *reader;		/* of what is sorted, or NULL */
} HammingSorter;

extern HammingSorter *hamming_sorter_begin(int key_width, bool has_tids,
										   int kilobytes);
extern void hamming_sorter_make_room(HammingSorter *sorter);
extern void hamming_sorter_finish(HammingSorter *sorter);
extern void hamming_sorter_open_shared(HammingSorter *sorter);
extern void hamming_sorter_rewind(HammingSorter *sorter, int first, int count);
extern void hamming_sorter_end(HammingSorter *sorter);
extern bool hamming_reader_refill(HammingReader *reader);

/* Add a key, or what elements have of it. */
static inline void
hamming_sorter_add_key(HammingSorter *sorter, HammingKey key)
{
	uint64	   *words;
	int			i;

	if (sorter->count == sorter->room)
		hamming_sorter_make_room(sorter);
	words = sorter->words + sorter->width * sorter->count++;
	words[0] = key.words[0];
	for (i = 1; i < sorter->key_width; i++)
		words[i] = key.words[i];
	if (sorter->width > sorter->key_width)
		words[sorter->key_width] = key.tid;
}

/*
 * Get the next key.  What elements lack of it is 0.  Return false after the
 * last.
 */
static inline bool
hamming_sorter_next_key(HammingSorter *sorter, HammingKey *key)
{
	HammingReader *reader = sorter->reader;
	const uint64 *words;
	int			i;

	if (reader->count == 0 && !hamming_reader_refill(reader))
		return false;
	words = reader->words;
	reader->words += reader->width;
	reader->count--;
	*key = hamming_word_key(words[0]);
	for (i = 1; i < sorter->key_width; i++)
		key->words[i] = words[i];
	if (reader->width > sorter->key_width)
		key->tid = words[sorter->key_width];
	return true;
}

#endif							/* SIMHASH_AM_SORT_H */
