/*
 * join_side.c
 *	  The rows of one side of a join, grouped by their fingerprints.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "near/join_side.h"

/* Rows that a side has room for at first. */
#define SIDE_CAPACITY 1024

/* Make a side without rows, in the current memory context. */
JoinSide *
simhash_join_side_begin(void)
{
	JoinSide   *side = palloc0(sizeof(JoinSide));

	side->capacity = SIDE_CAPACITY;
	simhash_fplist_allocate(&side->list, side->capacity);
	side->ids = palloc(side->capacity * sizeof(int64));
	return side;
}

/* The side has no rows.  Have it keep the numbers of rows beside their ids. */
void
simhash_join_side_number(JoinSide *side)
{
	side->numbers = palloc(side->capacity * sizeof(uint32));
}

static void
enlarge(JoinSide *side)
{
	side->capacity *= 2;
	simhash_fplist_enlarge(&side->list, side->capacity);
	side->ids = repalloc_huge(side->ids, side->capacity * sizeof(int64));
	if (side->numbers != NULL)
		side->numbers = repalloc_huge(side->numbers,
									  side->capacity * sizeof(uint32));
}

/*
 * Add a row.  number is of use only after simhash_join_side_number().  Error:
 * 54000 for more rows than PG_INT32_MAX.
 */
void
simhash_join_side_add(JoinSide *side, int64 id, uint32 number,
					  Fingerprint fingerprint)
{
	uint32		row = side->list.count;

	if (row == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("more than %d rows cannot be paired", PG_INT32_MAX)));
	if (row == side->capacity)
		enlarge(side);
	fplist_append(&side->list, fingerprint, row);
	side->ids[row] = id;
	if (side->numbers != NULL)
		side->numbers[row] = number;
}

/*
 * Bring the ids and the numbers, which are in the order of rows, into that of
 * the list.
 */
static void
sort_rows(JoinSide *side)
{
	FingerprintList *list = &side->list;
	int64	   *ids = (int64 *) list->spare_fps;
	uint32		i;

	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ids[i] = side->ids[list->ids[i]];
		if (side->numbers != NULL)
			list->spare_ids[i] = side->numbers[list->ids[i]];
	}
	memcpy(side->ids, ids, list->count * sizeof(int64));
	if (side->numbers != NULL)
		memcpy(side->numbers, list->spare_ids, list->count * sizeof(uint32));
}

/* Group the rows by their fingerprints.  No row can be added from then on. */
void
simhash_join_side_group(JoinSide *side)
{
	FingerprintList *list = &side->list;
	uint32		distinct = 0;
	uint32		row;
	uint32		end;

	simhash_fplist_sort(list, 0, list->count, 0, HAMMING_BITS);
	sort_rows(side);
	CHECK_FOR_INTERRUPTS();
	side->starts = palloc_extended(((Size) list->count + 1) * sizeof(uint32),
								   MCXT_ALLOC_HUGE);
	for (row = 0; row < list->count; row = end)
	{
		end = fplist_end_of_run(list, row, list->count, FINGERPRINT_ALL_BITS);
		list->fps[distinct] = list->fps[row];
		list->ids[distinct] = distinct;
		side->starts[distinct++] = row;
	}
	side->starts[distinct] = list->count;
	list->count = distinct;
}

/* Free a side. */
void
simhash_join_side_end(JoinSide *side)
{
	simhash_fplist_free(&side->list);
	pfree(side->ids);
	if (side->numbers != NULL)
		pfree(side->numbers);
	if (side->starts != NULL)
		pfree(side->starts);
	pfree(side);
}
