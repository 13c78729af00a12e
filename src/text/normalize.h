/*
 * normalize.h
 *	  NFKC_Casefold of a stream of code points.
 */
#ifndef SIMHASH_NORMALIZE_H
#define SIMHASH_NORMALIZE_H

/*
 * Code points of a combining sequence, or marks, that are kept in memory.  The
 * Stream-Safe Text Format (UAX #15) has at most 30 marks after a starter: only
 * hostile text has more than these 8 kB.
 */
#define SEQUENCE_MAX 2048

#define COMBINING_CLASSES 256	/* Canonical_Combining_Class is a byte */

/*
 * Temporary files for longer sequences.  A function that fails never returns.
 */
typedef struct MarkFiles
{
	void	   *(*create) (void);
	void		(*write) (void *file, const int32 *marks, size_t count);
	void		(*rewind) (void *file); /* to the first mark, for reading */
	/* reads count marks, or all that are left; returns how many it has read */
	size_t		(*read) (void *file, int32 *marks, size_t count);
	void		(*close) (void *file);	/* and delete */
} MarkFiles;

typedef struct Normalizer
{
	/*
	 * The combining sequence so far, mapped and decomposed.  Only its first
	 * code point may have UC_STARTS.  Of a long sequence, these are the marks
	 * after the last starter that are not in files.
	 */
	int32		sequence[SEQUENCE_MAX];
	size_t		length;
	bool		sorted;			/* is sequence in canonical order? */

	uint32		place;			/* character of the text that it begins with */

	/* Takes each normalised code point. */
	void		(*emit) (void *arg, uint32 cp);
	void	   *arg;

	const MarkFiles *files;
	bool		is_long;		/* has the sequence outgrown sequence[]? */

	/* Of a long sequence only: */
	int32		starter;		/* the last starter, not yet emitted, which
								 * marks may compose with; -1: none */
	bool		spilled;		/* are marks after starter in files? */
	void	   *marks[COMBINING_CLASSES];	/* file of each class, or NULL */
} Normalizer;

extern void simhash_normalize_init(Normalizer *n, const MarkFiles *files,
								   void (*emit) (void *, uint32), void *arg);
extern void simhash_normalize_push(Normalizer *n, uint32 cp, uint32 place);
extern void simhash_normalize_end(Normalizer *n);

/* Emit the combining sequence, if there is one: nothing else belongs to it. */
static inline void
normalize_flush(Normalizer *n)
{
	if (n->length > 0 || n->is_long)
		simhash_normalize_end(n);
}

#endif							/* SIMHASH_NORMALIZE_H */
