/*
 * sort.c
 *	  Keys and numbers, sorted within some memory.
 *
 * Elements are collected in memory, and sorted there.  Each time that the
 * memory is full, they are written to a file, a run.  All runs are merged as
 * they are read.
 *
 * A run that is read takes 25 to 33 kB of memory beyond that.  So a build by
 * one process, whose rows have two thirds of maintenance_work_mem, takes 9 MB
 * more for a billion rows with 64 MB, and 650 MB more with 1 MB.  An ordered
 * scan of a million rows takes 3.5 MB more with a work_mem of 64 kB.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "am/sort.h"
#include "type/compat.h"

#define MOST_WORDS (HAMMING_MAX_WORDS + 1)	/* of an element */
#define FIRST_ROOM 1024			/* elements */
#define READ_AT_ONCE 504		/* elements: a reader of words takes 4 kB */
#define WRITTEN_AT_ONCE (1024 * 1024)	/* bytes */
#define SCRATCH_ROOM 16384		/* elements: 128 to 384 kB */
#define FEW 16					/* elements that are sorted by comparisons */
#define MIN_DIGIT_BITS 5
#define MAX_DIGIT_BITS 10

/*
 * Does element a come before b?  Without a branch, as none could be predicted.
 * Here and below width, the words of an element, is a constant where a function
 * has been inlined.
 */
static pg_attribute_always_inline bool
comes_before(const uint64 *a, const uint64 *b, int width)
{
	bool		before = a[width - 1] < b[width - 1];
	int			i;

	for (i = width - 2; i >= 0; i--)
		before = (a[i] < b[i]) | ((a[i] == b[i]) & before);
	return before;
}

/* Sorting in memory */

/* Copy at most FEW elements in order: a rank is how many others come before. */
static pg_attribute_always_inline void
place_few(uint64 *to, const uint64 *from, Size count, int width)
{
	uint8		ranks[FEW] = {0};
	Size		i;
	Size		j;

	for (i = 1; i < count; i++)
		for (j = 0; j < i; j++)
		{
			bool		before = comes_before(from + i * width,
											  from + j * width, width);

			ranks[j] += before;
			ranks[i] += !before;
		}
	for (i = 0; i < count; i++)
		memcpy(to + ranks[i] * width, from + i * width,
			   width * sizeof(uint64));
}

/* A digit of elements, by which a bucket is divided. */
typedef struct Digit
{
	int			word;			/* of an element */
	int			shift;			/* its lowest bit */
	int			bits;
} Digit;

static pg_attribute_always_inline int
digit_of(const uint64 *element, Digit digit)
{
	return element[digit.word] >> digit.shift & ((1 << digit.bits) - 1);
}

/*
 * Choose a digit which starts at the highest bit in which elements differ, and
 * has few enough bits for its values to have some elements each, on average.
 * The words of the elements before word are the same.  Return false if the
 * elements are.
 */
static pg_attribute_always_inline bool
choose_digit(const uint64 *words, Size count, int width, int word, Digit *digit)
{
	uint64		differences = 0;
	int			bits = pg_leftmost_one_pos64(count) - 2;
	Size		i;

	for (; word < width && differences == 0; word++)
		for (i = 1; i < count; i++)
		{
			CHECK_FOR_INTERRUPTS();
			differences |= words[i * width + word] ^ words[word];
		}
	if (differences == 0)
		return false;
	digit->word = word - 1;
	digit->bits = Max(MIN_DIGIT_BITS, Min(bits, MAX_DIGIT_BITS));
	digit->shift = Max(pg_leftmost_one_pos64(differences) + 1 - digit->bits, 0);
	return true;
}

/*
 * Bring elements in the order of a digit, by way of scratch, which has room for
 * them.  next has the place of each value, and end where its elements end.  At
 * most FEW elements of a value are sorted, too.
 */
