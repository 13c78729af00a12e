/*
 * passages.c
 *	  Where the content of a text cuts it, and the sketches of its passages:
 *	  "Passages" of doc/algorithm.md.
 *
 * A feature begins a passage if its hash is less than those of the radius
 * features before it, and not greater than those of the radius features after
 * it (Bjorner, Blass and Gurevich, "Content-dependent chunking for differential
 * compression, the local maximum approach", J. Comput. Syst. Sci. 76, 2010).
 * What is farther away has no influence on the cut.  Of radius + 1 features in
 * a row one at most begins a passage.
 */
#include "postgres.h"

#include "text/passages.h"

static void
begin_passage(Passages *p, uint64 first)
{
	int			half;

	p->first = first;
	p->sketched = first;
	for (half = 0; half < p->target.halves; half++)
		simhash_sketch_begin(&p->sketch[half], false);
}

static void
sketch_until(Passages *p, uint64 end)
{
	while (p->sketched < end)
	{
		uint32		count = Min(end - p->sketched, FEATURES_AT_ONCE);
		int			half;

		for (half = 0; half < p->target.halves; half++)
			simhash_sketch_add_all(&p->sketch[half],
								   &p->hash[half][p->sketched - p->base],
								   NULL, count);
		p->sketched += count;
	}
}

/*
 * Emit the passage, whose tokens end before end in p->bytes, and which ends
 * before the character at end_position in the text.  A space at the end is none
 * of it: it joins two words, or stands between them.
 */
static void
emit_passage(Passages *p, size_t end, uint32 end_position)
{
	size_t		length = end - p->head - (p->bytes[end - 1] == ' ');
	Passage		passage = {p->begin, end_position, p->bytes + p->head, length,
	p->sketch};
	int			half;

	/* of fewer tokens than a feature has, all are one feature */
	for (half = 0; p->sketched == p->first && half < p->target.halves; half++)
	{
		uint64		hash = hash_feature(passage.bytes, passage.length, half);

		simhash_sketch_add_all(&p->sketch[half], &hash, NULL, 1);
	}
	p->emit(p->arg, &passage);
}

/*
 * Feature number first begins a passage: end the one before.  The features that
 * the cut divides are of neither, nor is one that ends with the space between
 * two words.
 */
static void
cut(Passages *p, uint64 first)
{
	size_t		start = p->start[first - p->base];
	bool		spaced = p->options.chars && p->bytes[start - 1] == ' ';

	if (first >= p->first + p->options.size)
		sketch_until(p, first + 1 - p->options.size - spaced);
	emit_passage(p, start, p->position[first - p->base]);
	p->begin = p->position[first - p->base];
	p->head = start;
	begin_passage(p, first);
}

/*
 * Feature number i has come.  Does feature number i - p->radius begin a
 * passage?
 *
 * p->least has the least key of all from p->since on, and the radius features
 * before a later one are among these.  So only a feature with a lesser key than
 * p->least may begin a passage.  Such a feature becomes p->least.  p->least
 * begins a passage if none of the radius features after p->least has a lesser
 * key, and if p->since stands radius features or more before p->least.
 *
 * When radius features have followed p->least, none of these begins a passage:
 * p->least stands before each of them, and its key is not greater.  p->since
 * moves behind p->least, and the least of them takes its place.  That one
 * cannot begin a passage later, as fewer than radius features stand between
 * p->since and it.  Of equal keys the last one is taken, because it lasts the
 * longest: a text of one word takes no time here.
 */
static inline bool
find_cut(Passages *p, uint64 i)
{
	const uint64 *key = p->key;
	uint64		old = p->least;
	bool		found;
	uint64		j;

	if (key[i - p->base] < key[old - p->base])
		p->least = i;
	if (i - p->least < p->radius)
		return false;

	found = old - p->since >= p->radius;
	p->since = old + 1;
	p->least = p->since;
	for (j = p->since + 1; j <= i; j++)
	{
		if (key[j - p->base] <= key[p->least - p->base])
			p->least = j;
	}
	return found;
}

