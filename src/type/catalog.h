/*
 * catalog.h
 *	  Objects of the extension, looked up by name.
 */
#ifndef SIMHASH_CATALOG_H
#define SIMHASH_CATALOG_H

extern void simhash_catalog_init(void);
extern Oid	simhash_find_type(Oid schema, const char *name);
extern Oid	simhash_find_function(Oid schema, const char *name, int count,
								  const Oid *types);
extern Oid	simhash_find_operator(Oid schema, const char *name, Oid left,
								  Oid right);
extern int	simhash_bits(Oid function, Oid type);
extern const char *simhash_c_name(Oid function);

#endif							/* SIMHASH_CATALOG_H */
