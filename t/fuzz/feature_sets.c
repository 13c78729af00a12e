/*
 * feature_sets.c
 *	  Sets of features: what src/text makes of these must be what naive.c makes
 *	  of them.
 */
#include "postgres.h"

#include "fuzz.h"
#include "text/feature_set.h"
#include "text/sketch.h"

/* Features in the order in which they are handed in. */
static const Occurrence *given;
static size_t count;

/* The same, by their hashes. */
static Distinct *distinct;
static size_t features;

static FeatureTable *table;
static Buffer left;				/* occurrences that the table has no room for */
static Buffer fresh;			/* uint64, new features of a table that says
								 * so */
static bool *seen;				/* features that the table has listed */

/* What has been covered. */
size_t		sets_checked;
size_t		full_tables;

/* Return the number of a feature, which there must be. */
static size_t
number_of(uint64 hash)
{
	Distinct   *found = NULL;

	if (features > 0)
		found = bsearch(&hash, distinct, features, sizeof(Distinct),
						compare_hashes);
	expect_same("is there such a hash?", found != NULL, true);
	return found - distinct;
}

/* How many of the rest to hand in at once. */
static uint32
random_piece(size_t rest)
{
	uint32		n = 1 + below(1 << below(10));

	return Min(Min(n, FEATURES_AT_ONCE), rest);
}

/* Hand in count_of features, of one side, to the table that is not full. */
static uint32
add_piece(const Occurrence *from, uint32 count_of)
{
	uint64	   *hash = resize(NULL, count_of * sizeof(uint64));
	int64	   *weight = resize(NULL, count_of * sizeof(int64));
	uint64	   *new = resize(NULL, count_of * sizeof(uint64));
	uint64		used = table->used;
	uint32		added;
	uint32		i;

	for (i = 0; i < count_of; i++)
	{
		hash[i] = from[i].hash;
		weight[i] = from[i].weight;
	}
	added = simhash_table_add(table, from->side, hash, weight, count_of, new);
	if (table->sides == 0 && !table->weighted)
		append(&fresh, new, (table->used - used) * sizeof(uint64));
	free(hash);
	free(weight);
	free(new);
	return added;
}

/* Hand in all features in pieces; count those in the table once it is full. */
static void
fill_table(void)
{
	size_t		at = 0;

	left.length = fresh.length = 0;
	while (at < count)
	{
		uint32		most = random_piece(count - at);
		uint32		n = 1;
		uint32		added;

		while (n < most && given[at + n].side == given[at].side)
			n++;
		added = add_piece(given + at, n);
		at += added;
		if (added < n)
			break;
	}
	full_tables += at < count;
	for (; at < count; at++)
	{
		const Occurrence *o = &given[at];

		if (!simhash_table_count(table, o->side, o->hash, o->weight))
			append(&left, o, sizeof(*o));
	}
}

/* The table has each of its features once, as often as it was handed in. */
static void
check_slots(void)
{
	uint64		slots[100];
	uint64		next = 0;
	size_t		listed = 0;
	uint32		n;
	uint32		i;
	int			side;

	while ((n = simhash_table_list(table, &next, slots,
								   1 + below(lengthof(slots)))) > 0)
	{
		for (i = 0; i < n; i++)
		{
			size_t		number = number_of(table_hash(table, slots[i]));
			const Distinct *d = &distinct[number];

			expect_same("is it listed again?", seen[number], false);
			seen[number] = true;
			for (side = 0; side < table->sides; side++)
				expect_same("occurrences", table->count[side][slots[i]],
							d->count[side]);
			if (table->weighted)
				expect_same("weight", table->weight[slots[i]], d->weight);
		}
		listed += n;
	}
	expect_same("features of the table", listed, table->used);
}

/* What the table has no room for is all of the other features. */
static void
check_left(void)
{
	size_t		n = left.length / sizeof(Occurrence);
	Distinct   *others = resize(NULL, n * sizeof(Distinct));
	size_t		i;

	n = naive_distinct((Occurrence *) left.bytes, n, others);
	expect_same("features", table->used + n, features);
	for (i = 0; i < n; i++)
	{
		size_t		number = number_of(others[i].hash);

		expect_same("is what is left in the table?", seen[number], false);
		expect_same("what is left of a feature",
					memcmp(&others[i], &distinct[number], sizeof(Distinct)), 0);
	}
	free(others);
}

/* Each feature of a table without counts and weights was new once. */
static void
check_fresh(void)
{
	const uint64 *hash = (const uint64 *) fresh.bytes;
	size_t		n = fresh.length / sizeof(uint64);
	size_t		i;

	expect_same("new features", n, table->used);
	for (i = 0; i < n; i++)
	{
		size_t		number = number_of(hash[i]);

		expect_same("is a new feature listed, and new once?", seen[number],
					true);
		seen[number] = false;
	}
}

