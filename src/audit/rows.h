/*
 * rows.h
 *	  The rows of a query that are audited, in temporary files.
 */
#ifndef SIMHASH_AUDIT_ROWS_H
#define SIMHASH_AUDIT_ROWS_H

#include "storage/buffile.h"

#include "text/feature_set.h"
#include "text/shingle.h"
#include "text/sketch.h"

/* Bands of a text at most: see choose_bands(). */
#define AUDIT_BANDS_MAX SKETCH_BINS

/* The least threshold for which AUDIT_BANDS_MAX bands suffice. */
#define AUDIT_THRESHOLD_MIN 0.1

/* The band of a text without features. */
#define NO_BAND PG_UINT64_MAX

typedef struct AuditRow
{
	int64		id;
	uint64		half[2];		/* fingerprint, the higher half first; of 64
								 * bits the other is 0 */
	int			file;			/* where the features are, for BufFileSeek() */
	off_t		offset;
} AuditRow;

typedef struct AuditRows
{
	FeatureOptions options;		/* what a feature is */
	uint32		count;			/* rows */
	uint64		seed;

	/*
	 * Files by row: an AuditRow; the features, in batches of a uint32, their
	 * number, and of their hashes, up to a batch of none; each band, a hash
	 * of some bins of the sketch of the features.
	 */
	BufFile    *rows;
	BufFile    *features;
	BufFile    *bands[AUDIT_BANDS_MAX];
	int			band_count;		/* 1 .. AUDIT_BANDS_MAX */
	int			band_bins;		/* bins of a band */
	uint64		salt;			/* of the sketches, from the seed */
} AuditRows;

extern void simhash_audit_begin_rows(AuditRows *rows, double threshold);
extern void simhash_audit_add_row(AuditRows *rows, AuditRow *row,
								  const struct varlena *body);
extern void simhash_audit_seek(BufFile *file, int number, off_t offset);
extern void simhash_audit_rewind(AuditRows *rows);
extern void simhash_audit_next_row(AuditRows *rows, AuditRow *row);
extern uint32 simhash_audit_next_features(AuditRows *rows, uint64 *hash);
extern void simhash_audit_seek_features(AuditRows *rows, const AuditRow *row);
extern uint64 simhash_audit_next_band(AuditRows *rows, int band);
extern void simhash_audit_end_rows(AuditRows *rows);

#endif							/* SIMHASH_AUDIT_ROWS_H */
