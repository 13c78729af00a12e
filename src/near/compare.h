/*
 * compare.h
 *	  The pairs of two lists of fingerprints, or of one.
 */
#ifndef SIMHASH_COMPARE_H
#define SIMHASH_COMPARE_H

#include "miscadmin.h"

#include "near/groups.h"

/* Compared in one go: 256 to 16384 took the same time. */
#define MATCHES_PIECE 4096

/*
 * The matches of the word of one fingerprint in a stretch of a list.
 * hamming_match() numbers them by uint16, so the stretch is compared piece by
 * piece.
 */
typedef struct Matches
{
	const uint64 *words;		/* words of the list */
	uint64		centre;			/* the one that they are compared with */
	int			radius;
	uint32		piece;			/* the current piece begins here, */
	uint32		piece_end;		/* and ends here, where the next one begins */
	uint32		end;			/* the stretch ends here */
	int			next;			/* index of the match to be returned next */
	int			count;			/* matches in the current piece */
	uint16		matches[MATCHES_PIECE]; /* counted from its beginning */
} Matches;

static inline void
matches_begin(Matches *m, const FingerprintList *list, uint32 from, uint32 end,
			  uint64 centre, int radius)
{
	m->words = list->current;
	m->centre = centre;
	m->radius = radius;
	m->piece_end = from;
	m->end = end;
	m->next = 0;
	m->count = 0;
}

static inline bool
matches_next_piece(Matches *m)
{
	if (m->piece_end >= m->end)
		return false;
	CHECK_FOR_INTERRUPTS();
	m->piece = m->piece_end;
	m->piece_end += Min(m->end - m->piece, MATCHES_PIECE);
	m->count = hamming_match(m->words + m->piece, m->piece_end - m->piece,
							 m->centre, m->radius, m->matches);
	m->next = 0;
	return true;
}

/*
 * Get the place of the next match, in ascending order.  All up to *place is
 * compared then: the caller may reorder from .. *place.
 */
static inline bool
matches_next(Matches *m, uint32 *place)
{
	while (m->next == m->count)
		if (!matches_next_piece(m))
			return false;
	*place = m->piece + m->matches[m->next++];
	return true;
}

/*
 * An inner stretch is compared piece by piece, each with the whole outer one.
 * So pairs that follow each other have few fingerprints, and a join finds their
 * tuples in a cache (join/tuples.c).  256 and 4096 took the same time.  Where
 * numbers can be settled a piece has MATCHES_PIECE: the comparison passes over
 * all settled ones anew for each piece.
 */
#define INNER_PIECE 256

/*
 * Each fingerprint of a stretch, outer, is compared with all of another,
 * inner.  outer is the shorter stretch; but where numbers can be settled it is
 * always that of x, so that a settled one is skipped at once.
 */
typedef struct Comparison
{
	NearGroups *groups;
	bool		is_swapped;		/* outer is a stretch of y, and inner of x */
	FingerprintList *outer;		/* NULL where there is no group */
	FingerprintList *inner;
	Candidates	group;			/* x of outer, and y of inner */
	bool		is_one_stretch; /* are these the same stretch? */
	uint32		piece;			/* of inner; the current one begins here, */
	uint32		piece_end;		/* and ends here */
	uint32		i;				/* place of the outer one that is compared */
	Matches		matches;		/* of that one, in the piece */
	uint64		compared;		/* pairs that were compared, or are now */
} Comparison;

/* A pair of fingerprints. */
typedef struct FoundPair
{
	uint32		x;				/* numbers of the fingerprints */
	uint32		y;
	int32		distance;
} FoundPair;

extern Comparison *hamming_compare_make(FingerprintList *x, FingerprintList *y,
										int radius);
extern bool hamming_compare_next(Comparison *c, FoundPair *pair);

#endif							/* SIMHASH_COMPARE_H */
