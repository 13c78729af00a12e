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

/* pair_rows.c knows the struct, which differs from width to width. */
typedef struct PairRows PairRows;

/* The functions for fingerprints of one width: pair_rows.c describes them. */
typedef struct PairMethods
{
	PairRows   *(*begin) (int max_distance, int part, int parts,
						  bool needs_all);
	void		(*add) (PairRows *rows, int64 id, Datum fingerprint);
	bool		(*next) (PairRows *rows, Datum *values);
	void		(*end) (PairRows *rows);
} PairMethods;

/* connect.c */
extern Together *hamming_connect_begin(FingerprintList *list, int radius);
extern uint32 *hamming_connect(FingerprintList *list, int radius,
							   Together *together, Texts *texts,
							   const NearCut *cut, int segment);
extern PGDLLEXPORT void hamming_connect_main(dsm_segment *segment,
											 shm_toc *toc);

/* leaders.c */
extern void hamming_choose_leaders(FingerprintList *list, int radius,
								   Texts *texts, uint32 *clusters);

/* pair_rows.c */
extern const PairMethods simhash_pair_methods;
extern const PairMethods simhash_pair_methods_128;

#endif							/* SIMHASH_DEDUP_H */
