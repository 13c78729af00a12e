/*
 * path.h
 *	  The join method HammingJoin, as the planner meets it.
 */
#ifndef SIMHASH_PATH_H
#define SIMHASH_PATH_H

extern void hamming_join_init(void);

#endif							/* SIMHASH_PATH_H */
