/*
 * compat.h
 *	  The oldest PostgreSQL that simhash builds with, and what newer ones
 *	  have that older ones lack.
 */
#ifndef COMPAT_H
#define COMPAT_H

#if PG_VERSION_NUM < 150000
#error "simhash needs PostgreSQL 15 or later"
#endif

/* The macros for variable-length types moved there in PostgreSQL 16. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* Soft input errors arrived in PostgreSQL 16. */
#if PG_VERSION_NUM < 160000
#define ereturn(escontext, dummy, ...) \
	do \
	{ \
		(void) (escontext); \
		ereport(ERROR, __VA_ARGS__); \
		return dummy; \
	} while (0)
#endif

#ifdef PG_MODULE_MAGIC_EXT
#define SIMHASH_MODULE_MAGIC \
	PG_MODULE_MAGIC_EXT(.name = "simhash", .version = "1.0.0")
#else
#define SIMHASH_MODULE_MAGIC PG_MODULE_MAGIC
#endif

#endif /* COMPAT_H */
