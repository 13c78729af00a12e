/*
 * matches.h
 *	  The matches of one fingerprint in a stretch of a list, one at a time.
 *
 * hamming_match() numbers its matches by uint16.  So a stretch, which may have
 * any length, is compared piece by piece.
 */
#ifndef SIMHASH_MATCHES_H
#define SIMHASH_MATCHES_H

#include "miscadmin.h"

#include "near/fplist.h"
#include "type/distance_array.h"

/*
 * Fingerprints that are compared in one go.  256, 1024, 4096 and 16384 took
 * the same time within 8 %: simhash_cluster and simhash_pairs at k = 3, a
 * million rows of bench/uniform.sql and of "one bit in eight set"
 * (bench/hostile.sql).
 */
#define MATCHES_PIECE 4096

typedef struct Matches
{
	const Fingerprint *fps;		/* fingerprints of the list */
	Fingerprint centre;			/* the one that they are compared with */
	int			radius;
	uint32		piece;			/* the current piece begins here, */
	uint32		piece_end;		/* and ends here, where the next one begins */
	uint32		end;			/* the stretch ends here */
	int			next;			/* index of the match to be returned next */
	int			count;			/* matches in the current piece */
	uint16		matches[MATCHES_PIECE]; /* counted from its beginning */
} Matches;

/* Begin to compare centre with the places from .. end - 1 of the list. */
static inline void
matches_begin(Matches *m, const FingerprintList *list, uint32 from, uint32 end,
			  Fingerprint centre, int radius)
{
	m->fps = list->fps;
	m->centre = centre;
	m->radius = radius;
	m->piece_end = from;
	m->end = end;
	m->next = 0;
	m->count = 0;
}

/* Let there be no more matches. */
static inline void
matches_end(Matches *m)
{
	m->piece_end = m->end = 0;
	m->next = m->count = 0;
}

static inline bool
matches_next_piece(Matches *m)
{
	if (m->piece_end >= m->end)
		return false;
	CHECK_FOR_INTERRUPTS();
	m->piece = m->piece_end;
	m->piece_end += Min(m->end - m->piece, MATCHES_PIECE);
	m->count = hamming_match(m->fps + m->piece, m->piece_end - m->piece,
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

#endif							/* SIMHASH_MATCHES_H */
