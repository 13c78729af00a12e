/*
 * cluster.c
 *	  simhash_cluster(...) OVER (...): numbers groups of near-duplicates.
 *
 * At the first row of a partition all of it is read and numbered.  Rows of
 * equal fingerprints, and of equal texts if these are compared, are one member
 * of a cluster: the first of these rows.  Clusters are numbered in order of
 * first appearance: the first row of a cluster is its least member.
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
	double		min_similarity; /* 0 without texts, as words is */
	int			words;
} ClusterArguments;

/* A partition that is numbered. */
typedef struct Partition
{
	WindowObject window;
	int			count;			/* arguments of the function */
	bool		may_vary;		/* may arguments differ from row to row? */
	ClusterArguments arguments; /* in the first row */
	uint32		rows;
	FingerprintList list;		/* of rows; then of members */
	Texts	   *texts;			/* of rows, by number; NULL: none */
	uint32	   *numbers;		/* of each row: NO_MEMBER, ALONE or its
								 * member; in the end that of its cluster */
} Partition;

static Datum
get_argument(const Partition *p, int argument, int64 row, bool *isnull)
{
	bool		isout;

	return WinGetFuncArgInPartition(p->window, argument, row, WINDOW_SEEK_HEAD,
									false, isnull, &isout);
}

/* Does an argument belong to a row, as the fingerprint and the text do? */
static bool
is_of_row(int argument)
{
	return argument == ARG_FINGERPRINT || argument == ARG_BODY;
}

