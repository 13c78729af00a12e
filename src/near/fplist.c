/*
 * fplist.c
 *	  Lists of fingerprints, sorted by some bits of a word, by radix.
 *
 * A long list moves once as a whole: to buckets, by the highest digit in which
 * its fingerprints differ.  Each bucket is sorted in a cache, by one digit
 * after the other, the lowest one first; of skewed data it may have buckets of
 * its own.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "near/fplist.h"

/* The places of all digits take 1 kB, and stay in the first cache. */
#define RADIX_BITS 8
#define RADIX (1 << RADIX_BITS)

/*
 * One process has buckets for BUCKETED and more, if they are sorted by more
 * than BUCKETED_BITS.  With buckets, a sort of a million and more by 21 bits
 * took a third less time; but one by 16 bits up to 13 % more, and of half a
 * million 20 % more.
 */
#define BUCKETED 524288
#define BUCKETED_BITS 16

/*
 * A team sorts lists of SORTED_TOGETHER and more.  Slices of a list are its
 * units: at most MAX_SLICES, of SLICE fingerprints or more, so that processes
 * which move neighbouring slices seldom write to the same cache line.
 */
#define SORTED_TOGETHER 262144
#define SLICE 16384
#define MAX_SLICES (FPLIST_PLACES / RADIX)

#define STEP_COUNT 0			/* count the digits of a slice */
#define STEP_MOVE 1				/* move a slice to the places of its digits */
#define STEP_BUCKET 2			/* sort a bucket */

/* A sort of no more elements takes less time by insertion. */
#define MOST_INSERTED 32

/*
 * Make an empty list of fingerprints of word_count words, in the current memory
 * context.  Their numbers are to be below capacity.
 */
void
hamming_fplist_allocate(FingerprintList *list, int word_count, Size capacity)
{
	Size		words_size = Max(capacity, 1) * sizeof(uint64);
	Size		numbers_size = Max(capacity, 1) * sizeof(uint32);
	int			i;

	list->current = palloc_extended(words_size, MCXT_ALLOC_HUGE);
	list->numbers = palloc_extended(numbers_size, MCXT_ALLOC_HUGE);
	list->spare = palloc_extended(words_size, MCXT_ALLOC_HUGE);
	list->spare_numbers = palloc_extended(numbers_size, MCXT_ALLOC_HUGE);
	list->word_count = word_count;
	for (i = 0; word_count > 1 && i < word_count; i++)
		list->words[i] = palloc_extended(words_size, MCXT_ALLOC_HUGE);
	list->count = 0;
	list->borrows_words = false;
	list->team = NULL;
}

/* The same, of some numbers of another list: the words stay with that one. */
void
hamming_fplist_allocate_beside(FingerprintList *list,
							   const FingerprintList *other, Size capacity)
{
	hamming_fplist_allocate(list, 1, capacity);
	list->borrows_words = true;
	list->word_count = other->word_count;
	memcpy(list->words, other->words, sizeof(list->words));
}

/* Free what the list holds, unless a team's memory has it. */
void
hamming_fplist_free(FingerprintList *list)
{
	int			words = list->borrows_words ? 1 : list->word_count;
	int			i;

	if (list->team != NULL)
		return;
	pfree(list->current);
	pfree(list->numbers);
	pfree(list->spare);
	pfree(list->spare_numbers);
	for (i = 0; words > 1 && i < words; i++)
		pfree(list->words[i]);
}

/*
 * Let the arrays of a list with room for capacity be in memory, which must have
 * the alignment of a word.  Return how many bytes they take.  memory may be
 * NULL, to learn that.
 */
Size
hamming_fplist_map(FingerprintList *list, char *memory, int word_count,
				   Size capacity)
{
	Size		words_size = capacity * sizeof(uint64);
	Size		numbers_size = TYPEALIGN(16, capacity * sizeof(uint32));
	char	   *at = memory + 2 * words_size;
	int			i;

	list->word_count = word_count;
	list->current = (uint64 *) memory;
	list->spare = (uint64 *) (memory + words_size);
	for (i = 0; word_count > 1 && i < word_count; i++, at += words_size)
		list->words[i] = (uint64 *) at;
	list->numbers = (uint32 *) at;
	list->spare_numbers = (uint32 *) (at + numbers_size);
	list->places = (uint32 *) (at + 2 * numbers_size);
	return at - memory + 2 * numbers_size + FPLIST_PLACES * sizeof(uint32);
}

/*
 * Let from .. to - 1 have that word of their fingerprints.  A list of
 * fingerprints of one word has it anyway.
 */
void
hamming_fplist_turn(FingerprintList *list, uint32 from, uint32 to, int word)
{
	const uint64 *words = list->words[word];

	for (; list->word_count > 1 && from < to; from++)
	{
		CHECK_FOR_INTERRUPTS();
		list->current[from] = words[list->numbers[from]];
	}
}

/*
 * Append what another list has at from .. end - 1: there must be room, and
 * both must have the same words by number.
 */
