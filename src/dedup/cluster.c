/*
 * cluster.c
 *	  simhash_cluster(...) OVER (...): numbers groups of near-duplicates.
 *
 * At the first row of a partition all of it is read and numbered.  Rows of
 * equal fingerprints, and of equal texts if these are compared, are one member
 * of a cluster.  Members are numbered in order of first appearance, and so are
 * clusters: the first row of a cluster is the first row of its least member.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "windowapi.h"

#include "dedup/dedup.h"
#include "near/progress.h"
#include "text/shingle.h"

/* The cluster of a row that has no fingerprint. */
#define NO_CLUSTER 0

/*
 * In place of the member of a row.  NO_MEMBER: the row has no fingerprint.
 * ALONE: it has one, but its text is null, or is known to have no feature: the
 * row is a cluster of its own.  Members are less than both.
 */
#define NO_MEMBER PG_UINT32_MAX
#define ALONE (PG_UINT32_MAX - 1)

typedef struct Partition
{
	bool		is_numbered;
	uint32	   *numbers;		/* number of each row's cluster; NULL where an
								 * argument is null */
} Partition;

/* The numbers of the arguments. */
enum
{
	ARG_FINGERPRINT,
	ARG_MAX_DISTANCE,
	ARG_METHOD,
	ARG_BODY,
	ARG_MIN_SIMILARITY,
	ARG_WORDS,
	ARGUMENTS
};

/* Arguments that are the same for all rows of a partition. */
typedef struct ClusterArguments
{
	bool		is_null;		/* is one of them null? */
	int			radius;
	ClusterMethod method;
	bool		has_texts;		/* are there the following, too? */
	double		min_similarity;
	int			words;
} ClusterArguments;

static Datum
get_argument(WindowObject window, int argument, int64 row, bool *isnull)
{
	bool		isout;

	return WinGetFuncArgInPartition(window, argument, row, WINDOW_SEEK_HEAD,
									false, isnull, &isout);
}

/* Does an argument belong to a row, as the fingerprint and the text do? */
static bool
is_of_row(int argument)
{
	return argument == ARG_FINGERPRINT || argument == ARG_BODY;
}

static ClusterArguments
get_arguments(WindowObject window, int64 row, int count, int words)
{
	ClusterArguments arguments = {.has_texts = count > ARG_BODY};
	Datum		values[ARGUMENTS];
	int			i;

	for (i = 0; i < count; i++)
	{
		bool		isnull;

		if (is_of_row(i))
			continue;
		values[i] = get_argument(window, i, row, &isnull);
		if (isnull)
			return (ClusterArguments)
		{
			.is_null = true
		};
	}
	arguments.radius =
		simhash_check_range("max_distance",
							DatumGetInt32(values[ARG_MAX_DISTANCE]), 0,
							64 * words);
	arguments.method = check_method(values[ARG_METHOD]);
	if (arguments.has_texts)
	{
		double		similarity = DatumGetFloat8(values[ARG_MIN_SIMILARITY]);

		/* nor may it be NaN */
		if (!(similarity >= 0 && similarity <= 1))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("min_similarity must be between 0 and 1, not %g",
							similarity)));
		arguments.min_similarity = similarity;
		arguments.words = simhash_check_range("words",
											  DatumGetInt32(values[ARG_WORDS]),
											  1, SHINGLE_MAX);
	}
	return arguments;
}

static void
check_constant(WindowObject window, int64 row, int count, int words,
			   const ClusterArguments *first)
{
	ClusterArguments here = get_arguments(window, row, count, words);

	if (here.is_null != first->is_null || here.radius != first->radius ||
		here.method != first->method ||
		here.min_similarity != first->min_similarity ||
		here.words != first->words)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be the same in all rows of a partition",
						count > ARG_BODY
						? "max_distance, method, min_similarity and words"
						: "max_distance and method")));
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
 * Read the fingerprints of the partition into the list, and the texts if texts
 * is not NULL.  Set members[row] to NO_MEMBER or ALONE for each row that is not
 * on the list.  If may_vary, check in each row that the arguments are those of
 * the first row; count is the number of arguments of the function.
 * WinSetMarkPosition() is not called: a call would take longer than reading the
 * row, and free nothing.
 */
