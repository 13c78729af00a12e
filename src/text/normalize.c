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
 * other class.  A sequence may have several starters (Hangul Jamo, say).  A
 * sequence of more than SEQUENCE_MAX code points is long: it is composed
 * starter by starter, as it comes.  If one starter has more than SEQUENCE_MAX
 * marks, they go to files, one for each combining class.  Read in the order of
 * the classes, the marks are in canonical order, in constant memory.
 */
#include "postgres.h"

#include <utf8proc.h>

#include "text/normalize.h"
#include "text/unicode_class.h"

#if UTF8PROC_VERSION_MAJOR < 2 || \
	(UTF8PROC_VERSION_MAJOR == 2 && UTF8PROC_VERSION_MINOR < 8)
#error \
	"simhash needs utf8proc 2.8 or later: earlier ones do not know Unicode 15.0"
#endif

#define CHUNK 1024				/* marks that are read at once: 4 kB of stack */

/*
 * Room for what NFKC_Casefold maps one code point to.  The longest
 * compatibility decomposition has 18 code points (U+FDFA), and case folding
 * adds none to it.
 */
#define MAPPED_MAX 32

/* NFC: because of STABLE, utf8proc heeds the composition exclusions. */
#define COMPOSE_OPTIONS (UTF8PROC_COMPOSE | UTF8PROC_STABLE)

/*
 * Prepare n to call emit(arg, cp) for each normalised code point cp.  files is
 * for long sequences; simhash_normalize_end() closes all files.
 */
void
simhash_normalize_init(Normalizer *n, const MarkFiles *files,
					   void (*emit) (void *, uint32), void *arg)
{
	n->length = 0;
	n->sorted = true;
	n->emit = emit;
	n->arg = arg;
	n->is_long = false;
	n->files = files;
}

/* Return the Canonical_Combining_Class of an assigned code point. */
static inline int
combining_class(int32 cp)
{
	return utf8proc_get_property(cp)->combining_class;
}

/*
 * Sort cp[0 .. length), SEQUENCE_MAX at most, stably by combining class.  No
 * order of marks makes a counting sort take quadratic time.
 */
static void
sort_marks(int32 *cp, size_t length)
{
	int32		copy[SEQUENCE_MAX];
	size_t		start[COMBINING_CLASSES + 1] = {0};
	size_t		i;

	memcpy(copy, cp, length * sizeof(int32));
	for (i = 0; i < length; i++)
		start[combining_class(cp[i]) + 1]++;
	for (i = 1; i <= COMBINING_CLASSES; i++)
		start[i] += start[i - 1];
	for (i = 0; i < length; i++)
		cp[start[combining_class(copy[i])]++] = copy[i];
}

/* Canonical ordering (D109): sort the marks between each two starters. */
static void
reorder_sequence(Normalizer *n)
{
	size_t		i = 0;

	while (i < n->length)
	{
		size_t		from = i;

		while (i < n->length && combining_class(n->sequence[i]) != 0)
			i++;
		if (i - from > 1)
			sort_marks(n->sequence + from, i - from);
		i++;
	}
}

/* Order, compose and emit a sequence that is not long. */
static void
end_short(Normalizer *n)
{
	size_t		i;

	if (n->length > 1)
	{
		utf8proc_ssize_t composed;

		if (!n->sorted)
			reorder_sequence(n);
		composed = utf8proc_normalize_utf32(n->sequence, n->length,
											COMPOSE_OPTIONS);
		Assert(composed > 0);
		n->length = composed;
	}
	for (i = 0; i < n->length; i++)
		n->emit(n->arg, n->sequence[i]);
	n->length = 0;
	n->sorted = true;
}

/*
 * cp must not be blocked from n->starter.  If there is a starter, and a
 * primary composite of n->starter and cp, make that the starter, and return
 * true.
 */
static bool
compose(Normalizer *n, int32 cp)
{
	int32		pair[2] = {n->starter, cp};

	if (n->starter < 0)
		return false;
	if (utf8proc_normalize_utf32(pair, 2, COMPOSE_OPTIONS) != 1)
		return false;
	n->starter = pair[0];
	return true;
}

/*
 * Marks after a starter, in canonical order, compose one after the other
 * (D117).  A mark is blocked from the starter (D115) if a mark that did not
 * compose stands between them and has the same combining class, or a higher
 * one.  Canonical order rules out a higher one.  So a mark that does not
 * compose blocks all later marks of its own class, and no mark of a higher
 * class.  Any mark that does not compose blocks the next starter, whose class
 * is 0.
 */

/*
 * Compose n->starter with marks of one class, from file, up to the first mark
 * that does not compose: that one blocks all others.  Return the number of
 * marks that are composed, and set *stays if there is a mark that is not.
 */
static size_t
compose_marks(Normalizer *n, void *file, bool *stays)
{
	size_t		composed = 0;
	int32		mark;

	n->files->rewind(file);
	while (n->files->read(file, &mark, 1) > 0)
	{
		if (!compose(n, mark))
		{
			*stays = true;
			break;
		}
		composed++;
	}
	return composed;
}

/* Emit the marks of a file, except the first composed ones. */
static void
emit_marks(Normalizer *n, void *file, size_t composed)
{
	int32		marks[CHUNK];
	size_t		read = 0;
	size_t		count;
	size_t		i;

	n->files->rewind(file);
	while ((count = n->files->read(file, marks, CHUNK)) > 0)
	{
		for (i = 0; i < count; i++)
		{
			if (read++ >= composed)
				n->emit(n->arg, marks[i]);
		}
	}
}

