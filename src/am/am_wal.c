/*
 * am_wal.c
 *	  The WAL of insertions.
 *
 * All changes of a hamming index are logged by generic records.  For most of
 * them GenericXLogFinish() finds what to log, by comparing pages before and
 * after byte by byte, which takes 2 to 4 microseconds a page.  An insertion
 * touches four pages, and knows what it did to them: it writes the same
 * record, for the same replay, at a tenth of that.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"

#include "am/am.h"

/* One changed region in a generic record: its offset and length, its bytes. */
static char *
add_region(char *record, Page page, void *start, uint16 length)
{
	uint16		header[] = {(char *) start - (char *) page, length};

	memcpy(record, header, sizeof(header));
	memcpy(record + sizeof(header), start, length);
	return record + sizeof(header) + length;
}

#define APPEND_RECORD_SIZE \
	(4 * 2 * sizeof(uint16) + sizeof(uint64) + sizeof(ItemPointerData))

/* Append a key, and say what a generic record says of it. */
static int
append_and_describe(Page page, HammingKey key, char *record)
{
	PageHeader	header = (PageHeader) page;
	int			slots = hamming_page_slots(page);
	int			i = hamming_page_count(page);
	char	   *end = record;

	StaticAssertStmt(offsetof(PageHeaderData, pd_upper) ==
					 offsetof(PageHeaderData, pd_lower) + sizeof(uint16),
					 "the bounds of a page are not next to each other");
	hamming_leaf_append(page, key);
	/* replay leaves zeros where the arrays have grown */
	if (hamming_page_slots(page) != slots)
		end = add_region(end, page, &header->pd_lower, 2 * sizeof(uint16));
	end = add_region(end, page, hamming_page_bits(page) + i, sizeof(uint64));
	end = add_region(end, page, hamming_leaf_tid(page, i),
					 sizeof(ItemPointerData));
	return end - record;
}

/*
 * Append keys[i] to leaves[i], each of which is locked and has room, for all
 * of them or, after a crash, for none.  At most MAX_GENERIC_XLOG_PAGES.
 */
void
hamming_log_appends(Relation index, int count, const Buffer *leaves,
					const HammingKey *keys)
{
	char		records[MAX_GENERIC_XLOG_PAGES][APPEND_RECORD_SIZE];
	bool		logged = RelationNeedsWAL(index);
	int			i;

	START_CRIT_SECTION();
	if (logged)
		XLogBeginInsert();
	for (i = 0; i < count; i++)
	{
		Page		page = BufferGetPage(leaves[i]);

		int			length = append_and_describe(page, keys[i], records[i]);

		MarkBufferDirty(leaves[i]);
		if (logged)
		{
			XLogRegisterBuffer(i, leaves[i], REGBUF_STANDARD);
			XLogRegisterBufData(i, records[i], length);
		}
	}
	if (logged)
	{
		XLogRecPtr	lsn = XLogInsert(RM_GENERIC_ID, 0);

		for (i = 0; i < count; i++)
			PageSetLSN(BufferGetPage(leaves[i]), lsn);
	}
	END_CRIT_SECTION();
}
