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

typedef struct HammingReader HammingReader;

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
	HammingReader *reader;		/* of hamming_sorter_next_key(); NULL before
								 * the first key */
} HammingSorter;

extern HammingSorter *hamming_sorter_begin(int width, int kilobytes);
extern void hamming_sorter_make_room(HammingSorter *sorter);
extern void hamming_sorter_finish(HammingSorter *sorter);
extern void hamming_sorter_open_shared(HammingSorter *sorter);
extern void hamming_sorter_end(HammingSorter *sorter);
extern bool hamming_sorter_next_key(HammingSorter *sorter, HammingKey *key);
extern HammingReader *hamming_sorter_read(HammingSorter *sorter);
extern HammingReader *hamming_sorter_read_runs(HammingSorter *sorter, int first,
											   int count);
extern const uint64 *hamming_reader_next(HammingReader *reader, Size *count);
extern void hamming_reader_end(HammingReader *reader);

/* Return the words of a new element, which the caller sets. */
static inline uint64 *
hamming_sorter_add(HammingSorter *sorter)
{
	if (sorter->count == sorter->room)
		hamming_sorter_make_room(sorter);
	return sorter->words + sorter->width * sorter->count++;
}

/* Add a key, or, where the elements are fingerprints, the bits of the key. */
static inline void
hamming_sorter_add_key(HammingSorter *sorter, HammingKey key)
{
	uint64	   *words = hamming_sorter_add(sorter);

	fingerprint_to_words(key.bits, words);
	if (sorter->width > FINGERPRINT_WORDS)
		words[FINGERPRINT_WORDS] = key.tid;
}

/* Return an element as a key: that of a fingerprint with the TID 0. */
static inline HammingKey
hamming_sorter_key(const HammingSorter *sorter, const uint64 *words)
{
	return hamming_key(fingerprint_from_words(words),
					   sorter->width > FINGERPRINT_WORDS
					   ? words[FINGERPRINT_WORDS] : 0);
}

#endif							/* SIMHASH_AM_SORT_H */
