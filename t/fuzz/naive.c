/*
 * naive.c
 *	  What doc/algorithm.md says, word for word: a text is normalised as a whole
 *	  and split into tokens, and each feature is put together from its tokens.
 *
 * Of the sources under test this uses nothing but the table of the classes of
 * code points.
 */
#include "postgres.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <math.h>
#include <utf8proc.h>

#include "fuzz.h"
#include "text/unicode.h"

/* PostgreSQL's own is in the server, which is not there. */
#undef qsort

/* Returns the length of the code point at p, or 1 for a byte that is none. */
size_t
naive_decode(const uint8 *p, const uint8 *end, int32 *cp)
{
	utf8proc_ssize_t length = utf8proc_iterate(p, end - p, cp);

	if (length <= 0)
		*cp = -1;
	return Max(length, 1);
}

/* NFKC_Casefold of valid UTF-8, all of it assigned. */
static void
naive_casefold(Buffer *normal, const uint8 *bytes, size_t length)
{
	uint8	   *folded;
	const int	mapping = UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE;
	const int	nfc = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
	utf8proc_ssize_t folded_length = utf8proc_map(bytes, length, &folded,
												  mapping | nfc);

	if (folded_length < 0)
		abort();
	append(normal, folded, folded_length);
	free(folded);
}

/* Normalise; a space stands for what is no assigned code point. */
static void
naive_normalize(Buffer *normal, const Buffer *body)
{
	const uint8 *end = body->bytes + body->length;
	const uint8 *from = body->bytes;
	const uint8 *p;
	size_t		length;
	int32		cp;

	normal->length = 0;
	for (p = from; p < end; p += length)
	{
		length = naive_decode(p, end, &cp);
		if (cp >= 0 && (unicode_class(cp) & UC_ASSIGNED))
			continue;
		naive_casefold(normal, from, p - from);
		append(normal, " ", 1);
		from = p + length;
	}
	naive_casefold(normal, from, end - from);
}

/* Normalise a stretch.  What results comes from character number place. */
static void
end_stretch(Naive *n, const uint8 *from, const uint8 *end, uint32 place)
{
	naive_casefold(&n->again, from, end - from);
	while (n->places.length < n->again.length * sizeof(place))
		append(&n->places, &place, sizeof(place));
}

/* Does normalisation leave nothing of a code point? */
static bool
is_removed(const uint8 *bytes, size_t length)
{
	static Buffer nothing;

	nothing.length = 0;
	naive_casefold(&nothing, bytes, length);
	return nothing.length == 0;
}

/*
 * Find where each byte of n->normal comes from.  The text is normalised again,
 * in stretches that no combining sequence leaves.  A stretch begins with a code
 * point that nothing before it combines with, or after one that is not
 * assigned.  Its first code point may not be one that is removed.
 */
static void
naive_find_places(Naive *n, const Buffer *body)
{
	const uint8 *end = body->bytes + body->length;
	const uint8 *from = body->bytes;
	const uint8 *p;
	size_t		length;
	uint32		place = 0;
	bool		removed = true; /* all code points since from? */

	n->again.length = 0;
	n->places.length = 0;
	n->end = 0;
	for (p = from; p < end; p += length)
	{
		int32		cp;
		uint8		kind;

		length = naive_decode(p, end, &cp);
		kind = cp >= 0 ? unicode_class(cp) : UC_STARTS;
		if (removed || (kind & UC_STARTS))
		{
			end_stretch(n, from, p, place);
			from = p;
			place = n->end;
			removed = true;
		}
		if (kind & UC_ASSIGNED)
			removed = removed && is_removed(p, length);
		else
		{
			append(&n->again, " ", 1);
			from = p + length;
		}
		n->end += n->bytewise ? length : 1;
	}
	end_stretch(n, from, end, place);
	if (n->again.length != n->normal.length ||
		(n->normal.length > 0 &&
		 memcmp(n->again.bytes, n->normal.bytes, n->normal.length) != 0))
		abort();
}

static void
add_token(Naive *n, const uint8 *from, const uint8 *end)
{
	Token		token = {from, end - from, 1 << 16};

	n->token[n->tokens++] = token;
}

/* The properties by which runs are told apart; returns the next code point. */
static const uint8 *
naive_kind(const uint8 *p, const uint8 *end, uint8 *kind)
{
	int32		cp;
	size_t		length = naive_decode(p, end, &cp);

	*kind = unicode_class(cp) & (UC_WORD | UC_UNSPACED);
	return p + length;
}

static void
naive_words(Naive *n, const uint8 *p, const uint8 *end)
{
	while (p < end)
	{
		uint8		kind;
		uint8		other;
		const uint8 *second = naive_kind(p, end, &kind);
		const uint8 *run_end = second;
		const uint8 *after;

		while (run_end < end &&
			   (after = naive_kind(run_end, end, &other), other == kind))
			run_end = after;
		if (kind == UC_WORD || (kind != 0 && second == run_end))
			add_token(n, p, run_end);
		else if (kind != 0)
		{
			/* bigrams */
			for (; second < run_end; p = second, second = after)
			{
				after = naive_kind(second, end, &other);
				add_token(n, p, after);
			}
		}
		p = run_end;
	}
}

