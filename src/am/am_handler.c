/*
 * am_handler.c
 *	  What PostgreSQL is told of the access method, and its options.
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/reloptions.h"
#include "commands/vacuum.h"

#include "am/am.h"
#include "type/compat.h"

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

	.ambuild = hamming_build,
	.ambuildempty = hamming_build_empty,
	.aminsert = hamming_insert,
	.ambulkdelete = hamming_vacuum,
	.amvacuumcleanup = hamming_cleanup,
	.amcostestimate = hamming_cost_estimate,
	.amoptions = read_options,
	.amproperty = read_property,
	.ambuildphasename = hamming_build_phase_name,
	.amvalidate = hamming_validate,
	.ambeginscan = hamming_begin_scan,
	.amrescan = hamming_rescan,
	.amgettuple = hamming_get_tuple,
	.amgetbitmap = hamming_get_bitmap,
	.amendscan = hamming_end_scan,
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
	return function == hamming_cost_estimate;
}

Datum
hamming_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_AM_ROUTINE(&routine);
}
