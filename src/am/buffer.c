/*
 * buffer.c
 *	  Reading a page: pinned, locked, and found to be sound.
 *
 * A page may come from a damaged disk.  hamming_page_check() looks at each
 * page after it was locked, so that other code can trust the bounds of the
 * page's arrays.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/buf_internals.h"

#include "am/am.h"
#include "type/cpu.h"

#define CACHE_LINE 64
#define MOST_LINES 16			/* of a leaf that are fetched in advance */

/*
 * Return where a page of this index has its special space.  Nothing of the page
 * is read: it may be another page by now.
 */
static HammingSpecial *
special_place(Page page)
{
	return (HammingSpecial *) (page + BLCKSZ - sizeof(HammingSpecial));
}

/*
 * Let the processor fetch the header and the special space of a page: in a
 * large index a search waits for memory more than for anything else.  No lock
 * is needed, as nothing is looked at.
 */
static void
fetch_ends(Page page)
{
	cpu_prefetch(special_place(page));
	cpu_prefetch(page);
}

/* Let the processor fetch the bytes from .. to - 1 of a page. */
static void
fetch_lines(Page page, int from, int to)
{
	int			i;

	for (i = TYPEALIGN_DOWN(CACHE_LINE, from); i < to; i += CACHE_LINE)
		cpu_prefetch((char *) page + i);
}

/*
 * Pin the page at block.  strategy may be NULL.
 *
 * The buffer that the session has seen the page in last is tried first, as
 * that saves the search in the table of all buffers.  PostgreSQL does not take
 * such a look for a use of the page, and may evict the page earlier: so where
 * pages are being evicted each is looked for in that table.
 */
Buffer
hamming_pin_page(Relation index, BlockNumber block,
				 BufferAccessStrategy strategy)
{
	Buffer		buffer;

	/* for ReadBufferExtended() the invalid number would mean a new page */
	if (!BlockNumberIsValid(block))
		hamming_corrupted(index, block, "page has no number");
	buffer = hamming_remembered(index, block);
	if (BufferIsValid(buffer))
	{
		if (ReadRecentBuffer(index->rd_locator, MAIN_FORKNUM, block, buffer))
		{
			/* as ReadBufferExtended() counts it */
			pgstat_count_buffer_read(index);
			pgstat_count_buffer_hit(index);
			if (VacuumCostActive)
				VacuumCostBalance += VacuumCostPageHit;
			return buffer;
		}
		hamming_note_eviction(index);
	}
	buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL,
								strategy);
	hamming_remember(index, block, buffer);
	return buffer;
}

/*
 * Read the page at block.  strategy may be NULL.
 *
 * On entry the caller holds no buffer lock.  On return the page is locked in
 * mode, BUFFER_LOCK_SHARE or BUFFER_LOCK_EXCLUSIVE.
 */
Buffer
hamming_read(Relation index, BlockNumber block, int mode,
			 BufferAccessStrategy strategy)
{
	Buffer		buffer = hamming_pin_page(index, block, strategy);

	/* on an inner page, the order of the children */
	fetch_ends(BufferGetPage(buffer));
	fetch_lines(BufferGetPage(buffer), HAMMING_CONTENT,
				HAMMING_CONTENT + HAMMING_ORDER_SPACE);
	LockBuffer(buffer, mode);
	hamming_page_check(index, buffer);
	return buffer;
}

/*
 * Read the page at block, which hamming_fetch() may have fetched.  Locks: as
 * hamming_read() in share mode.
 */
Buffer
hamming_read_fetched(Relation index, BlockNumber block)
{
	Buffer		buffer = hamming_pin_page(index, block, NULL);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	hamming_page_check(index, buffer);
	return buffer;
}

/*
 * Let the operating system read the page at block, which will be read soon, if
 * the page may not be in a buffer.  The page is neither pinned nor locked.
 */
void
hamming_prefetch(Relation index, BlockNumber block)
{
	PrefetchBufferResult result;

	/* hamming_read() will say what is wrong with such a number */
	if (!BlockNumberIsValid(block) ||
		BufferIsValid(hamming_remembered(index, block)))
		return;
	result = PrefetchBuffer(index, MAIN_FORKNUM, block);
	if (BufferIsValid(result.recent_buffer))
		hamming_remember(index, block, result.recent_buffer);
}

/*
 * Let the processor fetch the header and the special space of the page at
 * block, which will be read soon, from the buffer that it was in last.  Should
 * another page be there by now, nothing is lost but time.  The page is neither
 * pinned nor locked.
 */
void
hamming_fetch(Relation index, BlockNumber block)
{
	Buffer		buffer = hamming_remembered(index, block);

	if (!BufferIsValid(buffer))
		return;
	if (!BufferIsLocal(buffer))
		cpu_prefetch(GetBufferDescriptor(buffer - 1));
	fetch_ends(BufferGetPage(buffer));
}

/*
 * Let the processor fetch the sorted entries first .. last of the leaf at
 * block, and a margin, but no more than MOST_LINES.
 *
 * The special space is read without a pin and without a lock, as nothing else
 * of this index is.  Another process may write to the page meanwhile, and the
 * buffer may have another page: so the special space may have any bytes.  It is
 * read once, into a copy.  Only what is fetched depends on the copy.
 */
void
hamming_fetch_entries(Relation index, BlockNumber block, HammingBits first,
					  HammingBits last)
{
	Buffer		buffer = hamming_remembered(index, block);
	Page		page;
	HammingSpecial special;
	int			from;
	int			to;

	if (!BufferIsValid(buffer))
		return;
	page = BufferGetPage(buffer);
	special = *special_place(page);
	/* the compiler must not read the page again for the copy */
	pg_compiler_barrier();
	special.sorted = Min(special.sorted, HAMMING_LEAF_CAPACITY);
	hamming_guess_stretch(&special, first, last, &from, &to);
	from = HAMMING_CONTENT + from * sizeof(HammingBits);
	to = HAMMING_CONTENT + (to + 1) * sizeof(HammingBits);
	fetch_lines(page, from, Min(to, from + MOST_LINES * CACHE_LINE));
}

/*
 * Return the number of blocks that fingerprints are cut into, which the
 * metapage has.  Error: XX002 if this code cannot read the index that the
 * metapage describes.  On entry and on return the caller holds no buffer lock.
 */
int
hamming_read_blocks(Relation index)
{
	Buffer		buffer = hamming_read(index, HAMMING_METAPAGE,
									  BUFFER_LOCK_SHARE, NULL);
	Page		page = BufferGetPage(buffer);
	HammingMeta meta;

	memcpy(&meta, PageGetContents(page), sizeof(meta));
	if (hamming_special(page)->kind != HAMMING_PAGE_META ||
		meta.magic != HAMMING_MAGIC)
		hamming_corrupted(index, HAMMING_METAPAGE, "page is not a metapage");
	if (meta.version != HAMMING_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has version %u of the format, and not %d",
						RelationGetRelationName(index), meta.version,
						HAMMING_VERSION),
				 errhint("REINDEX it.")));
	if (meta.width != HAMMING_BITS || meta.blocks < HAMMING_MIN_BLOCKS ||
		meta.blocks > HAMMING_MAX_BLOCKS)
		hamming_corrupted(index, HAMMING_METAPAGE, "blocks are out of range");
	UnlockReleaseBuffer(buffer);
	return meta.blocks;
}
