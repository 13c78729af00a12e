/*
 * side.c
 *	  The rows of one side of a search for pairs: in memory, where they are
 *	  grouped by key and fingerprint, or in a temporary file.
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
hamming_side_begin(NearSide *side, int word_count, bool keeps_numbers,
				   bool keeps_keys)
{
	memset(side, 0, sizeof(NearSide));
	side->context = CurrentMemoryContext;
	side->list.word_count = word_count;
	side->keeps_numbers = keeps_numbers;
	side->keeps_keys = keeps_keys;
}

static void *
resize(NearSide *side, void *array, Size rows, Size size)
{
	if (array == NULL)
		return MemoryContextAllocHuge(side->context, rows * size);
	return repalloc_huge(array, rows * size);
}

/* Make room for rows rows in memory, unless the rows go to a file. */
void
hamming_side_reserve(NearSide *side, Size rows)
{
	FingerprintList *list = &side->list;
	int			w;

	if (side->file != NULL || rows <= side->capacity)
		return;
	list->current = resize(side, list->current, rows, sizeof(uint64));
	list->spare = resize(side, list->spare, rows, sizeof(uint64));
	for (w = 0; list->word_count > 1 && w < list->word_count; w++)
		list->words[w] = resize(side, list->words[w], rows, sizeof(uint64));
	list->numbers = resize(side, list->numbers, rows, sizeof(uint32));
	list->spare_numbers = resize(side, list->spare_numbers, rows,
								 sizeof(uint32));
	side->payloads = resize(side, side->payloads, rows, sizeof(uint64));
	if (side->keeps_numbers)
		side->numbers = resize(side, side->numbers, rows, sizeof(uint32));
	if (side->keeps_keys)
		side->keys = resize(side, side->keys, rows, sizeof(uint32));
	side->capacity = rows;
}

/*
 * Have room for one more row, or for many more, but let the side take memory
 * bytes at most.  Return false if that is too little.
 */
bool
hamming_side_make_room(NearSide *side, Size memory)
{
	Size		most = memory / side_row_bytes(side);
	Size		rows = Min(Max(2 * side->capacity, FIRST_CAPACITY), most);

	if (side->file != NULL || side->list.count < side->capacity)
		return true;
	/* to move all rows for a few more does not pay */
	if (rows <= side->capacity + side->capacity / 8)
		return false;
	hamming_side_reserve(side, rows);
	return true;
}

/*
 * The side must have room, and not be grouped.  Add a row.  Error: 54000 for
 * more rows in memory than PG_INT32_MAX.
 */
void
hamming_side_add(NearSide *side, const NearRow *row)
{
	uint32		place = side->list.count;

	side->count++;
	if (side->file != NULL)
	{
		BufFileWrite(side->file, unconstify(NearRow *, row),
					 near_row_bytes(side->list.word_count));
		return;
	}
	if (place == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot pair more than %d rows in memory",
						PG_INT32_MAX)));
	Assert(place < side->capacity);
	fplist_append(&side->list, row->words, place);
	side->payloads[place] = row->payload;
	if (side->keeps_numbers)
		side->numbers[place] = row->number;
	if (side->keeps_keys)
		side->keys[place] = row->key;
}

/*
 * Set *row to the row that memory has at place, which has the fingerprint at
 * place i of the list.
 */
static void
get_row(const NearSide *side, uint32 i, uint32 place, NearRow *row)
{
	row->payload = side->payloads[place];
	row->number = side->keeps_numbers ? side->numbers[place] : 0;
	row->key = side->keeps_keys ? side->keys[place] : 0;
	fplist_words(&side->list, i, row->words);
}

/*
 * The rows must be in memory, and not be grouped.  Leave those out that do not
 * pass the filter.
 */
void
hamming_side_filter(NearSide *side, const NearFilter *filter)
{
	uint32		rows = side->list.count;
	uint32		i;

	side->list.count = side->count = 0;
	for (i = 0; i < rows; i++)
	{
		NearRow		row;

		CHECK_FOR_INTERRUPTS();
		get_row(side, i, i, &row);
		if (hamming_filter_passes(filter, row.words))
			hamming_side_add(side, &row);
	}
}

/* Free all memory of the side: no row is left in it. */
static void
free_memory(NearSide *side)
{
	void	   *arrays[] = {side->payloads, side->numbers, side->keys,
	side->starts, side->groups};
	int			word_count = side->list.word_count;
	int			i;

	if (side->capacity > 0)
		hamming_fplist_free(&side->list);
	for (i = 0; i < (int) lengthof(arrays); i++)
		if (arrays[i] != NULL)
			pfree(arrays[i]);
	memset(&side->list, 0, sizeof(NearSide) - offsetof(NearSide, list));
	side->list.word_count = word_count;
}

/*
 * Move the rows to a file, if they are in memory.  Those that are added later
 * go there, too.  The side may be grouped, but is so no more.
 */
void
hamming_side_to_file(NearSide *side)
{
	const FingerprintList *list = &side->list;
	const uint32 *starts = side->starts;
	MemoryContext old = MemoryContextSwitchTo(side->context);
	uint32		i;

	if (side->file == NULL)
		side->file = BufFileCreateTemp(false);
	MemoryContextSwitchTo(old);
	for (i = 0; i < list->count; i++)
	{
		uint32		n = list->numbers[i];
		uint32		place = starts != NULL ? starts[n] : n;
		uint32		end = starts != NULL ? starts[n + 1] : n + 1;

		for (; place < end; place++)
		{
			NearRow		row;

			CHECK_FOR_INTERRUPTS();
			get_row(side, i, place, &row);
			BufFileWrite(side->file, &row, near_row_bytes(list->word_count));
		}
	}
	free_memory(side);
}