static void
naive_chars(Naive *n, const uint8 *p, const uint8 *end)
{
	static const uint8 space[] = " ";
	bool		gap = false;

	while (p < end)
	{
		uint8		kind;
		const uint8 *after = naive_kind(p, end, &kind);

		if (kind != 0)
		{
			if (gap && n->tokens > 0)
				add_token(n, space, space + 1);
			add_token(n, p, after);
		}
		gap = kind == 0;
		p = after;
	}
}

static void
make_features(Naive *n, size_t size)
{
	n->size = Min(size, n->tokens);
	n->features = n->tokens > 0 ? n->tokens - n->size + 1 : 0;
}

/* Split a text into tokens, which all weigh 1. */
void
naive_split(Naive *n, const Buffer *body, size_t size, bool chars)
{
	const uint8 *end;

	naive_normalize(&n->normal, body);
	naive_find_places(n, body);
	end = n->normal.bytes + n->normal.length;
	/* each byte gives one token at most, and chars a space before it */
	n->token = resize(n->token, (2 * n->normal.length + 1) * sizeof(Token));
	n->tokens = 0;
	n->chars = chars;
	if (chars)
		naive_chars(n, n->normal.bytes, end);
	else
		naive_words(n, n->normal.bytes, end);
	make_features(n, size);
}

/* Leave out the tokens that weigh 0, and give the others a weight of 1. */
void
naive_leave_out(Naive *n, size_t size)
{
	size_t		kept = 0;
	size_t		i;

	for (i = 0; i < n->tokens; i++)
	{
		if (n->token[i].weight == 0)
			continue;
		n->token[kept] = n->token[i];
		n->token[kept++].weight = 1 << 16;
	}
	n->tokens = kept;
	make_features(n, size);
}

/* Join some tokens from token i on. */
void
naive_join(const Naive *n, size_t i, size_t tokens, Buffer *bytes)
{
	size_t		k;

	bytes->length = 0;
	for (k = i; k < i + tokens; k++)
	{
		if (!n->chars && k > i)
			append(bytes, " ", 1);
		append(bytes, n->token[k].bytes, n->token[k].length);
	}
}

/* Make feature i: its bytes, and the mean weight of its tokens. */
int64
naive_feature(const Naive *n, size_t i, Buffer *bytes)
{
	int64		sum = 0;
	size_t		k;

	naive_join(n, i, n->size, bytes);
	for (k = i; k < i + n->size; k++)
		sum += n->token[k].weight;
	return sum / n->size;
}

/* Weights of features that have voted: of all, and of those for each bit. */
typedef struct Ballot
{
	int128		total;
	int128		ones[64];
} Ballot;

static void
cast_vote(Ballot *ballot, uint64 hash, int128 weight)
{
	int			bit;

	ballot->total += weight;
	for (bit = 0; bit < 64; bit++)
		ballot->ones[bit] += hash >> bit & 1 ? weight : 0;
}

/* Elect a word of the fingerprint.  Return false if there is none. */
static bool
elect(const Ballot *ballot, bool *overflow, uint64 *fingerprint)
{
	int			bit;

	*fingerprint = 0;
	for (bit = 0; bit < 64; bit++)
		*fingerprint |= (uint64) (2 * ballot->ones[bit] > ballot->total) << bit;
	*overflow = ballot->total > PG_INT64_MAX;
	return ballot->total > 0;
}

/* Elect the fingerprint, each word by the hashes of a seed. */
void
naive_vote(Naive *n)
{
	static Buffer bytes;
	size_t		i;
	int			seed;

	for (seed = 0; seed < NAIVE_WORDS; seed++)
	{
		Ballot		ballot = {0};

		cast_vote(&ballot, n->earlier_hash[seed],
				  (int128) n->earlier * n->earlier_weight);
		for (i = 0; i < n->features; i++)
		{
			int64		weight = naive_feature(n, i, &bytes);

			cast_vote(&ballot, XXH3_64bits_withSeed(bytes.bytes, bytes.length,
													seed), weight);
		}
		n->elected = elect(&ballot, &n->overflow, &n->fingerprint[seed]);
	}
}

