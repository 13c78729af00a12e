/*
 * overlap.h
 *	  How many features each text has in common with each of a sample of texts.
 *
 * The sample is in memory.  All texts pass, one after the other.
 */
#ifndef SIMHASH_AUDIT_OVERLAP_H
#define SIMHASH_AUDIT_OVERLAP_H

/* Of texts of the sample, in memory of the current context. */
typedef struct Overlap
{
	struct overlap_hash *numbers;	/* features of the sample, 0 .. features -
									 * 1, by hash */
	uint32		features;
	int			texts;			/* of the sample */
	uint32	   *begin;			/* text i has members[begin[i]] .. */
	int			text_capacity;
	uint32	   *members;		/* numbers of features */
	uint32		member_capacity;

	/* a text whose rarest features have number f is in owners[first[f]] .. */
	uint32	   *first;
	uint32	   *owners;

	/* of the text that passes */
	uint32		stamp;			/* differs from text to text */
	uint32	   *seen;			/* a feature that it has has its stamp */
	uint32		size;			/* its features */
	uint32	   *met;			/* a candidate has its stamp */
	uint32	   *candidates;
	int			candidate_count;
} Overlap;

extern void simhash_overlap_begin(Overlap *overlap);
extern void simhash_overlap_add(Overlap *overlap, const uint64 *hash,
								uint32 count);
extern void simhash_overlap_end_text(Overlap *overlap);
extern Size simhash_overlap_size(const Overlap *overlap);
extern void simhash_overlap_prepare(Overlap *overlap, double threshold);
extern void simhash_overlap_begin_text(Overlap *overlap);
extern void simhash_overlap_see(Overlap *overlap, const uint64 *hash,
								uint32 count);
extern void simhash_overlap_add_candidate(Overlap *overlap, uint32 number);
extern double simhash_overlap_jaccard(const Overlap *overlap, uint32 number);

#endif							/* SIMHASH_AUDIT_OVERLAP_H */
