/*
 * texts.c
 *	  The texts of the rows of simhash_cluster(): which are equal, and which are
 *	  alike.
 *
 * A text is kept as the row has it, compressed or as a TOAST pointer.  In the
 * end few texts are compared, and only these are decompressed, or read from the
 * TOAST table.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "dedup/dedup.h"
#include "text/arguments.h"
#include "text/feature_set.h"
#include "type/compat.h"
#include "type/secret.h"
#include "type/tuples.h"

#define TEXT_OFFSET MAXALIGN(sizeof(uint32))

/* The features of a text. */
typedef struct TextFeatures
{
	uint64		position;		/* of the text in tuples; must be first */
	uint32		count;
	uint64	   *keys;			/* of each feature, ascending */
} TextFeatures;

struct Texts
{
	FeatureOptions options;
	double		min_similarity;
	TupleStore	tuples;			/* t_len, and a text at TEXT_OFFSET */
	uint64	   *positions;		/* in tuples, of each row that has a text */
	MemoryContext once;			/* of what is read for one comparison */
	MemoryContext kept;			/* of features, which are kept in work_mem */
	HTAB	   *features;		/* of texts, in kept; NULL: none yet */
};

#define ST_SORT sort_keys
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

static Size
memory_limit(void)
{
	return work_mem * (Size) 1024;
}

