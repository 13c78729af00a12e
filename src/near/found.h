/*
 * found.h
 *	  The pairs of one list that a team of processes finds, in files or in
 *	  shared memory.
 */
#ifndef SIMHASH_FOUND_H
#define SIMHASH_FOUND_H

#include "near/compare.h"
#include "near/together.h"

#define hamming_found_begin WIDE(hamming_found_begin)
#define hamming_found_pause WIDE(hamming_found_pause)
#define hamming_found_is_ready WIDE(hamming_found_is_ready)
#define hamming_found_search WIDE(hamming_found_search)
#define hamming_found_next WIDE(hamming_found_next)
#define hamming_found_end WIDE(hamming_found_end)
#define hamming_found_main WIDE(hamming_found_main)

/* pairs.c takes the pairs; found.c knows the struct. */
typedef struct Found Found;

extern Found *hamming_found_begin(FingerprintList *list, int radius);
extern void hamming_found_pause(Found *found);
extern bool hamming_found_is_ready(const Found *found);
extern bool hamming_found_search(Found *found, FingerprintList *list);
extern bool hamming_found_next(Found *found, FoundPair *pair);
extern void hamming_found_end(Found *found);
extern PGDLLEXPORT void hamming_found_main(dsm_segment *segment, shm_toc *toc);

#endif							/* SIMHASH_FOUND_H */
