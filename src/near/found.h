/*
 * found.h
 *	  The pairs of two lists, or of one, that a team of processes finds.
 */
#ifndef SIMHASH_FOUND_H
#define SIMHASH_FOUND_H

#include "near/compare.h"
#include "near/together.h"

/* What a team is to search. */
typedef struct FoundSearch
{
	const FingerprintList *x;
	const FingerprintList *y;	/* may be x */
	int			radius;
	int			workers;		/* to be asked for: 1 or more */
	Candidates *keys;			/* places of x and of y that are compared: an
								 * array, which the search changes */
	uint32		key_count;		/* 1 or more */
	const bool *settled;		/* numbers of x that need no pair; or NULL */
	bool		any_pair_settles;	/* then no other pair of x is needed */
} FoundSearch;

/* What the search took. */
typedef struct FoundWork
{
	int			launched;		/* workers */
	uint64		compared;		/* pairs */
	Size		memory;			/* that all processes have shared, in bytes */
	uint64		written;		/* bytes of pairs, to files */
} FoundWork;

/* pairs.c takes the pairs; found.c knows the struct. */
typedef struct Found Found;

extern Found *hamming_found_search(const FoundSearch *search, FoundWork *work);
extern bool hamming_found_next(Found *found, FoundPair *pair);
extern void hamming_found_end(Found *found);
extern PGDLLEXPORT void hamming_found_main(dsm_segment *segment, shm_toc *toc);

#endif							/* SIMHASH_FOUND_H */
