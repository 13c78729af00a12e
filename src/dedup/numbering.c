/*
 * numbering.c
 *	  Number rows by the clusters of their fingerprints, in order of first
 *	  appearance.
 *
 * Equal fingerprints are one member of a cluster.  Members are numbered in
 * order of first appearance, too, so that the first row of a cluster is the
 * first one of its least member.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/connect.h"
#include "dedup/leaders.h"
#include "dedup/numbering.h"

#define NO_MEMBER PG_UINT32_MAX

/*
 * Leave one of each fingerprint on the list, and tell for each row which
 * member it is.
 */
static void
merge_equal(FingerprintList *list, uint32 rows, uint32 *members)
{
	uint32		distinct = 0;
	uint32		next = 0;
	uint32		i;

	for (i = 0; i < rows; i++)
		members[i] = NO_MEMBER;

	/* first, a member is called by its first row: the sort is stable */
	simhash_fplist_sort(list, 0, list->count, 0, 64);
	for (i = 0; i < list->count; i++)
	{
		uint32		row = list->ids[i];

		CHECK_FOR_INTERRUPTS();
		if (distinct == 0 || list->fps[i] != list->fps[distinct - 1])
		{
			list->fps[distinct] = list->fps[i];
			list->ids[distinct++] = row;
		}
		members[row] = list->ids[distinct - 1];
	}
	list->count = distinct;

	for (i = 0; i < rows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (members[i] == i)
			members[i] = next++;
		else if (members[i] != NO_MEMBER)
			members[i] = members[members[i]];
	}
	for (i = 0; i < distinct; i++)
	{
		CHECK_FOR_INTERRUPTS();
		list->ids[i] = members[list->ids[i]];
	}
}

/*
 * Number the clusters from 1 on, where each member's is a member of the same
 * cluster that comes before it, or itself, if it is the first.
 */
static void
number_members(uint32 *clusters, uint32 count)
{
	uint32		next = NO_CLUSTER + 1;
	uint32		i;

	for (i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		clusters[i] = clusters[i] == i ? next++ : clusters[clusters[i]];
	}
}

/*
 * The numbers on the list are those of rows, ascending; the rows that are not
 * on it are in no cluster.  numbers gets the number of each row's cluster.
 * Errors: 53200 where there is no memory.
 */
void
simhash_number_clusters(FingerprintList *list, uint32 rows, int radius,
						ClusterMethod method, uint32 *numbers)
{
	uint32	   *clusters;
	uint32		i;

	merge_equal(list, rows, numbers);
	clusters = palloc_extended((Size) list->count * sizeof(uint32),
							   MCXT_ALLOC_HUGE);
	simhash_connect(list, radius, clusters);
	if (method == CLUSTER_LEADER)
		simhash_choose_leaders(list, radius, clusters);
	number_members(clusters, list->count);
	for (i = 0; i < rows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		numbers[i] = numbers[i] == NO_MEMBER ? NO_CLUSTER
			: clusters[numbers[i]];
	}
	pfree(clusters);
}
