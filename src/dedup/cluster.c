/*
 * cluster.c
 *	  simhash_cluster(...) OVER (...): numbers groups of near-duplicates.
 *
 * At the first row of a partition all of it is read and numbered.  Equal
 * fingerprints are one member of a cluster.  Members are numbered in order of
 * first appearance, and so are clusters: the first row of a cluster is the
 * first row of its least member.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "windowapi.h"

#include "dedup/dedup.h"
#include "near/progress.h"

PG_FUNCTION_INFO_V1(WIDE(simhash_cluster));

/* The cluster of a row that has no fingerprint. */
#define NO_CLUSTER 0

/* Stands for the member in a row without a fingerprint. */
#define NO_MEMBER PG_UINT32_MAX

typedef struct Partition
{
	bool		is_numbered;
	uint32	   *numbers;		/* number of each row's cluster; NULL where an
								 * argument is null */
} Partition;

/* Arguments that are the same for all rows of a partition. */
typedef struct ClusterArguments
{
	bool		is_null;		/* is one of them null? */
	int			radius;
	ClusterMethod method;
} ClusterArguments;

static Datum
get_argument(WindowObject window, int argument, int64 row, bool *isnull)
{
	bool		isout;

	return WinGetFuncArgInPartition(window, argument, row, WINDOW_SEEK_HEAD,
									false, isnull, &isout);
}

static ClusterArguments
get_arguments(WindowObject window, int64 row)
{
	ClusterArguments arguments = {0};
	bool		isnull[2];
	Datum		radius = get_argument(window, 1, row, &isnull[0]);
	Datum		method = get_argument(window, 2, row, &isnull[1]);

	arguments.is_null = isnull[0] || isnull[1];
	if (!arguments.is_null)
	{
		arguments.radius = simhash_check_range("max_distance",
											   DatumGetInt32(radius), 0,
											   HAMMING_BITS);
		arguments.method = check_method(method);
	}
	return arguments;
}

static void
check_constant(WindowObject window, int64 row, const ClusterArguments *first)
{
	ClusterArguments here = get_arguments(window, row);

	if (here.is_null != first->is_null || here.radius != first->radius ||
		here.method != first->method)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_distance and method must be the same in all rows "
						"of a partition")));
}

static uint32
count_rows(WindowObject window)
{
	int64		rows = WinGetPartitionRowCount(window);

	/* a place in a partition is an int to WinGetFuncArgInPartition */
	if (rows > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a partition of " INT64_FORMAT " rows is too large",
						rows),
				 errdetail("A partition of simhash_cluster may have at most "
						   "%d rows.",
						   PG_INT32_MAX)));
	return (uint32) rows;
}

/*
 * Read the fingerprints of the partition into the list.  Check the arguments
 * in each row if they may vary.  WinSetMarkPosition() is not called: it would
 * take longer than to read the row, and free nothing.
 */
static void
read_partition(WindowObject window, uint32 rows,
			   const ClusterArguments *arguments, bool may_vary,
			   FingerprintList *list)
{
	MemoryContext each_row = AllocSetContextCreate(CurrentMemoryContext,
												   "simhash_cluster row",
												   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each_row);
	uint32		row;

	for (row = 0; row < rows; row++)
	{
		bool		isnull;
		Datum		fingerprint = get_argument(window, 0, row, &isnull);

		if (!isnull)
			fplist_append(list, DatumGetSimhash(fingerprint), row);
		if (may_vary)
			check_constant(window, row, arguments);
		MemoryContextReset(each_row);
		simhash_progress_share(row, rows);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each_row);
}

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
 * On entry groups[i] is an earlier number of the same group as i, or i itself
 * if that is the first, or NO_MEMBER.  On return, it is the number of the
 * group, in order of the first of each, from first on, or NO_MEMBER.
 */
static void
number_groups(uint32 *groups, uint32 count, uint32 first)
{
	uint32		i;

	for (i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (groups[i] == i)
			groups[i] = first++;
		else if (groups[i] != NO_MEMBER)
			groups[i] = groups[groups[i]];
	}
}

/*
 * The numbers on the list must be those of rows, ascending.  Set numbers[row]
 * for all rows to the number of the cluster, from 1 on, or to NO_CLUSTER for a
 * row that is not on the list.  The list is changed.
 */
static void
number_rows(FingerprintList *list, uint32 rows,
			const ClusterArguments *arguments, uint32 *numbers)
{
	Together   *together;
	uint32	   *clusters;
	uint32		i;

	simhash_progress_phase("connecting fingerprints");
	together = hamming_connect_begin(list, arguments->radius);
	merge_rows(list, rows, numbers);
	number_groups(numbers, rows, 0);
	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		list->numbers[i] = numbers[list->numbers[i]];
	}
	clusters = hamming_connect(list, arguments->radius, together, NULL, 0);
	if (arguments->method == CLUSTER_LEADER)
		hamming_choose_leaders(list, arguments->radius, clusters);
	number_groups(clusters, list->count, NO_CLUSTER + 1);
	for (i = 0; i < rows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		numbers[i] = numbers[i] == NO_MEMBER ? NO_CLUSTER
			: clusters[numbers[i]];
	}
	if (together != NULL)
		hamming_together_end(together);
}

static void
number_partition(WindowObject window, bool may_vary, Partition *partition)
{
	MemoryContext call = AllocSetContextCreate(CurrentMemoryContext,
											   "simhash_cluster",
											   ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(call);
	uint32		rows;
	ClusterArguments arguments;
	FingerprintList list;

	simhash_progress_begin("simhash_cluster");
	simhash_progress_phase("reading rows");
	rows = count_rows(window);
	arguments = get_arguments(window, 0);
	hamming_fplist_allocate(&list, rows);
	read_partition(window, rows, &arguments, may_vary, &list);
	if (!arguments.is_null)
	{
		MemoryContext context = GetMemoryChunkContext(partition);

		partition->numbers =
			MemoryContextAllocHuge(context, (Size) rows * sizeof(uint32));
		number_rows(&list, rows, &arguments, partition->numbers);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(call);
	partition->is_numbered = true;
}

/* simhash_cluster(fp, max_distance int, method text) */
Datum
WIDE(simhash_cluster) (PG_FUNCTION_ARGS)
{
	WindowObject window = PG_WINDOW_OBJECT();

	/* zeroed before the first row of a partition */
	Partition  *partition = WinGetPartitionLocalMemory(window,
													   sizeof(Partition));
	uint32		number = NO_CLUSTER;

	if (!partition->is_numbered)
		number_partition(window,
						 !get_fn_expr_arg_stable(fcinfo->flinfo, 1) ||
						 !get_fn_expr_arg_stable(fcinfo->flinfo, 2),
						 partition);
	if (partition->numbers != NULL)
		number = partition->numbers[WinGetCurrentPosition(window)];
	if (number == NO_CLUSTER)
		PG_RETURN_NULL();
	PG_RETURN_INT64(number);
}
