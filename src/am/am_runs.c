/*
 * am_runs.c
 *	  What an index is built from, sorted within some memory.
 *
 * Elements are collected in memory, and sorted there.  Where there are more
 * than the memory holds, each part is sorted and written to a file, a run, and
 * all runs are merged as they are read.
 *
 * The processes of a parallel build leave all that they collect in runs, in
 * files that they share.  Each process then reads a range of all runs.
 *
 * A run that is read takes 16 kB of memory: with the least memory, 1 MB, 100
 * million rows take 26 MB more.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "am/am_build.h"
#include "type/compat.h"

#define FIRST_ROOM 1024
#define SCRATCH_ROOM 16384		/* elements: 128 or 256 kB */
#define WRITTEN_AT_ONCE (1024 * 1024)

/* Files */

static const struct
{
	const char *name;
	int			width;			/* words of an element */
}			kinds[] = {
	[HAMMING_ROWS] = {"rows", HAMMING_KEY_WORDS},
	[HAMMING_NULL_ROWS] = {"nulls", HAMMING_KEY_WORDS},
	[HAMMING_LIST] = {"list", 1},
	[HAMMING_LEAVES] = {"leaves", HAMMING_KEY_WORDS + 1},
};

static void
file_name(char *result, HammingFile kind, int owner, int number)
{
	snprintf(result, MAXPGPATH, "%s.%d.%d", kinds[kind].name, owner, number);
}

/*
 * Make a file, which PostgreSQL removes: in files, under the number of its
 * owner and its own, or, if files is NULL, for this process only.
 */
BufFile *
hamming_file_create(FileSet *files, HammingFile kind, int owner, int number)
{
	char		name[MAXPGPATH];

	if (files == NULL)
		return BufFileCreateTemp(false);
	file_name(name, kind, owner, number);
	return BufFileCreateFileSet(files, name);
}

/* Close a file of a file set, so that other processes can open it. */
void
hamming_file_export(BufFile *file)
{
	BufFileExportFileSet(file);
	BufFileClose(file);
}

HammingRun
hamming_file_open(FileSet *files, HammingFile kind, int owner, int number)
{
	char		name[MAXPGPATH];
	HammingRun	run = {.width = kinds[kind].width};

	file_name(name, kind, owner, number);
	run.file = BufFileOpenFileSet(files, name, O_RDONLY, false);
	run.count = BufFileSize(run.file) / (run.width * sizeof(uint64));
	return run;
}

/* On entry no process has the file open. */
void
hamming_file_delete(FileSet *files, HammingFile kind, int owner, int number)
{
	char		name[MAXPGPATH];

	file_name(name, kind, owner, number);
	BufFileDeleteFileSet(files, name, false);
}

void
hamming_runs_add(HammingRuns *runs, HammingRun run)
{
	Size		size = (runs->count + 1) * sizeof(HammingRun);

	runs->runs = runs->runs == NULL ? palloc(size) : repalloc(runs->runs, size);
	runs->runs[runs->count++] = run;
}

void
hamming_runs_close(HammingRuns *runs)
{
	int			i;

	for (i = 0; i < runs->count; i++)
		BufFileClose(runs->runs[i].file);
	if (runs->runs != NULL)
		pfree(runs->runs);
	runs->runs = NULL;
	runs->count = 0;
}