static void
read_partition(WindowObject window, uint32 rows, int count,
			   const ClusterArguments *arguments, bool may_vary,
			   FingerprintList *list, Texts *texts, uint32 *members)
{
	MemoryContext each_row = AllocSetContextCreate(CurrentMemoryContext,
												   "simhash_cluster row",
												   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each_row);
	uint32		row;

	for (row = 0; row < rows; row++)
	{
		bool		isnull;
		Datum		value = get_argument(window, ARG_FINGERPRINT, row, &isnull);
		uint64		fingerprint[HAMMING_MAX_WORDS];

		/* at once: the next argument frees what the value may point to */
		if (!isnull)
			simhash_datum_words(value, fingerprint, list->word_count);
		members[row] = isnull ? NO_MEMBER : ALONE;
		if (!isnull && texts != NULL)
		{
			Datum		body = get_argument(window, ARG_BODY, row, &isnull);

			if (!isnull)
				simhash_texts_add(texts, row, body);
		}
		if (!isnull)
			fplist_append(list, fingerprint, row);
		if (may_vary)
			check_constant(window, row, count, list->word_count, arguments);
		MemoryContextReset(each_row);
		simhash_progress_share(row, rows);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each_row);
}

/*
 * Let the rows have one fingerprint, and ascend.  Set firsts[row] to the first
 * row whose text is equal.  Where this text has no feature, the rows are no
 * partners of each other, and firsts[row] is ALONE.
 *
 * The rows of one digest are compared with the first of these only.  If another
 * text has the digest by chance, its copies stay apart, which is right, too.
 */
static void
merge_copies(const uint32 *rows, uint32 count, Texts *texts, uint32 *firsts)
{
	FingerprintList digests;
	uint32		first = 0;
	bool		has_copy = false;
	uint32		i;

	hamming_fplist_allocate(&digests, 1, count);
	for (i = 0; i < count; i++)
	{
		uint64		digest = simhash_texts_digest(texts, rows[i]);

		firsts[rows[i]] = rows[i];
		fplist_append(&digests, &digest, rows[i]);
	}
	/* the sort is stable */
	hamming_fplist_sort(&digests, 0, count, 0, 64);
	for (i = 1; i < count; i++)
	{
		uint32		row = digests.numbers[first];

		if (digests.current[i] != digests.current[first])
		{
			first = i;
			has_copy = false;
		}
		else if (simhash_texts_equal(texts, row, digests.numbers[i]))
		{
			/* ask once: to read a large text takes long */
			if (!has_copy && !simhash_texts_alike(texts, row, row))
				firsts[row] = ALONE;
			has_copy = true;
			firsts[digests.numbers[i]] = firsts[row];
		}
	}
	hamming_fplist_free(&digests);
}

/*
 * On entry the numbers of the list are those of rows, ascending.  Leave one of
 * each fingerprint, or of each fingerprint and text if texts is not NULL,
 * numbered by the first row that has it.  Set firsts[row] for the rows of the
 * list to that number, or to ALONE.
 */
static void
merge_rows(FingerprintList *list, Texts *texts, uint32 *firsts)
{
	uint32		distinct = 0;
	uint32		from;
	uint32		to;
	uint32		i;

	/* the sort is stable: the first of a run is the first row */
	hamming_fplist_sort_words(list, 0, list->count, 0);
	for (from = 0; from < list->count; from = to)
	{
		uint32	   *rows = list->numbers + from;
		uint64		difference[HAMMING_MAX_WORDS];

		for (to = from + 1; to < list->count &&
			 fplist_differ(list, from, list, to, 0, difference) == 0; to++)
			CHECK_FOR_INTERRUPTS();
		if (texts != NULL && to - from > 1)
			merge_copies(rows, to - from, texts, firsts);
		else
			for (i = 0; i < to - from; i++)
				firsts[rows[i]] = rows[0];
		for (i = from; i < to; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (firsts[list->numbers[i]] == list->numbers[i])
				fplist_swap(list, distinct++, i);
		}
	}
	list->count = distinct;
}

/*
 * On entry firsts has what read_partition() and merge_rows() have set.  On
 * return it has the member of each row, numbered in order of first rows.  So
 * has the list; number the texts by members, too, if texts is not NULL.
 */
static void
number_members(FingerprintList *list, uint32 *firsts, uint32 rows,
			   Texts *texts)
{
	uint32		members = 0;
	uint32		i;
	int			w;

	for (i = 0; i < rows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (firsts[i] == i)
		{
			if (texts != NULL)
				simhash_texts_number(texts, i, members);
			for (w = 0; list->word_count > 1 && w < list->word_count; w++)
				list->words[w][members] = list->words[w][i];
			firsts[i] = members++;
		}
		else if (firsts[i] < ALONE)
			firsts[i] = firsts[firsts[i]];
	}
	for (i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		list->numbers[i] = firsts[list->numbers[i]];
	}
}

