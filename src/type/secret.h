/*
 * secret.h
 *	  A secret of the process, for its hash tables: who chooses the keys must
 *	  not know where they go.
 */
#ifndef SIMHASH_SECRET_H
#define SIMHASH_SECRET_H

extern uint64 simhash_secret(void);

#endif							/* SIMHASH_SECRET_H */
