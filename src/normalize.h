/*
 * normalize.h
 *	  NFKC_Casefold of a stream of code points.
 */
#ifndef NORMALIZE_H
#define NORMALIZE_H

/* Code points kept without allocation; a longer combining sequence grows. */
#define SEGMENT_INLINE 64

typedef struct Normalizer
{
	/*
	 * The combining sequence that is being read, mapped and decomposed: its
	 * first code point starts a sequence, no other does.
	 */
	int32 *segment;
	size_t length;
	size_t capacity;
	bool sorted; /* in canonical order so far? */

	/* Enlarge, or shrink to nothing, an allocated array; never fails. */
	void *(*resize)(void *array, size_t bytes);

	/* Takes each normalised code point. */
	void (*emit)(void *arg, uint32 cp);
	void *arg;

	int32 space[SEGMENT_INLINE];
} Normalizer;

extern void normalize_init(Normalizer *n, void *(*resize)(void *, size_t),
						   void (*emit)(void *, uint32), void *arg);
extern void normalize_push(Normalizer *n, uint32 cp);
extern void normalize_sequence(Normalizer *n);
extern void normalize_finish(Normalizer *n);

/* End the combining sequence, if there is one. */
static inline void
normalize_flush(Normalizer *n)
{
	if (n->length > 0)
		normalize_sequence(n);
}

#endif /* NORMALIZE_H */
