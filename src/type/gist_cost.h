/*
 * gist_cost.h
 *	  What a search of a GiST index costs.
 */
#ifndef SIMHASH_GIST_COST_H
#define SIMHASH_GIST_COST_H

extern void simhash_gist_cost_init(void);

#endif							/* SIMHASH_GIST_COST_H */
