/*
 * gist.c
 *	  The GiST operator class simhash64_ops.
 *
 * The class is for what the hamming index lacks: a search that several columns
 * of the index narrow, INCLUDE, and index-only scans.
 *
 * A leaf key is a fingerprint.  An inner key bounds the fingerprints below
 * it both ways that HammingBounds knows: by value range, which partitions
 * them well, and by the bits that all or any of them have, which adds what
 * the low bits of real data have in common.
 *
 * All cases served by these functions are exact: a leaf is judged by its
 * distance, an inner key by a lower bound of the distances below it, which
 * bounds_distance() proves.
 */
#include "postgres.h"

#include "access/gist.h"
#include "access/stratnum.h"
#include "utils/sortsupport.h"

#include "type/simhash.h"

PG_FUNCTION_INFO_V1(gist_simhash64_consistent);
PG_FUNCTION_INFO_V1(gist_simhash64_union);
PG_FUNCTION_INFO_V1(gist_simhash64_compress);
PG_FUNCTION_INFO_V1(gist_simhash64_penalty);
PG_FUNCTION_INFO_V1(gist_simhash64_picksplit);
PG_FUNCTION_INFO_V1(gist_simhash64_same);
PG_FUNCTION_INFO_V1(gist_simhash64_distance);
PG_FUNCTION_INFO_V1(gist_simhash64_fetch);
PG_FUNCTION_INFO_V1(gist_simhash64_sortsupport);

/*
 * A set of fingerprints, by what bounds its members x: lo <= x <= hi in
 * unsigned order, and x has every bit of all and no bit outside any.  lo and
 * hi themselves have every bit of all and none outside any.
 */
typedef struct HammingBounds
{
	uint64		lo;
	uint64		hi;
	uint64		all;
	uint64		any;
} HammingBounds;

/*
 * Return the lesser of best and the least distance from q to an x >= lo that
 * respects the masks and equals lo outside the bits of below, which are all
 * the bits under some bit.
 *
 * Such an x is lo itself, or it first leaves lo at some bit j where lo has 0
 * and x has 1.  Above j, x equals lo.  Below j, the masks alone bind x.
 * So the least distance is the least of
 *
 *		distance(lo, q)  and, for each j of below, 0 in lo and 1 in any,
 *		distance(lo, q) above j + (q has 0 at j) + mask distance below j,
 *
 * where the mask distance counts the bits of q that every x must differ in.
 * From the highest j down, the first of the three terms only grows: once that
 * term reaches the best distance so far, no lower j can be better.
 */
static int
one_sided_distance(uint64 lo, uint64 all, uint64 any, uint64 q, uint64 below,
				   int best)
{
	uint64		differs = lo ^ q;
	uint64		forced = (all & ~q) | (~any & q);
	uint64		turns = ~lo & any & below;

	best = Min(best, pg_popcount64(differs));
	while (turns != 0)
	{
		int			j = pg_leftmost_one_pos64(turns);
		uint64		bit = UINT64CONST(1) << j;
		int			above = pg_popcount64(differs & ~(bit | (bit - 1)));

		if (above >= best)
			break;
		above += !(q & bit) + pg_popcount64(forced & (bit - 1));
		best = Min(best, above);
		turns ^= bit;
	}
	return best;
}

/*
 * Return the least distance from q to any value within the bounds, which is
 * exact, and so a lower bound for the distance to every member of a set that
 * they bound.  Where that distance is at least enough, any value from enough
 * up to the exact one may be returned instead.
 *
 * Proof.  Every x within the bounds differs from q in the forced bits of the
 * masks, which is the early return.  Let d be the highest bit in which lo
 * and hi differ: lo has 0 there, and hi 1.  Every x equals both above d.  An
 * x with 0 at d is below hi whatever follows, so only x >= lo binds it; an x
 * with 1 at d is above lo, so only x <= hi binds it.  The second case is the
 * first one with every bit complemented.  If lo = hi there is one value, and
 * as the bounds of that value alone have all = any = lo, the distance of the
 * masks is exact.
 */
