/*
 * sort.c
 *	  What an index is built from, sorted within some memory.
 *
 * Elements are collected in memory, and sorted there.  Where there are more
 * than the memory holds, each part is sorted and written to a file, a run, and
 * all runs are merged as they are read.
 *
 * The processes of a parallel build leave all that they collect in runs, in
 * files that they share.  Each process then reads a range of all runs.
 *
 * A run that is read takes 24 kB of memory, so that a billion rows take 8 MB
 * more where they are sorted in 64 MB, and 500 MB more in 1 MB.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "am/build.h"
#include "type/compat.h"

#define FIRST_ROOM 1024
#define SCRATCH_ROOM 16384		/* elements: 128 to 384 kB */
#define WRITTEN_AT_ONCE (1024 * 1024)

/* Files */

static const struct
{
	const char *name;
	int			width;			/* words of an element */
}			kinds[] = {
	[HAMMING_ROWS] = {"rows", HAMMING_KEY_WORDS},
	[HAMMING_NULL_ROWS] = {"nulls", HAMMING_KEY_WORDS},
	[HAMMING_LIST] = {"list", FINGERPRINT_WORDS},
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

/* Return the rotated fingerprint of an element. */
HammingBits
hamming_run_get(const HammingRun *run, int64 number)
{
	uint64		words[FINGERPRINT_WORDS];

	seek_element(run, number);
	BufFileReadExact(run->file, words, sizeof(words));
	return fingerprint_from_words(words);
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

/*
 * Make room for some elements, HAMMING_READ_AT_ONCE at most: in memory, or by
 * writing a run.
 */
void
hamming_sorter_make_room(HammingSorter *sorter, Size wanted)
{
	while (sorter->room - sorter->count < wanted)
	{
		if (sorter->room == sorter->most)
			write_run(sorter);
		else
		{
			sorter->room = Min(2 * sorter->room, sorter->most);
			sorter->words = repalloc_huge(sorter->words,
										  sorter->room * sorter->width *
										  sizeof(uint64));
		}
	}
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

/*
 * A sorted sequence that is being read: all in memory, in a file, or merged out
 * of two others.
 */
typedef struct Input
{
	BufFile    *file;			/* with elements, or NULL */
	int64		left;			/* elements of the file to be read yet */
	struct Input *merged[2];	/* or NULL */
	uint64	   *words;			/* the elements at hand */
	Size		next;			/* of these */
	Size		count;
} Input;

struct HammingReader
{
	MemoryContext context;		/* has the reader and all its memory */
	int			width;			/* words of an element */
	Input	   *input;
};

static bool refill(Input *input, int width);

/* Return how many elements of a run have a rotated fingerprint below bound. */
static int64
count_below(const HammingRun *run, HammingBits bound)
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

/*
 * Merge count elements of a and b.  a and b have count elements each at hand.
 * There is no branch on which comes first, as none could be predicted.
 */
static pg_attribute_always_inline void
merge_some(Input *a, Input *b, uint64 *to, Size count, int width)
{
	const uint64 *p = a->words + a->next * width;
	const uint64 *q = b->words + b->next * width;
	const uint64 *end = to + count * width;
	const uint64 *start = q;

	for (; to < end; to += width)
	{
		bool		second = hamming_element_before(q, p, width);
		const uint64 *from = second ? q : p;

		memcpy(to, from, width * sizeof(uint64));
		q += second * width;
		p += !second * width;
	}
	b->next += (q - start) / width;
	a->next += count - (q - start) / width;
}

/* Copy up to most elements of an input; return how many it had. */
static Size
copy_some(Input *input, uint64 *to, Size most, int width)
{
	Size		count = Min(input->count - input->next, most);

	memcpy(to, input->words + input->next * width,
		   count * width * sizeof(uint64));
	input->next += count;
	return count;
}

/* Merge two inputs, HAMMING_READ_AT_ONCE elements at most; return the count. */
static Size
merge(Input *a, Input *b, uint64 *to, int width)
{
	Size		count = 0;

	CHECK_FOR_INTERRUPTS();
	while (count < HAMMING_READ_AT_ONCE && refill(a, width) && refill(b, width))
	{
		Size		some = Min(a->count - a->next, b->count - b->next);

		some = Min(some, HAMMING_READ_AT_ONCE - count);
		if (width == FINGERPRINT_WORDS)
			merge_some(a, b, to + count * FINGERPRINT_WORDS, some,
					   FINGERPRINT_WORDS);
		else
			merge_some(a, b, to + count * HAMMING_KEY_WORDS, some,
					   HAMMING_KEY_WORDS);
		count += some;
	}
	while (count < HAMMING_READ_AT_ONCE &&
		   (refill(a, width) || refill(b, width)))
		count += copy_some(refill(a, width) ? a : b, to + count * width,
						   HAMMING_READ_AT_ONCE - count, width);
	return count;
}

/* Read on if no element is at hand.  Return false after the last one. */
static bool
refill(Input *input, int width)
{
	if (input->next < input->count)
		return true;
	input->next = 0;
	input->count = 0;
	if (input->merged[0] != NULL)
		input->count = merge(input->merged[0], input->merged[1], input->words,
							 width);
	else if (input->left > 0)
	{
		input->count = Min(input->left, HAMMING_READ_AT_ONCE);
		input->left -= input->count;
		BufFileReadExact(input->file, input->words,
						 input->count * width * sizeof(uint64));
	}
	return input->count > 0;
}

static HammingReader *
make_reader(int width)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "hamming index build",
												  ALLOCSET_DEFAULT_SIZES);
	HammingReader *reader = MemoryContextAlloc(context, sizeof(HammingReader));

	reader->context = context;
	reader->width = width;
	reader->input = MemoryContextAllocZero(context, sizeof(Input));
	return reader;
}

/* Read all that is in a sorter that is finished, and has no file set. */
HammingReader *
hamming_sorter_read(HammingSorter *sorter)
{
	HammingReader *reader;

	if (sorter->run_count > 0)
		return hamming_reader_begin(sorter->width, &sorter->runs, 0,
									FINGERPRINT_ALL_BITS);
	reader = make_reader(sorter->width);
	reader->input->words = sorter->words;
	reader->input->count = sorter->count;
	return reader;
}

static Input *
make_input(HammingReader *reader)
{
	Input	   *input = MemoryContextAllocZero(reader->context, sizeof(Input));

	input->words = MemoryContextAlloc(reader->context, HAMMING_READ_AT_ONCE *
									  reader->width * sizeof(uint64));
	return input;
}

/* Read of a run the range first .. last of rotated fingerprints. */
static Input *
read_run(HammingReader *reader, const HammingRun *run, HammingBits first,
		 HammingBits last)
{
	Input	   *input = make_input(reader);
	int64		from = count_below(run, first);
	int64		to = run->count;

	if (last < FINGERPRINT_ALL_BITS)
		to = count_below(run, last + 1);
	input->file = run->file;
	input->left = to - from;
	seek_element(run, from);
	return input;
}

/* Merge what runs have in the range first .. last of rotated fingerprints. */
HammingReader *
hamming_reader_begin(int width, const HammingRuns *runs, HammingBits first,
					 HammingBits last)
{
	HammingReader *reader = make_reader(width);
	Input	  **inputs;
	int			count = runs->count;
	int			i;

	if (count == 0)
		return reader;
	inputs = MemoryContextAlloc(reader->context, count * sizeof(Input *));
	for (i = 0; i < count; i++)
		inputs[i] = read_run(reader, &runs->runs[i], first, last);

	/* of every two make one, until one is left */
	for (; count > 1; count = (count + 1) / 2)
	{
		for (i = 0; i < count / 2; i++)
		{
			Input	   *input = make_input(reader);

			input->merged[0] = inputs[2 * i];
			input->merged[1] = inputs[2 * i + 1];
			inputs[i] = input;
		}
		if (count % 2 == 1)
			inputs[count / 2] = inputs[count - 1];
	}
	reader->input = inputs[0];
	return reader;
}

/*
 * Return the next elements in order, and set *count to their number.  Return
 * NULL after the last one.  The elements stay until the next call.
 */
const uint64 *
hamming_reader_next(HammingReader *reader, Size *count)
{
	Input	   *input = reader->input;

	CHECK_FOR_INTERRUPTS();
	if (!refill(input, reader->width))
		return NULL;
	*count = input->count - input->next;
	input->next = input->count;
	return input->words + (input->count - *count) * reader->width;
}

void
hamming_reader_end(HammingReader *reader)
{
	MemoryContextDelete(reader->context);
}
