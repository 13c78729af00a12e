/*
 * normalize.c
 *	  NFKC_Casefold of a stream of code points.
 *
 * The Unicode Standard, section 3.13, R5: map each code point by
 * NFKC_Casefold, then normalise to NFC.  Canonical ordering and composition
 * never reach across a code point with UC_STARTS.  So only one combining
 * sequence at a time is kept: a code point with UC_STARTS, and those without
 * that follow it.
 *
 * A starter is a code point of combining class 0, and a mark here one of any
 * other class.  A sequence may have several starters (Hangul Jamo, say).
 */
#include "postgres.h"

#include <utf8proc.h>

#include "miscadmin.h"

#include "text/tokens.h"

#if UTF8PROC_VERSION_MAJOR < 2 || \
	(UTF8PROC_VERSION_MAJOR == 2 && UTF8PROC_VERSION_MINOR < 8)
#error \
	"simhash needs utf8proc 2.8 or later: earlier ones do not know Unicode 15.0"
#endif

#define COMBINING_CLASSES 256	/* Canonical_Combining_Class is a byte */

/* Code points of the sequence, at first: natural text has no longer ones. */
#define FIRST_CAPACITY 32

/* An insertion sort is quicker for this many marks between two starters. */
#define FEW_MARKS 8

/*
 * The most code points that NFKC_Casefold maps one to, before NFC.  The longest
 * compatibility decomposition is that of U+FDFA, and case folding adds none to
 * it.
 */
#define MAPPED_MAX 18

/*
 * utf8proc takes 20 to 40 ns for a code point or a pair, which is more than all
 * else takes.  Most texts ask it about few different ones, so its answers are
 * kept: for each remainder by this number, the last one.
 */
#define ANSWERS 256

/* A code point, and the decomposition of what NFKC_Casefold maps it to. */
typedef struct Mapping
{
	uint32		cp;				/* 0: none */
	int			count;
	int32		mapped[MAPPED_MAX];
} Mapping;

/* A pair of code points, and its primary composite. */
typedef struct Composition
{
	int32		first;			/* 0: none */
	int32		second;
	int32		composite;		/* 0: none */
} Composition;

static inline int
combining_class(int32 cp)
{
	return utf8proc_get_property(cp)->combining_class;
}

/*
 * Sort the marks cp[0 .. length) stably by combining class.  It is a counting
 * sort, which takes linear time whatever the order of the marks.
 */
static void
sort_marks(Normalizer *n, int32 *cp, size_t length)
{
	size_t		start[COMBINING_CLASSES + 1] = {0};
	int32	   *copy = simhash_resize_array(NULL, length * sizeof(int32));
	size_t		i;

	memcpy(copy, cp, length * sizeof(int32));
	for (i = 0; i < length; i++)
	{
		CHECK_FOR_INTERRUPTS();
		start[combining_class(copy[i]) + 1]++;
	}
	for (i = 1; i <= COMBINING_CLASSES; i++)
		start[i] += start[i - 1];
	for (i = 0; i < length; i++)
	{
		CHECK_FOR_INTERRUPTS();
		cp[start[combining_class(copy[i])]++] = copy[i];
	}
	simhash_resize_array(copy, 0);
}

/* Do what sort_marks() does, in less time where the marks are few. */
static void
insert_marks(int32 *cp, size_t length)
{
	size_t		i;
	size_t		to;

	for (i = 1; i < length; i++)
	{
		int32		mark = cp[i];
		int			class = combining_class(mark);

		for (to = i; to > 0 && combining_class(cp[to - 1]) > class; to--)
			cp[to] = cp[to - 1];
		cp[to] = mark;
	}
}

/* Canonical ordering (D109): sort the marks between each two starters. */
static void
reorder_sequence(Normalizer *n)
{
	size_t		i = 0;

	while (i < n->length)
	{
		size_t		from = i;

		for (; i < n->length && combining_class(n->sequence[i]) != 0; i++)
			CHECK_FOR_INTERRUPTS();
		if (i - from > FEW_MARKS)
			sort_marks(n, n->sequence + from, i - from);
		else
			insert_marks(n->sequence + from, i - from);
		i++;
	}
}