/* Forget all features, if they have reached the limit. */
static void
make_room(Texts *texts)
{
	HASHCTL		control = {
		.keysize = sizeof(uint64),
		.entrysize = sizeof(TextFeatures),
		.hcxt = texts->kept
	};

	if (texts->features != NULL &&
		MemoryContextMemAllocated(texts->kept, true) <= memory_limit())
		return;
	MemoryContextReset(texts->kept);
	texts->features = hash_create("simhash_cluster features", 64, &control,
								  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/*
 * Return a store of texts, in the current memory context.  The partition has
 * rows rows.  A feature has words words, 1 .. SHINGLE_MAX.  Two texts are alike
 * if their Jaccard similarity is at least min_similarity, 0 .. 1.
 */
Texts *
simhash_texts_begin(uint32 rows, double min_similarity, int words)
{
	Texts	   *texts = palloc0(sizeof(Texts));

	texts->options.size = words;
	texts->min_similarity = min_similarity;
	texts->positions = palloc_extended((Size) rows * sizeof(uint64),
									   MCXT_ALLOC_HUGE);
	texts->tuples.context = AllocSetContextCreate(CurrentMemoryContext,
												  "simhash_cluster texts",
												  ALLOCSET_DEFAULT_SIZES);
	texts->once = AllocSetContextCreate(CurrentMemoryContext,
										"simhash_cluster comparison",
										ALLOCSET_DEFAULT_SIZES);
	texts->kept = AllocSetContextCreate(CurrentMemoryContext,
										"simhash_cluster features",
										ALLOCSET_DEFAULT_SIZES);
	return texts;
}

/* Close the file of the texts.  The memory goes with its context. */
void
simhash_texts_end(Texts *texts)
{
	simhash_tuples_end(&texts->tuples);
}

/* Add the text of a row, which is not null: to work_mem, or to the file. */
void
simhash_texts_add(Texts *texts, uint32 row, Datum body)
{
	struct varlena *text = (struct varlena *) DatumGetPointer(body);
	MinimalTuple tuple;

	if (VARATT_IS_EXTERNAL(text) && !VARATT_IS_EXTERNAL_ONDISK(text))
		text = detoast_external_attr(text);

	tuple = palloc_extended(TEXT_OFFSET + VARSIZE_ANY(text), MCXT_ALLOC_HUGE);
	tuple->t_len = TEXT_OFFSET + VARSIZE_ANY(text);
	memcpy((char *) tuple + TEXT_OFFSET, text, VARSIZE_ANY(text));
	texts->positions[row] = simhash_tuples_add(&texts->tuples, tuple);
	pfree(tuple);
	if (!texts->tuples.has_file &&
		simhash_tuples_memory(&texts->tuples) > memory_limit())
		simhash_tuples_to_file(&texts->tuples, memory_limit());
}

/* Return the text of a row as it is kept, until the next call. */
static struct varlena *
get_body(Texts *texts, uint32 row)
{
	MinimalTuple tuple = simhash_tuples_read(&texts->tuples,
											 texts->positions[row]);

	CHECK_FOR_INTERRUPTS();
	return (struct varlena *) ((char *) tuple + TEXT_OFFSET);
}

/* Return a hash of the text of a row. */
uint64
simhash_texts_digest(Texts *texts, uint32 row)
{
	struct varlena *body = get_body(texts, row);
	struct varlena *detoasted = pg_detoast_datum_packed(body);
	uint64		digest = seeded_hash(simhash_secret(), VARDATA_ANY(detoasted),
									 VARSIZE_ANY_EXHDR(detoasted));

	if (detoasted != body)
		pfree(detoasted);
	return digest;
}

/*
 * Keep the features of a text.  A key is the product of a feature with an odd
 * number: so other features have other keys.  This is the multiplier that
 * orders the slots of the table.  So keys come nearly in order, unless features
 * were spilled, and are sorted fast.
 */
static void
keep_features(Texts *texts, TextFeatures *features, FeatureSet *set)
{
	Size		room = Max(set->table.used, 1);
	uint64	   *keys = MemoryContextAllocHuge(texts->kept,
											  room * sizeof(uint64));
	uint32		count = 0;
	FeatureBatch batch;
	uint32		i;

	while (simhash_set_read(set, &batch))
	{
		if (count + batch.length > room)
		{
			room = 2 * room + FEATURE_BATCH;
			keys = repalloc_huge(keys, room * sizeof(uint64));
		}
		for (i = 0; i < batch.length; i++)
			keys[count++] = batch.hash[i] * set->table.multiplier;
	}
	sort_keys(keys, count);
	features->keys = keys;
	features->count = count;
}

/* Return the features of a row, until make_room(): kept ones, or read now. */
static const TextFeatures *
get_features(Texts *texts, uint32 row)
{
	bool		found;
	TextFeatures *features = hash_search(texts->features,
										 &texts->positions[row], HASH_ENTER,
										 &found);

	if (!found)
	{
		struct varlena *body = pg_detoast_datum_packed(get_body(texts, row));
		FeatureSet	set;
		FeatureTarget target;

		simhash_set_init(&set, work_mem, 0, NULL);
		target = simhash_set_target(&set, 1, 0);
		simhash_make_features(body, &texts->options, &target);
		keep_features(texts, features, &set);
		simhash_set_free(&set);
	}
	return features;
}

/* Are the texts of two rows equal, byte by byte? */
bool
simhash_texts_equal(Texts *texts, uint32 a, uint32 b)
{
	MemoryContext caller = MemoryContextSwitchTo(texts->once);
	Datum		body = PointerGetDatum(get_body(texts, a));
	struct varlena *x;
	struct varlena *y;
	bool		result;

	/* it holds until the other one is read */
	body = datumCopy(body, false, -1);
	x = pg_detoast_datum_packed((struct varlena *) DatumGetPointer(body));
	y = pg_detoast_datum_packed(get_body(texts, b));
	result = VARSIZE_ANY_EXHDR(x) == VARSIZE_ANY_EXHDR(y) &&
		memcmp(VARDATA_ANY(x), VARDATA_ANY(y), VARSIZE_ANY_EXHDR(x)) == 0;
	MemoryContextSwitchTo(caller);
	MemoryContextReset(texts->once);
	return result;
}

/*
 * Are the texts of two rows alike: is text_jaccard(a, b, words => words) at
 * least min_similarity?  A text without a feature is not even like itself.
 */
bool
simhash_texts_alike(Texts *texts, uint32 a, uint32 b)
{
	MemoryContext caller = MemoryContextSwitchTo(texts->once);
	const TextFeatures *x;
	const TextFeatures *y;
	uint32		i = 0;
	uint32		j = 0;
	uint32		both = 0;

	CHECK_FOR_INTERRUPTS();
	make_room(texts);
	x = get_features(texts, a);
	y = get_features(texts, b);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(texts->once);
	if (x->count == 0 || y->count == 0)
		return false;
	while (i < x->count && j < y->count)
	{
		uint64		key = x->keys[i];
		uint64		other = y->keys[j];

		/* nobody can predict which one is less */
		both += key == other;
		i += key <= other;
		j += other <= key;
	}
	return (double) both / (double) (x->count + y->count - both) >=
		texts->min_similarity;
}
