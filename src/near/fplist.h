/*
 * fplist.h
 *	  Lists of fingerprints, with a number each, that are sorted by some of
 *	  their bits.
 */
#ifndef SIMHASH_FPLIST_H
#define SIMHASH_FPLIST_H

#include "near/team.h"
#include "type/hamming.h"

/*
 * The fingerprints stand apart from their numbers, so that hamming_match() can
 * compare several at a time.  A list takes FPLIST_BYTES for each that it has
 * room for.
 */
typedef struct FingerprintList
{
	Fingerprint *fps;			/* fingerprints */
	uint32	   *numbers;		/* the number of each */
	uint32		count;			/* fingerprints on the list */
	/* of the same size, for sorting; free for other use between two sorts */
	Fingerprint *spare_fps;
	uint32	   *spare_numbers;
	Team	   *team;			/* whose memory has the list, and which sorts
								 * it; NULL for a list of this process */
	uint32	   *places;			/* of a team, FPLIST_PLACES in that memory:
								 * see sort_by_buckets() */
} FingerprintList;

#define FPLIST_BYTES (2 * (sizeof(Fingerprint) + sizeof(uint32)))

#define FPLIST_PLACES 65536

/* The kinds of steps that hamming_fplist_work() does: 0 .. FPLIST_STEPS - 1. */
#define FPLIST_STEPS 3

extern void hamming_fplist_allocate(FingerprintList *list, Size capacity);
extern void hamming_fplist_free(FingerprintList *list);
extern void hamming_fplist_sort(FingerprintList *list, uint32 from, uint32 to,
								int low, int high);
extern Size hamming_fplist_map(FingerprintList *list, char *memory,
							   Size capacity);
extern void hamming_fplist_copy(FingerprintList *list,
								const FingerprintList *other, uint32 from,
								uint32 end);
extern void hamming_fplist_work(FingerprintList *list, const TeamStep *step,
								uint32 unit);
extern uint32 hamming_fplist_find(const FingerprintList *list, uint32 from,
								  uint32 end, uint32 hint, Fingerprint bits,
								  Fingerprint key);

/* The list must have room for one more. */
static inline void
fplist_append(FingerprintList *list, Fingerprint fingerprint, uint32 number)
{
	list->fps[list->count] = fingerprint;
	list->numbers[list->count++] = number;
}

static inline void
fplist_swap(FingerprintList *list, uint32 i, uint32 j)
{
	Fingerprint fingerprint = list->fps[i];
	uint32		number = list->numbers[i];

	list->fps[i] = list->fps[j];
	list->numbers[i] = list->numbers[j];
	list->fps[j] = fingerprint;
	list->numbers[j] = number;
}

/*
 * Return where the fingerprints from from on cease to agree in bits, by which
 * the places from .. end - 1 must be sorted.
 */
static inline uint32
fplist_end_of_run(const FingerprintList *list, uint32 from, uint32 end,
				  Fingerprint bits)
{
	Fingerprint key = list->fps[from] & bits;
	Fingerprint next = ((key | ~bits) + 1) & bits;

	/* most runs are short */
	if (from + 1 == end || (list->fps[from + 1] & bits) != key)
		return from + 1;
	return next == 0 ? end
		: hamming_fplist_find(list, from + 1, end, from + 1, bits, next);
}

#endif							/* SIMHASH_FPLIST_H */