/* Add a row.  If memory bytes have no room for it, all rows go to a file. */
void
hamming_side_add_within(NearSide *side, const NearRow *row, Size memory)
{
	if (!hamming_side_make_room(side, memory))
		hamming_side_to_file(side);
	hamming_side_add(side, row);
}

/* The rows are in a file.  Let the row at place, from 0 on, be read next. */
void
hamming_side_seek(NearSide *side, uint64 place)
{
	Size		row = near_row_bytes(side->list.word_count);

	if (BufFileSeek(side->file, 0, place * row, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not seek in a temporary file: %m")));
}

/* Read the next row from the file: there must be one. */
void
hamming_side_read(NearSide *side, NearRow *row)
{
	BufFileReadExact(side->file, row, near_row_bytes(side->list.word_count));
}

/*
 * Sort the list by the keys of its rows.  Then sort the rows of each key by
 * their fingerprints: those of most keys are in a cache.  While the list is
 * sorted by the keys, they stand in the place of words 0.
 */
static void
sort_by_keys(NearSide *side)
{
	FingerprintList *list = &side->list;
	Size		size = list->count * sizeof(uint64);
	uint64	   *words = MemoryContextAllocHuge(side->context, Max(size, 1));
	uint32		from;
	uint32		to;
	uint32		i;

	memcpy(words, list->current, size);
	for (i = 0; i < list->count; i++)
		list->current[i] = side->keys[i];
	hamming_fplist_sort(list, 0, list->count, 0, 32);
	for (from = 0; from < list->count; from = to)
	{
		to = fplist_end_of_run(list, from, list->count, PG_UINT64_MAX);
		for (i = from; i < to; i++)
		{
			CHECK_FOR_INTERRUPTS();
			list->current[i] = words[list->numbers[i]];
		}
		hamming_fplist_sort_words(list, from, to, 0);
	}
	pfree(words);
}

/*
 * Bring an array, whose elements are in the order in which the rows came, into
 * that of the list.  Elements have size bytes, which the compiler knows.
 */
static pg_attribute_always_inline void
bring_into_order(NearSide *side, void *array, Size size)
{
	const FingerprintList *list = &side->list;
	char	   *spare = (char *) list->spare;
	uint32		i;

	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		memcpy(spare + i * size, (char *) array + list->numbers[i] * size,
			   size);
	}
	memcpy(array, spare, list->count * size);
}

/*
 * The rows are sorted, and stand in the order of the list.  Leave each
 * fingerprint of a key once on the list, and set starts and groups.
 */
static void
make_groups(NearSide *side)
{
	FingerprintList *list = &side->list;
	uint32		rows = list->count;
	Size		most_groups = side->keeps_keys ? rows : 1;
	uint64		last[HAMMING_MAX_WORDS];
	uint32		row;

	side->starts = resize(side, NULL, (Size) rows + 1, sizeof(uint32));
	side->groups = resize(side, NULL, most_groups + 1, sizeof(uint32));
	list->count = 0;
	for (row = 0; row < rows; row++)
	{
		uint64		words[HAMMING_MAX_WORDS];

		CHECK_FOR_INTERRUPTS();
		list->numbers[row] = row;
		fplist_words(list, row, words);
		if (row == 0 ||
			(side->keeps_keys && side->keys[row] != side->keys[row - 1]))
			side->groups[side->group_count++] = list->count;
		else if (words_compare(words, last, list->word_count) == 0)
			continue;
		memcpy(last, words, sizeof(last));
		side->starts[list->count] = row;
		fplist_append(list, words, list->count);
	}
	side->starts[list->count] = rows;
	side->groups[side->group_count] = list->count;
}

/*
 * Group the rows, which are in memory, by their keys and fingerprints, unless
 * they are grouped.  No row can be added from then on.
 */
void
hamming_side_group(NearSide *side)
{
	int			w;

	if (side->starts != NULL)
		return;
	if (side->keeps_keys)
		sort_by_keys(side);
	else
		hamming_fplist_sort_words(&side->list, 0, side->list.count, 0);
	bring_into_order(side, side->payloads, sizeof(uint64));
	for (w = 0; side->list.word_count > 1 && w < side->list.word_count; w++)
		bring_into_order(side, side->list.words[w], sizeof(uint64));
	if (side->keeps_numbers)
		bring_into_order(side, side->numbers, sizeof(uint32));
	if (side->keeps_keys)
		bring_into_order(side, side->keys, sizeof(uint32));
	make_groups(side);
}

/* Return the key of the group of a side with that number; 0 if it has none. */
static inline uint32
key_of(const NearSide *side, uint32 group)
{
	return side->keeps_keys ? side->keys[side->starts[side->groups[group]]] : 0;
}

/*
 * The sides are grouped.  Set *all to the fingerprints of the next key that
 * both have, and go on to it: next has numbers of keys of x and of y, both 0
 * before the first.  Without keys all rows have the same.  Return false if
 * there is none.
 */
bool
hamming_sides_next_key(const NearSide *x, const NearSide *y, uint32 *next,
					   Candidates *all)
{
	while (next[0] < x->group_count && next[1] < y->group_count)
	{
		uint32		x_key = key_of(x, next[0]);
		uint32		y_key = key_of(y, next[1]);

		CHECK_FOR_INTERRUPTS();
		if (x_key == y_key)
		{
			all->x = x->groups[next[0]++];
			all->x_end = x->groups[next[0]];
			all->y = y->groups[next[1]++];
			all->y_end = y->groups[next[1]];
			return true;
		}
		next[0] += x_key < y_key;
		next[1] += y_key < x_key;
	}
	return false;
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
}
