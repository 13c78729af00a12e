/*
 * side.h
 *	  What a join keeps of each row that has a fingerprint: in memory, or in
 *	  temporary files.
 */
#ifndef SIMHASH_SIDE_H
#define SIMHASH_SIDE_H

#include "storage/buffile.h"

#include "near/join_side.h"

#define simhash_entries_add WIDE(simhash_entries_add)
#define simhash_entries_to_file WIDE(simhash_entries_to_file)
#define simhash_entries_seek WIDE(simhash_entries_seek)
#define simhash_entries_read WIDE(simhash_entries_read)
#define simhash_entries_end WIDE(simhash_entries_end)

typedef struct JoinEntry
{
	Fingerprint fp;				/* the fingerprint */
	uint64		position;		/* of the row's tuple */
	uint64		number;			/* of the row */
} JoinEntry;

/* All zero is a list without entries, in memory. */
typedef struct EntryList
{
	uint64		count;
	Fingerprint first;			/* fingerprint of the first entry */
	Fingerprint varying;		/* bits in which others differ from it */
	JoinSide   *side;			/* the entries, in memory */
	BufFile    *file;			/* or in a file */
} EntryList;

extern void simhash_entries_add(EntryList *list, const JoinEntry *entry);
extern void simhash_entries_to_file(EntryList *list);
extern void simhash_entries_seek(EntryList *list, uint64 number);
extern void simhash_entries_read(EntryList *list, JoinEntry *entry);
extern void simhash_entries_end(EntryList *list);

#endif							/* SIMHASH_SIDE_H */
