/*
 * check_range.h
 *	  The check of a number that a user gives.
 */
#ifndef SIMHASH_CHECK_RANGE_H
#define SIMHASH_CHECK_RANGE_H

/*
 * Return value, the argument of that name.  Error: 22023 unless it is
 * least .. most.
 */
static inline int32
simhash_check_range(const char *name, int32 value, int32 least, int32 most)
{
	if (value < least || value > most)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s must be between %d and %d, not %d", name,
							   least, most, value)));
	return value;
}

#endif							/* SIMHASH_CHECK_RANGE_H */
