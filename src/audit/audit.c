/*
 * audit.c
 *	  simhash_audit(...) and simhash_audit_pairs(...): what each distance finds
 *	  and misses among the rows of a query.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/nodeHash.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "audit/audit.h"
#include "dedup/dedup.h"
#include "near/pairs.h"
#include "near/progress.h"
#include "text/arguments.h"
#include "type/simhash.h"

/* Texts that are compared at once, at most: hamming_match() numbers them. */
#define TEXTS_AT_ONCE 65536

/* How many words a feature has where the caller does not say. */
#define AUDIT_WORDS 3

/* Texts are related from this similarity on. */
#define AUDIT_RELATED 0.5

/* (words, chars, max_distance) may be null. */
#define WORDS_ARGUMENT 3
#define DISTANCE_ARGUMENT 5

/* A call of either function. */
typedef struct Audit
{
	MemoryContext row_context;	/* of one row of the query */
	bool		has_distance;	/* is max_distance given? */
	int			max_distance;
	AuditRows	rows;
	Draw	   *draws;
	int			draw_count;

	/* takes each pair of a row that is drawn and any other */
	void		(*take) (struct Audit *audit, int draw, const AuditRow *a,
						 const AuditRow *b, bool b_is_drawn, int distance,
						 double similarity);
	void	   *arg;

	/* those that are compared at once: draws[first_draw] and later ones */
	int			first_draw;
	MemoryContext text_context; /* of these */
	Size		text_bytes;		/* of what take() keeps for each */
	Overlap		overlap;
	AuditRow   *texts;
	uint64	   *words;			/* word 0 of each */
	uint16	   *matches;
} Audit;

static void
begin_rows(TupleDesc description, int bits, void *arg)
{
	Audit	   *audit = arg;
	Oid			type = TupleDescAttr(description, 2)->atttypid;

	/* character(n) has no such cast, but the same bytes */
	if (!IsBinaryCoercible(type, TEXTOID) && getBaseType(type) != BPCHAROID)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("third column of query must be of type text, "
							   "not %s",
							   format_type_be(type)),
						errhint("Cast it to text.")));
	audit->rows.word_count = bits / 64;
	if (!audit->has_distance)
		audit->max_distance = bits * 10 / 64;
	simhash_check_range("max_distance", audit->max_distance, 0, bits);
}

static void
receive_row(const Datum *values, void *arg)
{
	Audit	   *audit = arg;
	MemoryContext old = MemoryContextSwitchTo(audit->row_context);
	AuditRow	row = {.id = DatumGetInt64(values[0])};

	simhash_datum_words(values[1], row.words, audit->rows.word_count);
	simhash_audit_add_row(&audit->rows, &row, DatumGetTextPP(values[2]));
	MemoryContextSwitchTo(old);
	MemoryContextReset(audit->row_context);
}

static const UserQuery texts_query = {
	.columns = "id, fingerprint, text",.count = 3,.ids = 1,
	.begin = begin_rows,.receive = receive_row
};

/*
 * Is there room for one more text of the sample?  What grows may double.  The
 * features of one text, of 1 GB, are less than 2^30.
 */
static bool
has_room(const Audit *audit)
{
	const Overlap *overlap = &audit->overlap;

	return overlap->member_capacity < 1U << 30 &&
		simhash_overlap_size(overlap) + overlap->texts * audit->text_bytes <
		get_hash_memory_limit() / 2;
}

/*
 * Put the texts of the next draws into memory, in place of those before.
 * Return false if there is none left.
 */
