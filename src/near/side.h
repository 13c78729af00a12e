/*
 * side.h
 *	  The rows of one side of a search for pairs: in memory, where they are
 *	  grouped by key and fingerprint, or in a temporary file.
 */
#ifndef SIMHASH_SIDE_H
#define SIMHASH_SIDE_H

#include "near/cut.h"
#include "near/fplist.h"

typedef struct NearRow
{
	Fingerprint fp;				/* the fingerprint */
	uint64		payload;		/* what the caller knows the row by */
	uint32		number;			/* of the row, if the side keeps numbers */
	uint32		key;			/* a hash of what must be equal in a pair, if
								 * the side keeps keys */
} NearRow;

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
	Fingerprint first;			/* fingerprint of the first row */
	Fingerprint varying;		/* bits in which others differ from it */

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

extern void hamming_side_begin(NearSide *side, bool keeps_numbers,
							   bool keeps_keys);
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
extern void hamming_side_end(NearSide *side);

/* What a row takes in memory, in bytes, if the side keeps all. */
#define SIDE_ROW_BYTES \
	(FPLIST_BYTES + sizeof(uint64) + 4 * sizeof(uint32))

/* Return what the side takes for each row that it has room for, in bytes. */
static inline Size
side_row_bytes(const NearSide *side)
{
	return SIDE_ROW_BYTES - (side->keeps_numbers ? 0 : sizeof(uint32)) -
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
