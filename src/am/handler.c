/*
 * handler.c
 *	  What PostgreSQL is told of the access method, and its options.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "access/relscan.h"
#include "commands/vacuum.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "utils/lsyscache.h"

#include "am/handler.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(hamming_handler);

static relopt_kind option_kind;

/* Define the options of an index, when the library is loaded. */
void
hamming_define_options(void)
{
	option_kind = add_reloption_kind();
	add_int_reloption(option_kind, "fillfactor",
					  "Percent of an index page that a build fills",
					  HAMMING_DEFAULT_FILLFACTOR, HAMMING_MIN_FILLFACTOR, 100,
					  AccessExclusiveLock);
	add_int_reloption(option_kind, "blocks",
					  "Number of blocks that an index cuts fingerprints into",
					  0, HAMMING_MIN_BLOCKS, HAMMING_MAX_BLOCKS,
					  AccessExclusiveLock);
}

static bytea *
read_options(Datum options, bool validate)
{
	static const relopt_parse_elt known[] = {
		{.optname = "fillfactor",
			.opttype = RELOPT_TYPE_INT,
		.offset = offsetof(HammingOptions, fillfactor)},
		{.optname = "blocks",
			.opttype = RELOPT_TYPE_INT,
		.offset = offsetof(HammingOptions, blocks)}
	};

	return (bytea *) build_reloptions(options, validate, option_kind,
									  sizeof(HammingOptions), known,
									  lengthof(known));
}

/* ambuildphasename: the name of a phase; NULL if there is no such phase. */
static char *
name_phase(int64 phase)
{
	int64		table = (phase - HAMMING_PHASE_SORT(0)) / 2;
	bool		sorts = phase == HAMMING_PHASE_SORT(table);

	if (phase == PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE)
		return "initializing";
	if (phase == HAMMING_PHASE_SCAN)
		return "scanning table";
	if (phase < HAMMING_PHASE_SCAN || table > HAMMING_MAX_BLOCKS)
		return NULL;
	if (table == HAMMING_MAX_BLOCKS)
		return sorts ? "sorting rows without fingerprint"
			: "writing rows without fingerprint";
	return psprintf("%s block table " INT64_FORMAT,
					sorts ? "sorting" : "writing", table + 1);
}

/* A column can be ordered by distance.  PostgreSQL knows all else. */
static bool
read_property(Oid index, int column, IndexAMProperty property, const char *name,
			  bool *result, bool *isnull)
{
	if (column == 0 || property != AMPROP_DISTANCE_ORDERABLE)
		return false;
	*isnull = false;
	*result = true;
	return true;
}

/*
 * What each width has of its own: PostgreSQL calls the same functions for all
 * indexes, and they call those of the index's width.
 */

/* Return those for a length in bytes; NULL if no fingerprint has it. */
const HammingRoutines *
hamming_routines_of_length(int bytes)
{
	static const HammingRoutines *const routines[] = {
		&hamming_routines,
		&hamming_routines_128
	};
	Size		i;

	for (i = 0; i < lengthof(routines); i++)
		if (routines[i]->width == bytes * BITS_PER_BYTE)
			return routines[i];
	return NULL;
}

/*
 * Error: 0A000 for another length than that of a fingerprint, as an operator
 * class for another type would have.
 */
static const HammingRoutines *
routines_of_length(int bytes)
{
	const HammingRoutines *routines = hamming_routines_of_length(bytes);

	if (routines == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method %s has no fingerprints of length %d",
						"hamming", bytes)));
	return routines;
}

const HammingRoutines *
hamming_find_routines(Relation index)
{
	TupleDesc	columns = RelationGetDescr(index);

	return routines_of_length(TupleDescAttr(columns, 0)->attlen);
}

static IndexBuildResult *
call_build(Relation heap, Relation index, IndexInfo *info)
{
	return hamming_find_routines(index)->build(heap, index, info);
}

static void
call_build_empty(Relation index)
{
	hamming_find_routines(index)->build_empty(index);
}

static bool
call_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			Relation heap, IndexUniqueCheck check_unique, bool unchanged,
			IndexInfo *info)
{
	return hamming_find_routines(index)->insert(index, values, isnull, tid,
												heap, check_unique, unchanged,
												info);
}

static IndexBulkDeleteResult *
call_vacuum(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			IndexBulkDeleteCallback callback, void *callback_state)
{
	return hamming_find_routines(info->index)->vacuum(info, stats, callback,
													  callback_state);
}

static IndexBulkDeleteResult *
call_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	return hamming_find_routines(info->index)->cleanup(info, stats);
}

static void
call_cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count,
				   Cost *startup_cost, Cost *total_cost,
				   Selectivity *selectivity, double *correlation,
				   double *pages)
{
	int			length = get_typlen(path->indexinfo->opcintype[0]);

	routines_of_length(length)->cost_estimate(root, path, loop_count,
											  startup_cost, total_cost,
											  selectivity, correlation, pages);
}

static IndexScanDesc
call_begin_scan(Relation index, int keys, int order_bys)
{
	return hamming_find_routines(index)->begin_scan(index, keys, order_bys);
}

static void
call_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey order_bys,
			int norder_bys)
{
	hamming_find_routines(scan->indexRelation)->rescan(scan, keys, nkeys,
													   order_bys, norder_bys);
}

static bool
call_get_tuple(IndexScanDesc scan, ScanDirection direction)
{
	return hamming_find_routines(scan->indexRelation)->get_tuple(scan,
																 direction);
}

static int64
call_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	return hamming_find_routines(scan->indexRelation)->get_bitmap(scan, bitmap);
}

static void
call_end_scan(IndexScanDesc scan)
{
	hamming_find_routines(scan->indexRelation)->end_scan(scan);
}

static const IndexAmRoutine routine = {
	.type = T_IndexAmRoutine,

	/* operators, by strategy number */
	.amstrategies = SIMHASH_DISTANCE_STRATEGY,
	.amcanorderbyop = true,

	/* no condition is needed, as NULLs are in the index, too */
	.amoptionalkey = true,
	.amsearchnulls = true,
	.amkeytype = InvalidOid,
	.amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL |
	VACUUM_OPTION_PARALLEL_CLEANUP,

	BUILDS_IN_PARALLEL

	.ambuild = call_build,
	.ambuildempty = call_build_empty,
	.aminsert = call_insert,
	.ambulkdelete = call_vacuum,
	.amvacuumcleanup = call_cleanup,
	.amcostestimate = call_cost_estimate,
	.amoptions = read_options,
	.amproperty = read_property,
	.ambuildphasename = name_phase,
	.amvalidate = hamming_validate,
	.ambeginscan = call_begin_scan,
	.amrescan = call_rescan,
	.amgettuple = call_get_tuple,
	.amgetbitmap = call_get_bitmap,
	.amendscan = call_end_scan,
};

/*
 * Is function, the cost function of an access method, that of ours?
 *
 * Both IndexOptInfo and IndexAmRoutine have that function.  A look-up by name
 * in pg_am would take time for each index, and be wrong where the access
 * method was renamed, or where a second one has the same handler.
 */
bool
hamming_is_cost_function(amcostestimate_function function)
{
	return function == call_cost_estimate;
}

Datum
hamming_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_AM_ROUTINE(&routine);
}
