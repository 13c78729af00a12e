/*
 * predicate.c
 *	  Predicate locks: what serializable transactions have searched for.
 *
 * A search locks targets, and an insertion looks for locks of its own targets:
 * src/README has why and when, and README-SSI of PostgreSQL's sources what for.
 *
 * PostgreSQL knows a target by the index and the number of a page.  Here it is
 * that of no page, though pg_locks shows it as one: it stands for a value of
 * some bits of a fingerprint.
 *
 * Targets
 *
 * Each word of a fingerprint is cut into WORD_SEGMENTS segments.  Each value v
 * of segment i has two targets, equal(i, v) and near(i, v).  A search within k
 * of a centre chooses a number a(i) for each segment, so that
 *
 *		sum of (a(i) + 1) = k + 1.
 *
 * Let v be the value of segment i of the centre.  For this segment the search
 * locks
 *
 *		nothing if a(i) = -1,
 *		equal(i, v) if a(i) = 0,
 *		near(i, v) if a(i) = 1,
 *		near(i, u) for each value u within 1 of v if a(i) = 2,
 *
 * and the whole index if a(i) is more.  Let w be the value of segment i of a
 * fingerprint that is inserted.  The insertion looks at equal(i, w), and at
 * near(i, u) for each value u within 1 of w.  It does so for each segment.
 *
 * Let that fingerprint be within k of the centre.  If it differed in more than
 * a(i) bits in each segment i, it would differ in k + 1 bits.  So for some i,
 * v and w differ in a(i) bits at most, and the insertion looks at a target that
 * the search has locked:
 *
 * - a(i) = 0: equal(i, v), as v and w are equal.
 * - a(i) = 1: near(i, v), as v is within 1 of w.
 * - a(i) = 2: near(i, u), where u is v with one of the bits flipped in which w
 *   differs, or v itself if there is none.  This u is within 1 of both.
 *
 * Rows without a fingerprint have one target.
 *
 * Numbers
 *
 * When a transaction has more than max_pred_locks_per_relation locks of an
 * index, 31 with the settings of initdb, PostgreSQL locks all of it instead.
 * With five segments of 64 bits, a search within 9 locks up to 5 targets,
 * within 10 18, and within 11 31.  An insertion of a random fingerprint meets a
 * lock of one search within 8 in 140, within 10 in 52: so often transactions
 * fail without need.  With four segments it is one in 350 within 8, but a
 * search within 10 locks 52 targets.
 */
#include "postgres.h"

#include "access/xact.h"
#include "storage/predicate.h"

#include "am/am.h"

#define WORD_SEGMENTS 5			/* that a word is cut into */
#define VALUE_BITS (64 / WORD_SEGMENTS + 1) /* of a segment, at most */

/* of a value: equal, near, and near of each value with one bit flipped */
#define MAX_TARGETS (2 + VALUE_BITS)

/* The target of rows without a fingerprint, and beyond all others. */
#define NULLS_TARGET(segments) ((BlockNumber) (2 * (segments)) << VALUE_BITS)

/*
 * List the targets of a segment that an insertion looks at, in the order that
 * MAX_TARGETS names.  Return their number.
 */
static int
list_targets(HammingKey fingerprint, int segments, int segment,
			 BlockNumber *targets)
{
	uint64		word = fingerprint.words[segment / WORD_SEGMENTS];
	int			i_of_word = segment % WORD_SEGMENTS;
	int			width = hamming_block_width(WORD_SEGMENTS, i_of_word);
	int			end = hamming_block_start(WORD_SEGMENTS, i_of_word + 1);
	uint32		value = (word >> (64 - end)) & ((1 << width) - 1);
	BlockNumber equal = (BlockNumber) segment << VALUE_BITS;
	BlockNumber near = (BlockNumber) (segments + segment) << VALUE_BITS;
	int			i;

	targets[0] = equal | value;
	targets[1] = near | value;
	for (i = 0; i < width; i++)
		targets[2 + i] = near | (value ^ 1 << i);
	return 2 + width;
}

/*
 * Lock the targets of a search within radius of the centre, 0 .. all bits,
 * before it begins, or with -1 that of rows without a fingerprint.  Nothing is
 * done where the transaction is not serializable, or the snapshot is not an
 * MVCC snapshot, as that of an exclusion constraint.  Error: 53200 where
 * PostgreSQL has no memory left for predicate locks.
 */
void
hamming_lock_predicate(Relation index, Snapshot snapshot, HammingKey centre,
					   int radius)
{
	int			segments = hamming_words(index) * WORD_SEGMENTS;
	int			segment;

	if (!IsolationIsSerializable())
		return;
	if (radius >= 3 * segments)
	{
		PredicateLockRelation(index, snapshot);
		return;
	}
	if (radius < 0)
		PredicateLockPage(index, NULLS_TARGET(segments), snapshot);
	/* by Hermite's identity the sum of allowed + 1 is radius + 1 */
	for (segment = 0; segment < segments; segment++)
	{
		BlockNumber targets[MAX_TARGETS];
		int			count = list_targets(centre, segments, segment, targets);
		int			allowed = (radius + 1 + segment) / segments - 1;
		int			end = allowed == 2 ? count : allowed + 1;
		int			i;

		for (i = allowed > 0 ? 1 : 0; i < end; i++)
			PredicateLockPage(index, targets[i], snapshot);
	}
}

/*
 * Look for locks of the targets of a fingerprint, or of rows without one if
 * isnull, after a row was inserted.  Error: 40001 where PostgreSQL cancels the
 * transaction.
 */
void
hamming_check_conflicts(Relation index, HammingKey fingerprint, bool isnull)
{
	int			segments = hamming_words(index) * WORD_SEGMENTS;
	int			segment;

	if (!IsolationIsSerializable())
		return;
	if (isnull)
	{
		CheckForSerializableConflictIn(index, NULL, NULLS_TARGET(segments));
		return;
	}
	for (segment = 0; segment < segments; segment++)
	{
		BlockNumber targets[MAX_TARGETS];
		int			count = list_targets(fingerprint, segments, segment,
										 targets);
		int			i;

		for (i = 0; i < count; i++)
			CheckForSerializableConflictIn(index, NULL, targets[i]);
	}
}