static bool
next_texts(Audit *audit)
{
	Overlap    *overlap = &audit->overlap;
	AuditRows  *rows = &audit->rows;
	uint64		hash[FEATURE_BATCH];
	MemoryContext old;
	uint32		place = 0;
	int			most;

	audit->first_draw += overlap->texts;
	MemoryContextReset(audit->text_context);
	most = Min(audit->draw_count - audit->first_draw, TEXTS_AT_ONCE);
	if (most == 0)
		return false;
	old = MemoryContextSwitchTo(audit->text_context);
	simhash_overlap_begin(overlap, most);
	audit->texts = palloc(most * sizeof(AuditRow));
	audit->words = palloc(most * sizeof(uint64));
	audit->matches = palloc(most * sizeof(uint16));
	simhash_audit_rewind(rows);
	do
	{
		const Draw *draw = &audit->draws[audit->first_draw + overlap->texts];
		AuditRow   *text = &audit->texts[overlap->texts];
		uint32		count;

		CHECK_FOR_INTERRUPTS();
		for (; place <= draw->place; place++)
			simhash_audit_next_row(rows, text);
		audit->words[overlap->texts] = text->words[0];

		simhash_audit_seek(rows->features, text->file, text->offset);
		while ((count = simhash_audit_next_features(rows, hash)) > 0)
			simhash_overlap_add(overlap, hash, count);
		simhash_overlap_end_text(overlap);
	} while (overlap->texts < most && has_room(audit));
	simhash_overlap_prepare(overlap, rows->threshold);
	MemoryContextSwitchTo(old);
	return true;
}

/* The features of the row have been seen. */
static void
compare_row(Audit *audit, uint32 place, const AuditRow *row, bool is_drawn)
{
	Overlap    *overlap = &audit->overlap;

	/* what is within the distance is so in word 0 */
	int			count = hamming_match(audit->words, overlap->texts,
									  row->words[0],
									  Min(audit->max_distance, 64),
									  audit->matches);
	int			i;

	for (i = 0; i < count; i++)
		if (audit_distance(&audit->texts[audit->matches[i]], row) <=
			audit->max_distance)
			simhash_overlap_add_candidate(overlap, audit->matches[i]);
	for (i = 0; i < overlap->candidate_count; i++)
	{
		uint32		number = overlap->candidates[i];
		int			draw = audit->first_draw + number;
		const AuditRow *other = &audit->texts[number];
		int			distance;
		double		similarity;

		/* as in simhash_pairs(), rows with the same id are no pair */
		if (audit->draws[draw].place == place || other->id == row->id)
			continue;
		CHECK_FOR_INTERRUPTS();
		distance = audit_distance(other, row);
		similarity = simhash_overlap_jaccard(overlap, number);
		if (distance <= audit->max_distance ||
			similarity >= audit->rows.threshold)
			audit->take(audit, draw, other, row, is_drawn, distance,
						similarity);
	}
}

static void
compare_rows(Audit *audit)
{
	Overlap    *overlap = &audit->overlap;
	AuditRows  *rows = &audit->rows;
	uint64		hash[FEATURE_BATCH];
	int			next_draw = 0;
	uint32		place;

	simhash_audit_rewind(rows);
	for (place = 0; place < rows->count; place++)
	{
		AuditRow	row;
		uint32		count;
		bool		is_drawn;

		CHECK_FOR_INTERRUPTS();
		simhash_progress_share(audit->first_draw * (uint64) rows->count +
							   overlap->texts * (uint64) place,
							   audit->draw_count * (uint64) rows->count);
		simhash_audit_next_row(rows, &row);
		if (!is_bit_set(audit->rows.is_near, place))
			continue;
		simhash_audit_seek(rows->features, row.file, row.offset);
		simhash_overlap_begin_text(overlap);
		while ((count = simhash_audit_next_features(rows, hash)) > 0)
			simhash_overlap_see(overlap, hash, count);
		is_drawn = next_draw < audit->draw_count &&
			audit->draws[next_draw].place == place;
		next_draw += is_drawn;
		compare_row(audit, place, &row, is_drawn);
	}
}

static void
draw_all(Audit *audit)
{
	int			count = audit->rows.count;
	int			i;

	memset(audit->rows.is_near, 0xFF, count / 8 + 1);
	audit->draw_count = count;
	audit->draws = palloc_extended(Max(count, 1) * sizeof(Draw),
								   MCXT_ALLOC_HUGE);
	for (i = 0; i < count; i++)
		audit->draws[i] = (Draw)
	{
		.place = i,.chance = 1
	};
}

/*
 * Get the arguments (query text, sample int, threshold float8, words int, chars
 * int, max_distance int, seed bigint), run the query, and draw the sample.
 */
