/*
 * normalize.c
 *	  NFKC_Casefold of a stream of code points.
 *
 * The Unicode Standard, section 3.13, R5: map each code point by
 * NFKC_Casefold, then normalise to NFC.  Canonical ordering and composition
 * never reach across a code point that starts a sequence (UC_STARTS), so one
 * combining sequence at a time is kept.
 */
#include "postgres.h"

#include <utf8proc.h>

#include "normalize.h"
#include "unicode_class.h"

#if UTF8PROC_VERSION_MAJOR < 2 || \
	(UTF8PROC_VERSION_MAJOR == 2 && UTF8PROC_VERSION_MINOR < 8)
#error \
	"simhash needs utf8proc 2.8 or later: earlier ones do not know Unicode 15.0"
#endif

/* NFKD of one code point has at most 18; the folding adds none to that. */
#define MAPPED_MAX 32

void
normalize_init(Normalizer *n, void *(*resize)(void *, size_t),
			   void (*emit)(void *, uint32), void *arg)
{
	n->segment = n->space;
	n->length = 0;
	n->capacity = SEGMENT_INLINE;
	n->sorted = true;
	n->resize = resize;
	n->emit = emit;
	n->arg = arg;
}

static inline int
combining_class(int32 cp)
{
	return utf8proc_get_property(cp)->combining_class;
}

static void
segment_append(Normalizer *n, int32 cp)
{
	if (n->length == n->capacity)
	{
		bool allocated = n->segment != n->space;
		size_t bytes = n->capacity * sizeof(int32);

		n->segment = n->resize(allocated ? n->segment : NULL, bytes * 2);
		if (!allocated)
			memcpy(n->segment, n->space, bytes);
		n->capacity *= 2;
	}
	if (n->length > 0 &&
		combining_class(cp) < combining_class(n->segment[n->length - 1]))
		n->sorted = false;
	n->segment[n->length++] = cp;
}

/*
 * Sort cp[0 .. length) by combining class, keeping the order within a class:
 * a counting sort, so that no input takes quadratic time.
 */
static void
sort_marks(Normalizer *n, int32 *cp, size_t length)
{
	int32 *copy;
	size_t start[257] = { 0 };
	size_t i;
	int32 space[SEGMENT_INLINE];
	bool allocated = length > SEGMENT_INLINE;

	copy = allocated ? n->resize(NULL, length * sizeof(int32)) : space;
	memcpy(copy, cp, length * sizeof(int32));
	for (i = 0; i < length; i++)
		start[combining_class(cp[i]) + 1]++;
	for (i = 1; i < 257; i++)
		start[i] += start[i - 1];
	for (i = 0; i < length; i++)
		cp[start[combining_class(copy[i])]++] = copy[i];
	if (allocated)
		n->resize(copy, 0);
}

/* Canonical ordering: sort each run of code points of a class other than 0. */
static void
reorder_segment(Normalizer *n)
{
	size_t i = 0;

	while (i < n->length)
	{
		size_t from = i;

		while (i < n->length && combining_class(n->segment[i]) != 0)
			i++;
		if (i - from > 1)
			sort_marks(n, n->segment + from, i - from);
		i++;
	}
}

/* Order, compose and emit the combining sequence. */
void
normalize_sequence(Normalizer *n)
{
	size_t i;

	if (n->length > 1)
	{
		utf8proc_ssize_t composed;

		if (!n->sorted)
			reorder_segment(n);
		composed = utf8proc_normalize_utf32(n->segment, n->length,
											UTF8PROC_COMPOSE | UTF8PROC_STABLE);
		Assert(composed > 0);
		n->length = composed;
	}
	for (i = 0; i < n->length; i++)
		n->emit(n->arg, n->segment[i]);
	n->length = 0;
	n->sorted = true;
}

/* Take one code point, which Unicode 15.0 assigns. */
void
normalize_push(Normalizer *n, uint32 cp)
{
	int32 mapped[MAPPED_MAX];
	int boundclass;
	utf8proc_ssize_t count;
	utf8proc_ssize_t i;

	/* COMPOSE here only asks for canonical decompositions as well */
	count = utf8proc_decompose_char(cp, mapped, MAPPED_MAX,
									UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
										UTF8PROC_CASEFOLD | UTF8PROC_IGNORE,
									&boundclass);
	Assert(count >= 0 && count <= MAPPED_MAX);
	for (i = 0; i < count; i++)
	{
		if (unicode_class(mapped[i]) & UC_STARTS)
			normalize_flush(n);
		segment_append(n, mapped[i]);
	}
}

/* End the text, and give back what a long combining sequence took. */
void
normalize_finish(Normalizer *n)
{
	normalize_flush(n);
	if (n->segment != n->space)
		n->resize(n->segment, 0);
	n->segment = n->space;
	n->capacity = SEGMENT_INLINE;
}
