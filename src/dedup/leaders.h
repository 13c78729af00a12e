/*
 * leaders.h
 *	  Clusters of what is within the radius of their first member.
 */
#ifndef LEADERS_H
#define LEADERS_H

#include "dedup/fplist.h"

extern void simhash_choose_leaders(FingerprintList *list, int radius,
								   uint32 *clusters);

#endif							/* LEADERS_H */