static void
seek_element(const HammingRun *run, int64 number)
{
	if (BufFileSeek(run->file, 0, number * run->width * sizeof(uint64),
					SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not seek in a temporary file: %m")));
}

/* Return the first word of an element. */
uint64
hamming_run_get(const HammingRun *run, int64 number)
{
	uint64		word;

	seek_element(run, number);
	BufFileReadExact(run->file, &word, sizeof(word));
	return word;
}

/* Collecting */

/*
 * Begin to collect elements of width words in some memory.  With files, a file
 * set, all of them go to files there, of a kind and of an owner.
 */
HammingSorter *
hamming_sorter_begin(int width, int kilobytes, FileSet *files, HammingFile kind,
					 int owner)
{
	HammingSorter *sorter = palloc0(sizeof(HammingSorter));
	Size		room = kilobytes * (Size) 1024 / (width * sizeof(uint64));

	sorter->width = width;
	sorter->scratch.room = Min(SCRATCH_ROOM, room / 8);
	sorter->most = Max(room - sorter->scratch.room, FIRST_ROOM);
	sorter->room = FIRST_ROOM;
	sorter->words = palloc(FIRST_ROOM * width * sizeof(uint64));
	sorter->files = files;
	sorter->kind = kind;
	sorter->owner = owner;
	return sorter;
}

static void
sort_memory(HammingSorter *sorter)
{
	sorter->scratch.words = palloc(sorter->scratch.room * sorter->width *
								   sizeof(uint64));
	hamming_radix_sort(sorter->words, sorter->count, sorter->width,
					   &sorter->scratch);
	pfree(sorter->scratch.words);
}

/* Sort what is in memory, and write it to a new run. */
static void
write_run(HammingSorter *sorter)
{
	HammingRun	run = {NULL, sorter->width, sorter->count};
	char	   *data = (char *) sorter->words;
	Size		left = sorter->count * sorter->width * sizeof(uint64);

	sort_memory(sorter);
	run.file = hamming_file_create(sorter->files, sorter->kind, sorter->owner,
								   sorter->run_count++);
	while (left > 0)
	{
		Size		size = Min(left, WRITTEN_AT_ONCE);

		CHECK_FOR_INTERRUPTS();
		BufFileWrite(run.file, data, size);
		data += size;
		left -= size;
	}
	sorter->count = 0;
	if (sorter->files != NULL)
		hamming_file_export(run.file);
	else
		hamming_runs_add(&sorter->runs, run);
}

/* Make room for one more element: in memory, or by writing a run. */
void
hamming_sorter_make_room(HammingSorter *sorter)
{
	if (sorter->room == sorter->most)
	{
		write_run(sorter);
		return;
	}
	sorter->room = Min(2 * sorter->room, sorter->most);
	sorter->words = repalloc_huge(sorter->words, sorter->room * sorter->width *
								  sizeof(uint64));
}

/* Sort what has been collected: in memory, or into runs if there are any. */
void
hamming_sorter_finish(HammingSorter *sorter)
{
	if (sorter->files == NULL && sorter->run_count == 0)
		sort_memory(sorter);
	else if (sorter->count > 0)
		write_run(sorter);
}

/* Begin to collect other elements, after the readers of the last ones. */
void
hamming_sorter_restart(HammingSorter *sorter)
{
	hamming_runs_close(&sorter->runs);
	sorter->run_count = 0;
	sorter->count = 0;
}

/* End a sorter, after the readers of it. */
void
hamming_sorter_end(HammingSorter *sorter)
{
	hamming_runs_close(&sorter->runs);
	pfree(sorter->words);
	pfree(sorter);
}

/* Reading */

/* The elements of a run, or of memory, that are still to be read. */
typedef struct Input
{
	BufFile    *file;			/* NULL: all is in words */
	int64		left;			/* elements of the file */
	uint64	   *words;			/* those read, or INPUT_ROOM of the file */
	Size		next;			/* of those in words */
	Size		count;
} Input;

#define INPUT_ROOM 512			/* 8 kB, as much as a BufFile reads at once */

struct HammingReader
{
	MemoryContext context;		/* has the reader and all its memory */
	int			width;
	int			input_count;	/* that have elements */
	Input	  **heap;			/* these: that with the least next element is
								 * the first, and so below it */
	uint64		output[HAMMING_READ_AT_ONCE * HAMMING_KEY_WORDS];
};

/* Return how many elements of a run have a first word below bound. */
static int64
count_below(const HammingRun *run, uint64 bound)
{
	int64		low = 0;
	int64		high = run->count;

	while (low < high)
	{
		int64		middle = low + (high - low) / 2;

		if (hamming_run_get(run, middle) < bound)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Read on where nothing is left in memory; return false if there is nothing. */
static bool
refill(Input *input, int width)
{
	if (input->next == input->count && input->left > 0)
	{
		input->next = 0;
		input->count = Min(input->left, INPUT_ROOM);
		input->left -= input->count;
		BufFileReadExact(input->file, input->words,
						 input->count * width * sizeof(uint64));
	}
	return input->next < input->count;
}

static bool
comes_before(const Input *a, const Input *b, int width)
{
	const uint64 *p = a->words + a->next * width;
	const uint64 *q = b->words + b->next * width;

	if (width == 1 || p[0] != q[0])
		return p[0] < q[0];
	return p[1] < q[1];
}

/* Input i may come after those below it in the heap: let it sink. */
static void
sink_input(HammingReader *reader, int i)
{
	Input	  **heap = reader->heap;
	Input	   *sinking = heap[i];
	int			child;

	while ((child = 2 * i + 1) < reader->input_count)
	{
		if (child + 1 < reader->input_count &&
			comes_before(heap[child + 1], heap[child], reader->width))
			child++;
		if (!comes_before(heap[child], sinking, reader->width))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = sinking;
}

/* Make a reader with room for count inputs, and without one. */
static HammingReader *
make_reader(int width, int count)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "hamming index build",
												  ALLOCSET_DEFAULT_SIZES);
	HammingReader *reader = MemoryContextAlloc(context, sizeof(HammingReader));

	reader->context = context;
	reader->width = width;
	reader->input_count = 0;
	reader->heap = MemoryContextAlloc(context, Max(count, 1) * sizeof(Input *));
	return reader;
}

static Input *
add_input(HammingReader *reader)
{
	Input	   *input = MemoryContextAllocZero(reader->context, sizeof(Input));

	reader->heap[reader->input_count++] = input;
	return input;
}

/* Read all that is in a sorter that is finished, and has no file set. */
HammingReader *
hamming_sorter_read(HammingSorter *sorter)
{
	HammingReader *reader;
	Input	   *input;

	if (sorter->run_count > 0)
		return hamming_reader_begin(sorter->width, &sorter->runs, 0,
									PG_UINT64_MAX);
	reader = make_reader(sorter->width, 1);
	input = add_input(reader);
	input->words = sorter->words;
	input->count = sorter->count;
	return reader;
}

/* Read a run from element from to before element to. */
static void
add_run(HammingReader *reader, const HammingRun *run, int64 from, int64 to)
{
	Input	   *input = add_input(reader);

	input->file = run->file;
	input->left = to - from;
	input->words = MemoryContextAlloc(reader->context, INPUT_ROOM * run->width *
									  sizeof(uint64));
	seek_element(run, from);
	refill(input, run->width);
}

/* Merge what runs have in the range first .. last of first words. */
HammingReader *
hamming_reader_begin(int width, const HammingRuns *runs, uint64 first,
					 uint64 last)
{
	HammingReader *reader = make_reader(width, runs->count);
	int			i;

	for (i = 0; i < runs->count; i++)
	{
		const HammingRun *run = &runs->runs[i];
		int64		from = count_below(run, first);
		int64		to = run->count;

		if (last < PG_UINT64_MAX)
			to = count_below(run, last + 1);
		if (from < to)
			add_run(reader, run, from, to);
	}
	for (i = reader->input_count / 2 - 1; i >= 0; i--)
		sink_input(reader, i);
	return reader;
}

/*
 * Return the next elements in order, and set *count to their number.  Return
 * NULL after the last one.  The elements stay until the next call.
 */
const uint64 *
hamming_reader_next(HammingReader *reader, Size *count)
{
	Input	  **heap = reader->heap;
	int			width = reader->width;
	uint64	   *output = reader->output;

	CHECK_FOR_INTERRUPTS();
	*count = 0;
	if (reader->input_count == 1 && refill(heap[0], width))
	{
		const uint64 *result = heap[0]->words + heap[0]->next * width;

		*count = heap[0]->count - heap[0]->next;
		heap[0]->next = heap[0]->count;
		return result;
	}
	while (reader->input_count > 1 && *count < HAMMING_READ_AT_ONCE)
	{
		const uint64 *next = heap[0]->words + heap[0]->next++ * width;
		int			i;

		for (i = 0; i < width; i++)
			*output++ = next[i];
		(*count)++;
		if (!refill(heap[0], width))
			heap[0] = heap[--reader->input_count];
		sink_input(reader, 0);
	}
	return *count > 0 ? reader->output : NULL;
}

void
hamming_reader_end(HammingReader *reader)
{
	MemoryContextDelete(reader->context);
}
