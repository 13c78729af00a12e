/*
 * id_numbers.h
 *	  Number ids from 0 on, in order of first appearance.
 */
#ifndef SIMHASH_ID_NUMBERS_H
#define SIMHASH_ID_NUMBERS_H

/*
 * A hash table with open addressing and linear probing.  There are twice as
 * many slots as there is room for ids: a table takes 16 bytes for each id that
 * there is room for.  The bits of a slot that no number needs have a tag, some
 * bits of the hash: so hardly any id is read but the one that is looked for.
 *
 * simhash_components() with lib/simplehash.h and lib/sort_template.h took at
 * least 1.7 times as long: for ten million pairs of ten million ids, and for
 * 1.35 million pairs of 300,000 ids.  For the ten million ids the process took
 * 454 MB in place of at most 311.  That table looks up one id at a time, and
 * takes 16 bytes for each slot.
 */
typedef struct IdNumbers
{
	uint64	   *ids;			/* the id of each number */
	uint32		count;			/* ids that are numbered */
	Size		capacity;		/* ids that there is room for; a power of two */
	uint32	   *slots;			/* 2 * capacity numbers of ids, with a tag
								 * above, or FREE_SLOT */
	uint64		multiplier;		/* of the hash; odd, and secret */
	int			shift;			/* brings a hash down to the slots */
} IdNumbers;

extern void simhash_id_numbers_begin(IdNumbers *table);
extern void simhash_id_numbers_find(IdNumbers *table, const uint64 *ids,
									int count, uint32 *numbers);

#endif							/* SIMHASH_ID_NUMBERS_H */