static pg_attribute_always_inline void
scatter(uint64 *words, Size count, int width, Digit digit, Size *next,
		const Size *end, uint64 *scratch)
{
	Size		start = 0;
	Size		i;
	int			value;

	for (i = 0; i < count; i++)
	{
		const uint64 *element = words + i * width;

		value = digit_of(element, digit);
		memcpy(scratch + width * next[value]++, element,
			   width * sizeof(uint64));
	}
	for (value = 0; value < 1 << digit.bits; start = end[value++])
	{
		uint64	   *to = words + start * width;
		uint64	   *from = scratch + start * width;
		Size		here = end[value] - start;

		if (here <= FEW)
			place_few(to, from, here, width);
		else
			memcpy(to, from, here * width * sizeof(uint64));
	}
}

/*
 * Bring elements in the order of a digit, in place.  next and end are as in
 * scatter().  An element that does not belong where it is changes places with
 * the one at the next place of its digit, which is looked at later, so that the
 * processor need not wait for one element to move another.
 */
static pg_attribute_always_inline void
exchange(uint64 *words, int width, Digit digit, Size *next, const Size *end)
{
	bool		done;
	int			value;
	Size		i;

	do
	{
		done = true;
		for (value = 0; value < 1 << digit.bits; value++)
		{
			CHECK_FOR_INTERRUPTS();
			for (i = next[value]; i < end[value]; i++)
			{
				uint64	   *element = words + i * width;
				uint64	   *place = words + width *
				next[digit_of(element, digit)]++;
				uint64		moved[MOST_WORDS];

				done = false;
				memcpy(moved, place, width * sizeof(uint64));
				memcpy(place, element, width * sizeof(uint64));
				memcpy(element, moved, width * sizeof(uint64));
			}
		}
	} while (!done);
}

/*
 * Radix sort of elements whose words before word are the same: by a digit.
 * sort then sorts the elements of each value of the digit.  Few elements go to
 * their places by way of the scratch space, without which a build takes 7 %
 * longer.  A level takes 16 kB of stack, and settles a word or MIN_DIGIT_BITS
 * of it: a word has 13 levels at most.
 */
static pg_attribute_always_inline void
sort_bucket(HammingSorter *sorter, uint64 *words, Size count, int width,
			int word, void (*sort) (HammingSorter *sorter, uint64 *words,
									Size count, int word))
{
	Size		next[1 << MAX_DIGIT_BITS];	/* place of each value */
	Size		end[1 << MAX_DIGIT_BITS];
	uint64		few[FEW * MOST_WORDS];
	Digit		digit;
	Size		start = 0;
	Size		sorted = 1;		/* elements of a value, at most, that are */
	int			value;
	Size		i;

	if (count <= FEW)
	{
		memcpy(few, words, count * width * sizeof(uint64));
		place_few(words, few, count, width);
		return;
	}
	check_stack_depth();
	if (!choose_digit(words, count, width, word, &digit))
		return;
	memset(end, 0, sizeof(Size) << digit.bits);
	for (i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		end[digit_of(words + i * width, digit)]++;
	}
	for (value = 0; value < 1 << digit.bits; value++)
	{
		next[value] = start;
		start = end[value] += start;
	}
	if (count <= sorter->scratch_room)
	{
		scatter(words, count, width, digit, next, end, sorter->scratch);
		sorted = FEW;
	}
	else
		exchange(words, width, digit, next, end);
	for (value = 0, start = 0; value < 1 << digit.bits; start = end[value++])
		if (end[value] - start > sorted)
			sort(sorter, words + start * width, end[value] - start,
				 digit.word + (digit.shift == 0));
}

/* Most elements have one word or two, and a function of their own. */
static void
sort_single(HammingSorter *sorter, uint64 *words, Size count, int word)
{
	sort_bucket(sorter, words, count, 1, word, sort_single);
}

static void
sort_double(HammingSorter *sorter, uint64 *words, Size count, int word)
{
	sort_bucket(sorter, words, count, 2, word, sort_double);
}

static void
sort_any(HammingSorter *sorter, uint64 *words, Size count, int word)
{
	sort_bucket(sorter, words, count, sorter->width, word, sort_any);
}

