/*
 * texts.h
 *	  The texts of the rows of simhash_cluster(): which are equal, and which are
 *	  alike.
 */
#ifndef SIMHASH_TEXTS_H
#define SIMHASH_TEXTS_H

/* texts.c knows the struct. */
typedef struct Texts Texts;

extern Texts *simhash_texts_begin(uint32 rows, double min_similarity,
								  int words);
extern void simhash_texts_add(Texts *texts, uint32 row, Datum body);
extern void simhash_texts_number(Texts *texts, uint32 row, uint32 member);
extern uint64 simhash_texts_digest(Texts *texts, uint32 row);
extern bool simhash_texts_equal(Texts *texts, uint32 a, uint32 b);
extern bool simhash_texts_alike(Texts *texts, uint32 a, uint32 b);
extern void simhash_texts_end(Texts *texts);

#endif							/* SIMHASH_TEXTS_H */