static ClusterArguments
get_arguments(const Partition *p, int64 row)
{
	ClusterArguments arguments = {0};
	Datum		values[ARGUMENTS];
	int			i;

	for (i = 0; i < p->count && !arguments.is_null; i++)
		if (!is_of_row(i))
			values[i] = get_argument(p, i, row, &arguments.is_null);
	if (arguments.is_null)
		return arguments;
	arguments.radius =
		simhash_check_range("max_distance",
							DatumGetInt32(values[ARG_MAX_DISTANCE]), 0,
							64 * p->list.word_count);
	arguments.method = check_method(values[ARG_METHOD]);
	if (p->count > ARG_BODY)
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
check_constant(const Partition *p, int64 row)
{
	const ClusterArguments *first = &p->arguments;
	ClusterArguments here = get_arguments(p, row);

	if (here.is_null != first->is_null || here.radius != first->radius ||
		here.method != first->method ||
		here.min_similarity != first->min_similarity ||
		here.words != first->words)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be the same in all rows of a partition",
						p->count > ARG_BODY
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
 * Read the fingerprints of the partition into the list, and the texts.  Set the
 * numbers of rows that are not on the list.  If arguments may vary, check that
 * they do not.  WinSetMarkPosition() is not called: a call would take longer
 * than reading the row, and free nothing.
 */
static void
read_partition(Partition *p)
{
	MemoryContext each_row = AllocSetContextCreate(CurrentMemoryContext,
												   "simhash_cluster row",
												   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each_row);
	uint32		row;

	for (row = 0; row < p->rows; row++)
	{
		bool		isnull;
		Datum		value = get_argument(p, ARG_FINGERPRINT, row, &isnull);
		uint64		fingerprint[HAMMING_MAX_WORDS];

		/* at once: the next argument frees what the value may point to */
		if (!isnull)
			simhash_datum_words(value, fingerprint, p->list.word_count);
		p->numbers[row] = isnull ? NO_MEMBER : ALONE;
		if (!isnull && p->texts != NULL)
		{
			Datum		body = get_argument(p, ARG_BODY, row, &isnull);

			if (!isnull)
				simhash_texts_add(p->texts, row, body);
		}
		if (!isnull)
			fplist_append(&p->list, fingerprint, row);
		if (p->may_vary)
			check_constant(p, row);
		MemoryContextReset(each_row);
		simhash_progress_share(row, p->rows);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each_row);
}

/*
 * Let the rows have one fingerprint, and ascend.  Set the number of each to the
 * first row whose text is equal.  Where this text has no feature, the rows are
 * no partners of each other, and their number is ALONE.
 *
 * The rows of one digest are compared with the first of these only.  If another
 * text has the digest by chance, its copies stay apart, which is right, too.
 */
static void
merge_copies(Partition *p, const uint32 *rows, uint32 count)
{
	uint32	   *numbers = p->numbers;
	FingerprintList digests;
	uint32		first = 0;
	bool		has_copy = false;
	uint32		i;

	hamming_fplist_allocate(&digests, 1, count);
	for (i = 0; i < count; i++)
	{
		uint64		digest = simhash_texts_digest(p->texts, rows[i]);

		numbers[rows[i]] = rows[i];
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
		else if (simhash_texts_equal(p->texts, row, digests.numbers[i]))
		{
			/* ask once: to read a large text takes long */
			if (!has_copy && !simhash_texts_alike(p->texts, row, row))
				numbers[row] = ALONE;
			has_copy = true;
			numbers[digests.numbers[i]] = numbers[row];
		}
	}
	hamming_fplist_free(&digests);
}

/*
 * On entry the list has rows, ascending.  Leave the first row of each
 * fingerprint, or of each fingerprint and text.  Set the numbers of all rows of
 * the list to that row, or to ALONE.
 */
static void
merge_rows(Partition *p)
{
	FingerprintList *list = &p->list;
	uint32		distinct = 0;
	uint32		from;
	uint32		to;
	uint32		i;

	/* the sort is stable: the first of a run is the first row */
	hamming_fplist_sort_words(list, 0, list->count, 0);
	for (from = 0; from < list->count; from = to)
	{
		const uint32 *rows = list->numbers + from;
		uint64		difference[HAMMING_MAX_WORDS];

		for (to = from + 1; to < list->count &&
			 fplist_differ(list, from, list, to, 0, difference) == 0; to++)
			CHECK_FOR_INTERRUPTS();
		if (p->texts != NULL && to - from > 1)
			merge_copies(p, rows, to - from);
		else
			for (i = 0; i < to - from; i++)
				p->numbers[rows[i]] = rows[0];
		for (i = from; i < to; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (p->numbers[list->numbers[i]] == list->numbers[i])
				fplist_swap(list, distinct++, i);
		}
	}
	list->count = distinct;
}

/*
 * clusters[member] is an earlier member of its cluster, or itself if it is the
 * first.  Set the number of each row to that of its cluster, in order of first
 * rows.
 */
static void
number_clusters(Partition *p, uint32 *clusters)
{
	uint32		next = NO_CLUSTER + 1;
	uint32		i;

	for (i = 0; i < p->rows; i++)
	{
		uint32		member = p->numbers[i];

		CHECK_FOR_INTERRUPTS();
		if (member == NO_MEMBER)
			p->numbers[i] = NO_CLUSTER;
		else if (member == ALONE)
			p->numbers[i] = next++;
		else
		{
			if (member == i)
				clusters[i] = clusters[i] == i ? next++
					: clusters[clusters[i]];
			p->numbers[i] = clusters[member];
		}
	}
}

/* The partition was read.  Number the cluster of each row. */
static void
number_rows(Partition *p)
{
	int			radius = p->arguments.radius;
	bool		is_leader = p->arguments.method == CLUSTER_LEADER;
	Together   *together = NULL;
	uint32	   *clusters;

	simhash_progress_phase("connecting fingerprints");
	/* texts are compared by this process alone */
	if (is_leader || p->texts == NULL)
		together = hamming_connect_begin(&p->list, p->rows, radius);
	merge_rows(p);
	clusters = hamming_connect(&p->list, p->rows, radius, together,
							   is_leader ? NULL : p->texts);
	if (is_leader)
		hamming_choose_leaders(&p->list, p->rows, radius, p->texts, clusters);
	number_clusters(p, clusters);
	if (together != NULL)
		hamming_together_end(together);
}

/*
 * Return the number of each row's cluster, from 1 on, or NO_CLUSTER, in the
 * current memory context.
 */
static uint32 *
number_partition(WindowObject window, int count, int words, bool may_vary)
{
	Partition	p = {.window = window,.count = count,.may_vary = may_vary};
	MemoryContext call;
	MemoryContext old;

	simhash_progress_begin("simhash_cluster");
	simhash_progress_phase("reading rows");
	p.rows = count_rows(window);
	p.numbers = palloc_extended(p.rows * sizeof(uint32), MCXT_ALLOC_HUGE);
	call = AllocSetContextCreate(CurrentMemoryContext, "simhash_cluster",
								 ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(call);
	hamming_fplist_allocate(&p.list, words, p.rows);
	p.arguments = get_arguments(&p, 0);
	if (count > ARG_BODY && !p.arguments.is_null)
		p.texts = simhash_texts_begin(p.rows, p.arguments.min_similarity,
									  p.arguments.words);
	read_partition(&p);
	if (p.arguments.is_null)
		memset(p.numbers, 0, p.rows * sizeof(uint32));
	else
		number_rows(&p);
	if (p.texts != NULL)
		simhash_texts_end(p.texts);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(call);
	return p.numbers;
}

/*
 * simhash_cluster(fp, max_distance int, method text[, body text, min_similarity
 * float8, words int]), fp of that many words
 */
static Datum
cluster_of_row(FunctionCallInfo fcinfo, int words)
{
	WindowObject window = PG_WINDOW_OBJECT();

	/* of each row; NULL before the first row of a partition */
	uint32	  **numbers = WinGetPartitionLocalMemory(window, sizeof(uint32 *));
	uint32		number;

	if (*numbers == NULL)
	{
		bool		may_vary = false;
		MemoryContext old;
		int			i;

		for (i = 0; i < PG_NARGS(); i++)
			may_vary |= !is_of_row(i) &&
				!get_fn_expr_arg_stable(fcinfo->flinfo, i);
		old = MemoryContextSwitchTo(GetMemoryChunkContext(numbers));
		*numbers = number_partition(window, PG_NARGS(), words, may_vary);
		MemoryContextSwitchTo(old);
	}
	number = (*numbers)[WinGetCurrentPosition(window)];
	if (number == NO_CLUSTER)
		PG_RETURN_NULL();
	PG_RETURN_INT64(number);
}

SIMHASH_SQL_WIDTHS(simhash_cluster, cluster_of_row(fcinfo, words))
