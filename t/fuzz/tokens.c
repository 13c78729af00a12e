/*
 * tokens.c
 *	  Random texts, through the tokeniser and through a naive one; and random
 *	  sets of features.
 *
 *	  tokens ROUNDS SEED
 *
 * What src makes of each text, in pieces of any size, must be what naive.c
 * makes of it: features, fingerprints and passages.  script/soak fuzz builds
 * this with sanitizers, outside the server, which would hide an overrun within
 * a larger allocation.  They end with abort(), as every difference does, so
 * that the text can be told.
 */
#include "postgres.h"

#include <signal.h>
#include <unistd.h>

#include "miscadmin.h"

#include "fuzz.h"
#include "text/fingerprint.h"
#include "text/passages.h"
#include "text/tokens.h"

/* PostgreSQL's own printf is in the server, which is not there. */
#undef printf
#undef fprintf

/* A text, and what is expected of it. */
typedef struct Case
{
	uint64		seed;
	Buffer		body;
	FeatureOptions options;
	Naive		naive;
} Case;

#define LARGEST_WEIGHT ((int64) WEIGHT_MAX * WEIGHT_UNIT)

static Case this;

/* What has been covered. */
static uint64 texts;
static size_t text_bytes;
static size_t features;
static size_t overflows;
static size_t passages;

/* Something is wrong: tell where, and end. */
static void
tell_case(int signo pg_attribute_unused())
{
	fprintf(stderr,
			"%s => %u%s%s, a text of %zu bytes\n"
			"again: script/soak fuzz 1 %llu\n",
			this.options.chars ? "chars" : "words", this.options.size,
			this.options.weights ? ", with weights" : "",
			this.options.stops ? ", with a stop list" : "", this.body.length,
			(unsigned long long) this.seed);
	_exit(1);
}

/* Two values that ought to be the same. */
void
expect_same(const char *what, uint64 got, uint64 expected)
{
	if (got == expected)
		return;
	fprintf(stderr, "%s: %llx, expected %llx\n", what, (unsigned long long) got,
			(unsigned long long) expected);
	abort();
}

/* What a failed Assert calls. */
void
ExceptionalCondition(const char *condition,
#if PG_VERSION_NUM < 160000
					 const char *type pg_attribute_unused(),
#endif
					 const char *file, int line)
{
	fprintf(stderr, "%s:%d: failed Assert(%s)\n", file, line, condition);
	abort();
}

/* What CHECK_FOR_INTERRUPTS() needs: nobody interrupts. */
volatile	sig_atomic_t InterruptPending = false;

void
ProcessInterrupts(void)
{
	abort();
}

/* What src takes memory by. */
void *
simhash_resize_array(void *array, size_t bytes)
{
	return resize(array, bytes);
}

/* Hashes of each feature. */
static int
random_hashes(void)
{
	return 1 + below(NAIVE_WORDS);
}

/* A weight, up to the largest one. */
static int64
random_weight(void)
{
	/* 2^25 is where sums need more than 32 bits */
	const int64 weight[] = {
		0, 1, WEIGHT_UNIT, (1 << 25) - 1, 1 << 25, LARGEST_WEIGHT,
		random_bits() % LARGEST_WEIGHT
	};

	return ONE_OF(weight);
}

/* Is a word of a stop list left out, 0, or kept, WEIGHT_UNIT? */
static int64
random_stop(void)
{
	return below(2) * WEIGHT_UNIT;
}

/* Give a weight to each token like one of them, unless these have one. */
static void
weigh_tokens_like(WeightTable *table, const Token *like, int64 weight)
{
	size_t		i;

	simhash_weights_add(table, XXH3_64bits(like->bytes, like->length), weight);
	for (i = 0; i < this.naive.tokens; i++)
	{
		Token	   *token = &this.naive.token[i];

		if (token->weight < 0 && token->length == like->length &&
			memcmp(token->bytes, like->bytes, like->length) == 0)
			token->weight = weight;
	}
}

