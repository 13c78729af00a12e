/*
 * draw.h
 *	  Which rows are compared with all others.
 */
#ifndef SIMHASH_AUDIT_DRAW_H
#define SIMHASH_AUDIT_DRAW_H

#include "audit/rows.h"

/* The binary heap of a sample has 8 bytes a row, and 1 GB at most. */
#define AUDIT_SAMPLE_MAX 100000000

/* A row that is drawn. */
typedef struct Draw
{
	uint32		place;			/* of the row, from 0 */
	float		chance;			/* of being drawn, above 0, up to 1 */
} Draw;

typedef struct Drawing Drawing;

extern Drawing *simhash_audit_find_groups(AuditRows *rows, uint8 *is_near,
										  double threshold, Size memory);
extern Draw *simhash_audit_draw(Drawing *d, int sample, int *count);

#endif							/* SIMHASH_AUDIT_DRAW_H */
