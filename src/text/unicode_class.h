/*
 * unicode_class.h
 *	  What the tokeniser and the normaliser need to know of a code point.
 *
 * The table is pinned to Unicode 15.0, whatever version utf8proc has: a
 * library upgrade must never change a stored fingerprint.
 */
#ifndef UNICODE_CLASS_H
#define UNICODE_CLASS_H

#include "text/unicode_table.h"

#define UC_ASSIGNED 1			/* assigned in Unicode 15.0 */
#define UC_WORD 2				/* letter, mark or number: category L, M or N */
#define UC_UNSPACED 4			/* UC_WORD in a script written without spaces */
#define UC_STARTS 8				/* combines with nothing that stands before it */
#define UC_INERT 16				/* UC_STARTS, and NFKC_Casefold maps it to
								 * itself */

/* Class of any value below 0x110000. */
static inline uint8
unicode_class(uint32 cp)
{
	uint32		block = uc_block[cp >> UC_BLOCK_SHIFT];

	return uc_class[(block << UC_BLOCK_SHIFT) +
					(cp & ((1 << UC_BLOCK_SHIFT) - 1))];
}

#endif							/* UNICODE_CLASS_H */
