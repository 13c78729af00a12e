/*
 * make_clause.h
 *	  Operators and calls, as the planner's support functions make them.
 */
#ifndef SIMHASH_MAKE_CLAUSE_H
#define SIMHASH_MAKE_CLAUSE_H

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

static inline Expr *
make_operator(Oid opno, Oid type, Expr *left, Expr *right)
{
	Expr	   *clause = make_opclause(opno, type, false, left, right,
									   InvalidOid, InvalidOid);

	set_opfuncid((OpExpr *) clause);
	return clause;
}

static inline Expr *
make_call(Oid function, Oid type, List *args)
{
	return (Expr *) makeFuncExpr(function, type, args, InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

#endif							/* SIMHASH_MAKE_CLAUSE_H */
