/*
 * side.h
 *	  The rows of one side of a search for pairs: in memory, where they are
 *	  grouped by key and fingerprint, or in a temporary file.
 */
#ifndef SIMHASH_SIDE_H
#define SIMHASH_SIDE_H

#include "near/fplist.h"

typedef struct NearRow
{
	uint64		payload;		/* what the caller knows the row by */
	uint32		number;			/* of the row, if the side keeps numbers */
	uint32		key;			/* a hash of what must be equal in a pair, if
								 * the side keeps keys */
	uint64		words[HAMMING_MAX_WORDS];	/* of the fingerprint */
} NearRow;

/* What a row of that many words takes in a file, in bytes. */
static inline Size
near_row_bytes(int word_count)
{
	return offsetof(NearRow, words) + word_count * sizeof(uint64);
}

/*
 * In memory, while rows are added, the list has the fingerprint of each row,
 * and as its number the row's place in payloads, numbers and keys.  Then the
 * rows are grouped: the list has each distinct fingerprint of each key once,
 * numbered from 0 on, and the rows of fingerprint n are at
 * starts[n] .. starts[n + 1] - 1 of the other arrays.  The fingerprints of one
 * key stand side by side, and keys ascend.
 */
typedef struct NearSide
{
	MemoryContext context;		/* that memory is taken from */
	bool		keeps_numbers;
	bool		keeps_keys;
	uint64		count;			/* of rows */

	BufFile    *file;			/* NULL: the rows are in memory */
	FingerprintList list;
	uint64	   *payloads;		/* of rows */
	uint32	   *numbers;		/* of rows; NULL: none is kept */
	uint32	   *keys;			/* the same */
	uint32	   *starts;			/* one more than there are fingerprints; NULL
								 * while rows are added */
	uint32	   *groups;			/* where the fingerprints of each key begin on
								 * the list: one more than there are keys */
	uint32		group_count;	/* of keys; 1 if none are kept */
	Size		capacity;		/* rows that memory has room for */
} NearSide;

/* A Bloom filter pays if it is asked WORTH_BLOOM times for each of its rows. */
#define WORTH_BLOOM 2

typedef struct FilterPlan
{
	double		looks;			/* what a fingerprint takes, in looks at a
								 * mask; 0 for no filter */
	int			levels;			/* segments that make a mask; 0: it is
								 * compared with all of the list */
	int			log_size;		/* the masks have 2^log_size bits */
	double		passes;			/* the fraction of other fingerprints that
								 * would pass, if they are random */
} FilterPlan;

typedef struct NearFilter
{
	int			word_count;
	int			radius;
	int			radii[HAMMING_MAX_WORDS];	/* of the words */
	uint64	   *bits;			/* of the masks; NULL: there is a list */
	int			shift;			/* of a hash, to the index of 64 bits */
	int			count;			/* of the list */
	int			ends[HAMMING_MAX_WORDS];	/* the masks of word w end here:
											 * those of the next one follow */
	uint64		values[FLEXIBLE_ARRAY_MEMBER];	/* the masks; or the list,
												 * word by word */
} NearFilter;

/* side.c */
extern void hamming_side_begin(NearSide *side, int word_count,
							   bool keeps_numbers, bool keeps_keys);
extern void hamming_side_add(NearSide *side, const NearRow *row);
extern void hamming_side_reserve(NearSide *side, Size rows);
extern bool hamming_side_make_room(NearSide *side, Size memory);
extern void hamming_side_filter(NearSide *side, const NearFilter *filter);
extern void hamming_side_to_file(NearSide *side);
extern void hamming_side_add_within(NearSide *side, const NearRow *row,
									Size memory);
extern void hamming_side_seek(NearSide *side, uint64 place);
extern void hamming_side_read(NearSide *side, NearRow *row);
extern void hamming_side_group(NearSide *side);
extern bool hamming_sides_next_key(const NearSide *x, const NearSide *y,
								   uint32 *next, Candidates *all);
extern void hamming_side_end(NearSide *side);

/* filter.c */
extern FilterPlan hamming_filter_plan(int word_count, double rows,
									  double others, int radius, Size memory);
extern NearFilter *hamming_filter_make(const FingerprintList *list,
									   double others, int radius, Size memory);
extern bool hamming_filter_passes(const NearFilter *filter,
								  const uint64 *words);

/* What a row takes in memory, in bytes, if the side keeps all. */
#define SIDE_ROW_BYTES(word_count) \
	(FPLIST_BYTES(word_count) + sizeof(uint64) + 4 * sizeof(uint32))

/* Return what the side takes for each row that it has room for, in bytes. */
static inline Size
side_row_bytes(const NearSide *side)
{
	return SIDE_ROW_BYTES(side->list.word_count) -
		(side->keeps_numbers ? 0 : sizeof(uint32)) -
		(side->keeps_keys ? 0 : 2 * sizeof(uint32));
}

/* Return how many such rows memory has room for: 2 or more. */
static inline uint64
side_rows_within(const NearSide *side, Size memory)
{
	return Max(memory / side_row_bytes(side), 2);
}

/* Return how many bytes of memory the side takes now. */
static inline Size
side_memory(const NearSide *side)
{
	return side->capacity * side_row_bytes(side);
}

#endif							/* SIMHASH_SIDE_H */