/* Weigh the tokens, with a table that is as full as it may be. */
static void
make_weights(WeightTable *table, int64 (*random_number) (void))
{
	size_t		keys = this.naive.tokens > 0 ? below(50) : 0;
	size_t		slots = 2;
	WeightSlot *array;
	uint64		seed;
	size_t		i;

	while (slots <= keys)
		slots *= 2;
	free(table->slots);
	array = malloc(slots * sizeof(WeightSlot));
	seed = (uint64) below(PG_UINT32_MAX) << 32;
	seed |= below(1000);
	simhash_weights_init(table, array, slots, seed, random_number());
	for (i = 0; i < this.naive.tokens; i++)
		this.naive.token[i].weight = -1;
	while (keys-- > 0)
		weigh_tokens_like(table,
						  &this.naive.token[below(this.naive.tokens)],
						  random_number());
	for (i = 0; i < this.naive.tokens; i++)
	{
		if (this.naive.token[i].weight < 0)
			this.naive.token[i].weight = table->default_weight;
	}
}

/* Leave some of the words out, and weigh the others. */
static void
weigh_words(void)
{
	static WeightTable weights;
	static WeightTable stops;

	if (below(3) == 0)
	{
		make_weights(&stops, random_stop);
		naive_leave_out(&this.naive, this.options.size);
		this.options.stops = &stops;
	}
	if (below(2) == 0)
	{
		make_weights(&weights, random_weight);
		this.options.weights = &weights;
	}
}

/* Let features precede the text, so that the total is close to an overflow. */
static void
precede_text(void)
{
	int			i;

	this.naive.earlier = PG_INT64_MAX / LARGEST_WEIGHT + 1 - below(40);
	this.naive.earlier_weight = LARGEST_WEIGHT;
	for (i = 0; i < NAIVE_WORDS; i++)
		this.naive.earlier_hash[i] = random_bits();
}

/* Make the text of a seed, and find out what to expect of it. */
static void
make_case(uint64 seed)
{
	static const uint32 size[] = {1, 1, 2, 3, 4, 5, 7, 63, SHINGLE_MAX};

	seed_random(seed);
	this.seed = seed;
	make_text(&this.body);
	memset(&this.options, 0, sizeof(FeatureOptions));
	this.options.size = below(5) > 0 ? ONE_OF(size) : 1 + below(SHINGLE_MAX);
	this.naive.bytewise = below(4) == 0;
	this.options.chars = below(3) == 0;
	naive_split(&this.naive, &this.body, this.options.size, this.options.chars);
	if (!this.options.chars)
		weigh_words();
	this.naive.earlier = 0;
	if (this.options.weights && below(4) == 0)
		precede_text();
	naive_vote(&this.naive);
}

/* Skip about length bytes, to the end of a code point. */
static const uint8 *
skip(const uint8 *p, const uint8 *end, size_t length)
{
	const uint8 *stop = p + Min(length, (size_t) (end - p));
	int32		cp;

	while (p < stop)
		p += naive_decode(p, end, &cp);
	return p;
}

/* Feed a copy, beyond which nothing may be read. */
static void
feed_piece(Tokenizer *t, const uint8 *bytes, size_t length, bool last)
{
	uint8	   *copy = malloc(length);

	if (length > 0)
		memcpy(copy, bytes, length);
	simhash_tokens_feed(t, copy, length, last);
	free(copy);
}

/*
 * Feed the text in pieces of up to about longest bytes, or 0: in one.  Return
 * its number of characters.
 */
static uint32
feed_body(const FeatureTarget *target, size_t longest)
{
	const uint8 *p = this.body.bytes;
	const uint8 *end = p + this.body.length;
	bool		last_is_empty = below(4) == 0;
	Tokenizer  *t = malloc(sizeof(Tokenizer));
	uint32		characters;

	memset(t, 0xAA, sizeof(Tokenizer)); /* nothing in it is relied on */
	simhash_tokens_init(t, &this.options, target);
	t->bytewise = this.naive.bytewise;
	do
	{
		const uint8 *from = p;
		size_t		length = this.body.length;

		/* about FOLD_BYTES bytes, or any number up to longest */
		if (longest > 0)
			length = below(4) == 0 ? 62 + below(5) : 1 + below(longest);
		p = skip(from, end, length);
		feed_piece(t, from, p - from, p == end && !last_is_empty);
	} while (p < end);
	if (last_is_empty)
		feed_piece(t, p, 0, true);
	characters = t->position;
	free(t);
	return characters;
}

