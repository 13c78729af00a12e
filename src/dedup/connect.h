/*
 * connect.h
 *	  Connected components: fingerprints that are connected by steps within a
 *	  radius.
 */
#ifndef SIMHASH_CONNECT_H
#define SIMHASH_CONNECT_H

#include "dedup/fplist.h"

#define simhash_connect WIDE(simhash_connect)

extern void simhash_connect(FingerprintList *list, int radius, uint32 *parents);

#endif							/* SIMHASH_CONNECT_H */
