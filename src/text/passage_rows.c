/*
 * passage_rows.c
 *	  minhash_passages(...), minhash_passages_128(...): the parts of a text and
 *	  their fingerprints.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"

#include "text/arguments.h"
#include "text/passages.h"
#include "text/server_text.h"
#include "type/simhash.h"

/* The mean length of a passage, in tokens, is 2 * radius + 1. */
#define MEAN_WORDS 13
#define MEAN_CHARS 79
#define MEAN_MIN 3
#define MEAN_MAX (2 * PASSAGE_RADIUS_MAX + 1)

/* What emit_row() needs. */
typedef struct PassageRows
{
	ReturnSetInfo *rsinfo;
	int			halves;			/* of a feature: halves of a fingerprint */
	int32		count;			/* rows so far */
} PassageRows;

/* arg is the PassageRows. */
static void
emit_row(void *arg, const Passage *passage)
{
	PassageRows *rows = arg;
	text	   *shown = simhash_utf8_to_text(passage->bytes, passage->length);
	uint64		fingerprint[HALVES_MAX];
	Datum		row[5];
	bool		nulls[5] = {false};
	int			half;

	CHECK_FOR_INTERRUPTS();
	for (half = 0; half < rows->halves; half++)
		simhash_sketch_fingerprint(&passage->sketch[half], &fingerprint[half]);
	row[0] = Int32GetDatum(++rows->count);
	row[1] = Int32GetDatum(passage->position + 1);
	row[2] = Int32GetDatum(passage->end - passage->position);
	row[3] = PointerGetDatum(shown);
	nulls[3] = shown == NULL;
	row[4] = simhash_words_datum(fingerprint, rows->halves);
	tuplestore_putvalues(rows->rsinfo->setResult, rows->rsinfo->setDesc, row,
						 nulls);
	if (shown)
		pfree(shown);
	if (rows->halves > 1)
		pfree(DatumGetPointer(row[4]));
}

/*
 * (body text, weights simhash_weights, words int, chars int, mean_length int)
 */
static Datum
list_passages(FunctionCallInfo fcinfo, int halves)
{
	PassageRows rows = {(ReturnSetInfo *) fcinfo->resultinfo, halves, 0};
	text	   *body;
	FeatureOptions options;
	Passages   *passages;
	int32		mean;
	uint32		end;

	/* the executor frees its own description of the rows, and no other */
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	if (PG_ARGISNULL(0))
		return (Datum) 0;

	body = PG_GETARG_TEXT_PP(0);
	options = simhash_text_arguments(fcinfo, 1, true);
	mean = options.chars ? MEAN_CHARS : MEAN_WORDS;
	if (!PG_ARGISNULL(4))
		mean = simhash_check_range("mean_length", PG_GETARG_INT32(4), MEAN_MIN,
								   MEAN_MAX);
	passages = palloc(sizeof(Passages));
	simhash_passages_init(passages, &options, mean / 2, halves, emit_row,
						  &rows);
	end = simhash_make_features(body, &options, &passages->target);
	simhash_passages_finish(passages, end);
	pfree(passages);
	PG_FREE_IF_COPY(body, 0);
	return (Datum) 0;
}

SIMHASH_SQL_WIDTHS(simhash_minhash_passages, list_passages(fcinfo, words))
