/*
 * join_side.h
 *	  The rows of one side of a join, grouped by their fingerprints.
 */
#ifndef SIMHASH_JOIN_SIDE_H
#define SIMHASH_JOIN_SIDE_H

#include "near/fplist.h"

#define simhash_join_side_begin WIDE(simhash_join_side_begin)
#define simhash_join_side_number WIDE(simhash_join_side_number)
#define simhash_join_side_add WIDE(simhash_join_side_add)
#define simhash_join_side_group WIDE(simhash_join_side_group)
#define simhash_join_side_end WIDE(simhash_join_side_end)

/*
 * While rows are added, the list has the fingerprint of each row, and ids its
 * id.  Then the rows are grouped: the list has each distinct fingerprint once,
 * numbered from 0 on, and the rows of fingerprint n have ids[starts[n]] ..
 * ids[starts[n + 1] - 1].
 */
typedef struct JoinSide
{
	FingerprintList list;
	int64	   *ids;
	uint32	   *numbers;		/* of rows, in the order of ids: see
								 * simhash_join_side_number(); may be NULL */
	uint32	   *starts;			/* one more than there are fingerprints; NULL
								 * while rows are added */
	Size		capacity;		/* rows that there is room for */
} JoinSide;

/* What a side takes for each of its rows, in bytes, without room to spare. */
#define JOIN_SIDE_ROW_BYTES \
	(FPLIST_BYTES + sizeof(int64) + 2 * sizeof(uint32))

extern JoinSide *simhash_join_side_begin(void);
extern void simhash_join_side_number(JoinSide *side);
extern void simhash_join_side_add(JoinSide *side, int64 id, uint32 number,
								  Fingerprint fingerprint);
extern void simhash_join_side_group(JoinSide *side);
extern void simhash_join_side_end(JoinSide *side);

#endif							/* SIMHASH_JOIN_SIDE_H */