static void
append_shingles(Passages *p, const Shingles *shingles)
{
	const size_t *start = shingles->start;
	size_t		length = shingles->end - start[0];
	int			half;
	uint32		i;

	for (half = 0; half < p->target.halves; half++)
		memcpy(p->hash[half] + p->count, shingles->hash[half],
			   shingles->count * sizeof(uint64));
	memcpy(p->position + p->count, shingles->position,
		   shingles->count * sizeof(uint32));

	if (p->next + length > p->capacity)
	{
		p->capacity = Max(2 * p->capacity, p->next + length);
		p->bytes = simhash_resize_array(p->bytes, p->capacity);
	}
	/* the first tokens may be there, as the last of a feature that has come */
	memcpy(p->bytes + p->next, shingles->bytes + start[0], length);
	p->end = p->next + length;
	for (i = 0; i < shingles->count; i++)
	{
		bool		begins = shingles->bytes[start[i]] != ' ';

		p->start[p->count] = p->next + start[i] - start[0];
		p->key[p->count] = begins ? shingles->hash[0][i] : PG_UINT64_MAX;
		p->count++;
	}
	p->next += start[i] - start[0];
}

/*
 * Drop the features that are in the sketches.  find_cut() looks at no key
 * before that of p->least, which stands at or after p->sketched: p->least is
 * among the last radius features, and after the cut that began the passage.
 */
static void
drop_shingles(Passages *p)
{
	uint32		drop = p->sketched - p->base;
	uint32		i;
	int			half;

	Assert(p->sketched <= p->least);
	p->base += drop;
	p->count -= drop;
	for (half = 0; half < p->target.halves; half++)
		memmove(p->hash[half], p->hash[half] + drop,
				p->count * sizeof(uint64));
	memmove(p->key, p->key + drop, p->count * sizeof(uint64));
	memmove(p->position, p->position + drop, p->count * sizeof(uint32));
	for (i = 0; i < p->count; i++)
		p->start[i] = p->start[i + drop] - p->head;

	/* a passage of many batches stays where it is */
	if (p->head > 0)
	{
		p->next -= p->head;
		p->end -= p->head;
		memmove(p->bytes, p->bytes + p->head, p->end);
		p->head = 0;
	}
}

/* The take_shingles of a FeatureTarget: arg is the Passages. */
static void
take_shingles(void *arg, const Shingles *shingles)
{
	Passages   *p = arg;
	uint64		i = p->base + p->count;
	uint64		end = i + shingles->count;

	append_shingles(p, shingles);
	for (; i < end; i++)
	{
		if (find_cut(p, i))
			cut(p, i - p->radius);
	}
	/* no cut to come divides those that are so far before the end */
	if (end > p->radius + p->options.size)
		sketch_until(p, end - p->radius - p->options.size);
	drop_shingles(p);
}

/*
 * Prepare p to call emit(arg, passage) for each passage of a text, in order.
 * options say what the features of the text are, which go to p->target, each
 * with a hash for each half.  radius is 1 .. PASSAGE_RADIUS_MAX.
 */
void
simhash_passages_init(Passages *p, const FeatureOptions *options,
					  uint32 radius, int halves,
					  void (*emit) (void *, const Passage *), void *arg)
{
	Assert(radius >= 1 && radius <= PASSAGE_RADIUS_MAX);
	memset(p, 0, offsetof(Passages, sketch));
	p->radius = radius;
	p->options = *options;
	p->target.halves = halves;
	p->target.take_shingles = take_shingles;
	p->target.arg = p;
	p->emit = emit;
	p->arg = arg;
	begin_passage(p, 0);
}

/*
 * All features have come, and the text has end characters.  Emit the last
 * passage, and free what p has allocated.
 */
void
simhash_passages_finish(Passages *p, uint32 end)
{
	uint64		count = p->base + p->count;

	if (count > 0)
	{
		sketch_until(p, count);
		emit_passage(p, p->end, end);
		simhash_resize_array(p->bytes, 0);
	}
}
