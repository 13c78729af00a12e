/*
 * buffer.c
 *	  Reading a page: pinned, locked, and found to be sound.
 *
 * A page may come from a damaged disk.  hamming_page_check() looks at each
 * page after it was locked, so that other code can trust the bounds of the
 * page's arrays.
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/buf_internals.h"

#include "am/am.h"
#include "type/cpu.h"

#define CACHE_LINE 64
#define MOST_LINES 16			/* of a leaf that are fetched in advance */

/*
 * The buffers in which this session has seen pages of indexes: page p of the
 * index with OID i in element (p + i * STRIDE) % RECENT_BUFFERS.  Pages may
 * share an element, and a buffer may have another page by now: who uses the
 * buffer looks.  The array takes 1 MB, for pages of 2 GB, and the operating
 * system gives memory to what is used of it.
 */
#define RECENT_BUFFERS (1 << 18)
#define STRIDE 0x9E3779B1		/* an odd number: spreads the indexes */

static Buffer recent_buffers[RECENT_BUFFERS];

/*
 * When a page is read from disk, this session looks for the next
 * LOOK_UPS_AFTER_READ pages in the table of all buffers, and not in
 * recent_buffers.  look_ups_left counts them down.
 */
#define LOOK_UPS_AFTER_READ 64

static int	look_ups_left;

/* pages of any relation that this session has read from disk */
static int64
pages_read(void)
{
	return pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read;
}

static Buffer *
recent_buffer(Relation index, BlockNumber blkno)
{
	uint32		element = blkno + RelationGetRelid(index) * STRIDE;

	return &recent_buffers[element % RECENT_BUFFERS];
}

/* Let the processor fetch a page's header and special space to its cache. */
static void
cpu_prefetch_ends(Page page)
{
	cpu_prefetch(hamming_special(page));
	cpu_prefetch(page);
}

/*
 * Pin the page blkno.  strategy may be NULL.  On entry the caller may hold
 * pins, and no buffer lock.
 *
 * The buffer that the session has seen the page in last is tried first.  With a
 * look-up in the table of all buffers for every page, a search takes 1.06 to
 * 1.45 times as long, and in searches within 3 of 10 million rows, 16 clients
 * on two processors get 8 % fewer searches a second done.
 *
 * ReadRecentBuffer() does not count as a use of the page, which PostgreSQL may
 * evict earlier then.  So after a page was read from disk the next ones are
 * looked for in that table.
 */
static Buffer
pin_page(Relation index, BlockNumber blkno, BufferAccessStrategy strategy)
{
	Buffer	   *recent = recent_buffer(index, blkno);
	int64		reads = pages_read();

	/* for ReadBufferExtended() the invalid number would mean a new page */
	if (!BlockNumberIsValid(blkno))
		hamming_corrupted(index, blkno, "page has no number");
	if (look_ups_left > 0)
		look_ups_left--;
	/* a temporary index may have the file number of another one */
	else if (BufferIsValid(*recent) &&
			 BufferIsLocal(*recent) == RelationUsesLocalBuffers(index) &&
			 ReadRecentBuffer(index->rd_locator, MAIN_FORKNUM, blkno, *recent))
	{
		/* as ReadBufferExtended() counts it */
		pgstat_count_buffer_read(index);
		pgstat_count_buffer_hit(index);
		if (VacuumCostActive)
			VacuumCostBalance += VacuumCostPageHit;
		return *recent;
	}
	*recent = ReadBufferExtended(index, MAIN_FORKNUM, blkno, RBM_NORMAL,
								 strategy);
	if (pages_read() != reads)
		look_ups_left = LOOK_UPS_AFTER_READ;
	return *recent;
}

/*
 * Lock a pinned page in mode, BUFFER_LOCK_SHARE or BUFFER_LOCK_EXCLUSIVE, and
 * look at it.  On entry the locks that the caller holds are of pages with lower
 * roles: see tree.c.
 *
 * The two ends of the page come from memory together, while this process waits
 * for the lock: an insertion takes 8 % longer where one comes after the other.
 */
