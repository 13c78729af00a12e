/*
 * normalize.c
 *	  NFKC_Casefold of a stream of code points.
 *
 * The Unicode Standard, section 3.13, R5: map each code point by
 * NFKC_Casefold, then normalise to NFC.  Canonical ordering and composition
 * never reach across a code point that starts a sequence (UC_STARTS), so one
 * combining sequence at a time is kept.  If it is long, it is composed as it
 * comes, and if there are many marks after one starter, they go through files,
 * one for each combining class: read in the order of the classes they are in
 * canonical order, however many they are, in constant memory.
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

#define CHUNK 1024				/* marks that are read from a file at once */

/* NFKD of one code point has at most 18; the folding adds none to that. */
#define MAPPED_MAX 32

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

static inline int
combining_class(int32 cp)
{
	return utf8proc_get_property(cp)->combining_class;
}

/*
 * Sort cp[0 .. length) by combining class, keeping the order within a class:
 * a counting sort.
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

/* Canonical ordering: sort each run of code points of a class other than 0. */
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

/* Order, compose and emit a sequence that is in memory. */
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
											UTF8PROC_COMPOSE | UTF8PROC_STABLE);
		Assert(composed > 0);
		n->length = composed;
	}
	for (i = 0; i < n->length; i++)
		n->emit(n->arg, n->sequence[i]);
	n->length = 0;
	n->sorted = true;
}

/* Compose a code point with the starter, if they do. */
static bool
compose(Normalizer *n, int32 cp)
{
	int32		pair[2] = {n->starter, cp};

	if (n->starter < 0 || utf8proc_normalize_utf32(
												   pair, 2, UTF8PROC_COMPOSE | UTF8PROC_STABLE) != 1)
		return false;
	n->starter = pair[0];
	return true;
}

/*
 * Compose the starter with the first marks of a file, as far as they do;
 * returns with how many, and sets *stays if any is left.  One that stays keeps
 * those of its own class that follow from the starter, but none of a higher
 * class.
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

/* Emit the marks of a file, but for the first ones. */
static void
emit_marks(Normalizer *n, void *file, size_t without)
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
			if (read++ >= without)
				n->emit(n->arg, marks[i]);
		}
	}
}

static void
emit_starter(Normalizer *n)
{
	if (n->starter >= 0)
		n->emit(n->arg, n->starter);
	n->starter = -1;
}

/*
 * Order and compose the marks of a long sequence that are in memory.  Where
 * any stays, nothing that follows combines with the starter.
 */
static void
end_marks_in_memory(Normalizer *n)
{
	int			last_class = 0; /* of those that stay */
	size_t		stay = 0;
	size_t		i;

	sort_marks(n->sequence, n->length);
	for (i = 0; i < n->length; i++)
	{
		int32		mark = n->sequence[i];

		/* one that stays keeps those of its own class from the starter */
		if (combining_class(mark) == last_class || !compose(n, mark))
		{
			last_class = combining_class(mark);
			n->sequence[stay++] = mark;
		}
	}
	if (stay > 0)
		emit_starter(n);
	for (i = 0; i < stay; i++)
		n->emit(n->arg, n->sequence[i]);
	n->length = 0;
}

/* Move the marks that are in memory to files. */
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

/* The same as end_marks_in_memory for those in files. */
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

static void
end_marks(Normalizer *n)
{
	if (n->spilled)
		end_spilled_marks(n);
	else if (n->length > 0)
		end_marks_in_memory(n);
}

/* Take a code point of a long sequence. */
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

/* The sequence does not fit into memory. */
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

/* Order, compose and emit the combining sequence. */
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

/* Take one code point, which Unicode 15.0 assigns. */
void
simhash_normalize_push(Normalizer *n, uint32 cp)
{
	int32		mapped[MAPPED_MAX];
	int			boundclass;
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
		append(n, mapped[i]);
	}
}