/*
 * members[row] is the member of each row, and clusters[member] an earlier one
 * of its cluster, or itself if it is the first.  Set members[row] to the number
 * of the row's cluster.  As members do, clusters come in order of first rows.
 */
static void
number_clusters(uint32 *members, uint32 rows, uint32 *clusters)
{
	uint32		next_member = 0;
	uint32		next = NO_CLUSTER + 1;
	uint32		i;

	for (i = 0; i < rows; i++)
	{
		uint32		member = members[i];

		CHECK_FOR_INTERRUPTS();
		if (member == NO_MEMBER)
			members[i] = NO_CLUSTER;
		else if (member == ALONE)
			members[i] = next++;
		else
		{
			if (member == next_member)
			{
				clusters[member] = clusters[member] == member ? next++
					: clusters[clusters[member]];
				next_member++;
			}
			members[i] = clusters[member];
		}
	}
}

/*
 * On entry the numbers on the list are those of rows, ascending, and numbers
 * has what read_partition() has set.  Set numbers[row] for all rows to the
 * number of the cluster, from 1 on, or to NO_CLUSTER.  The list is changed.  If
 * texts is not NULL, it has the texts of the rows, which are compared.
 */
static void
number_rows(FingerprintList *list, uint32 rows, Texts *texts,
			const ClusterArguments *arguments, uint32 *numbers)
{
	bool		is_leader = arguments->method == CLUSTER_LEADER;
	Together   *together = NULL;
	uint32	   *clusters;

	simhash_progress_phase("connecting fingerprints");
	/* texts are compared by this process alone */
	if (is_leader || texts == NULL)
		together = hamming_connect_begin(list, rows, arguments->radius);
	merge_rows(list, texts, numbers);
	number_members(list, numbers, rows, texts);
	clusters = hamming_connect(list, arguments->radius, together,
							   is_leader ? NULL : texts);
	if (is_leader)
		hamming_choose_leaders(list, arguments->radius, texts, clusters);
	number_clusters(numbers, rows, clusters);
	if (together != NULL)
		hamming_together_end(together);
}

static void
number_partition(WindowObject window, int count, int words, bool may_vary,
				 Partition *partition)
{
	MemoryContext call = AllocSetContextCreate(CurrentMemoryContext,
											   "simhash_cluster",
											   ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(call);
	uint32		rows;
	ClusterArguments arguments;
	FingerprintList list;
	uint32	   *numbers;
	Texts	   *texts = NULL;

	simhash_progress_begin("simhash_cluster");
	simhash_progress_phase("reading rows");
	rows = count_rows(window);
	arguments = get_arguments(window, 0, count, words);
	hamming_fplist_allocate(&list, words, rows);
	numbers = MemoryContextAllocHuge(GetMemoryChunkContext(partition),
									 (Size) rows * sizeof(uint32));
	if (arguments.has_texts)
		texts = simhash_texts_begin(rows, arguments.min_similarity,
									arguments.words);
	read_partition(window, rows, count, &arguments, may_vary, &list, texts,
				   numbers);
	if (!arguments.is_null)
	{
		number_rows(&list, rows, texts, &arguments, numbers);
		partition->numbers = numbers;
	}
	if (texts != NULL)
		simhash_texts_end(texts);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(call);
	partition->is_numbered = true;
}

/*
 * simhash_cluster(fp, max_distance int, method text[, body text, min_similarity
 * float8, words int]), fp of that many words
 */
static Datum
cluster_of_row(FunctionCallInfo fcinfo, int words)
{
	WindowObject window = PG_WINDOW_OBJECT();

	/* zeroed before the first row of a partition */
	Partition  *partition = WinGetPartitionLocalMemory(window,
													   sizeof(Partition));
	uint32		number = NO_CLUSTER;
	bool		may_vary = false;
	int			i;

	if (!partition->is_numbered)
	{
		for (i = 0; i < PG_NARGS(); i++)
			may_vary |= !is_of_row(i) &&
				!get_fn_expr_arg_stable(fcinfo->flinfo, i);
		number_partition(window, PG_NARGS(), words, may_vary, partition);
	}
	if (partition->numbers != NULL)
		number = partition->numbers[WinGetCurrentPosition(window)];
	if (number == NO_CLUSTER)
		PG_RETURN_NULL();
	PG_RETURN_INT64(number);
}

SIMHASH_SQL_WIDTHS(simhash_cluster, cluster_of_row(fcinfo, words))
