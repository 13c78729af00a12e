/*
 * connect.h
 *	  Connected components: fingerprints that are connected by steps within a
 *	  radius.
 */
#ifndef CONNECT_H
#define CONNECT_H

#include "dedup/fplist.h"

extern void simhash_connect(FingerprintList *list, int radius, uint32 *parents);

#endif							/* CONNECT_H */