static int
bounds_distance(const HammingBounds *b, uint64 q, int enough)
{
	uint64		span = b->lo ^ b->hi;
	uint64		below;
	int			masks;
	int			best;

	masks = pg_popcount64((b->all & ~q) | (~b->any & q));
	if (span == 0 || masks >= enough)
		return masks;

	/* the bits below d, in which x may leave lo or hi */
	below = (UINT64CONST(1) << pg_leftmost_one_pos64(span)) - 1;
	best = one_sided_distance(b->lo, b->all, b->any, q, below, 64);
	return one_sided_distance(~b->hi, ~b->any, ~b->all, ~q, below, best);
}

/*
 * On disk a leaf key is a fingerprint, and an inner key a HammingBounds.
 * Either may have a short header, and so no alignment.
 */

static Datum
make_key(const void *data, size_t length)
{
	struct varlena *key = palloc(VARHDRSZ + length);

	SET_VARSIZE(key, VARHDRSZ + length);
	memcpy(VARDATA(key), data, length);
	return PointerGetDatum(key);
}

static HammingBounds
read_key(Datum datum)
{
	struct varlena *key = (struct varlena *) DatumGetPointer(datum);
	HammingBounds bounds;

	if (VARSIZE_ANY_EXHDR(key) == sizeof(uint64))
	{
		memcpy(&bounds.lo, VARDATA_ANY(key), sizeof(uint64));
		bounds.hi = bounds.all = bounds.any = bounds.lo;
	}
	else
		memcpy(&bounds, VARDATA_ANY(key), sizeof(bounds));
	return bounds;
}

static void
extend(HammingBounds *bounds, const HammingBounds *more)
{
	bounds->lo = Min(bounds->lo, more->lo);
	bounds->hi = Max(bounds->hi, more->hi);
	bounds->all &= more->all;
	bounds->any |= more->any;
}

Datum
gist_simhash64_compress(PG_FUNCTION_ARGS)
{
	GISTENTRY  *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	GISTENTRY  *result = entry;

	if (entry->leafkey)
	{
		uint64		fingerprint = DatumGetUInt64(entry->key);

		result = palloc(sizeof(GISTENTRY));
		gistentryinit(*result, make_key(&fingerprint, sizeof(fingerprint)),
					  entry->rel, entry->page, entry->offset, false);
	}
	PG_RETURN_POINTER(result);
}

Datum
gist_simhash64_fetch(PG_FUNCTION_ARGS)
{
	GISTENTRY  *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	GISTENTRY  *result = palloc(sizeof(GISTENTRY));

	gistentryinit(*result, UInt64GetDatum(read_key(entry->key).lo), entry->rel,
				  entry->page, entry->offset, false);
	PG_RETURN_POINTER(result);
}

/* Can there be, or on a leaf is there, a match at or below this key? */
Datum
gist_simhash64_consistent(PG_FUNCTION_ARGS)
{
	GISTENTRY  *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	StrategyNumber strategy = PG_GETARG_UINT16(2);
	bool	   *recheck = (bool *) PG_GETARG_POINTER(4);
	HammingBounds bounds = read_key(entry->key);
	uint64		centre;
	int32		radius;

	if (strategy == SIMHASH_NEAR_STRATEGY)
	{
		centre = DatumGetUInt64(PG_GETARG_DATUM(1));
		radius = SIMHASH_NEAR_RADIUS;
	}
	else if (strategy == SIMHASH_BALL_STRATEGY)
		radius = simhash_ball_words(PG_GETARG_DATUM(1), &centre, 1);
	else
		elog(ERROR, "unrecognized strategy number: %d", strategy);

	*recheck = false;
	PG_RETURN_BOOL(bounds_distance(&bounds, centre, radius + 1) <=
				   radius);
}

Datum
gist_simhash64_distance(PG_FUNCTION_ARGS)
{
	GISTENTRY  *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	bool	   *recheck = (bool *) PG_GETARG_POINTER(4);
	HammingBounds bounds = read_key(entry->key);

	*recheck = false;
	/* no distance is enough: the exact one is wanted */
	PG_RETURN_FLOAT8(bounds_distance(&bounds,
									 DatumGetUInt64(PG_GETARG_DATUM(1)), 65));
}

