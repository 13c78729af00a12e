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
 * Sorts elements: rotated fingerprints, of FINGERPRINT_WORDS words of 64 bits,
 * or keys, of HAMMING_KEY_WORDS.  Elements are in the order of their words.
 */
typedef struct HammingSorter
{
	int			width;			/* words of an element */
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
	const uint64 *next;			/* of these, */
	Size		left;			/* and how many are at hand */
} HammingSorter;

extern HammingSorter *hamming_sorter_begin(int width, int kilobytes);
extern void hamming_sorter_make_room(HammingSorter *sorter);
extern void hamming_sorter_finish(HammingSorter *sorter);
extern void hamming_sorter_open_shared(HammingSorter *sorter);
extern void hamming_sorter_rewind(HammingSorter *sorter, int first, int count);
extern void hamming_sorter_end(HammingSorter *sorter);
extern bool hamming_sorter_read_on(HammingSorter *sorter);

/* Add a key, or, where the elements are fingerprints, that of the key. */
static inline void
hamming_sorter_add_key(HammingSorter *sorter, HammingKey key)
{
	uint64	   *words;

	if (sorter->count == sorter->room)
		hamming_sorter_make_room(sorter);
	words = sorter->words + sorter->width * sorter->count++;
	fingerprint_to_words(key.rotated, words);
	if (sorter->width > FINGERPRINT_WORDS)
		words[FINGERPRINT_WORDS] = key.tid;
}

/*
 * Get the next element as a key, that of a fingerprint with the TID 0.  Return
 * false after the last.
 */
static inline bool
hamming_sorter_next_key(HammingSorter *sorter, HammingKey *key)
{
	if (sorter->left == 0 && !hamming_sorter_read_on(sorter))
		return false;
	key->rotated = fingerprint_from_words(sorter->next);
	key->tid = sorter->read_width > FINGERPRINT_WORDS
		? sorter->next[FINGERPRINT_WORDS] : 0;
	sorter->next += sorter->read_width;
	sorter->left--;
	return true;
}

#endif							/* SIMHASH_AM_SORT_H */
