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
}

/* Free what the list holds.  The struct itself is the caller's. */
void
simhash_fplist_free(FingerprintList *list)
{
	pfree(list->fps);
	pfree(list->numbers);
	pfree(list->spare_fps);
	pfree(list->spare_numbers);
}

/* Return the digit of fingerprint i, by the word of each that has the digit. */
static inline uint32
digit(const uint64 *words, uint32 i, int shift, uint64 mask)
{
	return words[(Size) i * FINGERPRINT_WORDS] >> shift & mask;
}

/* Set places[digit] to its first place; return false if all have one digit. */
static bool
find_places(const uint64 *words, uint32 count, int shift, uint64 mask,
			uint32 *places)
{
	uint32		next = 0;
	uint32		i;

	memset(places, 0, RADIX * sizeof(uint32));
	for (i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		places[digit(words, i, shift, mask)]++;
	}
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