Datum
gist_simhash64_union(PG_FUNCTION_ARGS)
{
	GistEntryVector *entries = (GistEntryVector *) PG_GETARG_POINTER(0);
	int		   *size = (int *) PG_GETARG_POINTER(1);
	HammingBounds bounds = read_key(entries->vector[0].key);
	int			i;

	for (i = 1; i < entries->n; i++)
	{
		HammingBounds more = read_key(entries->vector[i].key);

		extend(&bounds, &more);
	}
	*size = VARHDRSZ + sizeof(bounds);
	PG_RETURN_DATUM(make_key(&bounds, sizeof(bounds)));
}

/*
 * Set *penalty to how far the value range must be widened.  So a new value
 * goes to the range that holds it or is next to it, and ranges that do not
 * overlap stay so.
 */
Datum
gist_simhash64_penalty(PG_FUNCTION_ARGS)
{
	GISTENTRY  *origin = (GISTENTRY *) PG_GETARG_POINTER(0);
	GISTENTRY  *added = (GISTENTRY *) PG_GETARG_POINTER(1);
	float	   *penalty = (float *) PG_GETARG_POINTER(2);
	HammingBounds bounds = read_key(origin->key);
	HammingBounds more = read_key(added->key);

	*penalty = 0;
	if (more.lo < bounds.lo)
		*penalty += (float) (bounds.lo - more.lo);
	if (more.hi > bounds.hi)
		*penalty += (float) (more.hi - bounds.hi);
	PG_RETURN_POINTER(penalty);
}

typedef struct SplitItem
{
	HammingBounds bounds;
	OffsetNumber offset;
} SplitItem;

static int
compare_items(const void *a, const void *b)
{
	const HammingBounds *x = &((const SplitItem *) a)->bounds;
	const HammingBounds *y = &((const SplitItem *) b)->bounds;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return (x->hi > y->hi) - (x->hi < y->hi);
}

/* Collect one side of a split.  Return the key that bounds this side. */
static Datum
fill_side(const SplitItem *items, int count, OffsetNumber *offsets)
{
	HammingBounds bounds = items[0].bounds;
	int			i;

	for (i = 0; i < count; i++)
	{
		extend(&bounds, &items[i].bounds);
		offsets[i] = items[i].offset;
	}
	return make_key(&bounds, sizeof(bounds));
}

Datum
gist_simhash64_picksplit(PG_FUNCTION_ARGS)
{
	GistEntryVector *entries = (GistEntryVector *) PG_GETARG_POINTER(0);
	GIST_SPLITVEC *split = (GIST_SPLITVEC *) PG_GETARG_POINTER(1);
	int			count = entries->n - FirstOffsetNumber;
	SplitItem  *items = palloc(count * sizeof(SplitItem));
	int			cut;
	int			i;

	for (i = 0; i < count; i++)
	{
		items[i].offset = FirstOffsetNumber + i;
		items[i].bounds = read_key(entries->vector[items[i].offset].key);
	}
	qsort(items, count, sizeof(SplitItem), compare_items);
	/* in the middle third */
	cut = hamming_choose_cut(&items->bounds.lo,
							 sizeof(SplitItem) / sizeof(uint64),
							 Max(count / 3, 1),
							 Min(count - count / 3, count - 1));

	split->spl_nleft = cut;
	split->spl_left = palloc(cut * sizeof(OffsetNumber));
	split->spl_ldatum = fill_side(items, cut, split->spl_left);
	split->spl_nright = count - cut;
	split->spl_right = palloc((count - cut) * sizeof(OffsetNumber));
	split->spl_rdatum = fill_side(items + cut, count - cut, split->spl_right);
	PG_RETURN_POINTER(split);
}

Datum
gist_simhash64_same(PG_FUNCTION_ARGS)
{
	HammingBounds a = read_key(PG_GETARG_DATUM(0));
	HammingBounds b = read_key(PG_GETARG_DATUM(1));
	bool	   *result = (bool *) PG_GETARG_POINTER(2);

	*result = memcmp(&a, &b, sizeof(a)) == 0;
	PG_RETURN_POINTER(result);
}

/* Sorted builds order the leaf keys by value. */

static int
compare_leaf_keys(Datum a, Datum b, SortSupport ssup)
{
	uint64		x = read_key(a).lo;
	uint64		y = read_key(b).lo;

	return (x > y) - (x < y);
}

Datum
gist_simhash64_sortsupport(PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);

	ssup->comparator = compare_leaf_keys;
	PG_RETURN_VOID();
}