void
hamming_fplist_copy(FingerprintList *list, const FingerprintList *other,
					uint32 from, uint32 end)
{
	memcpy(list->current + list->count, other->current + from,
		   (end - from) * sizeof(uint64));
	memcpy(list->numbers + list->count, other->numbers + from,
		   (end - from) * sizeof(uint32));
	list->count += end - from;
}

/*
 * Append another list, whose numbers are below that count.  Here they follow
 * those of the list, and all have word 0: a search that was not taken to its
 * end may have left another word to the other list.  There must be room.
 */
void
hamming_fplist_bring(FingerprintList *list, const FingerprintList *other,
					 uint32 numbers)
{
	uint32		first = list->count;
	uint32		i;
	int			w;

	for (w = 0; list->word_count > 1 && w < list->word_count; w++)
		memcpy(list->words[w] + first, other->words[w],
			   numbers * sizeof(uint64));
	hamming_fplist_copy(list, other, 0, other->count);
	for (i = first; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		list->numbers[i] += first;
	}
	hamming_fplist_turn(list, first, list->count, 0);
}

static void sort_range(FingerprintList *list, uint32 from, uint32 to, int low,
					   int high, bool is_in_spare);

/* Set counts[digit] to how many of from .. to - 1 have the step's digit. */
static void
count_digits(const FingerprintList *list, const TeamStep *step, uint32 from,
			 uint32 to, uint32 *counts)
{
	const uint64 *words = step->is_in_spare ? list->spare : list->current;
	int			shift = step->digit;
	uint64		mask = (UINT64CONST(1) << step->bits) - 1;
	uint32		i;

	memset(counts, 0, RADIX * sizeof(uint32));
	for (i = from; i < to; i++)
	{
		CHECK_FOR_INTERRUPTS();
		counts[words[i] >> shift & mask]++;
	}
}

/*
 * Move from .. to - 1 to the other arrays: those of each digit to
 * places[digit] on.
 */
static void
move_digits(const FingerprintList *list, const TeamStep *step, uint32 from,
			uint32 to, const uint32 *places)
{
	const uint64 *words = step->is_in_spare ? list->spare : list->current;
	const uint32 *numbers = step->is_in_spare ? list->spare_numbers
	: list->numbers;
	uint64	   *to_words = step->is_in_spare ? list->current : list->spare;
	uint32	   *to_numbers = step->is_in_spare ? list->numbers
	: list->spare_numbers;
	int			shift = step->digit;
	uint64		mask = (UINT64CONST(1) << step->bits) - 1;
	uint32		next[RADIX];
	uint32		i;

	memcpy(next, places, sizeof(next));
	for (i = from; i < to; i++)
	{
		uint32		place = next[words[i] >> shift & mask]++;

		CHECK_FOR_INTERRUPTS();
		to_words[place] = words[i];
		to_numbers[place] = numbers[i];
	}
}

/* Move from .. to - 1 back from the spare arrays, where they are sorted. */
static void
copy_back(FingerprintList *list, uint32 from, uint32 to)
{
	memcpy(list->current + from, list->spare + from,
		   (to - from) * sizeof(uint64));
	memcpy(list->numbers + from, list->spare_numbers + from,
		   (to - from) * sizeof(uint32));
}

/*
 * On entry places has, for each of count slices, the counts of its digits.  Set
 * them to the places that the first of them moves to.  The digits of a slice
 * come behind those of the slices before it: so the sort is stable.  Return
 * false if all have the same digit.
 */
static bool
place_slices(uint32 *places, uint32 count, const TeamStep *step)
{
	uint32		next = step->from;
	uint32		digit;
	uint32		slice;

	for (digit = 0; digit < RADIX; digit++)
	{
		uint32		first = next;

		for (slice = 0; slice < count; slice++)
		{
			uint32	   *place = &places[slice * RADIX + digit];
			uint32		size = *place;

			*place = next;
			next += size;
		}
		if (next - first == step->to - step->from)
			return false;
	}
	return true;
}

/* The same as hamming_fplist_sort(), by insertion. */
static void
sort_few(FingerprintList *list, uint32 from, uint32 to, int low, int high)
{
	uint64		bits = PG_UINT64_MAX >> (64 - (high - low)) << low;
	uint32		i;

	for (i = from + 1; i < to; i++)
	{
		uint32		j;

		for (j = i; j > from &&
			 (list->current[j] & bits) < (list->current[j - 1] & bits); j--)
			fplist_swap(list, j, j - 1);
	}
}

/* The same as sort_range(), from the lowest digit to the highest. */
static void
sort_bucket(FingerprintList *list, uint32 from, uint32 to, int low, int high,
			bool is_in_spare)
{
	TeamStep	step = {.from = from,.to = to,.is_in_spare = is_in_spare};
	uint32		places[RADIX];

	for (; low < high; low += step.bits)
	{
		step.bits = Min(RADIX_BITS, high - low);
		step.digit = low;
		count_digits(list, &step, from, to, places);
		if (!place_slices(places, 1, &step))
			continue;
		move_digits(list, &step, from, to, places);
		step.is_in_spare = !step.is_in_spare;
	}
	if (step.is_in_spare)
		copy_back(list, from, to);
}

