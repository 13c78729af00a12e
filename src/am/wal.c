/*
 * wal.c
 *	  The WAL of insertions.
 *
 * Every change of a hamming index is logged as generic WAL, which PostgreSQL
 * replays without this library.  GenericXLogFinish() finds what to log by
 * comparing each page before and after, which takes 2 to 4 microseconds a page.
 * An insertion changes leaves of several trees, and knows what it did to them.
 * This file writes records of the same format itself, in a tenth of that time.
 *
 * That format is private to PostgreSQL's generic_xlog.c.  A record that its
 * generic_redo() reads in another way corrupts the index at replay.  So this
 * file relies on the following, which was compared with these functions there:
 *
 * - writeFragment(): what is logged of a page, its delta, is a sequence of
 *   fragments.  A fragment is an offset in the page and a length, both uint16
 *   in the order of the processor and not aligned, and then that many bytes.
 * - applyPageRedo(): replay copies the bytes of each fragment to its offset,
 *   in whatever order the fragments come.
 * - generic_redo(): block i of the record has its delta as data.  A record has
 *   MAX_GENERIC_XLOG_PAGES blocks at most.  After a delta was applied, replay
 *   sets the bytes between pd_lower and pd_upper to zero.
 * - GenericXLogFinish(): after XLogBeginInsert(), in one critical section, each
 *   page is changed, marked dirty and registered with REGBUF_STANDARD and its
 *   delta, XLogInsert() writes the record with info 0 and no other data, and
 *   the pages get its LSN.  A page that is to be logged whole is registered
 *   with REGBUF_FORCE_IMAGE, too, and without a delta.
 *
 * Compared were the sources of 15.18, and those of 16 (June 2023), 17 (July
 * 2024), 18 (June 2025) and 19 (June 2026) when their branches were made.  In
 * none of these points do they differ, except that before 15.5 and 16.1
 * GenericXLogFinish() marked pages dirty after it had written the record.  A
 * minor release does not change the format of WAL, as it must replay what the
 * last one wrote.
 *
 * On a later version changes are logged by GenericXLogFinish(): slower, and
 * right whatever the format is.  To raise LAST_COMPARED, compare again.  With
 * -DSIMHASH_GENERIC_WAL a test gets that code on every version.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"

#include "am/am.h"

#define LAST_COMPARED 19
#define FEW 8

#if PG_VERSION_NUM / 10000 <= LAST_COMPARED && !defined(SIMHASH_GENERIC_WAL)

/* Write length bytes from start to record, as a fragment; return its end. */
static char *
add_fragment(char *record, Page page, void *start, uint16 length)
{
	uint16		header[] = {(char *) start - (char *) page, length};

	memcpy(record, header, sizeof(header));
	memcpy(record + sizeof(header), start, length);
	return record + sizeof(header) + length;
}

/*
 * Three fragments: pd_lower and pd_upper; the leading word of the key; and the
 * other words and the TID.
 */
#define CHANGE_SIZE \
	(3 * 2 * sizeof(uint16) + 2 * sizeof(uint16) + \
	 HAMMING_LEAF_ENTRY(HAMMING_MAX_WORDS, true))

/*
 * Change a leaf, which is locked exclusively, and write to record the delta
 * that does the same.  Return the length of the delta.
 */
static int
apply_and_describe(Page page, const HammingChange *change, char *record)
{
	PageHeader	header = (PageHeader) page;
	HammingEntries entries = hamming_entries(page);
	int			tail = entries.tail_size;
	int			i = entries.count;
	char	   *end = record;

	StaticAssertStmt(offsetof(PageHeaderData, pd_upper) ==
					 offsetof(PageHeaderData, pd_lower) + sizeof(uint16),
					 "the bounds of a page are not next to each other");
	hamming_leaf_change(page, change);
	if (change->is_mark)
		return add_fragment(end, page, &hamming_special(page)->kind,
							sizeof(uint16)) - record;
	end = add_fragment(end, page, &header->pd_lower,
					   (tail > 0 ? 2 : 1) * sizeof(uint16));
	end = add_fragment(end, page, entries.words + i, sizeof(uint64));
	if (tail > 0)
		end = add_fragment(end, page, hamming_entry_tail(&entries, i), tail);
	return end - record;
}

/*
 * Make and log changes, at most MAX_GENERIC_XLOG_PAGES, by one record.
 *
 * The first change of a page after a checkpoint logs all of it, if
 * full_page_writes is on, whatever the order of its keys.  So such a leaf is
 * sorted, for no WAL, if more than a FEW of its keys are not.
 */
static void
log_record(Relation index, int count, const HammingChange *changes)
{
	char		records[MAX_GENERIC_XLOG_PAGES][CHANGE_SIZE];
	HammingKey	keys[HAMMING_LEAF_CAPACITY];
	bool		logged = RelationNeedsWAL(index);
	int			i;

	/* it may raise an error */
	if (logged)
		XLogBeginInsert();
	START_CRIT_SECTION();
	for (i = 0; i < count; i++)
	{
		Buffer		leaf = changes[i].leaf;
		Page		page = BufferGetPage(leaf);
		int			length = apply_and_describe(page, &changes[i], records[i]);
		bool		whole = logged &&
		hamming_page_count(page) - hamming_special(page)->sorted > FEW &&
		XLogCheckBufferNeedsBackup(leaf);

		if (whole)
			hamming_leaf_fill(page, keys, hamming_page_keys(page, keys));
		MarkBufferDirty(leaf);
		if (logged)
			XLogRegisterBuffer(i, leaf, REGBUF_STANDARD |
							   (whole ? REGBUF_FORCE_IMAGE : 0));
		if (logged && !whole)
			XLogRegisterBufData(i, records[i], length);
	}
	if (logged)
	{
		XLogRecPtr	lsn = XLogInsert(RM_GENERIC_ID, 0);

		for (i = 0; i < count; i++)
			PageSetLSN(BufferGetPage(changes[i].leaf), lsn);
	}
	END_CRIT_SECTION();
}

#else

/* The same by generic WAL's own functions. */
static void
log_record(Relation index, int count, const HammingChange *changes)
{
	GenericXLogState *state = GenericXLogStart(index);
	int			i;

	for (i = 0; i < count; i++)
		hamming_leaf_change(GenericXLogRegisterBuffer(state, changes[i].leaf,
													  0), &changes[i]);
	GenericXLogFinish(state);
}

#endif

/*
 * Make and log changes of different leaves, which are locked exclusively.  Each
 * that gets a key covers the key, and has room.  Where a record cannot have
 * all, they are made in their order: a crash may lose the last ones.
 */
void
hamming_log_changes(Relation index, int count, const HammingChange *changes)
{
	int			done;

	for (done = 0; done < count; done += MAX_GENERIC_XLOG_PAGES)
		log_record(index, Min(count - done, MAX_GENERIC_XLOG_PAGES),
				   changes + done);
}

/*
 * Let a leaf, which is locked exclusively, have count sorted keys, and no
 * other, and log that.
 */
void
hamming_log_leaf(Relation index, Buffer leaf, const HammingKey *keys, int count)
{
	GenericXLogState *state = GenericXLogStart(index);

	hamming_leaf_fill(GenericXLogRegisterBuffer(state, leaf, 0), keys, count);
	GenericXLogFinish(state);
}
