/*
 * side.c
 *	  What a join keeps of each row that has a fingerprint: in memory, or in
 *	  temporary files.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "near/side.h"
#include "type/compat.h"

/* Add an entry, to memory that is of the current memory context. */
void
simhash_entries_add(EntryList *list, const JoinEntry *entry)
{
	if (list->count++ == 0)
		list->first = entry->fp;
	list->varying |= entry->fp ^ list->first;
	if (list->file != NULL)
	{
		BufFileWrite(list->file, unconstify(JoinEntry *, entry),
					 sizeof(*entry));
		return;
	}
	if (list->side == NULL)
	{
		list->side = simhash_join_side_begin();
		simhash_join_side_number(list->side);
	}
	simhash_join_side_add(list->side, entry->position, entry->number,
						  entry->fp);
}

/*
 * Move the entries to a file, if they are in memory.  More go there, too.  On
 * entry the side is not grouped.
 */
void
simhash_entries_to_file(EntryList *list)
{
	JoinSide   *side = list->side;
	uint32		i;

	if (list->file == NULL)
		list->file = BufFileCreateTemp(false);
	if (side == NULL)
		return;
	for (i = 0; i < side->list.count; i++)
	{
		JoinEntry	entry = {.fp = side->list.fps[i],
			.position = side->ids[i],.number = side->numbers[i]
		};

		CHECK_FOR_INTERRUPTS();
		BufFileWrite(list->file, &entry, sizeof(entry));
	}
	simhash_join_side_end(side);
	list->side = NULL;
}

/* The entries are in a file.  Let entry number, from 0 on, be read next. */
void
simhash_entries_seek(EntryList *list, uint64 number)
{
	if (BufFileSeek(list->file, 0, number * sizeof(JoinEntry), SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not seek in a temporary file: %m")));
}

/* Read the next entry from the file: there must be one. */
void
simhash_entries_read(EntryList *list, JoinEntry *entry)
{
	BufFileReadExact(list->file, entry, sizeof(*entry));
}

/* Free all entries.  The list is then one without entries. */
void
simhash_entries_end(EntryList *list)
{
	if (list->side != NULL)
		simhash_join_side_end(list->side);
	if (list->file != NULL)
		BufFileClose(list->file);
	memset(list, 0, sizeof(*list));
}
