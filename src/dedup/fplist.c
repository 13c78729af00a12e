/*
 * fplist.c
 *	  Sort fingerprints by some of their bits, by radix.
 *
 * The time is the same for all data: one pass for each 8 bits of the key.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/fplist.h"

#define RADIX_BITS 8
#define RADIX (1 << RADIX_BITS)

/* Errors, here and below: 53200 where there is no memory. */
void
simhash_fplist_allocate(FingerprintList *list, Size capacity)
{
	list->fps = palloc_extended(Max(capacity, 1) * sizeof(uint64),
								MCXT_ALLOC_HUGE);
	list->ids = palloc_extended(Max(capacity, 1) * sizeof(uint32),
								MCXT_ALLOC_HUGE);
	list->spare_fps = palloc_extended(Max(capacity, 1) * sizeof(uint64),
									  MCXT_ALLOC_HUGE);
	list->spare_ids = palloc_extended(Max(capacity, 1) * sizeof(uint32),
									  MCXT_ALLOC_HUGE);
	list->count = 0;
}

void
simhash_fplist_enlarge(FingerprintList *list, Size capacity)
{
	list->fps = repalloc_huge(list->fps, capacity * sizeof(uint64));
	list->ids = repalloc_huge(list->ids, capacity * sizeof(uint32));
	list->spare_fps = repalloc_huge(list->spare_fps, capacity * sizeof(uint64));
	list->spare_ids = repalloc_huge(list->spare_ids, capacity * sizeof(uint32));
}

void
simhash_fplist_free(FingerprintList *list)
{
	pfree(list->fps);
	pfree(list->ids);
	pfree(list->spare_fps);
	pfree(list->spare_ids);
}

/*
 * Where the elements of each digit go; false if all have the same one.
 */
static bool
find_places(const uint64 *fps, uint32 count, int shift, uint64 mask,
			uint32 *places)
{
	uint32		next = 0;
	uint32		i;

	memset(places, 0, RADIX * sizeof(uint32));
	for (i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		places[fps[i] >> shift & mask]++;
	}
	if (places[fps[0] >> shift & mask] == count)
		return false;
	for (i = 0; i < RADIX; i++)
	{
		uint32		size = places[i];

		places[i] = next;
		next += size;
	}
	return true;
}

/*
 * Sort elements from .. to - 1 by the bits low .. high - 1 of their
 * fingerprints, of which bit 0 is the lowest.  The sort is stable.
 */
void
simhash_fplist_sort(FingerprintList *list, uint32 from, uint32 to, int low,
					int high)
{
	uint64	   *fps = list->fps + from;
	uint32	   *ids = list->ids + from;
	uint64	   *to_fps = list->spare_fps + from;
	uint32	   *to_ids = list->spare_ids + from;
	uint32		count = to - from;
	uint32		places[RADIX];
	int			shift;
	uint32		i;

	if (count < 2)
		return;
	for (shift = low; shift < high; shift += RADIX_BITS)
	{
		uint64		mask = (UINT64CONST(1) << Min(RADIX_BITS, high - shift)) - 1;
		uint64	   *fps_sorted = to_fps;
		uint32	   *ids_sorted = to_ids;

		if (!find_places(fps, count, shift, mask, places))
			continue;
		for (i = 0; i < count; i++)
		{
			uint32		place = places[fps[i] >> shift & mask]++;

			CHECK_FOR_INTERRUPTS();
			to_fps[place] = fps[i];
			to_ids[place] = ids[i];
		}
		to_fps = fps;
		to_ids = ids;
		fps = fps_sorted;
		ids = ids_sorted;
	}
	if (fps != list->fps + from)
	{
		memcpy(to_fps, fps, count * sizeof(uint64));
		memcpy(to_ids, ids, count * sizeof(uint32));
	}
}