static Audit *
begin_audit(FunctionCallInfo fcinfo)
{
	Audit	   *audit = palloc0(sizeof(Audit));
	int			sample = simhash_check_range("sample", PG_GETARG_INT32(1), 1,
											 PG_INT32_MAX);
	double		threshold = PG_GETARG_FLOAT8(2);

	audit->row_context = AllocSetContextCreate(CurrentMemoryContext,
											   "simhash_audit row",
											   ALLOCSET_DEFAULT_SIZES);
	audit->text_context = AllocSetContextCreate(CurrentMemoryContext,
												"simhash_audit texts",
												ALLOCSET_DEFAULT_SIZES);
	if (!(threshold >= AUDIT_THRESHOLD_MIN && threshold <= 1))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("threshold must be between %g and 1, not %g",
							   AUDIT_THRESHOLD_MIN, threshold)));
	audit->rows.threshold = threshold;
	audit->rows.options = simhash_size_arguments(fcinfo, WORDS_ARGUMENT,
												 AUDIT_WORDS);
	audit->has_distance = !PG_ARGISNULL(DISTANCE_ARGUMENT);
	if (audit->has_distance)
		audit->max_distance = PG_GETARG_INT32(DISTANCE_ARGUMENT);
	audit->rows.seed = PG_GETARG_INT64(6);

	simhash_audit_begin_rows(&audit->rows);
	simhash_read_user_query(fcinfo, &texts_query, audit);
	audit->rows.is_near = palloc0(audit->rows.count / 8 + 1);
	if ((uint32) sample >= audit->rows.count)
	{
		draw_all(audit);
		return audit;
	}
	if (sample > AUDIT_SAMPLE_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("sample of %d rows is too large", sample),
				 errdetail("A sample may have at most %d rows, unless it has "
						   "all rows of the query.",
						   AUDIT_SAMPLE_MAX)));
	audit->draws = simhash_audit_draw(&audit->rows, audit->max_distance, sample,
									  &audit->draw_count);
	return audit;
}

/* The pairs of a row that is drawn, at one distance. */
typedef struct PairCount
{
	uint32		draw;
	uint32		near;
	uint32		alike;			/* of these */
	uint32		related;		/* of these, too */
} PairCount;

/* The pairs of all rows that are drawn, by distance, 0 .. distances - 1. */
typedef struct Counts
{
	int			distances;
	PairCount  *pairs;			/* distances for each text in memory */
	BufFile   **files;			/* of PairCount; NULL: there is no pair */

	/* of each row that is drawn: */
	uint32	   *all_alike;		/* alike pairs at any distance */
	uint32	   *near;			/* pairs within one distance; and of these */
	uint32	   *alike;
	uint32	   *related;
} Counts;

static void
count_pair(Audit *audit, int draw, const AuditRow *a, const AuditRow *b,
		   bool b_is_drawn, int distance, double similarity)
{
	Counts	   *counts = audit->arg;
	Size		first = (Size) (draw - audit->first_draw) * counts->distances;
	bool		is_alike = similarity >= audit->rows.threshold;
	PairCount  *count;

	counts->all_alike[draw] += is_alike;
	if (distance >= counts->distances)
		return;
	count = &counts->pairs[first + distance];
	count->draw = draw;
	count->near++;
	count->alike += is_alike;
	count->related += similarity >= AUDIT_RELATED;
}

static void
write_counts(const Audit *audit, const Counts *counts)
{
	int			places = audit->overlap.texts * counts->distances;
	int			i;

	for (i = 0; i < places; i++)
	{
		BufFile   **file = &counts->files[i % counts->distances];

		CHECK_FOR_INTERRUPTS();
		if (counts->pairs[i].near == 0)
			continue;
		if (*file == NULL)
			*file = BufFileCreateTemp(false);
		BufFileWrite(*file, &counts->pairs[i], sizeof(PairCount));
	}
}