/* Emit n->starter, if there is one: it composes no more. */
static void
emit_starter(Normalizer *n)
{
	if (n->starter >= 0)
		n->emit(n->arg, n->starter);
	n->starter = -1;
}

/*
 * Order and compose the marks after n->starter.  A mark that does not compose
 * blocks what follows: emit the starter and the marks that are left.
 */
static void
end_marks_in_memory(Normalizer *n)
{
	int			blocked = 0;	/* class of the last mark that stays */
	size_t		stay = 0;
	size_t		i;

	sort_marks(n->sequence, n->length);
	for (i = 0; i < n->length; i++)
	{
		int32		mark = n->sequence[i];

		if (combining_class(mark) == blocked || !compose(n, mark))
		{
			blocked = combining_class(mark);
			n->sequence[stay++] = mark;
		}
	}
	if (stay > 0)
		emit_starter(n);
	for (i = 0; i < stay; i++)
		n->emit(n->arg, n->sequence[i]);
	n->length = 0;
}

/* Move the marks that are in memory to the files of their classes. */
static void
spill_marks(Normalizer *n)
{
	size_t		i;

	for (i = 0; i < n->length; i++)
	{
		void	  **file = &n->marks[combining_class(n->sequence[i])];

		if (*file == NULL)
			*file = n->files->create();
		n->files->write(*file, &n->sequence[i], 1);
	}
	n->length = 0;
	n->spilled = true;
}

/* Do what end_marks_in_memory() does, where some of the marks are in files. */
static void
end_spilled_marks(Normalizer *n)
{
	size_t		composed[COMBINING_CLASSES] = {0};
	bool		stays = false;
	int			ccc;

	spill_marks(n);
	for (ccc = 0; ccc < COMBINING_CLASSES; ccc++)
	{
		if (n->marks[ccc])
			composed[ccc] = compose_marks(n, n->marks[ccc], &stays);
	}
	if (stays)
		emit_starter(n);
	for (ccc = 0; ccc < COMBINING_CLASSES; ccc++)
	{
		if (n->marks[ccc] == NULL)
			continue;
		if (stays)
			emit_marks(n, n->marks[ccc], composed[ccc]);
		n->files->close(n->marks[ccc]);
		n->marks[ccc] = NULL;
	}
	n->spilled = false;
}

/* Order and compose the marks after n->starter. */
static void
end_marks(Normalizer *n)
{
	if (n->spilled)
		end_spilled_marks(n);
	else if (n->length > 0)
		end_marks_in_memory(n);
}

/* Add a code point to a long sequence. */
static void
push_long(Normalizer *n, int32 cp)
{
	if (combining_class(cp) != 0)
	{
		if (n->length == SEQUENCE_MAX)
			spill_marks(n);
		n->sequence[n->length++] = cp;
		return;
	}
	end_marks(n);
	if (!compose(n, cp))
	{
		emit_starter(n);
		n->starter = cp;
	}
}

/* The sequence has SEQUENCE_MAX code points: make it a long one. */
static void
become_long(Normalizer *n)
{
	int32		sequence[SEQUENCE_MAX];
	size_t		length = n->length;
	size_t		i;

	memcpy(sequence, n->sequence, length * sizeof(int32));
	n->length = 0;
	n->is_long = true;
	n->starter = -1;
	n->spilled = false;
	memset(n->marks, 0, sizeof(n->marks));
	for (i = 0; i < length; i++)
		push_long(n, sequence[i]);
}

/* Add a mapped and decomposed code point to the sequence. */
static void
append(Normalizer *n, int32 cp)
{
	if (!n->is_long && n->length == SEQUENCE_MAX)
		become_long(n);
	if (n->is_long)
	{
		push_long(n, cp);
		return;
	}
	if (n->length > 0 &&
		combining_class(cp) < combining_class(n->sequence[n->length - 1]))
		n->sorted = false;
	n->sequence[n->length++] = cp;
}

/* Emit the rest.  n is then as simhash_normalize_init() made it. */
void
simhash_normalize_end(Normalizer *n)
{
	if (n->is_long)
	{
		end_marks(n);
		emit_starter(n);
		n->is_long = false;
		n->sorted = true;
	}
	else
		end_short(n);
}

/*
 * Push a code point, character number place of the text.  Unicode 15.0 must
 * assign the code point: utf8proc may know a later version of Unicode, and may
 * treat in a new way what Unicode 15.0 does not assign.
 *
 * While emit() takes a combining sequence, n->place is the character that the
 * sequence begins with.
 */
void
simhash_normalize_push(Normalizer *n, uint32 cp, uint32 place)
{
	int32		mapped[MAPPED_MAX];
	int			boundclass;
	utf8proc_ssize_t count;
	utf8proc_ssize_t i;

	/* here COMPOSE composes nothing: it asks for canonical decompositions */
	count = utf8proc_decompose_char(cp, mapped, MAPPED_MAX,
									UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
									UTF8PROC_CASEFOLD | UTF8PROC_IGNORE,
									&boundclass);
	Assert(count >= 0 && count <= MAPPED_MAX);
	for (i = 0; i < count; i++)
	{
		if (unicode_class(mapped[i]) & UC_STARTS)
			normalize_flush(n);
		if (n->length == 0 && !n->is_long)
			n->place = place;
		append(n, mapped[i]);
	}
}
