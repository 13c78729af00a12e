/*
 * normalize.h
 *	  NFKC_Casefold of a stream of code points.
 */
#ifndef NORMALIZE_H
#define NORMALIZE_H

/* Code points of a combining sequence, or marks, that are kept in memory. */
#define SEQUENCE_MAX 2048

#define COMBINING_CLASSES 256

/*
 * Files for the marks of a longer sequence, one for each combining class that
 * occurs.  What is written is read in the same order after a rewind.
 */
typedef struct MarkFiles
{
	void	   *(*create) (void);
	void		(*write) (void *file, const int32 *marks, size_t count);
	void		(*rewind) (void *file);
	size_t		(*read) (void *file, int32 *marks, size_t count);
	void		(*close) (void *file);
} MarkFiles;

typedef struct Normalizer
{
	/*
	 * What is being read, mapped and decomposed: a combining sequence, of
	 * which only the first code point starts one; or, if it is long, the
	 * marks after its last starter.
	 */
	int32		sequence[SEQUENCE_MAX];
	size_t		length;
	bool		sorted;			/* in canonical order so far? */

	/* Takes each normalised code point. */
	void		(*emit) (void *arg, uint32 cp);
	void	   *arg;

	bool		is_long;
	/* of a long sequence: */
	int32		starter;		/* what marks can still compose with; -1 if
								 * nothing */
	const MarkFiles *files;
	bool		spilled;		/* are there earlier ones in files? */
	void	   *marks[COMBINING_CLASSES];	/* these, NULL where there are
											 * none */
} Normalizer;

extern void simhash_normalize_init(Normalizer *n, const MarkFiles *files,
								   void (*emit) (void *, uint32), void *arg);
extern void simhash_normalize_push(Normalizer *n, uint32 cp);
extern void simhash_normalize_end(Normalizer *n);

/* End the combining sequence, if there is one: nothing combines any more. */
static inline void
normalize_flush(Normalizer *n)
{
	if (n->length > 0 || n->is_long)
		simhash_normalize_end(n);
}

#endif							/* NORMALIZE_H */
