/*
 * audit.h
 *	  What a search finds and misses: the rows, a sample of them, and how many
 *	  features the texts have in common.
 */
#ifndef SIMHASH_AUDIT_H
#define SIMHASH_AUDIT_H

#include "storage/buffile.h"

#include "text/feature_set.h"
#include "text/shingle.h"
#include "text/sketch.h"
#include "type/hamming.h"

/* Bands of a text at most: see choose_bands(). */
#define AUDIT_BANDS_MAX SKETCH_BINS

/* The least threshold for which AUDIT_BANDS_MAX bands suffice. */
#define AUDIT_THRESHOLD_MIN 0.1

/* The band of a text without features. */
#define NO_BAND PG_UINT64_MAX

typedef struct AuditRow
{
	int64		id;
	uint64		words[HAMMING_MAX_WORDS];	/* of the fingerprint, and zeros */
	int			file;			/* where the features are, for BufFileSeek() */
	off_t		offset;
} AuditRow;

typedef struct AuditRows
{
	FeatureOptions options;		/* what a feature is */
	double		threshold;		/* texts are alike from this similarity on */
	uint64		seed;
	uint32		count;			/* rows */
	int			word_count;		/* of a fingerprint */
	uint8	   *is_near;		/* a bit for each row: may it be in a pair? */

	/*
	 * Files by row: an AuditRow; the features, in batches of a uint32, their
	 * number, and of their hashes, up to a batch of none; each band, a hash
	 * of some bins of the sketch of the features; and behind these, at
	 * band_count, a hash of the fingerprint.
	 */
	BufFile    *rows;
	BufFile    *features;
	BufFile    *bands[AUDIT_BANDS_MAX + 1];
	int			band_count;		/* 1 .. AUDIT_BANDS_MAX */
	int			band_bins;		/* bins of a band */
	uint64		salt;			/* of the sketches, from the seed */
} AuditRows;

static inline int
audit_distance(const AuditRow *a, const AuditRow *b)
{
	return words_distance(a->words, b->words, HAMMING_MAX_WORDS);
}

/* The binary heap of a sample has 8 bytes a row, and 1 GB at most. */
#define AUDIT_SAMPLE_MAX 100000000

/* A row that is drawn. */
typedef struct Draw
{
	uint32		place;			/* of the row, from 0 */
	float		chance;			/* of being drawn, above 0, up to 1 */
} Draw;

/* The units of a sample: what each has of the whole, and of the part. */
typedef struct Sample
{
	int			count;			/* of units */
	const Draw *draws;
	const uint32 *whole;
	const uint32 *part;			/* 0 .. whole */
} Sample;

typedef struct Proportion
{
	double		total;			/* the whole, of all units */
	double		value;			/* the part, as a share; NaN if total is 0 */
	double		low;			/* of the interval of 95 % */
	double		high;
} Proportion;

/* Of texts of the sample, in memory of the current context. */
typedef struct Overlap
{
	struct overlap_hash *numbers;	/* features of the sample, 0 .. features -
									 * 1, by hash */
	uint32		features;
	int			texts;			/* of the sample */
	uint32	   *begin;			/* text i has members[begin[i]] .. */
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

/* rows.c */
extern void simhash_audit_begin_rows(AuditRows *rows);
extern void simhash_audit_add_row(AuditRows *rows, AuditRow *row,
								  const struct varlena *body);
extern void simhash_audit_seek(BufFile *file, int number, off_t offset);
extern void simhash_audit_rewind(AuditRows *rows);
extern void simhash_audit_next_row(AuditRows *rows, AuditRow *row);
extern uint32 simhash_audit_next_features(AuditRows *rows, uint64 *hash);
extern void simhash_audit_end_rows(AuditRows *rows);

/* near_rows.c */
extern void simhash_audit_mark_near(AuditRows *rows, int radius, Size memory);

/* draw.c */
extern Draw *simhash_audit_draw(AuditRows *rows, int radius, int sample,
								int *count);

/* overlap.c */
extern void simhash_overlap_begin(Overlap *overlap, int most);
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

/* estimate.c */
extern Proportion simhash_estimate(const Sample *sample);

#endif							/* SIMHASH_AUDIT_H */
