/*
 * module.c
 *	  What happens when PostgreSQL loads the library.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "am/am.h"
#include "join/plan.h"
#include "near/progress.h"
#include "type/catalog.h"
#include "type/simhash.h"

SIMHASH_MODULE_MAGIC;

void
_PG_init(void)
{
	simhash_catalog_init();
	hamming_define_options();
	simhash_progress_define_options();
	hamming_join_init();
	MarkGUCPrefixReserved("simhash");
}
