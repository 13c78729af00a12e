/*
 * am_buffer.c
 *	  Reading a page: pinned, locked, and found to be sound.
 *
 * A page may come from a damaged disk.  hamming_page_check() looks at each
 * page after it was locked, so that other code can trust the bounds of the
 * page's arrays.
 */
#include "postgres.h"

#include "am/am.h"
#include "type/cpu.h"

#define FETCHED_AHEAD 1024		/* bytes at the beginning of a page */
#define CACHE_LINE 64

/*
 * Let the processor fetch the parts of a page that are read first: in a large
 * index a search waits for memory more than for anything else.  These parts
 * are the special space and the beginning, which on an inner page of 8 kB
 * holds the whole order of the children.  No lock is needed, as nothing is
 * looked at.
 */
static void
fetch_ahead(Page page)
{
	int			i;

	cpu_prefetch((char *) page + BLCKSZ - sizeof(HammingSpecial));
	for (i = 0; i < FETCHED_AHEAD; i += CACHE_LINE)
		cpu_prefetch((char *) page + i);
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
	Buffer		buffer;

	/* for ReadBufferExtended() the invalid number would mean a new page */
	if (!BlockNumberIsValid(block))
		hamming_corrupted(index, block, "page has no number");
	buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL,
								strategy);
	fetch_ahead(BufferGetPage(buffer));
	LockBuffer(buffer, mode);
	hamming_page_check(index, buffer);
	return buffer;
}

/*
 * Raise XX002 if this code cannot read the index that the metapage describes.
 * On entry and on return the caller holds no buffer lock.
 */
void
hamming_check_metapage(Relation index)
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
		hamming_corrupted(index, HAMMING_METAPAGE, "version is not supported");
	UnlockReleaseBuffer(buffer);
}

/*
 * Check the metapage before the first insertion or scan by means of this
 * relation descriptor.  A vacuum checks each page that it changes, and not the
 * metapage.
 *
 * rd_amcache keeps that the metapage was checked.  PostgreSQL frees rd_amcache
 * when it rebuilds the descriptor, as after REINDEX.
 *
 * On entry and on return the caller holds no buffer lock.
 */
void
hamming_open(Relation index)
{
	bool	   *checked;

	if (index->rd_amcache != NULL)
		return;
	hamming_check_metapage(index);
	checked = MemoryContextAlloc(index->rd_indexcxt, sizeof(bool));
	*checked = true;
	index->rd_amcache = checked;
}
