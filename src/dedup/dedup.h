/*
 * dedup.h
 *	  Clusters of rows, their pairs, and groups of pairs.
 */
#ifndef SIMHASH_DEDUP_H
#define SIMHASH_DEDUP_H

#include "access/tupdesc.h"
#include "utils/builtins.h"

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

/* user_query.c: what a SQL function takes, a query that returns columns. */
typedef struct UserQuery
{
	const char *columns;		/* their names, for messages */
	int			count;			/* of columns, up to USER_COLUMNS */
	int			ids;			/* 1: an id, and then a fingerprint come
								 * first; 2: there are two ids */

	/*
	 * Called before the first row; or NULL.  bits is how many a fingerprint
	 * has, if there is one.
	 */
	void		(*begin) (TupleDesc description, int bits, void *arg);

	/*
	 * Called for each row that has no NULL.  values, which are valid until it
	 * returns, have ids as bigint.
	 */
	void		(*receive) (const Datum *values, void *arg);
} UserQuery;

#define USER_COLUMNS 3

extern void simhash_read_user_query(FunctionCallInfo fcinfo,
									const UserQuery *query, void *arg);

/* texts.c, which knows the struct: texts of rows, by the numbers of these */
typedef struct Texts Texts;

extern Texts *simhash_texts_begin(uint32 rows, double min_similarity,
								  int words);
extern void simhash_texts_add(Texts *texts, uint32 row, Datum body);
extern uint64 simhash_texts_digest(Texts *texts, uint32 row);
extern bool simhash_texts_equal(Texts *texts, uint32 a, uint32 b);
extern bool simhash_texts_alike(Texts *texts, uint32 a, uint32 b);
extern void simhash_texts_end(Texts *texts);

/* connect.c */
#define NO_SET PG_UINT32_MAX	/* all bytes 255 */

extern Together *hamming_connect_begin(FingerprintList *list, uint32 numbers,
									   int radius);
extern uint32 *hamming_connect(FingerprintList *list, uint32 numbers,
							   int radius, Together *together, Texts *texts);
extern PGDLLEXPORT void hamming_connect_main(dsm_segment *segment,
											 shm_toc *toc);

/* leaders.c */
extern void hamming_choose_leaders(FingerprintList *list, uint32 numbers,
								   int radius, Texts *texts, uint32 *clusters);

#endif							/* SIMHASH_DEDUP_H */
