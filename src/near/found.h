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

/* What a search for pairs of rows, by one process or a team, has taken. */
typedef struct NearWork
{
	uint64		passes;
	uint64		compared;		/* pairs, by teams */
	uint64		written;		/* bytes of partitions, and of pairs that
								 * teams have found */
	Size		most_memory;	/* bytes of rows from files, in any pass */
	Size		team_memory;	/* the most bytes of a team */
	int			launched;		/* the most workers of a team */
} NearWork;

/* A pair of fingerprints. */
typedef struct FoundPair
{
	uint32		x;				/* numbers of the fingerprints */
	uint32		y;
	int32		distance;
} FoundPair;

/* pairs.c takes the pairs; found.c knows the struct. */
typedef struct Found Found;

extern Found *hamming_found_search(const FoundSearch *search, NearWork *work);
extern bool hamming_found_next(Found *found, FoundPair *pair);
extern void hamming_found_end(Found *found);
extern PGDLLEXPORT void hamming_found_main(dsm_segment *segment, shm_toc *toc);

#endif							/* SIMHASH_FOUND_H */
