/*
 * leaders.h
 *	  Clusters of what is within the radius of their first member.
 */
#ifndef SIMHASH_LEADERS_H
#define SIMHASH_LEADERS_H

#include "dedup/fplist.h"

#define simhash_choose_leaders WIDE(simhash_choose_leaders)

extern void simhash_choose_leaders(FingerprintList *list, int radius,
								   uint32 *clusters);

#endif							/* SIMHASH_LEADERS_H */
