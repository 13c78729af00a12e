/*
 * passages.h
 *	  Where the content of a text cuts it, and the sketches of its passages.
 */
#ifndef SIMHASH_PASSAGES_H
#define SIMHASH_PASSAGES_H

#include "text/shingle.h"
#include "text/sketch.h"

#define PASSAGE_RADIUS_MAX 500	/* features */

/*
 * How many features there is room for: a batch, and radius + size features
 * before the batch, which a cut may still divide.
 */
#define PASSAGE_FEATURES (FEATURES_AT_ONCE + PASSAGE_RADIUS_MAX + SHINGLE_MAX)

/* A passage, valid until the function that gets it returns. */
typedef struct Passage
{
	uint32		position;		/* character of the text that it begins with */
	uint32		end;			/* the character after its last one */
	const uint8 *bytes;			/* its tokens, joined as in a feature */
	size_t		length;			/* of bytes */
	Sketch	   *sketch;			/* of its features, by each hash */
} Passage;

/*
 * The features of a text are numbered from 0.  What is known of feature number
 * i, p->base <= i < p->base + p->count, is element i - p->base of the arrays.
 *
 * Between two batches, the numbers of features, and where their tokens are in
 * p->bytes:
 *
 *		first           base = sketched                 base + count
 *		  | in the sketch | a cut may still divide these  |
 *		head                                            next       end
 *		  | the tokens that these features begin with     | others |
 *
 * least is the number of a feature that is not in the sketch, and since stands
 * at least or before it.
 */
typedef struct Passages
{
	uint32		radius;			/* 1 .. PASSAGE_RADIUS_MAX.  The text is cut
								 * at a feature whose key is the least of
								 * those of radius features on either side. */
	FeatureOptions options;		/* what a feature is */
	FeatureTarget target;		/* for the features of the text */
	void		(*emit) (void *arg, const Passage *passage);
	void	   *arg;

	uint64		base;			/* number of the first feature that is known */
	uint32		count;			/* of features that are known */

	/* The search for the next cut, by numbers of features. */
	uint64		least;			/* the last with the least key from since on */
	uint64		since;

	/* The passage that the next cut ends. */
	uint64		first;			/* number of its first feature */
	uint64		sketched;		/* number of the first one not in the sketch */
	uint32		begin;			/* character of the text it begins with */
	uint8	   *bytes;			/* tokens, joined */
	size_t		capacity;
	size_t		head;			/* where those of the passage begin */
	size_t		next;			/* where those of feature base + count begin */
	size_t		end;			/* where all tokens end, with their glue */
	Sketch		sketch[HALVES_MAX];

	/* What is known of features: see above. */
	uint64		hash[HALVES_MAX][PASSAGE_FEATURES];
	uint64		key[PASSAGE_FEATURES];	/* the least one makes a cut */
	uint32		position[PASSAGE_FEATURES]; /* as in Shingles */
	size_t		start[PASSAGE_FEATURES];	/* of its first token in bytes */
} Passages;

extern void simhash_passages_init(Passages *p, const FeatureOptions *options,
								  uint32 radius, int halves,
								  void (*emit) (void *, const Passage *),
								  void *arg);
extern void simhash_passages_finish(Passages *p, uint32 end);

#endif							/* SIMHASH_PASSAGES_H */
