/*
 * am_insert.c
 *	  Insertion of a row.
 */
#include "postgres.h"

#include "am.h"

static void
release_all(Buffer *leaves, int count)
{
	while (count-- > 0)
		UnlockReleaseBuffer(leaves[count]);
}

/*
 * Add a row to its tables, in all of them by one WAL record.
 *
 * The leaves are found first, and then locked together, so that none is
 * locked while another is read from disk.
 */
static void
insert_keys(Relation index, int first_table, int count, const HammingKey *keys)
{
	Buffer leaves[HAMMING_BLOCKS];
	bool done = false;
	int i;

	while (!done)
	{
		int full = -1;

		for (i = 0; i < count; i++)
		{
			leaves[i] = hamming_find(index, first_table + i, 0, keys[i],
									 BUFFER_LOCK_SHARE, NULL);
			LockBuffer(leaves[i], BUFFER_LOCK_UNLOCK);
		}
		done = true;
		for (i = 0; i < count; i++)
		{
			LockBuffer(leaves[i], BUFFER_LOCK_EXCLUSIVE);
			/* it may have changed while it was not locked */
			if (!hamming_page_is_for(BufferGetPage(leaves[i]), first_table + i,
									 0, keys[i]))
				done = false;
			else if (hamming_page_is_full(BufferGetPage(leaves[i])))
			{
				done = false;
				full = i;
			}
		}
		if (done)
			hamming_log_appends(index, count, leaves, keys);
		release_all(leaves, count);
		if (full >= 0)
			hamming_make_room(index, first_table + full, 0, keys[full]);
	}
}

/* Add a row, with a fingerprint or without.  No index is unique: false. */
bool
hamming_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			   Relation heap, IndexUniqueCheck check_unique, bool unchanged,
			   IndexInfo *info)
{
	HammingKey keys[HAMMING_BLOCKS];
	int table;

	(void) heap;
	(void) check_unique;
	(void) unchanged;
	(void) info;
	hamming_open(index);
	if (isnull[0])
	{
		keys[0] = (HammingKey){ 0, hamming_tid(tid) };
		insert_keys(index, HAMMING_NULLS, 1, keys);
		return false;
	}
	for (table = 0; table < HAMMING_BLOCKS; table++)
		keys[table] = (HammingKey){
			hamming_rotate(DatumGetSimhash(values[0]), table), hamming_tid(tid)
		};
	insert_keys(index, 0, HAMMING_BLOCKS, keys);
	return false;
}
