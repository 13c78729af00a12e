/*
 * overlap.c
 *	  How many features each text has in common with each of a sample of texts.
 *
 * To count in each list of texts that have a feature would take long where many
 * texts share many: navigation, footers, licences.  So a text of the sample is
 * a candidate only if the text that passes has one of its rarest features
 * (Chaudhuri, Ganti and Kaushik 2006, "prefix filtering"), or if the caller
 * says so.  With each candidate the features in common are counted exactly.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "audit/audit.h"
#include "type/secret.h"

typedef struct FeatureNumber
{
	uint64		hash;
	uint32		number;
	char		status;
} FeatureNumber;

#define SH_PREFIX overlap
#define SH_ELEMENT_TYPE FeatureNumber
#define SH_KEY_TYPE uint64
#define SH_KEY hash
#define SH_HASH_KEY(tb, key) \
	(uint32) ((key) * *(const uint64 *) (tb)->private_data >> 32)
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

#define FIRST_CAPACITY 1024

/* The prefixes of texts must not depend on how a product is rounded. */
#define ROUNDING 1e-9

/* Begin with a sample of no texts, to which most can be added. */
void
simhash_overlap_begin(Overlap *overlap, int most)
{
	uint64	   *multiplier = palloc(sizeof(uint64));

	/* who writes the texts must not know which hashes meet in the table */
	*multiplier = simhash_secret() | 1;
	memset(overlap, 0, sizeof(Overlap));
	overlap->numbers = overlap_create(CurrentMemoryContext, FIRST_CAPACITY,
									  multiplier);
	overlap->begin = palloc0((most + 2) * sizeof(uint32));
	overlap->member_capacity = FIRST_CAPACITY;
	overlap->members = palloc(overlap->member_capacity * sizeof(uint32));
}

/* Add distinct features to the text of the sample that is being added. */
void
simhash_overlap_add(Overlap *overlap, const uint64 *hash, uint32 count)
{
	uint32	   *end = &overlap->begin[overlap->texts + 1];
	uint32		i;

	if (*end + count > overlap->member_capacity)
	{
		overlap->member_capacity = Max(2 * overlap->member_capacity,
									   *end + count);
		overlap->members = repalloc_huge(overlap->members,
										 (Size) overlap->member_capacity *
										 sizeof(uint32));
	}
	for (i = 0; i < count; i++)
	{
		bool		found;
		FeatureNumber *feature = overlap_insert(overlap->numbers, hash[i],
												&found);

		if (!found)
			feature->number = overlap->features++;
		overlap->members[(*end)++] = feature->number;
	}
}

void
simhash_overlap_end_text(Overlap *overlap)
{
	overlap->texts++;
	overlap->begin[overlap->texts + 1] = overlap->begin[overlap->texts];
}

/* Return how many bytes the sample takes, after simhash_overlap_prepare(). */
Size
simhash_overlap_size(const Overlap *overlap)
{
	return overlap->numbers->size * sizeof(FeatureNumber) +
		(overlap->features * (Size) 2 + overlap->member_capacity * (Size) 2 +
		 overlap->texts * (Size) 3) * sizeof(uint32);
}

static int
compare_counts(const void *a, const void *b, void *counts)
{
	uint32		x = ((const uint32 *) counts)[*(const uint32 *) a];
	uint32		y = ((const uint32 *) counts)[*(const uint32 *) b];

	return (x > y) - (x < y);
}

/*
 * Return how many of the rarest features of a text make it a candidate.
 *
 * If the similarity with another text is threshold or more, both have at least
 * threshold * size of the features.  So the other text lacks at most size -
 * ceil(threshold * size), and has one of any one more.
 */
static uint32
prefix_size(const Overlap *overlap, int number, double threshold)
{
	uint32		size = overlap->begin[number + 1] - overlap->begin[number];

	return size == 0 ? 0
		: size - (uint32) ceil(threshold * size * (1 - ROUNDING)) + 1;
}

/* All texts have been added.  threshold is above 0, up to 1. */
void
simhash_overlap_prepare(Overlap *overlap, double threshold)
{
	Size		bytes = Max(overlap->features, 1) * sizeof(uint32);
	uint32	   *counts = palloc_extended(bytes + sizeof(uint32),
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	uint32		end = 0;
	uint32		i;
	int			number;

	for (i = 0; i < overlap->begin[overlap->texts]; i++)
		counts[overlap->members[i]]++;
	for (number = 0; number < overlap->texts; number++)
	{
		uint32	   *members = overlap->members + overlap->begin[number];
		uint32		size = overlap->begin[number + 1] - overlap->begin[number];

		CHECK_FOR_INTERRUPTS();
		qsort_arg(members, size, sizeof(uint32), compare_counts, counts);
	}

	/* counts becomes first, where each list begins: from its end backwards */
	memset(counts, 0, bytes + sizeof(uint32));
	for (number = 0; number < overlap->texts; number++)
		for (i = prefix_size(overlap, number, threshold); i > 0; i--)
			counts[overlap->members[overlap->begin[number] + i - 1]]++;
	for (i = 0; i <= overlap->features; i++)
		end = counts[i] += end;
	overlap->owners = palloc_extended(Max(end, 1) * sizeof(uint32),
									  MCXT_ALLOC_HUGE);
	for (number = 0; number < overlap->texts; number++)
	{
		const uint32 *members = overlap->members + overlap->begin[number];

		for (i = prefix_size(overlap, number, threshold); i > 0; i--)
			overlap->owners[--counts[members[i - 1]]] = number;
	}
	overlap->first = counts;
	overlap->seen = palloc_extended(bytes, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	overlap->met = palloc0(Max(overlap->texts, 1) * sizeof(uint32));
	overlap->candidates = palloc(Max(overlap->texts, 1) * sizeof(uint32));
}

/* Begin with the next text that passes: less than 2^32 may. */
void
simhash_overlap_begin_text(Overlap *overlap)
{
	overlap->stamp++;
	overlap->size = 0;
	overlap->candidate_count = 0;
}

/* Make a text of the sample a candidate, unless it is one. */
void
simhash_overlap_add_candidate(Overlap *overlap, uint32 number)
{
	if (overlap->met[number] == overlap->stamp)
		return;
	overlap->met[number] = overlap->stamp;
	overlap->candidates[overlap->candidate_count++] = number;
}

/* The text that passes has these features, which are distinct. */
void
simhash_overlap_see(Overlap *overlap, const uint64 *hash, uint32 count)
{
	uint32		i;

	overlap->size += count;
	for (i = 0; i < count; i++)
	{
		const FeatureNumber *feature;
		uint32		owner;

		feature = overlap_lookup(overlap->numbers, hash[i]);
		if (feature == NULL)
			continue;
		overlap->seen[feature->number] = overlap->stamp;
		for (owner = overlap->first[feature->number];
			 owner < overlap->first[feature->number + 1]; owner++)
			simhash_overlap_add_candidate(overlap, overlap->owners[owner]);
	}
}

/*
 * Return the Jaccard similarity of a text of the sample with the text that
 * passes, all of whose features have been seen; 0 if either has none.
 */
double
simhash_overlap_jaccard(const Overlap *overlap, uint32 number)
{
	uint32		from = overlap->begin[number];
	uint32		end = overlap->begin[number + 1];
	uint32		common = 0;
	uint32		i;

	for (i = from; i < end; i++)
		common += overlap->seen[overlap->members[i]] == overlap->stamp;
	if (common == 0)
		return 0;
	return common / ((double) overlap->size + (end - from) - common);
}
