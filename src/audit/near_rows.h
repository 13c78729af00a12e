/*
 * near_rows.h
 *	  Which rows are near, by their fingerprints, of either width.
 */
#ifndef SIMHASH_AUDIT_NEAR_ROWS_H
#define SIMHASH_AUDIT_NEAR_ROWS_H

#include "port/pg_bitutils.h"

#include "audit/rows.h"

/* The functions for fingerprints of one width: near_rows.c describes them. */
typedef struct AuditMethods
{
	int			bits;
	void		(*read_datum) (Datum fingerprint, AuditRow *row);
	void		(*mark_near) (AuditRows *rows, int radius, Size memory,
							  uint8 *is_near);
	void		(*set) (void *fingerprints, int i, const AuditRow *row);
	int			(*match) (const void *fingerprints, int count,
						  const AuditRow *row, int radius, uint16 *matches);
} AuditMethods;

/* The distance of two fingerprints of either width. */
static inline int
audit_distance(const AuditRow *a, const AuditRow *b)
{
	return pg_popcount64(a->half[0] ^ b->half[0]) +
		pg_popcount64(a->half[1] ^ b->half[1]);
}

extern const AuditMethods simhash_audit_methods;
extern const AuditMethods simhash_audit_methods_128;

#endif							/* SIMHASH_AUDIT_NEAR_ROWS_H */
