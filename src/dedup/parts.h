/*
 * parts.h
 *	  The arguments part and parts of simhash_parts() and simhash_pairs().
 */
#ifndef SIMHASH_PARTS_H
#define SIMHASH_PARTS_H

static inline int
check_parts(int parts)
{
	if (parts < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parts must be 1 or more, not %d", parts)));
	return parts;
}

/* parts must have been checked. */
static inline int
check_part(int part, int parts)
{
	if (part < 0 || part >= parts)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("part must be 0 to %d, not %d", parts - 1, part)));
	return part;
}

#endif							/* SIMHASH_PARTS_H */
