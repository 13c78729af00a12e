/*
 * dedup.h
 *	  Clusters of rows, their pairs, and groups of pairs.
 */
#ifndef SIMHASH_DEDUP_H
#define SIMHASH_DEDUP_H

#include "utils/builtins.h"

#include "dedup/texts.h"
#include "near/together.h"
#include "type/simhash.h"

typedef enum ClusterMethod
{
	CLUSTER_CONNECTED,			/* what is connected by pairs */
	CLUSTER_LEADER				/* what is paired with the first one */
} ClusterMethod;

/* Return the method that value, a text, names.  Error: 22023. */
static inline ClusterMethod
check_method(Datum value)
{
	char	   *name = TextDatumGetCString(value);

	if (strcmp(name, "connected") == 0)
		return CLUSTER_CONNECTED;
	if (strcmp(name, "leader") == 0)
		return CLUSTER_LEADER;
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("unknown method \"%s\"", name),
					errhint("The methods are \"connected\" and \"leader\".")));
}

/* Return parts.  Error: 22023 if parts is less than 1. */
static inline int
check_parts(int parts)
{
	if (parts < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parts must be at least 1, not %d", parts)));
	return parts;
}

/* connect.c */
extern Together *hamming_connect_begin(FingerprintList *list, uint32 numbers,
									   int radius);
extern uint32 *hamming_connect(FingerprintList *list, int radius,
							   Together *together, Texts *texts);
extern PGDLLEXPORT void hamming_connect_main(dsm_segment *segment,
											 shm_toc *toc);

/* leaders.c */
extern void hamming_choose_leaders(FingerprintList *list, int radius,
								   Texts *texts, uint32 *clusters);

#endif							/* SIMHASH_DEDUP_H */
