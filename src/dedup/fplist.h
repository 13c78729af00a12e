/*
 * fplist.h
 *	  Fingerprints with a number each, sorted by some of their bits.
 */
#ifndef FPLIST_H
#define FPLIST_H

#include "type/hamming.h"

/*
 * Parallel arrays, so that the fingerprints of a stretch can be compared
 * eight at a time.  24 bytes for each of the count.
 */
typedef struct FingerprintList
{
	uint64	   *fps;
	uint32	   *ids;
	uint32		count;
	uint64	   *spare_fps;		/* room for as many, which sorting needs */
	uint32	   *spare_ids;
} FingerprintList;

extern void simhash_fplist_allocate(FingerprintList *list, Size capacity);
extern void simhash_fplist_enlarge(FingerprintList *list, Size capacity);
extern void simhash_fplist_free(FingerprintList *list);
extern void simhash_fplist_sort(FingerprintList *list, uint32 from, uint32 to,
								int low, int high);

static inline void
fplist_append(FingerprintList *list, uint64 fingerprint, uint32 id)
{
	list->fps[list->count] = fingerprint;
	list->ids[list->count++] = id;
}

static inline void
fplist_swap(FingerprintList *list, uint32 i, uint32 j)
{
	uint64		fingerprint = list->fps[i];
	uint32		id = list->ids[i];

	list->fps[i] = list->fps[j];
	list->ids[i] = list->ids[j];
	list->fps[j] = fingerprint;
	list->ids[j] = id;
}

#endif							/* FPLIST_H */
