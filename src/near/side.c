/*
 * side.c
 *	  The rows of one side of a search for pairs: in memory, where they are
 *	  grouped by their fingerprints, or in a temporary file.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "near/side.h"
#include "type/compat.h"

/* Rows that a side has room for at first. */
#define FIRST_CAPACITY 128

/* Make a side without rows, whose memory is that of the current context. */
void
hamming_side_begin(NearSide *side, bool keeps_numbers)
{
	memset(side, 0, sizeof(NearSide));
	side->context = CurrentMemoryContext;
	side->keeps_numbers = keeps_numbers;
}

/* Have memory for at least as many rows, unless they go to a file. */
void
hamming_side_reserve(NearSide *side, Size rows)
{
	if (side->file != NULL || rows <= side->capacity)
		return;
	if (side->capacity == 0)
	{
		MemoryContext old = MemoryContextSwitchTo(side->context);

		simhash_fplist_allocate(&side->list, rows);
		side->payloads = palloc_extended(rows * sizeof(uint64),
										 MCXT_ALLOC_HUGE);
		if (side->keeps_numbers)
			side->numbers = palloc_extended(rows * sizeof(uint32),
											MCXT_ALLOC_HUGE);
		MemoryContextSwitchTo(old);
	}
	else
	{
		simhash_fplist_enlarge(&side->list, rows);
		side->payloads = repalloc_huge(side->payloads, rows * sizeof(uint64));
		if (side->keeps_numbers)
			side->numbers = repalloc_huge(side->numbers,
										  rows * sizeof(uint32));
	}
	side->capacity = rows;
}

/*
 * Have room for one more row, or for many more, but let the side take memory
 * bytes at most.  Return false if that is too little.
 */
bool
hamming_side_make_room(NearSide *side, Size memory)
{
	Size		rows = Max(2 * side->capacity, FIRST_CAPACITY);

	if (side->file != NULL || side->list.count < side->capacity)
		return true;
	rows = Min(rows, memory / side_row_bytes(side->keeps_numbers));
	/* a few more are not worth it to move all */
	if (rows <= side->capacity + side->capacity / 8)
		return false;
	hamming_side_reserve(side, rows);
	return true;
}

/*
 * Add a row.  The side is not grouped.  Error: 54000 for more rows in memory
 * than PG_INT32_MAX.
 */
void
hamming_side_add(NearSide *side, const NearRow *row)
{
	uint32		place = side->list.count;

	if (side->count++ == 0)
		side->first = row->fp;
	side->varying |= row->fp ^ side->first;
	if (side->file != NULL)
	{
		BufFileWrite(side->file, unconstify(NearRow *, row), sizeof(*row));
		return;
	}
	if (place == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("more than %d rows cannot be paired", PG_INT32_MAX)));
	if (place == side->capacity)
		hamming_side_reserve(side, Max(2 * side->capacity, FIRST_CAPACITY));
	fplist_append(&side->list, row->fp, place);
	side->payloads[place] = row->payload;
	if (side->keeps_numbers)
		side->numbers[place] = row->number;
}

/* Free what the rows take in memory. */
static void
free_memory(NearSide *side)
{
	if (side->capacity > 0)
	{
		simhash_fplist_free(&side->list);
		pfree(side->payloads);
	}
	if (side->numbers != NULL)
		pfree(side->numbers);
	if (side->starts != NULL)
		pfree(side->starts);
	memset(&side->list, 0, sizeof(side->list));
	side->payloads = NULL;
	side->numbers = side->starts = NULL;
	side->capacity = 0;
}

/*
 * Move the rows to a file, if they are in memory.  More go there, too.  The
 * side is not grouped.
 */
void
hamming_side_to_file(NearSide *side)
{
	MemoryContext old;
	uint32		i;

	if (side->file != NULL)
		return;
	old = MemoryContextSwitchTo(side->context);
	side->file = BufFileCreateTemp(false);
	MemoryContextSwitchTo(old);
	for (i = 0; i < side->list.count; i++)
	{
		NearRow		row = {.fp = side->list.fps[i],
			.payload = side->payloads[i],
			.number = side->keeps_numbers ? side->numbers[i] : 0
		};

		CHECK_FOR_INTERRUPTS();
		BufFileWrite(side->file, &row, sizeof(row));
	}
	free_memory(side);
}

/* The rows are in a file.  Let the row at place, from 0 on, be read next. */
void
hamming_side_seek(NearSide *side, uint64 place)
{
	if (BufFileSeek(side->file, 0, place * sizeof(NearRow), SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not seek in a temporary file: %m")));
}

/* Read the next row from the file: there must be one. */
void
hamming_side_read(NearSide *side, NearRow *row)
{
	BufFileReadExact(side->file, row, sizeof(*row));
}

/*
 * Bring the payloads and the numbers, which are in the order in which the rows
 * came, into that of the list.
 */
static void
sort_rows(NearSide *side)
{
	FingerprintList *list = &side->list;
	uint64	   *payloads = (uint64 *) list->spare_fps;
	uint32		i;

	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		payloads[i] = side->payloads[list->numbers[i]];
		if (side->keeps_numbers)
			list->spare_numbers[i] = side->numbers[list->numbers[i]];
	}
	memcpy(side->payloads, payloads, list->count * sizeof(uint64));
	if (side->keeps_numbers)
		memcpy(side->numbers, list->spare_numbers,
			   list->count * sizeof(uint32));
}

/*
 * Group the rows, which are in memory, by their fingerprints, unless they are
 * grouped.  No row can be added from then on.
 */
void
hamming_side_group(NearSide *side)
{
	FingerprintList *list = &side->list;
	uint32		distinct = 0;
	uint32		row;
	uint32		end;

	if (side->starts != NULL)
		return;
	side->starts =
		MemoryContextAllocHuge(side->context,
							   (side->capacity + 1) * sizeof(uint32));
	simhash_fplist_sort(list, 0, list->count, 0, HAMMING_BITS);
	sort_rows(side);
	for (row = 0; row < list->count; row = end)
	{
		CHECK_FOR_INTERRUPTS();
		end = fplist_end_of_run(list, row, list->count, FINGERPRINT_ALL_BITS);
		list->fps[distinct] = list->fps[row];
		list->numbers[distinct] = distinct;
		side->starts[distinct++] = row;
	}
	side->starts[distinct] = list->count;
	list->count = distinct;
}

/* Free all rows.  The side is then one without rows. */
void
hamming_side_end(NearSide *side)
{
	free_memory(side);
	if (side->file != NULL)
		BufFileClose(side->file);
	side->file = NULL;
	side->count = 0;
	side->varying = 0;
}
