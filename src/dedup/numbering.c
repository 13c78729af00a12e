/*
 * numbering.c
 *	  Number rows by the clusters of their fingerprints, in order of first
 *	  appearance.
 *
 * Equal fingerprints are one member of a cluster.  Members are numbered in
 * order of first appearance, too.  So the first row of a cluster is the first
 * row of its least member.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/dedup.h"
#include "near/progress.h"

/* Stands for the member in a row without a fingerprint. */
#define NO_MEMBER PG_UINT32_MAX

/*
 * On entry the numbers of the list are those of rows, ascending.  Leave one of
 * each fingerprint, numbered by the first row that has it.  Set firsts[row] to
 * that number for each row, or to NO_MEMBER.
 */
static void
merge_rows(FingerprintList *list, uint32 rows, uint32 *firsts)
{
	uint32		distinct = 0;
	uint32		from;
	uint32		to;
	uint32		i;

	for (i = 0; i < rows; i++)
		firsts[i] = NO_MEMBER;

	/* the sort is stable: the first of a run is the first row */
	hamming_fplist_sort(list, 0, list->count, 0, HAMMING_BITS);
	for (from = 0; from < list->count; from = to)
	{
		uint32		first = list->numbers[from];

		to = fplist_end_of_run(list, from, list->count, FINGERPRINT_ALL_BITS);
		for (i = from; i < to; i++)
		{
			CHECK_FOR_INTERRUPTS();
			firsts[list->numbers[i]] = first;
		}
		list->fps[distinct] = list->fps[from];
		list->numbers[distinct++] = first;
	}
	list->count = distinct;
}

/*
 * Number the distinct fingerprints from 0 on, in the order of their first
 * rows.  These numbers replace the first rows in members and on the list.
 */
static void
number_distinct(FingerprintList *list, uint32 rows, uint32 *members)
{
	uint32		next = 0;
	uint32		i;

	for (i = 0; i < rows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		/* a first row comes before the others, and so has its number by now */
		if (members[i] == i)
			members[i] = next++;
		else if (members[i] != NO_MEMBER)
			members[i] = members[members[i]];
	}
	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		list->numbers[i] = members[list->numbers[i]];
	}
}

/*
 * On entry clusters[member] is an earlier member of the same cluster, or
 * member itself if it is the first; on return, the number of the cluster.
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
 * The numbers on the list must be those of rows, ascending.  Set numbers[row]
 * for all rows to the number of the cluster, from 1 on, or to NO_CLUSTER for a
 * row that is not on the list.  The list is changed.
 */
void
hamming_number_clusters(FingerprintList *list, uint32 rows, int radius,
						ClusterMethod method, uint32 *numbers)
{
	Together   *together;
	uint32	   *clusters;
	uint32		i;

	simhash_progress_phase("connecting fingerprints");
	together = hamming_connect_begin(list, radius);
	merge_rows(list, rows, numbers);
	number_distinct(list, rows, numbers);
	clusters = together != NULL ? together->sets
		: palloc_extended((Size) list->count * sizeof(uint32),
						  MCXT_ALLOC_HUGE);
	hamming_connect(list, radius, clusters, together, NULL, 0);
	if (method == CLUSTER_LEADER)
		hamming_choose_leaders(list, radius, clusters);
	number_members(clusters, list->count);
	for (i = 0; i < rows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		numbers[i] = numbers[i] == NO_MEMBER ? NO_CLUSTER
			: clusters[numbers[i]];
	}
	if (together != NULL)
		hamming_together_end(together);
	else
		pfree(clusters);
}
