/*
 * unicode_class.h
 *	  What the tokeniser and the normaliser need to know of a code point.
 *
 * The table is pinned to Unicode 15.0, whatever version utf8proc has: a
 * library upgrade must never change a stored fingerprint.
 */
#ifndef SIMHASH_UNICODE_CLASS_H
#define SIMHASH_UNICODE_CLASS_H

/*
 * The table has two stages: it holds each different block of 128 code points
 * once.  script/unicode makes unicode_table.c, with the same UC_BLOCK_SHIFT.
 */
#define UC_BLOCK_SHIFT 7
#define UC_BLOCK_MASK ((1 << UC_BLOCK_SHIFT) - 1)

extern const uint8 simhash_unicode_blocks[0x110000 >> UC_BLOCK_SHIFT];
extern const uint8 simhash_unicode_classes[];

#define UC_ASSIGNED 1			/* assigned in Unicode 15.0 */
#define UC_WORD 2				/* letter, mark or number: category L, M or N */
#define UC_UNSPACED 4			/* UC_WORD in a script written without spaces */
#define UC_STARTS 8				/* no earlier code point combines with it */
#define UC_INERT 16				/* UC_STARTS, and NFKC_Casefold maps it to
								 * itself */

/* The UC_ bits of a code point, or of any other value below 0x110000. */
static inline uint8
unicode_class(uint32 cp)
{
	uint32		block = simhash_unicode_blocks[cp >> UC_BLOCK_SHIFT];

	return simhash_unicode_classes[(block << UC_BLOCK_SHIFT) +
								   (cp & UC_BLOCK_MASK)];
}

#endif							/* SIMHASH_UNICODE_CLASS_H */