/* If starter and cp have a primary composite, set *starter to it. */
static bool
compose_pair(int32 *starter, int32 cp)
{
	static Composition known[ANSWERS];
	Composition *answer = &known[(uint32) (*starter + 31 * cp) % ANSWERS];

	if (answer->first != *starter || answer->second != cp)
	{
		int32		pair[2] = {*starter, cp};

		/* because of STABLE, utf8proc heeds the composition exclusions */
		bool		is_one =
		utf8proc_normalize_utf32(pair, 2, UTF8PROC_COMPOSE |
								 UTF8PROC_STABLE) == 1;

		*answer = (Composition)
		{
			*starter, cp, is_one ? pair[0] : 0
		};
	}
	if (answer->composite == 0)
		return false;
	*starter = answer->composite;
	return true;
}

/*
 * Canonical composition (D117) of a sequence in canonical order.
 *
 * A code point is blocked from the last starter (D115) if one that did not
 * compose stands between them and has the same combining class, or a higher
 * one.  In canonical order the last of those that stand there has the highest.
 */
static void
compose_sequence(Normalizer *n)
{
	int32	   *sequence = n->sequence;
	int32	   *starter = NULL; /* the last one */
	int			blocked = -1;	/* class of what stands last after starter */
	size_t		kept = 0;
	size_t		i;

	for (i = 0; i < n->length; i++)
	{
		int			class = combining_class(sequence[i]);

		CHECK_FOR_INTERRUPTS();
		if (starter && class > blocked && compose_pair(starter, sequence[i]))
			continue;
		sequence[kept] = sequence[i];
		blocked = class;
		if (class == 0)
		{
			starter = &sequence[kept];
			blocked = -1;
		}
		kept++;
	}
	n->length = kept;
}

void
simhash_normalize_end(Normalizer *n)
{
	size_t		i;

	if (n->unsorted)
		reorder_sequence(n);
	if (n->length > 1)
		compose_sequence(n);
	for (i = 0; i < n->length; i++)
	{
		CHECK_FOR_INTERRUPTS();
		n->emit(n->arg, n->sequence[i]);
	}
	n->length = 0;
	n->unsorted = false;
}

static void
append(Normalizer *n, int32 cp)
{
	if (n->length == n->capacity)
	{
		n->capacity = Max(2 * n->capacity, FIRST_CAPACITY);
		n->sequence = simhash_resize_array(n->sequence,
										   n->capacity * sizeof(int32));
	}
	if (n->length > 0 &&
		combining_class(cp) < combining_class(n->sequence[n->length - 1]))
		n->unsorted = true;
	n->sequence[n->length++] = cp;
}

/* Map and decompose a code point that Unicode 15.0 assigns. */
static const Mapping *
map_codepoint(uint32 cp)
{
	static Mapping known[ANSWERS];
	Mapping    *answer = &known[cp % ANSWERS];
	int			boundclass;

	if (answer->cp == cp)
		return answer;
	answer->cp = cp;
	/* here COMPOSE composes nothing: it asks for canonical decompositions */
	answer->count = utf8proc_decompose_char(cp, answer->mapped, MAPPED_MAX,
											UTF8PROC_COMPOSE |
											UTF8PROC_COMPAT |
											UTF8PROC_CASEFOLD |
											UTF8PROC_IGNORE, &boundclass);
	Assert(answer->count >= 0 && answer->count <= MAPPED_MAX);
	return answer;
}

/*
 * Push a code point, the character at position in the text.  Unicode 15.0 must
 * assign the code point: utf8proc may know a later version of Unicode, and may
 * treat in a new way what Unicode 15.0 does not assign.
 *
 * While emit() takes a combining sequence, n->position is that of the character
 * that the sequence begins with.
 */
void
simhash_normalize_push(Normalizer *n, uint32 cp, uint32 position)
{
	const Mapping *mapping = map_codepoint(cp);
	int			i;

	for (i = 0; i < mapping->count; i++)
	{
		int32		mapped = mapping->mapped[i];

		if (unicode_class(mapped) & UC_STARTS)
			normalize_flush(n);
		if (n->length == 0)
			n->position = position;
		append(n, mapped);
	}
}
