/*
 * rows.c
 *	  The rows of a query that are audited, in temporary files.
 *
 * Each text is read once.  The set of its features is kept, in the order of
 * rows, and not the text.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "audit/audit.h"
#include "text/arguments.h"
#include "type/compat.h"

/*
 * Of the pairs of texts whose similarity is the threshold or more, at most this
 * part may have no band in common.
 */
#define MISSED_PART 0.0012

/*
 * Choose how many bands a text has, of how many bins.
 *
 * Two texts of similarity J have the same number in a bin with probability J:
 * see sketch.h.  So they have a band of n bins in common with probability J^n,
 * and none of m bands with probability (1 - J^n)^m.  A band of two bins keeps
 * apart texts that merely share something.  Below a threshold of 0.5 it would
 * take too many bands.
 */
static void
choose_bands(AuditRows *rows)
{
	double		common;			/* probability of a common band */

	rows->band_bins = rows->threshold < 0.5 ? 1 : 2;
	common = pow(rows->threshold, rows->band_bins);
	rows->band_count = Max(ceil(log(MISSED_PART) / log1p(-common)), 1);
	Assert(rows->band_count * rows->band_bins <= SKETCH_BINS);
}

/*
 * rows->options and rows->seed must be set, and rows->threshold be
 * AUDIT_THRESHOLD_MIN .. 1.  Begin without rows.
 */
void
simhash_audit_begin_rows(AuditRows *rows)
{
	int			i;

	choose_bands(rows);
	rows->salt = seeded_hash(rows->seed, NULL, 0);
	rows->rows = BufFileCreateTemp(false);
	rows->features = BufFileCreateTemp(false);
	for (i = 0; i <= rows->band_count; i++)
		rows->bands[i] = BufFileCreateTemp(false);
}

/*
 * Write a batch of features, and add them to the sketch.  With their hashes as
 * they are, it would have the bins that a minhash is made of.  Then the pairs
 * that a minhash misses would be those that have no band in common.
 */
static void
add_features(AuditRows *rows, FeatureBatch *batch, Sketch *sketch)
{
	uint32		i;

	BufFileWrite(rows->features, &batch->length, sizeof(batch->length));
	BufFileWrite(rows->features, batch->hash,
				 batch->length * sizeof(batch->hash[0]));
	for (i = 0; i < batch->length; i++)
		batch->hash[i] ^= rows->salt;
	simhash_sketch_add_all(sketch, batch->hash, NULL, batch->length);
}

static void
write_bands(AuditRows *rows, const AuditRow *row, Sketch *sketch)
{
	const uint64 *bins = simhash_sketch_bins(sketch);
	uint64		band;
	int			i;

	for (i = 0; i < rows->band_count; i++)
	{
		band = NO_BAND;
		if (bins[0] != PG_UINT64_MAX)
			band = seeded_hash(0, bins + i * rows->band_bins,
							   rows->band_bins * sizeof(uint64));
		BufFileWrite(rows->bands[i], &band, sizeof(band));
	}
	band = seeded_hash(0, row->words, sizeof(row->words));
	BufFileWrite(rows->bands[i], &band, sizeof(band));
}

/*
 * Add a row.  Set where its features are in *row.  Error: 54000 if there are
 * too many rows.
 */
void
simhash_audit_add_row(AuditRows *rows, AuditRow *row,
					  const struct varlena *body)
{
	FeatureSet	set;
	FeatureTarget target;
	FeatureBatch batch;
	Sketch		sketch;

	if (rows->count == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("query must not return more than %d rows",
						PG_INT32_MAX),
				 errhint("Audit a part of the rows, with TABLESAMPLE "
						 "BERNOULLI.")));
	BufFileTell(rows->features, &row->file, &row->offset);
	simhash_sketch_begin(&sketch, false);
	simhash_set_init(&set, work_mem, 0, NULL);
	target = simhash_set_target(&set, 1, 0);
	simhash_make_features(body, &rows->options, &target);
	while (simhash_set_read(&set, &batch))
		add_features(rows, &batch, &sketch);
	simhash_set_free(&set);

	batch.length = 0;
	BufFileWrite(rows->features, &batch.length, sizeof(batch.length));
	BufFileWrite(rows->rows, row, sizeof(*row));
	write_bands(rows, row, &sketch);
	rows->count++;
}

void
simhash_audit_seek(BufFile *file, int number, off_t offset)
{
	if (BufFileSeek(file, number, offset, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not seek in a temporary file: %m")));
}

void
simhash_audit_rewind(AuditRows *rows)
{
	int			i;

	simhash_audit_seek(rows->rows, 0, 0);
	for (i = 0; i <= rows->band_count; i++)
		simhash_audit_seek(rows->bands[i], 0, 0);
}

void
simhash_audit_next_row(AuditRows *rows, AuditRow *row)
{
	BufFileReadExact(rows->rows, row, sizeof(*row));
}

/* Set hash[] to the next features of the row; return 0 at the end. */
uint32
simhash_audit_next_features(AuditRows *rows, uint64 *hash)
{
	uint32		length;

	BufFileReadExact(rows->features, &length, sizeof(length));
	if (length > 0)
		BufFileReadExact(rows->features, hash, length * sizeof(hash[0]));
	return length;
}

void
simhash_audit_end_rows(AuditRows *rows)
{
	int			i;

	BufFileClose(rows->rows);
	BufFileClose(rows->features);
	for (i = 0; i <= rows->band_count; i++)
		BufFileClose(rows->bands[i]);
}