/* A FeatureSink: target->arg is the number of features seen. */
static void
check_feature(const FeatureTarget *target, const uint8 *bytes, size_t length,
			  const uint64 *hash, int64 weight)
{
	static Buffer expected;
	size_t	   *seen = target->arg;
	int64		expected_weight;
	int			seed;

	expect_same("is there such a feature?", *seen < this.naive.features, true);
	expected_weight = naive_feature(&this.naive, (*seen)++, &expected);
	expect_same("length of a feature", length, expected.length);
	expect_same("difference in a feature",
				memcmp(bytes, expected.bytes, length), 0);
	for (seed = 0; seed < target->halves; seed++)
		expect_same("hash of a feature", hash[seed],
					XXH3_64bits_withSeed(expected.bytes, length, seed));
	expect_same("weight of a feature", weight, expected_weight);
}

static void
check_features(size_t longest)
{
	size_t		seen = 0;
	FeatureTarget target = {
		.halves = random_hashes(),
		.sink = check_feature,
		.arg = &seen
	};

	feed_body(&target, longest);
	expect_same("number of features", seen, this.naive.features);
}

static void
check_word(Votes *votes, int word)
{
	uint64		fingerprint = 0;

	expect_same("overflow", votes->total > PG_INT64_MAX, this.naive.overflow);
	if (this.naive.overflow)
		return;
	expect_same("is there a fingerprint?",
				simhash_votes_fingerprint(votes, &fingerprint),
				this.naive.elected);
	if (this.naive.elected)
		expect_same("fingerprint", fingerprint, this.naive.fingerprint[word]);
}

static void
check_votes(size_t longest)
{
	Votes		votes[NAIVE_WORDS];
	FeatureTarget target = {
		.halves = random_hashes(),
		.methods = &simhash_votes_methods,
		.arg = votes
	};
	size_t		i;
	int			word;

	memset(votes, 0xAA, sizeof(votes));
	feature_begin(&target, this.options.weights != NULL);
	for (word = 0; word < target.halves; word++)
		for (i = 0; i < this.naive.earlier; i++)
			simhash_votes_add_all(&votes[word], &this.naive.earlier_hash[word],
								  &this.naive.earlier_weight, 1);
	feed_body(&target, longest);
	for (word = 0; word < target.halves; word++)
		check_word(&votes[word], word);
}

/* Features, as they come from the text or from elsewhere. */
typedef struct Gathered
{
	Buffer		occurrences;
	bool		weighted;
	int			sides;
} Gathered;

static void
gather_one(Gathered *g, uint64 hash, int64 weight)
{
	Occurrence	o = {hash, weight, below(g->sides)};

	append(&g->occurrences, &o, sizeof(o));
}

static void
begin_gathering(void *gathered, bool weighted)
{
	((Gathered *) gathered)->weighted = weighted;
}

static void
gather(void *gathered, const uint64 *hash, const int64 *weight, uint32 count)
{
	Gathered   *g = gathered;
	uint32		i;

	expect_same("too many features at once", count > FEATURES_AT_ONCE, false);
	for (i = 0; i < count; i++)
		gather_one(g, hash[i], g->weighted ? weight[i] : WEIGHT_UNIT);
}

/* Features that nobody hashed: few or many, and some of them often. */
static void
gather_random(Gathered *g)
{
	static const uint32 limit[] = {1, 3, 100, 5000, 40000, PG_UINT32_MAX};
	uint32		values = ONE_OF(limit);
	uint32		shift = below(33);
	uint32		length = below(1 << below(17));
	int64		weight = random_weight();

	for (; length > 0; length--)
	{
		uint64		hash = (uint64) below(values) << shift;

		gather_one(g, below(1000) == 0 ? PG_UINT64_MAX : hash,
				   below(3) == 0 ? random_weight() : weight);
	}
}

