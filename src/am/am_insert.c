/*
 * am_insert.c
 *	  Insertion of a row.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "am/am.h"
#include "am/test_stop.h"

/*
 * Append keys[i] to leaves[i] of table first_table + i, for all i below count,
 * if each leaf still covers its key and has room.  Returns the first i for
 * which that is not so, and then appends nothing; or count.  On entry the
 * leaves are pinned, and not locked.  On return the pins are released.
 */
static int
append_all(Relation index, int first_table, int count, const HammingKey *keys,
		   const Buffer *leaves)
{
	int			locked;
	int			i;

	for (locked = 0; locked < count; locked++)
	{
		Buffer		leaf = leaves[locked];

		if (!hamming_lock_pinned(index, leaf, first_table + locked, 0,
								 keys[locked]) ||
			hamming_page_is_full(BufferGetPage(leaf)))
		{
			LockBuffer(leaf, BUFFER_LOCK_UNLOCK);
			break;
		}
	}
	if (locked == count)
		hamming_log_appends(index, count, leaves, keys);
	for (i = 0; i < count; i++)
	{
		if (i < locked)
			LockBuffer(leaves[i], BUFFER_LOCK_UNLOCK);
		ReleaseBuffer(leaves[i]);
	}
	return locked;
}

/*
 * Add keys[i] to table first_table + i, for all i below count, by one WAL
 * record.  All leaves are pinned, and then locked table by table (rules 2 and
 * 3 in am_tree.c): no leaf is locked while another is read from disk.  A full
 * leaf is split without these locks, and all leaves are looked for again.
 */
static void
insert_keys(Relation index, int first_table, int count, const HammingKey *keys)
{
	for (;;)
	{
		Buffer		leaves[HAMMING_BLOCKS];
		int			done;
		int			i;

		for (i = 0; i < count; i++)
		{
			leaves[i] = hamming_pin(index, first_table + i, 0, keys[i], NULL);
			test_stop("insert: a leaf");
		}
		test_stop("insert: all leaves");
		done = append_all(index, first_table, count, keys, leaves);
		if (done == count)
			return;
		hamming_make_room(index, first_table + done, 0, keys[done]);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * aminsert.  Returns false, as for every index that is not unique.  On entry
 * and on return the caller holds no buffer lock.
 */
bool
hamming_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			   Relation heap, IndexUniqueCheck check_unique, bool unchanged,
			   IndexInfo *info)
{
	HammingKey	keys[HAMMING_BLOCKS];
	int			table;

	hamming_open(index);
	if (isnull[0])
	{
		keys[0] = hamming_key(0, hamming_tid(tid));
		insert_keys(index, HAMMING_NULLS, 1, keys);
		return false;
	}
	for (table = 0; table < HAMMING_BLOCKS; table++)
		keys[table] =
			hamming_key(hamming_rotate(DatumGetSimhash(values[0]), table),
						hamming_tid(tid));
	insert_keys(index, 0, HAMMING_BLOCKS, keys);
	return false;
}
