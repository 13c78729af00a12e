/*
 * arguments.h
 *	  Arguments that SQL functions share, and their checks.
 */
#ifndef SIMHASH_DEDUP_ARGUMENTS_H
#define SIMHASH_DEDUP_ARGUMENTS_H

#include "utils/builtins.h"

#include "type/check_range.h"

typedef enum ClusterMethod
{
	CLUSTER_CONNECTED,			/* what is connected by pairs */
	CLUSTER_LEADER				/* what is paired with the first one */
} ClusterMethod;

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

static inline int
check_parts(int parts)
{
	if (parts < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parts must be at least 1, not %d", parts)));
	return parts;
}

#endif							/* SIMHASH_DEDUP_ARGUMENTS_H */
