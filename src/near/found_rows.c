/*
 * found_rows.c
 *	  The rows of pairs that the processes of a team have found, in files.
 *
 * Each process writes to a file of its own.  Once all have ended, the leader
 * reads one file after the other.  The rows of a pair of fingerprints are
 * written once, and not once for each pair of rows: of m and n rows, m + n and
 * not m * n.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "near/found_rows.h"
#include "type/compat.h"

/* What comes before the rows of a pair. */
typedef struct PairHeader
{
	uint32		x_count;
	uint32		y_count;		/* 0 if the rows are the same */
	int32		distance;
} PairHeader;

/* Write the rows from .. from + count - 1. */
static void
write_rows(TeamFile *file, const NearSide *side, uint32 from, uint32 count)
{
	simhash_team_file_write(file, side->payloads + from,
							count * sizeof(uint64));
	if (side->keeps_numbers)
		simhash_team_file_write(file, side->numbers + from,
								count * sizeof(uint32));
}

/* Write the rows of a pair to the file of this process. */
void
hamming_rows_write(FoundRows *rows, const NearPair *pair)
{
	PairHeader	header = {
		.x_count = pair->x_end - pair->x,
		.y_count = pair->is_same ? 0 : pair->y_end - pair->y,
		.distance = pair->distance
	};

	simhash_team_file_write(&rows->file, &header, sizeof(header));
	write_rows(&rows->file, pair->x_side, pair->x, header.x_count);
	write_rows(&rows->file, pair->y_side, pair->y, header.y_count);
}

/* Read count rows to the side, which has room for no more than these need. */
static void
read_rows(BufFile *file, NearSide *side, uint32 count)
{
	MemoryContext context = side->context;

	if (count > side->capacity)
	{
		if (side->capacity > 0)
		{
			pfree(side->payloads);
			pfree(side->numbers);
		}
		side->capacity = Max(count, 2 * side->capacity);
		side->payloads = MemoryContextAllocHuge(context, side->capacity *
												sizeof(uint64));
		side->numbers = MemoryContextAllocHuge(context, side->capacity *
											   sizeof(uint32));
	}
	if (count == 0)
		return;
	BufFileReadExact(file, side->payloads, count * sizeof(uint64));
	if (side->keeps_numbers)
		BufFileReadExact(file, side->numbers, count * sizeof(uint32));
}

/*
 * Get the next pair; return false if there is none left.  The caller has set up
 * rows->file, and has begun both sides.
 */
bool
hamming_rows_next(FoundRows *rows, NearPair *pair)
{
	PairHeader	header;

	/* the caller may be in a context of one row */
	MemoryContext old = MemoryContextSwitchTo(rows->sides[0].context);
	bool		found = simhash_team_file_read(&rows->file, &header,
											   sizeof(header));

	MemoryContextSwitchTo(old);
	if (!found)
		return false;
	read_rows(rows->file.file, &rows->sides[0], header.x_count);
	read_rows(rows->file.file, &rows->sides[1], header.y_count);
	memset(pair, 0, sizeof(NearPair));
	pair->is_same = header.y_count == 0;
	pair->distance = header.distance;
	pair->x_side = &rows->sides[0];
	pair->x_end = header.x_count;
	pair->y_side = &rows->sides[pair->is_same ? 0 : 1];
	pair->y_end = pair->is_same ? header.x_count : header.y_count;
	return true;
}
