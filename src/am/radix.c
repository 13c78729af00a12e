/*
 * radix.c
 *	  Radix sort of what an index is built from, in memory and in place.
 *
 * Elements have a few words.  Elements are ordered by their first words.
 * Elements with the same first word are ordered by their second words, and so
 * on.
 *
 * The sort of a bucket looks at a digit: adjacent bits of one word.  The
 * highest bit of the digit is the highest in which the bucket's elements
 * differ.  The digit has few enough bits for each of its values to have some
 * elements on average.  The sort moves the elements with the same value of the
 * digit together, in the order of the values.  Then the sort orders the
 * elements of each value in the same way, by the bits below the digit.
 *
 * A bucket that fits into the scratch space is moved there, and its smallest
 * parts come back in order, so that each element moves twice.  A larger bucket
 * is sorted by swaps: each element that does not belong where it is goes to
 * the next place of its digit.  The element that was there is looked at
 * later, so that the processor need not wait for one element to move another.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "am/build.h"

#define MIN_DIGIT_BITS 4
#define MAX_DIGIT_BITS 10		/* the places of all values take 16 kB */
#define FEW 16					/* elements that are sorted by comparisons */

typedef struct Digit
{
	int			word;			/* of the element */
	int			shift;
	int			bits;
} Digit;

/* How the elements of a bucket are placed, by the value of the digit. */
typedef struct Places
{
	Size		next[1 << MAX_DIGIT_BITS];	/* where the next element goes */
	Size		end[1 << MAX_DIGIT_BITS];	/* and where the last one ends */
} Places;

/*
 * In what follows width, the words of an element, is a constant wherever a
 * function has been inlined.
 */

static pg_attribute_always_inline Size
digit_value(const uint64 *element, Digit digit)
{
	return element[digit.word] >> digit.shift &
		((UINT64CONST(1) << digit.bits) - 1);
}

/* Copy up to FEW elements to another place, in order. */
static pg_attribute_always_inline void
place_few(uint64 *to, const uint64 *from, int count, int width)
{
	uint8		ranks[FEW] = {0};
	int			i;
	int			j;

	for (i = 1; i < count; i++)
		for (j = 0; j < i; j++)
		{
			bool		before = hamming_element_before(from + i * width,
														from + j * width,
														width);

			ranks[j] += before;
			ranks[i] += !before;
		}
	for (i = 0; i < count; i++)
		memcpy(to + ranks[i] * width, from + i * width,
			   width * sizeof(uint64));
}

/* Return the bits in which elements differ in a word. */
static pg_attribute_always_inline uint64
find_differences(const uint64 *words, Size count, int width, int word)
{
	uint64		result = 0;
	Size		i;

	for (i = 1; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		result |= words[i * width + word] ^ words[word];
	}
	return result;
}

static pg_attribute_always_inline void
find_places(const uint64 *words, Size count, int width, Digit digit,
			Places *places)
{
	Size		start = 0;
	Size		i;

	memset(places->end, 0, sizeof(Size) << digit.bits);
	for (i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		places->end[digit_value(words + i * width, digit)]++;
	}
	for (i = 0; i < (Size) 1 << digit.bits; i++)
	{
		places->next[i] = start;
		start += places->end[i];
		places->end[i] = start;
	}
}

/*
 * Move the elements of each value of the digit to their places, by swaps.
 * Each swap brings one element to its place, so that there are at most as many
 * swaps as elements.
 */
static pg_attribute_always_inline void
swap_to_places(uint64 *words, int width, Digit digit, Places *places)
{
	bool		done;

	do
	{
		int			value;

		done = true;
		for (value = 0; value < 1 << digit.bits; value++)
		{
			Size		i = places->next[value];

			CHECK_FOR_INTERRUPTS();
			for (; i < places->end[value]; i++)
			{
				uint64	   *element = words + i * width;
				uint64	   *place = words + width *
				places->next[digit_value(element, digit)]++;
				uint64		moved[HAMMING_KEY_WORDS];

				done = false;
				memcpy(moved, place, width * sizeof(uint64));
				memcpy(place, element, width * sizeof(uint64));
				memcpy(element, moved, width * sizeof(uint64));
			}
		}
	} while (!done);
}

