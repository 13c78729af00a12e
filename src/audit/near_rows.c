/*
 * near_rows.c
 *	  Which rows are near, by their fingerprints of one width.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "audit/near_rows.h"
#include "dedup/clusters.h"
#include "type/distance_array.h"
#include "type/simhash.h"

/* Set the fingerprint of row. */
static void
read_datum(Datum fingerprint, AuditRow *row)
{
	row->half[1] = 0;
	fingerprint_to_words(DatumGetSimhash(fingerprint), row->half);
}

/*
 * Set is_near[row] for all rows: is there another one within radius?  A row is
 * connected with another if, and only if, it is.
 */
static void
mark_near(AuditRows *rows, int radius, bool *is_near)
{
	FingerprintList list;
	uint32	   *clusters = palloc_extended(rows->count * sizeof(uint32),
										   MCXT_ALLOC_HUGE);
	uint32	   *sizes = palloc_extended((rows->count + 1) * sizeof(uint32),
										MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	AuditRow	row;
	uint32		i;

	simhash_fplist_allocate(&list, rows->count);
	simhash_audit_rewind(rows);
	for (i = 0; i < rows->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		simhash_audit_next_row(rows, &row);
		fplist_append(&list, fingerprint_from_words(row.half), i);
	}
	simhash_number_clusters(&list, rows->count, radius, CLUSTER_CONNECTED,
							clusters);
	simhash_fplist_free(&list);
	for (i = 0; i < rows->count; i++)
		sizes[clusters[i]]++;
	for (i = 0; i < rows->count; i++)
		is_near[i] = sizes[clusters[i]] > 1;
	pfree(clusters);
	pfree(sizes);
}

/* Return an array of fingerprints. */
static void *
allocate(int count)
{
	return palloc_extended(count * sizeof(Fingerprint), MCXT_ALLOC_HUGE);
}

/* Set fingerprint number i of an array to that of row. */
static void
set(void *fingerprints, int i, const AuditRow *row)
{
	((Fingerprint *) fingerprints)[i] = fingerprint_from_words(row->half);
}

/*
 * Set matches[] to the numbers of those of fingerprints[0 .. count) that are
 * within radius of that of row.  Return how many these are.  count is 65536 at
 * most.
 */
static int
match(const void *fingerprints, int count, const AuditRow *row, int radius,
	  uint16 *matches)
{
	return hamming_match(fingerprints, count, fingerprint_from_words(row->half),
						 radius, matches);
}

const AuditMethods
WIDE(simhash_audit_methods) =
{
	HAMMING_BITS, read_datum, mark_near, allocate, set, match
};