/* sides is the number of sides that the features have; 0: do not count. */
static void
check_table(int sides, bool weighted, size_t limit)
{
	uint64		space[TABLE_SPACE];

	seen = calloc(features + 1, sizeof(bool));
	table = resize(NULL, sizeof(FeatureTable));
	memset(table, 0xAA, sizeof(FeatureTable));	/* nothing is relied on */
	simhash_table_init(table, sides, weighted, limit, random_bits(), space);
	fill_table();
	check_slots();
	check_left();
	if (sides == 0 && !weighted)
		check_fresh();
	simhash_table_free(table);
	free(table);
	free(seen);
}

/* Votes of the features by how often they occur. */
static void
check_votes_of(TermFrequency tf)
{
	Votes		votes;
	uint64		hash[FEATURES_AT_ONCE];
	int64		vote[FEATURES_AT_ONCE];
	size_t		at = 0;
	bool		overflow;
	uint64		expected;
	uint64		fingerprint = 0;
	bool		elected = naive_elect(distinct, features, tf == TF_ONCE,
									  &overflow, &expected);

	simhash_votes_begin(&votes, true);
	while (at < features)
	{
		uint32		n = random_piece(features - at);
		uint32		i;

		for (i = 0; i < n; i++, at++)
		{
			const Distinct *d = &distinct[at];
			uint64		times = d->count[0] + d->count[1];

			hash[i] = d->hash;
			vote[i] = simhash_term_vote(tf, times, d->weight);
			expect_same("vote", vote[i],
						naive_term_vote(tf == TF_ONCE, times, d->weight));
		}
		simhash_votes_add_all(&votes, hash, vote, n);
	}
	expect_same("overflow of the votes", votes.total > PG_INT64_MAX, overflow);
	if (overflow)
		return;
	expect_same("is one elected?",
				simhash_votes_fingerprint(&votes, &fingerprint), elected);
	if (elected)
		expect_same("fingerprint by tf", fingerprint, expected);
}

/* Hand in given[from .. to) in pieces. */
static void
sketch_part(Sketch *sketch, size_t from, size_t to)
{
	uint64		fingerprint;

	while (from < to)
	{
		uint32		n = random_piece(to - from);
		uint64	   *hash = resize(NULL, n * sizeof(uint64));
		uint32		i;

		for (i = 0; i < n; i++)
			hash[i] = given[from++].hash;
		simhash_sketch_add_all(sketch, hash, NULL, n);
		free(hash);
		/* a window asks, and goes on */
		if (below(20) == 0)
			simhash_sketch_fingerprint(sketch, &fingerprint);
	}
}

static void
new_sketch(Sketch *sketch)
{
	memset(sketch, 0xAA, sizeof(Sketch));	/* nothing is relied on */
	simhash_sketch_begin(sketch, false);
}

/* Sketch the features in up to four parts, which may share some of them. */
static void
check_sketch(void)
{
	Sketch		whole;
	Sketch		part;
	size_t		from = 0;
	uint32		parts = 1 + below(4);
	uint64		expected;
	uint64		fingerprint;

	new_sketch(&whole);
	while (--parts > 0 && from < count)
	{
		size_t		to = from + 1 + below(count - from);

		new_sketch(&part);
		sketch_part(&part, below(2) == 0 ? from : 0, to);
		simhash_sketch_merge(&whole, &part);
		from = to;
	}
	sketch_part(&whole, from, count);
	expect_same("is there a minhash?",
				simhash_sketch_fingerprint(&whole, &fingerprint),
				naive_minhash(distinct, features, &expected));
	if (features > 0)
		expect_same("minhash", fingerprint, expected);
}

/* Check the set of some features. */
void
check_set(const Occurrence *all, size_t length)
{
	static const size_t limit[] = {0, 100000, 1000000, SIZE_MAX};
	static Buffer sorted;

	given = all;
	count = length;
	sorted.length = 0;
	append(&sorted, all, length * sizeof(Occurrence));
	distinct = resize(NULL, (length + 1) * sizeof(Distinct));
	features = naive_distinct((Occurrence *) sorted.bytes, length, distinct);
	check_table(0, false, ONE_OF(limit));
	check_table(FEATURE_SIDES, below(2) == 0, ONE_OF(limit));
	check_votes_of(TF_ONCE);
	check_votes_of(TF_LOG);
	check_sketch();
	sets_checked++;
	free(distinct);
}
