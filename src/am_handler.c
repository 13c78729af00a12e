/*
 * am_handler.c
 *	  What PostgreSQL is told of the access method, and its options.
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/reloptions.h"
#include "commands/vacuum.h"

#include "am.h"

PG_FUNCTION_INFO_V1(hamming_handler);

static relopt_kind option_kind;

void
_PG_init(void)
{
	option_kind = add_reloption_kind();
	add_int_reloption(option_kind, "fillfactor",
					  "Percent of an index page that a build fills",
					  HAMMING_DEFAULT_FILLFACTOR, HAMMING_MIN_FILLFACTOR, 100,
					  AccessExclusiveLock);
}

static bytea *
read_options(Datum options, bool validate)
{
	static const relopt_parse_elt known[] = {
		{ .optname = "fillfactor",
		  .opttype = RELOPT_TYPE_INT,
		  .offset = offsetof(HammingOptions, fillfactor) }
	};

	return (bytea *) build_reloptions(options, validate, option_kind,
									  sizeof(HammingOptions), known,
									  lengthof(known));
}

/* Each column can be ordered by distance; the rest is as PostgreSQL thinks. */
static bool
read_property(Oid index, int column, IndexAMProperty property, const char *name,
			  bool *result, bool *isnull)
{
	(void) index;
	(void) name;
	if (column == 0 || property != AMPROP_DISTANCE_ORDERABLE)
		return false;
	*isnull = false;
	*result = true;
	return true;
}

Datum
hamming_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *routine = makeNode(IndexAmRoutine);

	(void) fcinfo;
	/* operators, by strategy number */
	routine->amstrategies = SIMHASH_DISTANCE_STRATEGY;
	routine->amcanorderbyop = true;

	/*
	 * One column, which may be NULL.  Scans go one way, and may need no
	 * condition, as NULLs are in the index, too.
	 */
	routine->amoptionalkey = true;
	routine->amsearchnulls = true;
	routine->amkeytype = InvalidOid;
	routine->amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL |
									   VACUUM_OPTION_PARALLEL_CLEANUP;

	routine->ambuild = hamming_build;
	routine->ambuildempty = hamming_build_empty;
	routine->aminsert = hamming_insert;
	routine->ambulkdelete = hamming_bulk_delete;
	routine->amvacuumcleanup = hamming_vacuum_cleanup;
	routine->amcostestimate = hamming_cost_estimate;
	routine->amoptions = read_options;
	routine->amproperty = read_property;
	routine->ambuildphasename = hamming_build_phase_name;
	routine->amvalidate = hamming_validate;
	routine->ambeginscan = hamming_begin_scan;
	routine->amrescan = hamming_rescan;
	routine->amgettuple = hamming_get_tuple;
	routine->amgetbitmap = hamming_get_bitmap;
	routine->amendscan = hamming_end_scan;
	PG_RETURN_POINTER(routine);
}