/* Add the counts of a distance to those of lesser ones, and end the file. */
static void
read_counts(BufFile *file, const Counts *counts)
{
	PairCount	count;

	simhash_audit_seek(file, 0, 0);
	while (BufFileRead(file, &count, sizeof(count)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		counts->near[count.draw] += count.near;
		counts->alike[count.draw] += count.alike;
		counts->related[count.draw] += count.related;
	}
	BufFileClose(file);
}

/* Set three columns: a share, and its interval.  Return the whole. */
static double
set_share(const Audit *audit, const uint32 *whole, const uint32 *part,
		  Datum *values, bool *nulls)
{
	Sample		sample = {audit->draw_count, audit->draws, whole, part};
	Proportion	p = simhash_estimate(&sample);

	values[0] = Float8GetDatum(p.value);
	values[1] = Float8GetDatum(p.low);
	values[2] = Float8GetDatum(p.high);
	nulls[0] = nulls[1] = nulls[2] = p.total == 0;
	return p.total;
}

/* Return a 0 for each row that is drawn. */
static uint32 *
begin_count(const Audit *audit)
{
	return palloc_extended((audit->draw_count + 1) * sizeof(uint32),
						   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

static void
return_counts(const Audit *audit, const Counts *counts, ReturnSetInfo *result)
{
	int			distance;

	for (distance = 0; distance < counts->distances; distance++)
	{
		Datum		values[11];
		bool		nulls[11] = {false};
		double		near;

		CHECK_FOR_INTERRUPTS();
		if (counts->files[distance] != NULL)
			read_counts(counts->files[distance], counts);
		values[0] = Int32GetDatum(distance);
		near = set_share(audit, counts->near, counts->alike, values + 2,
						 nulls + 2);
		/* each pair is one of either row */
		values[1] = Int64GetDatum((int64) rint(near / 2));
		set_share(audit, counts->near, counts->related, values + 5, nulls + 5);
		set_share(audit, counts->all_alike, counts->alike, values + 8,
				  nulls + 8);
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
	}
}

static void
audit_distances(Audit *audit, ReturnSetInfo *result)
{
	Counts		counts = {
		.distances = audit->max_distance + 1,.all_alike = begin_count(audit)
	};

	counts.files = palloc0(counts.distances * sizeof(BufFile *));
	audit->take = count_pair;
	audit->arg = &counts;
	audit->text_bytes = counts.distances * sizeof(PairCount);
	while (next_texts(audit))
	{
		counts.pairs = MemoryContextAllocZero(audit->text_context,
											  audit->overlap.texts *
											  audit->text_bytes);
		compare_rows(audit);
		write_counts(audit, &counts);
	}
	/* when the texts are freed */
	counts.near = begin_count(audit);
	counts.alike = begin_count(audit);
	counts.related = begin_count(audit);
	return_counts(audit, &counts, result);
}

/* Return a pair, the lesser id first, once: if both are drawn, for one. */
static void
return_pair(Audit *audit, int draw, const AuditRow *a, const AuditRow *b,
			bool b_is_drawn, int distance, double similarity)
{
	ReturnSetInfo *result = audit->arg;
	Datum		values[4];
	bool		nulls[4] = {false};

	if (b_is_drawn && a->id > b->id)
		return;
	values[0] = Int64GetDatum(Min(a->id, b->id));
	values[1] = Int64GetDatum(Max(a->id, b->id));
	values[2] = Int32GetDatum(distance);
	values[3] = Float8GetDatum(similarity);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

static void
audit_pairs(Audit *audit, ReturnSetInfo *result)
{
	audit->take = return_pair;
	audit->arg = result;
	while (next_texts(audit))
		compare_rows(audit);
}

/*
 * Call run() for an audit of the arguments, which begin_audit() describes.
 * Memory of the call goes at its end.
 */
static Datum
run_audit(FunctionCallInfo fcinfo, const char *name,
		  void (*run) (Audit *, ReturnSetInfo *))
{
	MemoryContext context;
	MemoryContext old;
	Audit	   *audit;
	int			i;

	/* the executor frees its own description of the rows, and no other */
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	for (i = 0; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i) && (i < WORDS_ARGUMENT || i > DISTANCE_ARGUMENT))
			return (Datum) 0;
	context = AllocSetContextCreate(CurrentMemoryContext, "simhash_audit",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	simhash_progress_begin(name);
	audit = begin_audit(fcinfo);
	simhash_progress_phase("comparing rows");
	run(audit, (ReturnSetInfo *) fcinfo->resultinfo);
	simhash_audit_end_rows(&audit->rows);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return (Datum) 0;
}

SIMHASH_SQL(simhash_audit,
			run_audit(fcinfo, "simhash_audit", audit_distances))
SIMHASH_SQL(simhash_audit_pairs,
			run_audit(fcinfo, "simhash_audit_pairs", audit_pairs))