/*
 * Move the elements of each value of the digit to their places by way of the
 * scratch space, those of a value that has FEW in order.
 */
static pg_attribute_always_inline void
scatter_to_places(uint64 *words, Size count, int width, Digit digit,
				  Places *places, uint64 *scratch)
{
	Size		start = 0;
	Size		i;
	int			value;

	for (i = 0; i < count; i++)
		memcpy(scratch + width *
			   places->next[digit_value(words + i * width, digit)]++,
			   words + i * width, width * sizeof(uint64));
	for (value = 0; value < 1 << digit.bits; value++)
	{
		Size		here = places->end[value] - start;
		uint64	   *to = words + start * width;
		uint64	   *from = scratch + start * width;

		if (here <= FEW)
			place_few(to, from, here, width);
		else
			memcpy(to, from, here * width * sizeof(uint64));
		start = places->end[value];
	}
}

/* The highest digit of the bits in which count elements differ in a word. */
static Digit
choose_digit(Size count, int word, uint64 differences)
{
	int			highest = pg_leftmost_one_pos64(differences) + 1;
	int			bits = pg_leftmost_one_pos64(count) - 2;
	Digit		digit = {.word = word};

	bits = Max(MIN_DIGIT_BITS, Min(bits, MAX_DIGIT_BITS));
	digit.bits = Min(bits, highest);
	digit.shift = highest - digit.bits;
	return digit;
}

/*
 * Bring elements, more than FEW, to the places of a digit of a word.  Returns
 * false, and does nothing, if the word is the same in all.
 */
static pg_attribute_always_inline bool
split_bucket(uint64 *words, Size count, int width,
			 const HammingScratch *scratch, Digit *digit, Places *places)
{
	uint64		differences = find_differences(words, count, width,
											   digit->word);

	if (differences == 0)
		return false;
	*digit = choose_digit(count, digit->word, differences);
	find_places(words, count, width, *digit, places);
	if (count <= scratch->room)
		scatter_to_places(words, count, width, *digit, places, scratch->words);
	else
		swap_to_places(words, width, *digit, places);
	return true;
}

static void
sort_few(uint64 *words, int count, int width)
{
	uint64		copy[HAMMING_KEY_WORDS * FEW];

	memcpy(copy, words, count * width * sizeof(uint64));
	if (width == FINGERPRINT_WORDS)
		place_few(words, copy, count, FINGERPRINT_WORDS);
	else
		place_few(words, copy, count, HAMMING_KEY_WORDS);
}

/*
 * Sort elements by their words from word on; those before it are the same in
 * all.
 *
 * A level of the recursion takes 16 kB of stack, and settles a word or
 * MIN_DIGIT_BITS of it at least: a word has 17 levels at most.
 */
static void
sort_bucket(uint64 *words, Size count, int width, int word,
			const HammingScratch *scratch)
{
	Digit		digit = {.word = word};
	Places		places;
	Size		start = 0;
	int			value;

	if (count <= FEW)
	{
		sort_few(words, count, width);
		return;
	}
	if (width == FINGERPRINT_WORDS
		? split_bucket(words, count, FINGERPRINT_WORDS, scratch, &digit,
					   &places)
		: split_bucket(words, count, HAMMING_KEY_WORDS, scratch, &digit,
					   &places))
	{
		/* a bucket that went through the scratch space has no FEW left */
		Size		done = count <= scratch->room ? FEW : 1;

		if (digit.shift == 0)
			word++;
		for (value = 0; word < width && value < 1 << digit.bits; value++)
		{
			Size		end = places.end[value];

			if (end - start > done)
				sort_bucket(words + start * width, end - start, width, word,
							scratch);
			start = end;
		}
	}
	else if (word + 1 < width)
		sort_bucket(words, count, width, word + 1, scratch);
}

/*
 * Sort count elements of width words: FINGERPRINT_WORDS or HAMMING_KEY_WORDS.
 */
void
hamming_radix_sort(uint64 *words, Size count, int width,
				   const HammingScratch *scratch)
{
	sort_bucket(words, count, width, 0, scratch);
}