static void
check_as_set(size_t longest)
{
	static Gathered gathered[NAIVE_WORDS];
	static const HalfMethods methods = {
		.state_size = sizeof(Gathered),
		.begin = begin_gathering,
		.add_all = gather
	};
	FeatureTarget target = {
		.halves = random_hashes(),
		.methods = &methods,
		.arg = gathered
	};
	Gathered   *g;
	int			word;

	for (word = 0; word < target.halves; word++)
	{
		gathered[word].occurrences.length = 0;
		gathered[word].sides = 1 + below(2);
	}
	feature_begin(&target, this.options.weights != NULL);
	feed_body(&target, longest);
	g = &gathered[target.halves - 1];
	expect_same("features in all", g->occurrences.length / sizeof(Occurrence),
				this.naive.features);
	if (below(3) == 0)
		gather_random(g);
	check_set((Occurrence *) g->occurrences.bytes,
			  g->occurrences.length / sizeof(Occurrence));
}

/* The passages that are expected. */
typedef struct Expected
{
	NaivePassage *passages;
	size_t		count;
	size_t		seen;
	int			halves;
} Expected;

/* The emit() of Passages: arg is the Expected. */
static void
check_passage(void *arg, const Passage *passage)
{
	static Buffer bytes;
	Expected   *e = arg;
	NaivePassage *expected = &e->passages[e->seen];
	uint64		fingerprint = 0;
	int			word;

	expect_same("is there such a passage?", e->seen++ < e->count, true);
	naive_join(&this.naive, expected->first, expected->tokens, &bytes);
	expect_same("length of a passage", passage->length, bytes.length);
	expect_same("difference in a passage",
				memcmp(passage->bytes, bytes.bytes, bytes.length), 0);
	expect_same("start of a passage", passage->position, expected->place);
	expect_same("end of a passage", passage->end,
				e->seen < e->count ? expected[1].place : this.naive.end);
	for (word = 0; word < e->halves; word++)
	{
		simhash_sketch_fingerprint(&passage->sketch[word], &fingerprint);
		expect_same("fingerprint of a passage", fingerprint,
					expected->fingerprint[word]);
	}
}

static void
check_passages(void)
{
	/* those of the defaults, and the least and the largest one */
	static const uint32 radius[] = {1, 2, 6, 39, PASSAGE_RADIUS_MAX};
	static const size_t longest[] = {0, 70, 9000};
	uint32		r = below(3) > 0 ? ONE_OF(radius)
	: 1 + below(PASSAGE_RADIUS_MAX);
	Expected	e = {.halves = random_hashes()};
	size_t		i;

	e.count = naive_passages(&this.naive, r, &e.passages);
	for (i = 0; i < lengthof(longest); i++)
	{
		Passages   *p = malloc(sizeof(Passages));
		uint32		end;

		memset(p, 0xAA, sizeof(Passages));
		e.seen = 0;
		simhash_passages_init(p, &this.options, r, e.halves, check_passage,
							  &e);
		end = feed_body(&p->target, longest[i]);
		simhash_passages_finish(p, end);
		free(p);
		expect_same("number of characters", end, this.naive.end);
		expect_same("number of passages", e.seen, e.count);
	}
	passages += e.count;
}

static void
run_case(uint64 seed)
{
	static const size_t longest[] = {0, 4, 70, 700, 9000};	/* 0: in one */
	size_t		i;

	make_case(seed);
	for (i = 0; i < lengthof(longest); i++)
	{
		check_features(longest[i]);
		check_votes(longest[i]);
	}
	check_as_set(ONE_OF(longest));
	check_passages();
	texts++;
	text_bytes += this.body.length;
	features += this.naive.features;
	overflows += this.naive.overflow;
}

int
main(int argc, char **argv)
{
	uint64		rounds;
	uint64		seed;

	if (argc != 3)
	{
		fprintf(stderr, "usage: %s ROUNDS SEED\n", argv[0]);
		return 2;
	}
	rounds = strtoull(argv[1], NULL, 10);
	seed = strtoull(argv[2], NULL, 10);
	signal(SIGABRT, tell_case);
	while (texts < rounds)
		run_case(seed + texts);
	printf("%llu texts, %zu bytes, %zu features, %zu passages, "
		   "%zu overflows, %zu sets, %zu tables that were full\n",
		   (unsigned long long) texts, text_bytes, features, passages,
		   overflows, sets_checked, full_tables);
	return 0;
}