/*
 * Do a unit of a step of sort_by_buckets().  list->places has a row of RADIX
 * for each slice.  The first slice's row has where the buckets begin, too.  In
 * a process of a team the list has no team: it sorts a bucket alone.
 */
void
hamming_fplist_work(FingerprintList *list, const TeamStep *step, uint32 unit)
{
	uint32	   *places = list->places;
	uint32		from = team_slice_begin(step->from, step->to, unit,
										step->units);
	uint32		to = team_slice_begin(step->from, step->to, unit + 1,
									  step->units);

	if (step->kind == STEP_COUNT)
		count_digits(list, step, from, to, places + unit * RADIX);
	else if (step->kind == STEP_MOVE)
		move_digits(list, step, from, to, places + unit * RADIX);
	else
	{
		from = places[unit];
		to = unit + 1 < step->units ? places[unit + 1] : step->to;
		sort_range(list, from, to, step->low, step->digit, step->is_in_spare);
	}
}

/* Do all units of a step: by the team, if there is one. */
static void
do_step(FingerprintList *list, const TeamStep *step)
{
	uint32		unit;

	if (list->team != NULL)
		simhash_team_do(list->team, step);
	else
		for (unit = 0; unit < step->units; unit++)
			hamming_fplist_work(list, step, unit);
}

/* The same as sort_range(), by buckets of the highest digit. */
static void
sort_by_buckets(FingerprintList *list, uint32 from, uint32 to, int low,
				int high, bool is_in_spare)
{
	uint32		slices = list->team == NULL ? 1
	: Min((to - from) / SLICE, MAX_SLICES);
	TeamStep	step = {
		.units = slices,.from = from,.to = to,.low = low,.digit = high,
		.is_in_spare = is_in_spare
	};
	uint32		own[RADIX];
	uint32	   *places = list->places;

	if (list->team == NULL)
		list->places = own;
	do
	{
		if (step.digit == low)
		{
			if (is_in_spare)
				copy_back(list, from, to);
			list->places = places;
			return;
		}
		step.bits = Min(RADIX_BITS, step.digit - low);
		step.digit -= step.bits;
		step.kind = STEP_COUNT;
		do_step(list, &step);
	} while (!place_slices(list->places, slices, &step));
	step.kind = STEP_MOVE;
	do_step(list, &step);
	step.kind = STEP_BUCKET;
	step.units = 1 << step.bits;
	step.is_in_spare = !is_in_spare;
	do_step(list, &step);
	list->places = places;
}

/*
 * The same as hamming_fplist_sort(), but the elements may be in the spare
 * arrays on entry, and low may be high.
 */
static void
sort_range(FingerprintList *list, uint32 from, uint32 to, int low, int high,
		   bool is_in_spare)
{
	bool		has_buckets = list->team != NULL ? to - from >= SORTED_TOGETHER
	: to - from >= BUCKETED && high - low > BUCKETED_BITS;

	if (has_buckets)
		sort_by_buckets(list, from, to, low, high, is_in_spare);
	else if (to - from > MOST_INSERTED)
		sort_bucket(list, from, to, low, high, is_in_spare);
	else
	{
		if (is_in_spare)
			copy_back(list, from, to);
		if (low < high)
			sort_few(list, from, to, low, high);
	}
}

/*
 * Sort the elements at from .. to - 1, stably, by the bits low .. high - 1 of
 * their words, 0 <= low < high <= 64.  Of the spare arrays, use the same places
 * only.
 */
void
hamming_fplist_sort(FingerprintList *list, uint32 from, uint32 to, int low,
					int high)
{
	sort_range(list, from, to, low, high, false);
}

/*
 * The list is turned to word.  Sort the elements at from .. to - 1, stably, by
 * this word and by all later ones of their fingerprints.
 */
void
hamming_fplist_sort_words(FingerprintList *list, uint32 from, uint32 to,
						  int word)
{
	uint32		end;

	hamming_fplist_sort(list, from, to, 0, 64);
	for (; word + 1 < list->word_count && from < to; from = end)
	{
		end = fplist_end_of_run(list, from, to, PG_UINT64_MAX);
		if (end - from == 1)
			continue;
		hamming_fplist_turn(list, from, end, word + 1);
		hamming_fplist_sort_words(list, from, end, word + 1);
		hamming_fplist_turn(list, from, end, word);
	}
}

/*
 * The places from .. end - 1 of the list must be sorted by bits.  Return the
 * first of them that is not below key in bits, or end if there is none.  It is
 * quickest if the place is near hint, from .. end.
 */
uint32
hamming_fplist_find(const FingerprintList *list, uint32 from, uint32 end,
					uint32 hint, uint64 bits, uint64 key)
{
	const uint64 *words = list->current;
	uint32		low = hint;
	uint32		high = hint;
	uint32		step;

	/* farther and farther from hint, to either side */
	for (step = 1; low > from && (words[low - 1] & bits) >= key; step *= 2)
	{
		high = low - 1;
		low -= Min(step, low - from);
	}
	for (step = 1; high < end && (words[high] & bits) < key; step *= 2)
	{
		low = high + 1;
		high += Min(step, end - high);
	}
	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;

		if ((words[middle] & bits) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