/* Compare occurrences, or distinct features. */
int
compare_hashes(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

/*
 * Put the occurrences in the order of their hashes, and make a feature of all
 * that have the same hash.  Return the number of features.
 */
size_t
naive_distinct(Occurrence *all, size_t count, Distinct *distinct)
{
	size_t		n = 0;
	size_t		i;

	if (count > 0)
		qsort(all, count, sizeof(Occurrence), compare_hashes);
	for (i = 0; i < count; i++)
	{
		Distinct   *d;

		if (i == 0 || all[i].hash != all[i - 1].hash)
			memset(&distinct[n++], 0, sizeof(Distinct));
		d = &distinct[n - 1];
		d->hash = all[i].hash;
		d->count[all[i].side]++;
		d->weight = Max(d->weight, all[i].weight);
	}
	return n;
}

/* The vote of a feature, by tf => 'once' or tf => 'log'. */
int64
naive_term_vote(bool once, uint64 count, int64 weight)
{
	long double factor = 65536 * (1 + logl(Min(count, 1 << 20)));

	return once ? weight : (int64) ((int128) weight * llrintl(factor) / 65536);
}

/* Elect the fingerprint of features by how often they are on all sides. */
bool
naive_elect(const Distinct *distinct, size_t count, bool once,
			bool *overflow, uint64 *fingerprint)
{
	Ballot		ballot = {0};
	const Distinct *d;

	for (d = distinct; d < distinct + count; d++)
		cast_vote(&ballot, d->hash,
				  naive_term_vote(once, d->count[0] + d->count[1], d->weight));
	return elect(&ballot, overflow, fingerprint);
}

/* splitmix64: number i of a seed. */
uint64
naive_split_mix(uint64 seed, uint64 i)
{
	uint64		z = seed + (i + 1) * UINT64CONST(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* The minhash: all 128 rounds of each feature.  False: there is no feature. */
bool
naive_minhash(const Distinct *distinct, size_t count, uint64 *fingerprint)
{
	uint128		least[64];		/* of each bin: a round, and below it a value */
	uint64		round;
	size_t		i;
	int			bin;

	memset(least, 0xFF, sizeof(least));
	for (round = 0; round < 128; round++)
	{
		uint64		multiplier = naive_split_mix(4, round) | 1;

		for (i = 0; i < count; i++)
		{
			uint64		x = naive_split_mix(distinct[i].hash, 0) * multiplier;

			bin = round < 64 ? x >> 58 : round - 64;
			least[bin] = Min(least[bin], (uint128) round << 64 | x);
		}
	}
	*fingerprint = 0;
	for (bin = 0; bin < 64; bin++)
		*fingerprint |= (uint64) (least[bin] >> 32 & 1) << bin;
	return count > 0;
}

/* The minhash of some tokens from token i on, by the hashes of a seed. */
static uint64
minhash_tokens(const Naive *n, size_t i, size_t tokens, size_t size, int seed)
{
	static Buffer bytes;
	static Buffer all;
	static Buffer distinct;
	Occurrence	o = {.weight = 1};
	size_t		end = i + tokens;
	uint64		fingerprint = 0;
	size_t		count;

	all.length = 0;
	for (size = Min(size, tokens); i + size <= end; i++)
	{
		naive_join(n, i, size, &bytes);
		o.hash = XXH3_64bits_withSeed(bytes.bytes, bytes.length, seed);
		append(&all, &o, sizeof(o));
	}
	count = all.length / sizeof(o);
	distinct.bytes = resize(distinct.bytes, count * sizeof(Distinct));
	count = naive_distinct((Occurrence *) all.bytes, count,
						   (Distinct *) distinct.bytes);
	naive_minhash((Distinct *) distinct.bytes, count, &fingerprint);
	return fingerprint;
}

/* What decides whether feature i begins a passage: the least key does. */
static uint64
passage_key(const Naive *n, size_t i, Buffer *bytes)
{
	naive_feature(n, i, bytes);
	if (n->chars && bytes->bytes[0] == ' ')
		return PG_UINT64_MAX;
	return XXH3_64bits(bytes->bytes, bytes->length);
}

/* Is the key of feature i the least of those of radius ones on either side? */
static bool
begins_passage(const Naive *n, size_t i, size_t radius, const uint64 *key)
{
	size_t		k;

	if (i < radius || i + radius >= n->features)
		return false;
	for (k = 1; k <= radius; k++)
	{
		if (key[i - k] <= key[i] || key[i + k] < key[i])
			return false;
	}
	return true;
}

/* Set *passages to those of the text, and return their number. */
size_t
naive_passages(const Naive *n, size_t radius, NaivePassage **passages)
{
	static Buffer all;
	static Buffer bytes;
	uint64	   *key = resize(NULL, (n->features + 1) * sizeof(uint64));
	size_t		count;
	size_t		i;
	int			seed;

	all.length = 0;
	for (i = 0; i < n->features; i++)
		key[i] = passage_key(n, i, &bytes);
	for (i = 0; i < n->features; i++)
	{
		NaivePassage p = {i, 0, 0, {0}};

		if (i > 0 && !begins_passage(n, i, radius, key))
			continue;
		if (i > 0)
			memcpy(&p.place, n->places.bytes + sizeof(p.place) *
				   (n->token[i].bytes - n->normal.bytes), sizeof(p.place));
		append(&all, &p, sizeof(p));
	}
	free(key);

	*passages = (NaivePassage *) all.bytes;
	count = all.length / sizeof(NaivePassage);
	for (i = 0; i < count; i++)
	{
		NaivePassage *p = *passages + i;
		size_t		end = i + 1 < count ? p[1].first : n->tokens;

		if (n->token[end - 1].bytes[0] == ' ')
			end--;
		p->tokens = end - p->first;
		for (seed = 0; seed < NAIVE_WORDS; seed++)
			p->fingerprint[seed] = minhash_tokens(n, p->first, p->tokens,
												  n->size, seed);
	}
	return count;
}
