/*
 * sort.h
 *	  What an index is built from, sorted within some memory.
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
	struct HammingReader *reader;	/* of what is sorted, or NULL */
	int			read_width;		/* of its elements */
	bool		borrowed;		/* is the memory another sorter's? */
	const uint64 *next;			/* of these, */
	Size		left;			/* and how many are at hand */
} HammingSorter;

extern HammingSorter *hamming_sorter_begin(int key_width, bool has_tids,
										   int kilobytes);
extern HammingSorter *hamming_sorter_borrow(HammingSorter *lender);
extern void hamming_sorter_make_room(HammingSorter *sorter);
extern void hamming_sorter_finish(HammingSorter *sorter);
extern void hamming_sorter_open_shared(HammingSorter *sorter);
extern void hamming_sorter_rewind(HammingSorter *sorter, int first, int count);
extern void hamming_sorter_end(HammingSorter *sorter);
extern bool hamming_sorter_read_on(HammingSorter *sorter);

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
	int			i;

	if (sorter->left == 0 && !hamming_sorter_read_on(sorter))
		return false;
	*key = hamming_word_key(sorter->next[0]);
	for (i = 1; i < sorter->key_width; i++)
		key->words[i] = sorter->next[i];
	if (sorter->read_width > sorter->key_width)
		key->tid = sorter->next[sorter->key_width];
	sorter->next += sorter->read_width;
	sorter->left--;
	return true;
}

#endif							/* SIMHASH_AM_SORT_H */