static void
sort_memory(HammingSorter *sorter)
{
	sorter->scratch = palloc(Min(sorter->scratch_room, sorter->count) *
							 sorter->width * sizeof(uint64));
	if (sorter->width == 1)
		sort_single(sorter, sorter->words, sorter->count, 0);
	else if (sorter->width == 2)
		sort_double(sorter, sorter->words, sorter->count, 0);
	else
		sort_any(sorter, sorter->words, sorter->count, 0);
	pfree(sorter->scratch);
}

/* Collecting */

/*
 * Begin a sort of keys of key_width words within a memory of kilobytes.  Memory
 * grows with the number of keys.
 */
HammingSorter *
hamming_sorter_begin(int key_width, bool has_tids, int kilobytes)
{
	HammingSorter *sorter = palloc0(sizeof(HammingSorter));
	int			width = key_width + has_tids;
	Size		room = kilobytes * (Size) 1024 / (width * sizeof(uint64));

	sorter->key_width = key_width;
	sorter->width = width;
	sorter->scratch_room = Min(SCRATCH_ROOM, room / 8);
	sorter->most = Max(room - sorter->scratch_room, FIRST_ROOM);
	sorter->room = FIRST_ROOM;
	sorter->words = palloc(FIRST_ROOM * width * sizeof(uint64));
	sorter->readers = AllocSetContextCreate(CurrentMemoryContext,
											"hamming sort readers",
											ALLOCSET_DEFAULT_SIZES);
	return sorter;
}

static void
write_run(HammingSorter *sorter)
{
	HammingSharedRuns *shared = sorter->shared;
	Size		size = sorter->count * sorter->width * sizeof(uint64);
	Size		written;
	BufFile    *file;
	uint32		run;

	sort_memory(sorter);
	if (shared == NULL)
	{
		file = BufFileCreateTemp(false);
		sorter->runs = lappend(sorter->runs, file);
	}
	else
	{
		run = pg_atomic_fetch_add_u32(&shared->count, 1);
		file = BufFileCreateFileSet(&shared->files.fs, psprintf("%u", run));
	}
	BufFileWrite(file, &sorter->count, sizeof(Size));
	for (written = 0; written < size; written += WRITTEN_AT_ONCE)
	{
		CHECK_FOR_INTERRUPTS();
		BufFileWrite(file, (char *) sorter->words + written,
					 Min(size - written, WRITTEN_AT_ONCE));
	}
	sorter->count = 0;
	if (shared != NULL)
	{
		BufFileExportFileSet(file);
		BufFileClose(file);
	}
}

void
hamming_sorter_make_room(HammingSorter *sorter)
{
	if (sorter->room == sorter->most)
		write_run(sorter);
	else
	{
		sorter->room = Min(2 * sorter->room, sorter->most);
		sorter->words = repalloc_huge(sorter->words, sorter->room *
									  sorter->width * sizeof(uint64));
	}
}

/* Reading */

/*
 * Merge up to most elements of a and b, which have elements at hand; return how
 * many.  There is no branch on which comes first, as none could be predicted.
 */
static pg_attribute_always_inline Size
merge_some(HammingReader *a, HammingReader *b, uint64 *to, Size most, int width)
{
	const uint64 *p = a->words;
	const uint64 *q = b->words;
	Size		count = Min(most, Min(a->count, b->count));
	const uint64 *end = to + count * width;

	for (; to < end; to += width)
	{
		bool		second = comes_before(q, p, width);

		memcpy(to, second ? q : p, width * sizeof(uint64));
		q += second * width;
		p += !second * width;
	}
	a->count -= (p - a->words) / width;
	b->count -= (q - b->words) / width;
	a->words = p;
	b->words = q;
	return count;
}

/*
 * Give reader, which has no element at hand, the next elements of the two that
 * it merges: none if both have ended.
 */
