/*
 * normalize.h
 *	  NFKC_Casefold of a stream of code points.
 */
#ifndef SIMHASH_NORMALIZE_H
#define SIMHASH_NORMALIZE_H

typedef struct Normalizer
{
	/*
	 * The combining sequence so far, mapped and decomposed.  Only its first
	 * code point may have UC_STARTS.
	 */
	int32	   *sequence;		/* NULL, or memory of resize() */
	size_t		length;
	size_t		capacity;
	bool		sorted;			/* is sequence in canonical order? */

	uint32		position;		/* character of the text that the sequence
								 * begins with */

	/* Takes each normalised code point. */
	void		(*emit) (void *arg, uint32 cp);
	void	   *arg;

	void	   *(*resize) (void *array, size_t bytes);
} Normalizer;

extern void simhash_normalize_init(Normalizer *n,
								   void *(*resize) (void *, size_t),
								   void (*emit) (void *, uint32), void *arg);
extern void simhash_normalize_push(Normalizer *n, uint32 cp, uint32 position);
extern void simhash_normalize_end(Normalizer *n);
extern void simhash_normalize_free(Normalizer *n);

/*
 * Nothing that follows may belong to the combining sequence.  Emit the
 * sequence, if there is one.
 */
static inline void
normalize_flush(Normalizer *n)
{
	if (n->length > 0)
		simhash_normalize_end(n);
}

#endif							/* SIMHASH_NORMALIZE_H */
