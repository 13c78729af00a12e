/*
 * fplist.c
 *	  Lists of fingerprints, sorted by some of their bits, by radix.
 *
 * Whatever the data, a sort takes two passes for each 8 bits of the key: one
 * counts, and one moves, unless all fingerprints have the same 8 bits.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "near/fplist.h"

/* The places of all digits take 1 kB, and stay in the first cache. */
#define RADIX_BITS 8
#define RADIX (1 << RADIX_BITS)

/*
 * A team sorts lists of SORTED_TOGETHER and more.  Slices of a list are its
 * units: at most MAX_SLICES, of SLICE fingerprints or more.
 */
#define SORTED_TOGETHER 131072
#define SLICE 4096
#define MAX_SLICES (FPLIST_PLACES / RADIX)

/* The kinds of steps. */
#define STEP_COUNT 0			/* count the digits of a slice */
#define STEP_MOVE 1				/* move a slice to the places of its digits */
#define STEP_COPY 2				/* copy a slice back from the spare arrays */

/* A sort of no more elements takes less time by insertion. */
#define MOST_INSERTED 32

/* Make an empty list, in the current memory context. */
void
simhash_fplist_allocate(FingerprintList *list, Size capacity)
{
	Size		fps_size = Max(capacity, 1) * sizeof(Fingerprint);
	Size		numbers_size = Max(capacity, 1) * sizeof(uint32);

	list->fps = palloc_extended(fps_size, MCXT_ALLOC_HUGE);
	list->numbers = palloc_extended(numbers_size, MCXT_ALLOC_HUGE);
	list->spare_fps = palloc_extended(fps_size, MCXT_ALLOC_HUGE);
	list->spare_numbers = palloc_extended(numbers_size, MCXT_ALLOC_HUGE);
	list->count = 0;
	list->team = NULL;
}

/*
 * Free what the list holds, unless a team's memory has it.  The struct itself
 * is the caller's.
 */
void
simhash_fplist_free(FingerprintList *list)
{
	if (list->team != NULL)
		return;
	pfree(list->fps);
	pfree(list->numbers);
	pfree(list->spare_fps);
	pfree(list->spare_numbers);
}

/*
 * Let the arrays of a list with room for capacity be in memory, which must have
 * the alignment of a fingerprint.  Return how many bytes they take.  memory may
 * be NULL, to learn that.
 */
Size
simhash_fplist_map(FingerprintList *list, char *memory, Size capacity)
{
	Size		fps_size = capacity * sizeof(Fingerprint);
	Size		numbers_size = TYPEALIGN(16, capacity * sizeof(uint32));

	list->fps = (Fingerprint *) memory;
	list->spare_fps = (Fingerprint *) (memory + fps_size);
	list->numbers = (uint32 *) (memory + 2 * fps_size);
	list->spare_numbers = (uint32 *) (memory + 2 * fps_size + numbers_size);
	list->places = (uint32 *) (memory + 2 * fps_size + 2 * numbers_size);
	return 2 * fps_size + 2 * numbers_size +
		FPLIST_PLACES * sizeof(uint32);
}

/* Append all of from to the list to, which must have room for them. */
void
simhash_fplist_copy(FingerprintList *to, const FingerprintList *from)
{
	memcpy(to->fps + to->count, from->fps, from->count * sizeof(Fingerprint));
	memcpy(to->numbers + to->count, from->numbers,
		   from->count * sizeof(uint32));
	to->count += from->count;
}

/* Return the digit of fingerprint i, by the word of each that has the digit. */
static inline uint32
digit(const uint64 *words, uint32 i, int shift, uint64 mask)
{
	return words[(Size) i * FINGERPRINT_WORDS] >> shift & mask;
}

/* Set counts[digit] to how many of the words have the digit. */
static void
count_digits(const uint64 *words, uint32 count, int shift, uint64 mask,
			 uint32 *counts)
{
	uint32		i;

	memset(counts, 0, RADIX * sizeof(uint32));
	for (i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		counts[digit(words, i, shift, mask)]++;
	}
}

/* Set places[digit] to its first place; return false if all have one digit. */
static bool
find_places(const uint64 *words, uint32 count, int shift, uint64 mask,
			uint32 *places)
{
	uint32		next = 0;
	uint32		i;

	count_digits(words, count, shift, mask, places);
	if (places[digit(words, 0, shift, mask)] == count)
		return false;
	for (i = 0; i < RADIX; i++)
	{
		uint32		size = places[i];

		places[i] = next;
		next += size;
	}
	return true;
}

/* The same as simhash_fplist_sort(), by insertion. */
static void
sort_few(FingerprintList *list, uint32 from, uint32 to, int low, int high)
{
	Fingerprint bits = FINGERPRINT_ALL_BITS >> (HAMMING_BITS - (high - low))
	<< low;
	uint32		i;

	for (i = from + 1; i < to; i++)
	{
		uint32		j;

		for (j = i; j > from &&
			 (list->fps[j] & bits) < (list->fps[j - 1] & bits); j--)
			fplist_swap(list, j, j - 1);
	}
}

/*
 * Do a unit of a step of sort_together().  Its digit is bits bits of one word.
 */
