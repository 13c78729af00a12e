/*
 * unicode.h
 *	  UTF-8, one code point at a time, and the classes of code points.
 *
 * The table is pinned to Unicode 15.0, whatever version utf8proc has: a
 * library upgrade must never change a stored fingerprint.
 */
#ifndef SIMHASH_UNICODE_H
#define SIMHASH_UNICODE_H

/*
 * The table has two stages: it holds each different block of 128 code points
 * once.  script/unicode makes unicode_table.c, with the same UC_BLOCK_SHIFT.
 */
#define UC_BLOCK_SHIFT 7
#define UC_BLOCK_MASK ((1 << UC_BLOCK_SHIFT) - 1)

extern const uint8 simhash_unicode_blocks[0x110000 >> UC_BLOCK_SHIFT];
extern const uint8 simhash_unicode_classes[];

/*
 * A class is a set of these bits.  The table has it as a letter: that adds a
 * bit, 64, without a meaning.
 */
#define UC_ASSIGNED 1			/* assigned in Unicode 15.0 */
#define UC_WORD 2				/* letter, mark or number: category L, M or N */
#define UC_UNSPACED 4			/* UC_WORD in a script written without spaces */
#define UC_STARTS 8				/* no earlier code point combines with it */
#define UC_INERT 16				/* UC_STARTS, and NFKC_Casefold maps it to
								 * itself */

/* The class of a code point, or of any other value below 0x110000. */
static inline uint8
unicode_class(uint32 cp)
{
	uint32		block = simhash_unicode_blocks[cp >> UC_BLOCK_SHIFT];

	return simhash_unicode_classes[(block << UC_BLOCK_SHIFT) +
								   (cp & UC_BLOCK_MASK)];
}

/*
 * p must be before end.  Set *cp to the code point at p, and return its
 * length.  Return 0 if the bytes at p are not valid UTF-8: truncated,
 * overlong, a surrogate or above U+10FFFF.
 */
static inline size_t
utf8_decode(const uint8 *p, const uint8 *end, uint32 *cp)
{
	size_t		left = end - p;

#define UTF8_TAIL(i) ((uint32) (p[i] & 0x3F))
#define UTF8_IS_TAIL(i) ((p[i] & 0xC0) == 0x80)
	if (p[0] < 0x80)
	{
		*cp = p[0];
		return 1;
	}
	if (p[0] < 0xE0)
	{
		if (p[0] < 0xC2 || left < 2 || !UTF8_IS_TAIL(1))
			return 0;
		*cp = (uint32) (p[0] & 0x1F) << 6 | UTF8_TAIL(1);
		return 2;
	}
	if (p[0] < 0xF0)
	{
		if (left < 3 || !UTF8_IS_TAIL(1) || !UTF8_IS_TAIL(2))
			return 0;
		*cp = (uint32) (p[0] & 0x0F) << 12 | UTF8_TAIL(1) << 6 | UTF8_TAIL(2);
		return *cp < 0x800 || (*cp >= 0xD800 && *cp <= 0xDFFF) ? 0 : 3;
	}
	if (p[0] > 0xF4 || left < 4 || !UTF8_IS_TAIL(1) || !UTF8_IS_TAIL(2) ||
		!UTF8_IS_TAIL(3))
		return 0;
	*cp = (uint32) (p[0] & 0x07) << 18 | UTF8_TAIL(1) << 12 |
		UTF8_TAIL(2) << 6 | UTF8_TAIL(3);
	return *cp < 0x10000 || *cp > 0x10FFFF ? 0 : 4;
#undef UTF8_TAIL
#undef UTF8_IS_TAIL
}

#define UTF8_MAX 4				/* bytes of the longest code point */

/* cp must be valid.  Write cp to out[0 .. UTF8_MAX); return the length. */
static inline size_t
utf8_encode(uint32 cp, uint8 *out)
{
	if (cp < 0x80)
	{
		out[0] = cp;
		return 1;
	}
	if (cp < 0x800)
	{
		out[0] = 0xC0 | cp >> 6;
		out[1] = 0x80 | (cp & 0x3F);
		return 2;
	}
	if (cp < 0x10000)
	{
		out[0] = 0xE0 | cp >> 12;
		out[1] = 0x80 | (cp >> 6 & 0x3F);
		out[2] = 0x80 | (cp & 0x3F);
		return 3;
	}
	out[0] = 0xF0 | cp >> 18;
	out[1] = 0x80 | (cp >> 12 & 0x3F);
	out[2] = 0x80 | (cp >> 6 & 0x3F);
	out[3] = 0x80 | (cp & 0x3F);
	return 4;
}

#endif							/* SIMHASH_UNICODE_H */