void
hamming_lock(Relation index, Buffer buffer, int mode)
{
	cpu_prefetch_ends(BufferGetPage(buffer));
	LockBuffer(buffer, mode);
	hamming_page_check(index, buffer);
}

/* Pin and lock the page blkno, as the two functions before. */
Buffer
hamming_read(Relation index, BlockNumber blkno, int mode,
			 BufferAccessStrategy strategy)
{
	Buffer		buffer = pin_page(index, blkno, strategy);

	hamming_lock(index, buffer, mode);
	return buffer;
}

/*
 * Let the operating system read the page blkno from disk, if the page may
 * not be in a buffer.
 */
void
hamming_disk_prefetch(Relation index, BlockNumber blkno)
{
	Buffer	   *recent = recent_buffer(index, blkno);
	PrefetchBufferResult result;

	/* pin_page() will say what is wrong with such a number */
	if (!BlockNumberIsValid(blkno) ||
		(look_ups_left == 0 && BufferIsValid(*recent)))
		return;
	result = PrefetchBuffer(index, MAIN_FORKNUM, blkno);
	if (BufferIsValid(result.recent_buffer))
		*recent = result.recent_buffer;
}

/*
 * Let the processor fetch the two ends of the page blkno, which will be read
 * soon: in a large index a search waits for memory more than for anything else.
 * Should another page be in the buffer by now, nothing is lost but time:
 * nothing of it is read.
 */
void
hamming_cpu_prefetch(Relation index, BlockNumber blkno)
{
	Buffer		buffer = *recent_buffer(index, blkno);

	if (!BufferIsValid(buffer))
		return;
	if (!BufferIsLocal(buffer))
		cpu_prefetch(GetBufferDescriptor(buffer - 1));
	cpu_prefetch_ends(BufferGetPage(buffer));
}

/* Let the processor fetch the bytes from .. to - 1 of a page, or MOST_LINES. */
static inline void
fetch_lines(Page page, int from, int to)
{
	to = Min(to, from + MOST_LINES * CACHE_LINE);
	for (from = TYPEALIGN_DOWN(CACHE_LINE, from); from < to; from += CACHE_LINE)
		cpu_prefetch((char *) page + from);
}

/*
 * Let the processor fetch the sorted entries of the leaf blkno that are first
 * .. last, and a margin, and the others.  Keys of the leaf have width words.
 * Searches within 6, 8 and 10 of 64 bits take 10 to 17 % longer without this.
 *
 * The two ends of the page are read without a pin and without a lock, as
 * nothing else of this index is.  Another process may write to the page
 * meanwhile, and the buffer may have another page: so the ends may have any
 * bytes.  They are read once, into copies.  Only what is fetched depends on the
 * copies.
 */
void
hamming_cpu_prefetch_entries(Relation index, BlockNumber blkno, int width,
							 uint64 first, uint64 last)
{
	Buffer		buffer = *recent_buffer(index, blkno);
	const uint64 *range;
	uint64		low;
	uint64		high;
	int			sorted;
	LocationIndex end;
	Page		page;
	int			from;
	int			to;

	if (!BufferIsValid(buffer))
		return;
	page = BufferGetPage(buffer);
	range = (uint64 *) (page + BLCKSZ - HAMMING_SPECIAL_SIZE(width));
	low = range[0];
	high = range[1 + width];
	sorted = hamming_special(page)->sorted;
	end = ((PageHeader) page)->pd_lower;
	/* the compiler must not read the page again for the copies */
	pg_compiler_barrier();
	sorted = Min(sorted, HAMMING_LEAF_CAPACITY);
	hamming_guess_stretch(low, high, sorted, first, last, &from, &to);
	fetch_lines(page, HAMMING_CONTENT + from * sizeof(uint64),
				HAMMING_CONTENT + (to + 1) * sizeof(uint64));
	fetch_lines(page, HAMMING_CONTENT + sorted * sizeof(uint64),
				Min(end, BLCKSZ));
}