void
simhash_fplist_work(FingerprintList *list, const TeamStep *step, uint32 unit)
{
	uint32		from = team_slice_begin(step->from, step->to, unit,
										step->units);
	uint32		count = team_slice_begin(step->from, step->to, unit + 1,
										 step->units) - from;
	Fingerprint *fps = step->is_in_spare ? list->spare_fps : list->fps;
	uint32	   *numbers = step->is_in_spare ? list->spare_numbers
	: list->numbers;
	Fingerprint *to_fps = step->is_in_spare ? list->fps : list->spare_fps;
	uint32	   *to_numbers = step->is_in_spare ? list->numbers
	: list->spare_numbers;
	const uint64 *words = fingerprint_words_at(fps + from, step->low);
	int			shift = step->low % 64;
	uint64		mask = (UINT64CONST(1) << step->bits) - 1;
	uint32	   *row = list->places + unit * RADIX;
	uint32		places[RADIX];
	uint32		i;

	switch (step->kind)
	{
		case STEP_COUNT:
			count_digits(words, count, shift, mask, row);
			break;
		case STEP_MOVE:
			memcpy(places, row, sizeof(places));
			for (i = 0; i < count; i++)
			{
				uint32		place = places[digit(words, i, shift, mask)]++;

				CHECK_FOR_INTERRUPTS();
				to_fps[place] = fps[from + i];
				to_numbers[place] = numbers[from + i];
			}
			break;
		case STEP_COPY:
			memcpy(to_fps + from, fps + from, count * sizeof(Fingerprint));
			memcpy(to_numbers + from, numbers + from, count * sizeof(uint32));
			break;
	}
}

/*
 * On entry list->places has the counts of each slice's digits.  Set them to the
 * places that the first of them moves to.  The digits of a slice come behind
 * those of the slices before it: so the sort is stable.  Return false if all
 * have the same digit.
 */
static bool
place_slices(FingerprintList *list, const TeamStep *step)
{
	uint32		next = step->from;
	uint32		digit;
	uint32		slice;

	for (digit = 0; digit < RADIX; digit++)
	{
		uint32		first = next;

		for (slice = 0; slice < step->units; slice++)
		{
			uint32	   *place = &list->places[slice * RADIX + digit];
			uint32		size = *place;

			*place = next;
			next += size;
		}
		if (next - first == step->to - step->from)
			return false;
	}
	return true;
}

/* The same as simhash_fplist_sort(), by all processes of the team. */
static void
sort_together(FingerprintList *list, uint32 from, uint32 to, int low, int high)
{
	TeamStep	step = {.from = from,.to = to};

	step.units = Min((to - from) / SLICE, MAX_SLICES);
	for (step.low = low; step.low < high; step.low += step.bits)
	{
		/* a digit is in one word */
		step.bits = Min(Min(RADIX_BITS, high - step.low), 64 - step.low % 64);
		step.kind = STEP_COUNT;
		simhash_team_do(list->team, &step);
		if (!place_slices(list, &step))
			continue;
		step.kind = STEP_MOVE;
		simhash_team_do(list->team, &step);
		step.is_in_spare = !step.is_in_spare;
	}
	step.kind = STEP_COPY;
	step.low = step.bits = 0;
	if (step.is_in_spare)
		simhash_team_do(list->team, &step);
}

/*
 * Sort the elements at from .. to - 1, stably, by the bits low .. high - 1 of
 * their fingerprints, 0 <= low < high <= HAMMING_BITS.  Of the spare arrays,
 * use the same places only.
 */
void
simhash_fplist_sort(FingerprintList *list, uint32 from, uint32 to, int low,
					int high)
{
	Fingerprint *fps = list->fps + from;
	uint32	   *numbers = list->numbers + from;
	Fingerprint *to_fps = list->spare_fps + from;
	uint32	   *to_numbers = list->spare_numbers + from;
	uint32		count = to - from;
	uint32		places[RADIX];
	int			bits;
	uint32		i;

	if (list->team != NULL && count >= SORTED_TOGETHER)
	{
		sort_together(list, from, to, low, high);
		return;
	}
	if (count <= MOST_INSERTED)
	{
		sort_few(list, from, to, low, high);
		return;
	}
	for (; low < high; low += bits)
	{
		const uint64 *words = fingerprint_words_at(fps, low);
		int			shift = low % 64;
		uint64		mask;
		Fingerprint *fps_sorted = to_fps;
		uint32	   *numbers_sorted = to_numbers;

		/* a digit is in one word */
		bits = Min(Min(RADIX_BITS, high - low), 64 - shift);
		mask = (UINT64CONST(1) << bits) - 1;
		if (!find_places(words, count, shift, mask, places))
			continue;
		for (i = 0; i < count; i++)
		{
			uint32		place = places[digit(words, i, shift, mask)]++;

			CHECK_FOR_INTERRUPTS();
			to_fps[place] = fps[i];
			to_numbers[place] = numbers[i];
		}
		to_fps = fps;
		to_numbers = numbers;
		fps = fps_sorted;
		numbers = numbers_sorted;
	}
	if (fps != list->fps + from)
	{
		memcpy(to_fps, fps, count * sizeof(Fingerprint));
		memcpy(to_numbers, numbers, count * sizeof(uint32));
	}
}

/*
 * The places from .. end - 1 of the list must be sorted by bits.  Return the
 * first of them that is not below key in bits, or end if there is none.  It is
 * quickest if the place is near hint, from .. end.
 */
uint32
simhash_fplist_find(const FingerprintList *list, uint32 from, uint32 end,
					uint32 hint, Fingerprint bits, Fingerprint key)
{
	const Fingerprint *fps = list->fps;
	uint32		step = 1;

	if (hint < end && (fps[hint] & bits) < key)
	{
		from = hint + 1;
		while (step <= end - from && (fps[from + step - 1] & bits) < key)
		{
			from += step;
			step *= 2;
		}
		end = Min(end, from + step - 1);
	}
	else
	{
		end = hint;
		while (step <= end - from && (fps[end - step] & bits) >= key)
		{
			end -= step;
			step *= 2;
		}
		if (step <= end - from)
			from = end - step + 1;
	}
	while (from < end)
	{
		uint32		middle = from + (end - from) / 2;

		if ((fps[middle] & bits) < key)
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}
