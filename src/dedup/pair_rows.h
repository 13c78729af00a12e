/*
 * pair_rows.h
 *	  The pairs of rows whose fingerprints are within a radius of each other,
 *	  for fingerprints of either width.
 */
#ifndef SIMHASH_DEDUP_PAIR_ROWS_H
#define SIMHASH_DEDUP_PAIR_ROWS_H

/* pair_rows.c knows the struct, which differs from width to width. */
typedef struct PairRows PairRows;

/* The functions for fingerprints of one width: pair_rows.c describes them. */
typedef struct PairMethods
{
	PairRows   *(*begin) (int max_distance, int part, int parts,
						  bool begins_alone);
	void		(*add) (PairRows *rows, int64 id, Datum fingerprint);
	bool		(*next) (PairRows *rows, Datum *values);
	void		(*end) (PairRows *rows);
} PairMethods;

extern const PairMethods simhash_pair_methods;
extern const PairMethods simhash_pair_methods_128;

#endif							/* SIMHASH_DEDUP_PAIR_ROWS_H */