static void
merge(HammingReader *reader)
{
	HammingReader *a = reader->merged[0];
	HammingReader *b = reader->merged[1];
	int			width = reader->width;

	while (reader->count < READ_AT_ONCE && hamming_reader_refill(a) &&
		   hamming_reader_refill(b))
	{
		uint64	   *to = reader->own + reader->count * width;
		Size		most = READ_AT_ONCE - reader->count;

		reader->count += width == 1 ? merge_some(a, b, to, most, 1)
			: width == 2 ? merge_some(a, b, to, most, 2)
			: merge_some(a, b, to, most, width);
	}
	if (reader->count == 0)
	{
		/* a or b has ended, and the elements of the other need no merging */
		HammingReader *rest = hamming_reader_refill(a) ? a : b;

		hamming_reader_refill(rest);
		reader->words = rest->words;
		reader->count = rest->count;
		rest->count = 0;
	}
}

/* Read on if no element is at hand.  Return false after the last one. */
bool
hamming_reader_refill(HammingReader *reader)
{
	if (reader->count > 0)
		return true;
	CHECK_FOR_INTERRUPTS();
	reader->words = reader->own;
	if (reader->merged[0] != NULL)
		merge(reader);
	else if (reader->left > 0)
	{
		reader->count = Min(reader->left, READ_AT_ONCE);
		reader->left -= reader->count;
		BufFileReadExact(reader->file, reader->own, reader->count *
						 reader->width * sizeof(uint64));
	}
	return reader->count > 0;
}

static HammingReader *
read_runs(HammingSorter *sorter, int first, int count)
{
	HammingReader *reader =
	MemoryContextAllocZero(sorter->readers, offsetof(HammingReader, own) +
						   READ_AT_ONCE * sorter->width * sizeof(uint64));
	int			half = count / 2;

	reader->width = sorter->width;
	reader->words = reader->own;
	if (sorter->runs == NIL)
	{
		reader->words = sorter->words;
		reader->count = sorter->count;
	}
	else if (count == 1)
	{
		reader->file = list_nth(sorter->runs, first);
		if (BufFileSeek(reader->file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not seek in a temporary file: %m")));
		BufFileReadExact(reader->file, &reader->left, sizeof(Size));
	}
	else
	{
		reader->merged[0] = read_runs(sorter, first, half);
		reader->merged[1] = read_runs(sorter, first + half, count - half);
	}
	return reader;
}

/*
 * Begin to read runs first .. first + count - 1 of a sorter that is finished,
 * merged; or its memory, if it has no runs.
 */
void
hamming_sorter_rewind(HammingSorter *sorter, int first, int count)
{
	MemoryContextReset(sorter->readers);
	sorter->reader = read_runs(sorter, first, count);
}

/*
 * Sort what has been added: in memory, if all of it is there, or into runs.
 * Unless other processes have runs, too, begin to read.
 */
void
hamming_sorter_finish(HammingSorter *sorter)
{
	if (sorter->runs == NIL && sorter->shared == NULL)
		sort_memory(sorter);
	else
	{
		if (sorter->count > 0)
			write_run(sorter);
		pfree(sorter->words);
		sorter->words = NULL;
	}
	if (sorter->shared == NULL)
		hamming_sorter_rewind(sorter, 0, list_length(sorter->runs));
}

/*
 * Let a sorter, to which nothing is added any more, have the runs of all
 * processes, which have finished theirs, and begin to read.
 */
void
hamming_sorter_open_shared(HammingSorter *sorter)
{
	uint32		count = pg_atomic_read_u32(&sorter->shared->count);
	uint32		i;

	for (i = 0; i < count; i++)
		sorter->runs = lappend(sorter->runs,
							   BufFileOpenFileSet(&sorter->shared->files.fs,
												  psprintf("%u", i), O_RDONLY,
												  false));
	sorter->shared = NULL;
	hamming_sorter_rewind(sorter, 0, list_length(sorter->runs));
}

void
hamming_sorter_end(HammingSorter *sorter)
{
	ListCell   *cell;

	MemoryContextDelete(sorter->readers);
	foreach(cell, sorter->runs)
		BufFileClose(lfirst(cell));
	list_free(sorter->runs);
	if (sorter->words != NULL)
		pfree(sorter->words);
	pfree(sorter);
}
