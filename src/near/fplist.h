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
 * A list has one word of each fingerprint, apart from the numbers, so that
 * hamming_match() can compare several at a time.  All words of a fingerprint
 * are found by its number: so a list can turn to another word at any time, and
 * several lists may have the same words.  Of fingerprints of one word, current
 * is all there is.
 */
typedef struct FingerprintList
{
	uint64	   *current;		/* the current word of each fingerprint */
	uint32	   *numbers;		/* the number of each */
	uint32		count;			/* fingerprints on the list */
	/* of the same size, for sorting; free for other use between two sorts */
	uint64	   *spare;
	uint32	   *spare_numbers;
	int			word_count;		/* of a fingerprint */
	uint64	   *words[HAMMING_MAX_WORDS];	/* words[w][number], of several
											 * words */
	bool		borrows_words;	/* does another list hold the words? */
	Team	   *team;			/* whose memory has the list, and which sorts
								 * it; NULL for a list of this process */
	uint32	   *places;			/* of a team, FPLIST_PLACES in that memory:
								 * see sort_by_buckets() */
} FingerprintList;

/* What a list takes for each fingerprint that it has room for, in bytes. */
#define FPLIST_BYTES(word_count) \
	(2 * (sizeof(uint64) + sizeof(uint32)) + \
	 ((word_count) > 1 ? (word_count) * sizeof(uint64) : 0))

#define FPLIST_PLACES 65536

/* The kinds of steps that hamming_fplist_work() does: 0 .. FPLIST_STEPS - 1. */
#define FPLIST_STEPS 3

/*
 * Each fingerprint at the places x .. x_end - 1 of one list is to be compared
 * with each at y .. y_end - 1 of another.  In a search within one list both
 * are stretches of this list.  Such stretches are the same, or have no place
 * in common.
 */
typedef struct Candidates
{
	uint32		x;
	uint32		x_end;
	uint32		y;
	uint32		y_end;
} Candidates;

extern void hamming_fplist_allocate(FingerprintList *list, int word_count,
									Size capacity);
extern void hamming_fplist_allocate_beside(FingerprintList *list,
										   const FingerprintList *other,
										   Size capacity);
extern void hamming_fplist_free(FingerprintList *list);
extern void hamming_fplist_sort(FingerprintList *list, uint32 from, uint32 to,
								int low, int high);
extern void hamming_fplist_sort_words(FingerprintList *list, uint32 from,
									  uint32 to, int word);
extern void hamming_fplist_turn(FingerprintList *list, uint32 from, uint32 to,
								int word);
extern Size hamming_fplist_map(FingerprintList *list, char *memory,
							   int word_count, Size capacity);
extern void hamming_fplist_copy(FingerprintList *list,
								const FingerprintList *other, uint32 from,
								uint32 end);
extern void hamming_fplist_bring(FingerprintList *list,
								 const FingerprintList *other, uint32 numbers);
extern void hamming_fplist_work(FingerprintList *list, const TeamStep *step,
								uint32 unit);
extern uint32 hamming_fplist_find(const FingerprintList *list, uint32 from,
								  uint32 end, uint32 hint, uint64 bits,
								  uint64 key);

/*
 * The list must have room for one more, and be turned to word 0.  words has all
 * of a fingerprint.
 */
static inline void
fplist_append(FingerprintList *list, const uint64 *words, uint32 number)
{
	int			i;

	list->current[list->count] = words[0];
	list->numbers[list->count++] = number;
	for (i = 0; list->word_count > 1 && i < list->word_count; i++)
		list->words[i][number] = words[i];
}

/* Set words to all of the fingerprint at place i. */
static inline void
fplist_words(const FingerprintList *list, uint32 i, uint64 *words)
{
	int			w;

	words[0] = list->current[i];
	for (w = 0; list->word_count > 1 && w < list->word_count; w++)
		words[w] = list->words[w][list->numbers[i]];
}

/*
 * Both lists have that word.  Set difference[w] to the bits in which word w of
 * the fingerprints at i of a, and at j of b, differs.  Return their distance.
 */
static inline int
fplist_differ(const FingerprintList *a, uint32 i, const FingerprintList *b,
			  uint32 j, int word, uint64 *difference)
{
	int			distance;
	int			w;

	difference[word] = a->current[i] ^ b->current[j];
	distance = pg_popcount64(difference[word]);
	for (w = 0; w < a->word_count; w++)
	{
		if (w == word)
			continue;
		difference[w] = a->words[w][a->numbers[i]] ^
			b->words[w][b->numbers[j]];
		distance += pg_popcount64(difference[w]);
	}
	return distance;
}

static inline void
fplist_swap(FingerprintList *list, uint32 i, uint32 j)
{
	uint64		word = list->current[i];
	uint32		number = list->numbers[i];

	list->current[i] = list->current[j];
	list->numbers[i] = list->numbers[j];
	list->current[j] = word;
	list->numbers[j] = number;
}

/*
 * Return where the words from from on cease to agree in bits, by which the
 * places from .. end - 1 must be sorted.
 */
static inline uint32
fplist_end_of_run(const FingerprintList *list, uint32 from, uint32 end,
				  uint64 bits)
{
	uint64		key = list->current[from] & bits;
	uint64		next = ((key | ~bits) + 1) & bits;

	/* most runs are short */
	if (from + 1 == end || (list->current[from + 1] & bits) != key)
		return from + 1;
	return next == 0 ? end
		: hamming_fplist_find(list, from + 1, end, from + 1, bits, next);
}

#endif							/* SIMHASH_FPLIST_H */
